"""Watch what a browser does on a page: what it asks for, what fails, what it complains about."""

from urllib.parse import urlsplit

LOCAL = ("blob:", "data:", "about:")


class Watch:
    """Everything that a context's pages asked for and complained about."""

    def __init__(self, context, host):
        self.host = host  # with its port
        self.requests = []
        self.complaints = []
        context.on("request", self._see_request)
        context.on("requestfailed", self._see_failure)
        context.on("response", self._see_response)
        context.on("console", self._see_message)
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))

    def _see_request(self, request):
        self.requests.append(request.url)
        if not request.url.startswith(LOCAL) and urlsplit(request.url).netloc != self.host:
            self.complaints.append(f"asked another host: {request.url}")

    def _see_failure(self, request):
        self.complaints.append(f"failed: {request.url} ({request.failure})")

    def _see_response(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def _see_message(self, message):
        if message.type == "error":
            self.complaints.append(f"console: {message.text} ({message.location['url']})")
