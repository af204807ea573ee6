"""Serve the book's site and what is handed out beside the hub, below ``/services/book/``.

The hub starts this and tells it, as it tells each of its services, where to listen.

    python book_service.py SITE HANDOUT
"""

import asyncio
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.web import StaticFileHandler

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import serve


def application(prefix, site, handout):
    """Return what answers: the repository that students' copies are made of, and the site."""
    repository = (rf"{prefix}handout\.git/(.*)", StaticFileHandler, {"path": handout})
    return serve.application(site, prefix, [repository])


async def listen(site, handout):
    """Serve until the hub ends this process."""
    address = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    server = HTTPServer(application(os.environ["JUPYTERHUB_SERVICE_PREFIX"], site, handout))
    server.listen(address.port, address.hostname)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(listen(*sys.argv[1:]))
