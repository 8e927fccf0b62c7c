"""An HTTP server whose clients, however slow, large or many, take a bounded share of it."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from http.server import HTTPServer

from vwlite.serving.config import ServeConfig
from vwlite.serving.handler import Handler
from vwlite.serving.model_source import ModelSource

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
        """As TCP servers do: HTTP's would ask for the name of the address, which may take seconds."""
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
