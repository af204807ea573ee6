"""A real hub on this machine, and students who use it as browsers do: own cookies, own sockets."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

import requests
import websocket

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [ROOT / ".venv-hub" / "bin" / "python", "-m", "jupyterhub", "-f",
           ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py"]
PATIENCE = 90  # seconds for anything that has to start


def free_ports(count):
    """Return the first of so many free ports in a row."""
    for first in range(20300 + os.getpid() % 1000 * 10, 32000, count):
        with suppress(OSError):
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
            return first
    raise OSError("no free ports")


@contextmanager
def running_hub(folder, port, **settings):
    """Start the hub with its proxy; give its address; end them and all that they started."""
    address = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "HUB_FOLDER": str(folder), "HUB_ADDRESS": address,
                   "HUB_PORTS": str(port + 1), "OMP_NUM_THREADS": "1", **settings}
    with open(folder / "log.txt", "w", encoding="utf-8") as log:
        process = subprocess.Popen(COMMAND, cwd=folder, env=environment, stdout=log,
                                   stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: process.poll() is not None or answers(address),
                 lambda: (folder / "log.txt").read_text(encoding="utf-8"))
        assert process.poll() is None, (folder / "log.txt").read_text(encoding="utf-8")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def answers(address):
    """Tell whether the hub and the book beside it answer."""
    with suppress(requests.ConnectionError):
        return all(requests.get(address + path, timeout=10).ok
                   for path in ("/hub/login", "/services/book/"))


def wait_for(condition, details):
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, details()
        time.sleep(0.3)


class Student:
    """Someone with a browser of their own."""

    def __init__(self, hub, name):
        self.hub, self.name = hub, name
        self.home = f"{hub}/user/{name}/"
        self.browser = requests.Session()

    def log_in(self, password):
        """Fill in the form; return the page that comes then."""
        page = self.browser.get(f"{self.hub}/hub/login")
        token = re.search(r'name="_xsrf" value="([^"]+)"', page.text)[1]
        return self.browser.post(f"{self.hub}/hub/login?next=", data={
            "username": self.name, "password": password, "_xsrf": token})

    def visit(self, path):
        """Open a page of one's own server, once it has started."""
        pages = []

        def is_there():
            pages.append(self.browser.get(self.home + path))
            return pages[-1].url.startswith(self.home) and pages[-1].ok

        wait_for(is_there, lambda: pages[-1].text)
        return pages[-1]

    def api(self, method, route, **content):
        """Ask one's own server's interface, with the token that its pages put into requests."""
        token = next(cookie.value for cookie in self.browser.cookies
                     if cookie.name == "_xsrf" and cookie.path == f"/user/{self.name}/")
        answer = self.browser.request(method, f"{self.home}api/{route}", json=content or None,
                                      headers={"X-XSRFToken": token})
        answer.raise_for_status()
        return answer.json()

    def start_kernel(self, path):
        """Start a notebook's kernel and connect to it."""
        session = self.api("POST", "sessions", path=path, name=path, type="notebook",
                           kernel={"name": "python3"})
        self.kernel = session["kernel"]["id"]
        url = f"{self.home}api/kernels/{self.kernel}/channels"
        cookies = requests.cookies.get_cookie_header(self.browser.cookies,
                                                     requests.Request("GET", url).prepare())
        self.socket = websocket.create_connection(url.replace("http", "ws", 1), cookie=cookies,
                                                  timeout=PATIENCE)

    def run(self, code):
        """Run a cell; return what it shows as text."""
        message = uuid.uuid4().hex
        self.socket.send(json.dumps({
            "channel": "shell", "parent_header": {}, "metadata": {}, "buffers": [],
            "header": {"msg_id": message, "session": self.name, "username": self.name,
                       "msg_type": "execute_request", "version": "5.3"},
            "content": {"code": code, "silent": False, "store_history": True,
                        "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}}))
        shown = []
        while True:
            said = json.loads(self.socket.recv())
            if said["parent_header"].get("msg_id") != message:
                continue
            content = said["content"]
            if said["msg_type"] in ("display_data", "execute_result"):
                shown.append(content["data"]["text/plain"])
            elif said["msg_type"] == "stream":
                shown.append(content["text"])
            elif said["msg_type"] == "error":
                shown.append(f"{content['ename']}: {content['evalue']}")
            elif said["msg_type"] == "status" and content["execution_state"] == "idle":
                return "".join(shown)
