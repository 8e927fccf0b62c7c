"""A web server in a thread, for tests of inputs that are URLs."""

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers with ``files`` of the server, by path: bytes, or the status of an error.

    A path that begins with ``/cut/`` ends half way, of ``/silent/`` nothing more comes then until the server ends, and
    ``/unknown/`` does not tell its size.
    """

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        self.server.asked.append((self.command, self.path))
        result = self.server.files.get(self.path, 404)
        if isinstance(result, int):
            self.send_error(result)
            return
        begin, end = self.asked_range(len(result))
        data = result[begin:end]
        self.send_response(206 if self.headers.get("Range") else 200)
        if self.path.startswith("/unknown/"):
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(data)))
        if self.headers.get("Range"):
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(result)}")
        self.end_headers()
        if body:
            with suppress(ConnectionError):  # who asked may have enough
                self.wfile.write(data[: len(data) // 2] if self.path.startswith(("/cut/", "/silent/")) else data)
            if self.path.startswith("/silent/"):
                self.server.ended.wait()
        self.close_connection = body

    def asked_range(self, size):
        begin, _, last = self.headers.get("Range", "=0-").partition("=")[2].partition("-")
        return int(begin), min(int(last or size) + 1, size)

    def log_message(self, *args):
        pass


@contextmanager
def serving(files):
    """The address of a server of ``files``, and what it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked, server.ended = files, [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.asked
    finally:
        server.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
