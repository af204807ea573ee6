"""Serve the built site as others would: the book's own server, or a plain one, under any prefix."""

import asyncio
import http.server
import os
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tornado.httpserver import HTTPServer

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("BUILT_SITE") or ROOT / "_build" / "html")
OTHER_NAME = "book.test"  # of this machine, for the browser; not loopback, so not trusted by it
sys.path.insert(0, str(ROOT / "tools"))

import serve  # noqa: E402


class Counting(HTTPServer):
    """A server that counts the bytes it sends, as they go over the line."""

    sent = 0

    def handle_stream(self, stream, address):
        write = stream.write

        def counted(data):
            Counting.sent += len(data)
            return write(data)

        stream.write = counted
        super().handle_stream(stream, address)


@contextmanager
def by_the_book(site=SITE):
    """Serve as ``make serve`` does; give the port."""
    listening = serve.listen("127.0.0.1", 0)
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def run():
        server = Counting(serve.application(site))
        server.add_sockets([listening])
        ready.set()
        await stop.wait()
        server.stop()
        await server.close_all_connections()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    ready.wait(10)
    try:
        yield listening.getsockname()[1]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


class Plain(http.server.SimpleHTTPRequestHandler):
    """Python's own file server, with the site under a prefix and no word on the terminal."""

    prefix = "/some/where/"

    def translate_path(self, path):
        inside = path.startswith(self.prefix)
        return super().translate_path(path.removeprefix(self.prefix[:-1]) if inside else "/none")

    def log_message(self, *arguments):
        pass


@contextmanager
def plainly(site=SITE):
    """Serve from a plain file server, below a prefix; give the site's address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Plain, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{Plain.prefix}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
