"""An HTTP server whose clients, however slow, large or many, take a bounded share of it; and what it answers."""

from __future__ import annotations

import contextlib
import io
import json
import queue
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from vwlite.errors import VwliteError, escaped
from vwlite.serving.config import ServeConfig
from vwlite.serving.model_source import ModelSource
from vwlite.version import __version__

IDLE = 5.0  # seconds that a connection without a request is kept
LINGER = 1.0
GRACE = 1.0  # for what has begun to arrive, or to leave, when the server is being stopped
LOOK = 0.2  # how often to see whether it is
MIB = 1 << 20
JSON = "application/json"
PATHS = {"/predict": "POST", "/health": "GET"}
KINDS = {  # of tables, by media type; all other text is in the format of the model's data
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
}


class Refused(Exception):
    """A request that has no answer: the status, and why."""


class Timed(io.RawIOBase):
    """The bytes of a connection until a deadline, however they trickle; after it, TimeoutError."""

    def __init__(self, connection: socket.socket, server: Any) -> None:
        self.connection, self.server = connection, server
        self.began = self.deadline = 0.0

    def allow(self, seconds: float) -> None:
        """Allow time for what now begins."""
        self.began = time.monotonic()
        self.deadline = self.began + seconds

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.attempt(self.connection.recv_into, buffer)

    def write(self, data: Any) -> int:
        return self.attempt(self.connection.send, data)

    def attempt(self, call: Callable[[Any], int], data: Any) -> int:
        while (left := self.end - time.monotonic()) > 0:
            self.connection.settimeout(min(left, LOOK))
            with contextlib.suppress(TimeoutError):
                return call(data)
        raise TimeoutError

    @property
    def end(self) -> float:
        stopped = self.server.stopped
        return self.deadline if stopped is None else min(self.deadline, max(self.began, stopped) + GRACE)


class Handler(BaseHTTPRequestHandler):
    """``POST /predict`` with lines or JSON, ``GET /health``."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = f"vwlite/{__version__}", ""
    error_message_format, error_content_type = "%(explain)s\n", "text/plain; charset=utf-8"
    server: Any  # see vwlite.serving.server

    def setup(self) -> None:
        super().setup()
        self.timed = Timed(self.connection, self.server)
        self.rfile = io.BufferedReader(self.timed)
        self.wfile = io.BufferedWriter(self.timed, 1 << 16)  # headers and answer leave together

    def handle_one_request(self) -> None:
        """Handle a request as HTTP's handler does, with time limits: for the next request to begin, and for it to
        arrive.
        """
        self.timed.allow(min(IDLE, self.server.config.timeout))
        super().handle_one_request()

    def parse_request(self) -> bool:
        self.timed.allow(self.server.config.timeout)
        return super().parse_request()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self.respond
        raise AttributeError(name)

    def respond(self) -> None:
        try:
            method = PATHS.get(self.path.partition("?")[0])
            if method is None:
                raise Refused(404, f"there are {' and '.join(PATHS)}")
            if self.command != method:
                raise Refused(405, f"{self.path} takes {method}")
            if method == "POST":
                self.predict()
            else:
                self.health()
        except Refused as error:
            self.refuse(*error.args)
        except OSError:
            raise
        except Exception as error:
            self.server.say(f"a request failed: {type(error).__name__}: {error}")
            self.refuse(500, f"the request failed: {type(error).__name__}")

    def refuse(self, status: int, why: str) -> None:
        self.close_connection = True  # what the client still sends is not read
        if self.headers.get_content_type() == JSON:
            self.answer(status, json.dumps({"error": why}).encode() + b"\n", JSON)
        else:
            self.answer(status, f"{why}\n".encode("utf-8", "backslashreplace"), "text/plain; charset=utf-8")
        self.linger()

    def linger(self) -> None:
        """Read on for a moment: to close at once would take the answer back from a client that is still sending."""
        self.connection.shutdown(socket.SHUT_WR)
        self.timed.allow(LINGER)
        with contextlib.suppress(OSError):
            while self.timed.readinto(bytearray(1 << 16)):
                pass

    def handle_expect_100(self) -> bool:
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def predict(self) -> None:
        body = self.body()
        served = self.server.source.current
        try:
            media_type = self.headers.get_content_type()
            if media_type != JSON:
                content, warnings = served.text(body, KINDS.get(media_type))
                self.answer(200, content, "text/plain; charset=utf-8", warnings)
            else:
                content, warnings = served.json(*data_of(body), seed=self.server.config.sample)
                extra = b', "warnings": %s' % json.dumps(warnings).encode() if warnings else b""
                self.answer(200, b'{"predictions": [%s]%s}\n' % (b", ".join(content.splitlines()), extra), JSON)
        except VwliteError as error:
            raise Refused(400, str(error)) from error
        except UnicodeEncodeError as error:
            raise Refused(400, "a text has half of a surrogate pair, which is no character") from error

    def body(self) -> bytes:
        lengths = self.headers.get_all("Content-Length", [""])
        if self.headers.get("Transfer-Encoding") or not lengths[0].isascii() or not lengths[0].isdigit():
            raise Refused(411, "a request needs its Content-Length")
        if len(set(lengths)) > 1:
            raise Refused(400, "a request has one Content-Length")
        digits = lengths[0].lstrip("0")
        length = int(digits[:20] or 0)
        if length > self.server.config.max_request * MIB:
            raise Refused(413, f"a request may have {self.server.config.max_request:g} MiB")
        try:
            body = self.rfile.read(length)
        except TimeoutError as error:
            if self.server.stopped is not None:
                raise Refused(503, "the server is being stopped") from error
            raise Refused(408, f"the request did not arrive within {self.server.config.timeout:g} s") from error
        if len(body) < length:
            raise ConnectionError("the client went away")
        return body

    def health(self) -> None:
        followed = self.headers.get("Content-Length", "0") != "0" or bool(self.headers.get("Transfer-Encoding"))
        self.close_connection = self.close_connection or followed  # what follows is no request
        server, source = self.server, self.server.source
        facts = {
            "status": "ok",
            "version": __version__,
            "model": source.path,
            "learner": source.current.model.learner.name,
            "models_loaded": source.loaded,
            "failure": source.failure or None,
            "requests": server.requests,
            "refused": server.refused,
            "seconds": round(time.monotonic() - server.began, 3),
        }
        self.answer(200, json.dumps(facts).encode() + b"\n", JSON)
        if followed:
            self.linger()

    def answer(self, status: int, content: bytes, kind: str, warnings: list[str] | None = None) -> None:
        self.server.count()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for warning in warnings or ():
            self.send_header("X-Warning", escaped(warning).encode("ascii", "backslashreplace").decode())
        if self.close_connection or self.server.crowded:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.timed.allow(self.server.config.timeout)
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are counted, not logged."""


def data_of(body: bytes) -> tuple[Any, list[str] | None, bool]:
    """The lines or the rows of a JSON request, the names of its events, and whether its lines are decisions as JSON.

    Raises Refused, UnicodeEncodeError.
    """
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the request is not JSON: {error}") from error
    named = asked.pop("event_id", None) if isinstance(asked, dict) else None
    names = [named] if isinstance(named, str) else named
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise Refused(400, "event_id is a text, or an array with a text for each event")
    if not isinstance(asked, dict) or len(asked) != 1 or not {"lines", "rows", "events"} & asked.keys():
        forms = '{"lines": ["|a b", ...]}, {"rows": [{"b": 1}, ...]} or {"events": [{"c": {"_multi": [...]}}, ...]}'
        raise Refused(400, f"a request is {forms}")
    (kind, data), type_ = *asked.items(), str if "lines" in asked else dict
    if not isinstance(data, list) or not all(isinstance(row, type_) for row in data):
        raise Refused(400, f"{kind} are {'texts' if type_ is str else 'objects'} in an array")
    if kind == "events":
        return b"".join(json.dumps(row).encode() + b"\n" for row in data), names, True
    if type_ is dict:
        return data, names, False
    if any("\n" in line for line in data):
        raise Refused(400, "a line ends where its text ends: it holds no line break")
    return "".join(f"{line}\n" for line in data).encode(), names, False


WAITING = 64  # connections that are accepted and wait for a worker
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server(HTTPServer):
    """Answers requests in ``config.workers`` threads; while all are busy 64 connections wait, others get 503."""

    request_queue_size = 256  # of the system
    allow_reuse_address = True

    def __init__(self, config: ServeConfig, source: ModelSource, say: Callable[[str], None]) -> None:
        """Listens. Raises OSError where that cannot be."""
        self.config, self.source, self.say = config, source, say
        self.address_family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        super().__init__((config.host, config.port), Handler)
        self.waiting: queue.Queue[tuple[socket.socket, object] | None] = queue.Queue(WAITING)
        self.stopping = threading.Event()
        self.stopped: float | None = None  # when it began to stop
        self.began, self.requests, self.refused = time.monotonic(), 0, 0
        self.counting = threading.Lock()
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(config.workers)]
        self.threads.append(threading.Thread(target=self.watch, daemon=True))

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{f'[{host}]' if ':' in str(host) else host}:{port}"

    def server_bind(self) -> None:
        """Bind as TCP servers do: HTTP's would ask for the name of the address, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def run(self) -> None:
        """Serve until an exception, as of a signal, ends it; requests that have begun are answered."""
        for thread in self.threads:
            thread.start()
        try:
            self.serve_forever(poll_interval=0.5)
        finally:
            self.stop()

    def stop(self) -> None:
        self.server_close()
        self.stopped = time.monotonic()
        self.stopping.set()
        for _ in range(self.config.workers):
            with contextlib.suppress(queue.Full):
                self.waiting.put_nowait(None)
        end = time.monotonic() + self.config.timeout
        for thread in self.threads[: self.config.workers]:
            thread.join(max(end - time.monotonic(), 0))

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        try:
            self.waiting.put_nowait((request, client_address))
        except queue.Full:
            self.refused += 1
            with contextlib.suppress(OSError):
                request.setblocking(False)
                request.send(BUSY)
            self.shutdown_request(request)

    def work(self) -> None:
        while (entry := self.waiting.get()) is not None:
            request, client = entry
            try:
                self.finish_request(request, client)  # type: ignore[arg-type]
            except OSError:
                pass  # the client went away
            except Exception as error:  # one request that has no answer must not end the worker
                self.say(f"a request failed: {type(error).__name__}: {error}")
            self.shutdown_request(request)
            if self.stopping.is_set() and self.waiting.empty():
                return

    def watch(self) -> None:
        while not self.stopping.wait(self.config.reload_every):
            self.source.look()

    def count(self) -> None:
        with self.counting:
            self.requests += 1

    @property
    def crowded(self) -> bool:
        """Whether others wait for a worker, or the server is about to stop: no connection is kept for later."""
        return not self.waiting.empty() or self.stopping.is_set()
