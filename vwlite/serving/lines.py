"""Lines of text over TCP, as vw's daemon has it: predictions for lines, and one learner of those with a label.

One thread reads all clients in turn, has the model answer what has arrived and writes the answers, so that no model is
read or saved while it changes.
"""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from vwlite.api.data_source import input_opener
from vwlite.api.memory_run import InferenceRun, LearningRun, make_writer, model_after
from vwlite.errors import DataError, Diverged, OutputError, UsageError, VwliteError
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.serving.model_source import ALL, Kept, ModelSource
from vwlite.training.config import ProgressRule, RunConfig
from vwlite.training.model_loader import Restored
from vwlite.training.predictions import Predictions

PIECE = 1 << 16  # bytes read from a client before others have their turn
MOST = 256  # lines of a batch
MALFORMED = b"nan"
BACKLOG = 512  # connections that the system accepts ahead
LOOK = 0.5  # seconds between two looks at the time
GRACE = 2.0  # seconds for answers to leave when the server ends
SAVE = re.compile(rb"'?save(?:_([^\s|]+))?[ \t]*(?:\|.*)?\r?$")


class Model(Protocol):
    """The model that answers lines."""

    multiline: bool  # lines are answered in groups, which empty lines end

    def answer(self, lines: bytes) -> bytes:
        """A line for each line that is not empty, or what a group of lines has."""

    def save(self, path: str) -> None:
        """Save it; an empty path is that of the model. Raises VwliteError."""

    def look(self) -> None:
        """Do what is due from time to time. Raises VwliteError."""


class FollowedModel:
    """Predicts with the model of a file, loaded anew when the file is replaced."""

    def __init__(self, source: ModelSource, every: float) -> None:  # seconds between two looks at the file
        self.source, self.every, self.last = source, every, time.monotonic()

    @property
    def multiline(self) -> bool:
        return self.source.current.model.learner.config.multiline

    def answer(self, lines: bytes) -> bytes:
        return self.source.current.text(lines).content

    def save(self, path: str) -> None:
        raise UsageError("a line asks to save the model, and nothing is learned: --learn is not given")

    def look(self) -> None:
        if time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            self.source.look()


class OwnModel:
    """A model in memory that learns the lines that have a label, each predicted before it is learned."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        model: Restored | None,
        path: str | None,
        *,
        every: float = 0.0,
        all_digits: bool = True,
    ) -> None:
        """``path``: where it is saved, each ``every`` seconds where that is not 0, if it has changed.

        Raises UsageError for a learner that needs all of its data at once.
        """
        if learner.config.needs_full_passes and config.learning:
            raise UsageError(f"--{learner.config.option} learns from all of the data at once, not from single lines")
        output = replace(config.output, quiet=True, model=None, predictions=None, raw_predictions=None)
        output = replace(output, progress=ProgressRule())
        input = replace(config.input, paths=("-",), cache=False, threads=1)
        self.config = replace(config, passes=1, output=output, input=input)
        self.learner, self.plan, self.model = learner, plan, model
        self.path, self.every, self.all_digits = path, every, all_digits
        self.changed, self.saved_at = model is None, time.monotonic()

    @property
    def multiline(self) -> bool:
        return self.learner.config.multiline

    def answer(self, lines: bytes) -> bytes:
        """Raises Diverged where learning has led to no number; the model is not to be saved then."""
        writer, inputs = Kept(), input_opener(lines, {})
        if self.config.learning:
            predictions = Predictions(writer, self.learner, all_digits=self.all_digits, fill_gaps=True)
            run = LearningRun(self.config, self.learner, self.plan, self.model, inputs, ALL, False, predictions)
            run.run()
            self.model = model_after(run.parts)
            self.learner, self.plan, self.changed = self.model.learner, self.model.plan, True
        else:
            tester = self.learner.tester()
            predictions = Predictions(writer, tester, all_digits=self.all_digits, fill_gaps=True)
            with contextlib.suppress(Diverged):
                InferenceRun(self.config, tester, self.current, inputs, ALL, [predictions]).run()
        return writer.data.getvalue()

    @property
    def current(self) -> Restored:
        settings = self.config.input.kept
        return self.model or Restored(self.learner, self.config.features, self.plan, {}, None, 0, settings)

    def save(self, path: str) -> None:
        target = path or self.path
        if not target:
            raise UsageError("a line asks to save the model, and there is no -f that says where")
        make_writer(self.config, self.learner, self.plan, self.model).write_model(target)
        if target == self.path:
            self.changed, self.saved_at = False, time.monotonic()

    def look(self) -> None:
        if self.every and self.changed and self.path and time.monotonic() - self.saved_at >= self.every:
            self.saved_at = time.monotonic()
            self.save("")

    def finish(self) -> None:
        """Save what has changed. Raises VwliteError."""
        if self.config.learning and self.changed and self.path:
            self.save("")


@dataclass(eq=False)
class Client:
    """A connection: what has arrived and is no whole line so far, and what is to leave."""

    connection: socket.socket
    arrived: bytearray = field(default_factory=bytearray)
    leaving: bytearray = field(default_factory=bytearray)
    ended: bool = False  # it sends no more
    begun: bool = False
    registered: int = 0

    def take(self, multiline: bool) -> bytes:
        """The whole lines or groups that have arrived; all of it when no more will come."""
        if self.ended:
            end = len(self.arrived)
        elif multiline:
            ends = [self.arrived.rfind(mark) + len(mark) for mark in (b"\n\n", b"\n\r\n") if mark in self.arrived]
            end = max(ends, default=0)
        else:
            end = self.arrived.rfind(b"\n") + 1
        taken = bytes(self.arrived[:end])
        del self.arrived[:end]
        return taken if not taken or taken.endswith(b"\n") else taken + b"\n"


class LineServer:
    """Answers the lines of any number of clients, each in the order in which it sent them."""

    def __init__(
        self,
        host: str,
        port: int,
        model: Model,
        say: Callable[[str], None],
        *,
        limit: int = 1 << 24,
        loopback: bool = True,
    ) -> None:
        """Listens. ``limit``: bytes that a client may leave unread or a line may have; with ``loopback`` a line may
        name the file that the model is saved to. Raises OSError.
        """
        self.model, self.say, self.limit, self.loopback = model, say, limit, loopback
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self.listener.setblocking(False)
        self.waking, self.woken = socket.socketpair()
        self.selector = selectors.DefaultSelector()
        for listening in (self.listener, self.woken):
            self.selector.register(listening, selectors.EVENT_READ)
        for waking in (self.waking, self.woken):
            waking.setblocking(False)
        self.clients: set[Client] = set()
        self.stopped, self.lines = False, 0

    @property
    def address(self) -> tuple[str, int]:
        return self.listener.getsockname()[:2]  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End ``run`` once the lines at work are answered; from a signal handler, or another thread."""
        self.stopped = True
        with contextlib.suppress(OSError):
            self.waking.send(b"\0")

    def run(self) -> None:
        """Serve until ``stop``. Raises Diverged."""
        try:
            while not self.stopped:
                self.turn(LOOK)
                self.attempt(self.model.look)
            self.drain()
        finally:
            for client in list(self.clients):
                self.close(client)
            for resource in (self.selector, self.listener, self.waking, self.woken):
                resource.close()

    def drain(self) -> None:
        """Send the answers that have not left. What was not answered was not learned."""
        self.selector.unregister(self.listener)
        end = time.monotonic() + GRACE
        while (waiting := [client for client in self.clients if client.leaving]) and time.monotonic() < end:
            for client in waiting:
                self.send(client)
            time.sleep(0.01)

    def turn(self, seconds: float) -> None:
        """Read what has arrived within these seconds, and answer it."""
        ready: list[Client] = []
        for key, events in self.selector.select(seconds):
            if key.fileobj is self.listener:
                self.accept()
            elif key.fileobj is self.woken:
                with contextlib.suppress(OSError):
                    self.woken.recv(PIECE)
            else:
                client: Client = key.data
                if events & selectors.EVENT_READ:
                    self.receive(client)
                ready.append(client)
        if not self.stopped:
            self.answer([client for client in ready if client in self.clients])
        for client in ready:
            if client in self.clients:
                self.send(client)

    def accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError as error:
            if not isinstance(error, BlockingIOError | ConnectionError):
                self.say(f"a connection was not accepted: {error.strerror or error}")
                time.sleep(0.05)  # as where there are no more descriptors
            return
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(connection)
        self.clients.add(client)
        self.watch(client)

    def receive(self, client: Client) -> None:
        try:
            piece = client.connection.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            return self.close(client)
        if piece[:1] == b"\0" and not client.begun:
            self.say("a client sends vw's binary examples (vw --sendto): send lines of text")
            self.close(client)
            return
        client.begun = client.begun or bool(piece)
        client.arrived += piece
        client.ended = not piece

    def answer(self, ready: list[Client]) -> None:
        """The lines of all that are ready, in one batch but where one of them saves the model."""
        batch, size = list[tuple[Client, bytes]](), 0  # far smaller than a block of input, which is learned whole
        for client in ready:
            text = client.take(self.model.multiline)
            if len(client.arrived) > self.limit:
                self.say(f"a line or group has more than {self.limit >> 20} MiB: the client is disconnected")
                self.close(client)
            elif self.model.multiline:
                for group in groups(text):
                    self.answer_one(client, group)
            else:
                for line in text.split(b"\n"):
                    if match := SAVE.match(line):
                        self.flush(batch)
                        self.save((match[1] or b"").decode("utf-8", "surrogateescape"))
                    elif line not in (b"", b"\r"):
                        batch.append((client, line))
                        size += len(line)
                        if size > PIECE or len(batch) == MOST:
                            self.flush(batch)
                            size = 0
        self.flush(batch)

    def answer_one(self, client: Client, group: bytes) -> None:
        first, _, others = group.partition(b"\n")
        if (match := SAVE.match(first)) and not others:
            self.save((match[1] or b"").decode("utf-8", "surrogateescape"))
        else:
            try:
                client.leaving += self.model.answer(group + b"\n\n")
            except DataError:
                client.leaving += MALFORMED + b"\n\n"
            self.lines += group.count(b"\n") + 1

    def flush(self, batch: list[tuple[Client, bytes]]) -> None:
        """Answer these lines, and forget them."""
        if not batch:
            return
        answers = self.answers([line for _, line in batch])
        for (client, _), answer in zip(batch, answers, strict=True):
            client.leaving += answer + b"\n"
        self.lines += len(batch)
        batch.clear()

    def answers(self, lines: list[bytes]) -> list[bytes]:
        """Answer each line; by itself where a label has all of a batch refused, before it was learned."""
        try:
            answers = self.model.answer(b"\n".join(lines) + b"\n").split(b"\n")[:-1]
        except DataError:
            return [MALFORMED] if len(lines) == 1 else [answer for line in lines for answer in self.answers([line])]
        if len(answers) != len(lines):
            raise RuntimeError(f"{len(answers)} answers for {len(lines)} lines")
        return answers

    def save(self, path: str) -> None:
        if path and not self.loopback:
            self.say("a line names a file to save the model to: that is for clients on the loopback only")
        else:
            self.attempt(lambda: self.model.save(path))

    def attempt(self, action: Callable[[], Any]) -> None:
        """Go on where it fails, as where the disk is full."""
        try:
            action()
        except (VwliteError, OSError) as error:
            self.say(str(error))

    def send(self, client: Client) -> None:
        try:
            while client.leaving and (sent := client.connection.send(client.leaving)):
                del client.leaving[:sent]
        except BlockingIOError:
            pass
        except OSError:
            return self.close(client)
        if client.ended and not client.leaving:
            self.close(client)
        else:
            self.watch(client)

    def watch(self, client: Client) -> None:
        """Watch a client; one that does not read its answers is not read from."""
        reads = not client.ended and len(client.leaving) <= self.limit
        events = selectors.EVENT_READ * reads | selectors.EVENT_WRITE * bool(client.leaving)
        if events == client.registered:
            return
        if not client.registered:
            self.selector.register(client.connection, events, client)
        else:
            self.selector.modify(client.connection, events, client)
        client.registered = events

    def close(self, client: Client) -> None:
        if client.registered:
            self.selector.unregister(client.connection)
        self.clients.discard(client)
        client.connection.close()


def groups(text: bytes) -> list[bytes]:
    """The groups of lines of a text, without the empty lines between them."""
    groups: list[list[bytes]] = [[]]
    for line in text.split(b"\n"):
        if line in (b"", b"\r"):
            groups.append([])
        else:
            groups[-1].append(line)
    return [b"\n".join(lines) for lines in groups if lines]


def listen(host: str, port: int, model: Model, say: Callable[[str], None], limit: float = 16.0) -> LineServer:
    """A server of lines; ``limit`` in MiB. Raises OutputError where it cannot listen."""
    try:
        local = host == "localhost" or host == "::1" or host.startswith("127.")
        return LineServer(host, port, model, say, limit=int(limit * (1 << 20)), loopback=local)
    except OSError as error:
        raise OutputError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
