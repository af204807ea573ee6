"""Serve the built site: compressed, with the right types, never from an old cache."""

import argparse
import asyncio
import errno
import mimetypes
import os
import socket
import sys
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.web import Application, GZipContentEncoding, StaticFileHandler

SITE = Path(__file__).resolve().parent.parent / "_build" / "html"
TYPES = {
    ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css",
    ".json": "application/json", ".ipynb": "application/json", ".svg": "image/svg+xml",
    ".wasm": "application/wasm", ".whl": "application/zip", ".woff2": "font/woff2",
}


class Page(StaticFileHandler):
    """A file of the site; a browser asks each time whether its own copy is still the newest."""

    def set_extra_headers(self, path):
        self.set_header("Cache-Control", "no-cache")

    def write_error(self, status_code, **details):
        """Show the site's own page for an address that is not there."""
        page = Path(self.root) / "404.html"
        if status_code != 404 or not page.is_file():
            return super().write_error(status_code, **details)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        return self.finish(page.read_bytes())

    def compute_etag(self):
        status = Path(self.absolute_path).stat()
        return f'"{status.st_mtime_ns:x}-{status.st_size:x}"'


def application(site, prefix="/", others=()):
    """Return what answers requests: ``others`` first, then the site's files below ``prefix``."""
    GZipContentEncoding.CONTENT_TYPES |= {"application/wasm", "image/svg+xml", "text/javascript"}
    for suffix, kind in TYPES.items():
        mimetypes.add_type(kind, suffix)
    route = (rf"{prefix}(.*)", Page, {"path": str(site), "default_filename": "index.html"})
    return Application([*others, route], compress_response=True)


def listen(host, port):
    """Return a socket that listens on the port, or stop with a sentence that says why not."""
    if not 0 <= port < 2**16:
        sys.exit(f"There is no port {port}: choose one from 1024 to 65535.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, *_, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        sys.exit(why_not(host, port, error))
    listening.setblocking(False)
    return listening


def why_not(host, port, error):
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"'{host}' is not a name or address of this machine: choose another HOST."
    if error.errno == errno.EADDRINUSE:
        return (f"Port {port} is taken by another program: choose another one, for example "
                f"`make serve PORT={port + 1}`.")
    return f"Cannot listen on {host}, port {port}: {os.strerror(error.errno)}."


async def serve(listening, host, port):
    HTTPServer(application(SITE)).add_sockets([listening])
    address = f"http://{host}:{port}/"
    await AsyncHTTPClient().fetch(address)
    print(f"The book is at {address} (stop with Ctrl-C)", flush=True)
    await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--free", action="store_true", help="only say whether the port is free")
    options = parser.parse_args()
    listening = listen(options.host, options.port)
    if options.free:
        listening.close()
        return
    if not (SITE / "index.html").exists():
        sys.exit("There is no site yet: run `make book` first.")
    try:
        asyncio.run(serve(listening, options.host, options.port))
    except KeyboardInterrupt:
        print("\nstopped")


if __name__ == "__main__":
    main()
