"""The run of a solver: all that is not its mathematics.

Locks and ledger, inputs and malformed lines, progress and signals, checkpoints and ``--resume``, the model file and the
report are the same for every solver; what a solver does itself is declared by ``Solver``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypedDict

import numpy as np

from vwlite.config_check import JsonObject, contents_of, require
from vwlite.data.block_parser import Parsed
from vwlite.data.blocks import Block
from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines, Labels, reading_policy
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError
from vwlite.interrupts import Guard
from vwlite.options import OptionValues, Request
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput
from vwlite.storage.weight_table import Arrays
from vwlite.training.checkpoint import Checkpoint, known_when_stopped
from vwlite.training.ledger import Entry, Ledger, Remarks, RunFiles, model_digest
from vwlite.training.listener import Display, DisplayMonitor, FileRead, Monitor
from vwlite.training.model_header import Input, InputRead, Natural, Word

Content = tuple[JsonObject, Arrays]  # header and arrays of a file, as ``model_file.save`` takes them


class Solver:
    """A learner with a loop of its own over all of its data. It is made before anything is opened or written, from a
    request and the model to go on from: what is refused leaves no trace.
    """

    learner: ClassVar[str]  # its name in model files
    unit: ClassVar[str] = "passes"  # of its steps
    input: InputConfig  # the files to be read
    labels: Labels | None = None  # what checks them
    class_weights: tuple[tuple[float, float], ...] = ()  # of labels that are numbers

    def deciding_options(self) -> OptionValues:
        """The options that decide what is learned, as JSON data."""
        raise NotImplementedError

    def limit(self, paths: tuple[str, ...]) -> None:
        """Read these files only: others were learned before."""
        self.input = replace(self.input, paths=paths)

    def read(self, reader: Reader) -> None:
        """Open the data; what is kept in memory is read. Raises DataError, UsageError."""
        raise NotImplementedError

    def fit(self, monitor: Monitor) -> None:
        """Make the steps that are left. Raises DataError, Diverged, Interrupted, UsageError."""
        raise NotImplementedError

    def state(self) -> Content:
        """The state that ``restore`` takes, as of the last ``Monitor.update``."""
        raise NotImplementedError

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Have ``fit`` go on from the ``state`` of a run with the same options. Here or there KeyError and ValueError
        are raised for what is no such state.
        """
        raise NotImplementedError

    def content(self) -> Content:
        """The model."""
        raise NotImplementedError

    def report(self) -> JsonObject:
        """The result in ``--json``."""
        raise NotImplementedError

    def options(self) -> OptionValues | None:
        """The options in effect in ``--json``; None: as they were given."""
        return None

    def notes(self) -> Iterable[str]:
        """Notes on unusual data and results."""
        return ()


class Reader:
    """Opens the inputs of a run: malformed lines are left out by its ``policy``, which solvers have examine batches."""

    def __init__(
        self, bad_lines: BadLinesConfig, labels: Labels | None, display: Display, quiet: bool,
        class_weights: tuple[tuple[float, float], ...] = (),
    ) -> None:
        self.bad_lines, self.display, self.quiet = bad_lines, display, quiet
        self.policy = self.policy_of(labels, class_weights)
        self.inputs: list[Inputs] = []
        self.lines: dict[str, int] = {}  # of each file, read as text
        self.bad: dict[str, int] = {}  # malformed ones among them
        self.expected = 0, 0  # size and checksum
        self.digests: dict[str, JsonObject] = {}
        self.size = self.checksum = 0  # bytes of all labels, and CRC-32: by them a resumed run knows data from a pipe

    @contextmanager
    def opened(self) -> Iterator[None]:
        """A context in which inputs can be opened; they are closed at its end."""
        with ExitStack() as closing:
            closing.callback(self.close)
            closing.enter_context(self.policy.keeping())
            yield

    def open(
        self, input: InputConfig, format: TextFormat, several_passes: bool = False, at_once: bool = False
    ) -> Inputs:
        """``at_once``: the text is read before the first step, while a bar shows how far it is.

        Raises InputMissing, ModelError for a damaged cache, DataError.
        """
        inputs = Inputs(input, format, several_passes, digested=True)
        self.inputs.append(inputs)
        if at_once and inputs.state != "using":
            self.display.start(inputs.size())
        return inputs

    def policy_of(self, labels: Labels | None = None, class_weights: tuple[tuple[float, float], ...] = ()) -> BadLines:
        """Make the policy of the data that are learned, or of others beside them: their malformed lines are counted by
        themselves, and not kept.
        """
        how = {"quiet": self.quiet, "learns": True, "class_weights": class_weights, "watch": self.count}
        return reading_policy(self.bad_lines, self.display.message, labels, **how)

    def plain_text(self, input: InputConfig) -> Iterator[Block]:
        """Blocks of lines that are no examples. Raises InputMissing, DataError."""
        inputs = self.open(input, TextFormat(), at_once=True)
        for block in inputs.plain():
            lines = block.data.count(b"\n", 0, block.size)
            self.policy.lines += lines
            self.note_block(block, lines, 0, memoryview(block.data)[: block.size])
            yield block

    def count(self, part: Parsed) -> None:
        labels = np.ascontiguousarray(part.batch.label)
        self.note_block(part.block, part.lines, len(part.issues), memoryview(labels).cast("B"))

    def note_block(self, block: Block, lines: int, bad: int, content: memoryview) -> None:
        """Take account of a block; by the bytes of its ``content`` it is known again.

        Raises ModelError where the data are not those that ``expect`` was called with.
        """
        self.lines[block.path] = self.lines.get(block.path, 0) + lines
        self.bad[block.path] = self.bad.get(block.path, 0) + bad
        left = self.expected[0] - self.size
        if 0 < left <= len(content) and zlib.crc32(content[:left], self.checksum) != self.expected[1]:
            raise ModelError("the input is not what the stopped run read: start again without --resume")
        self.size += len(content)
        self.checksum = zlib.crc32(content, self.checksum)
        self.display.advance(block.size)

    def expect(self, size: int, checksum: int) -> None:
        """The data begin with what a stopped run has read."""
        self.expected = size, checksum

    def check_end(self) -> None:
        """Raises ModelError where there was less than ``expect`` was called with."""
        if 0 < self.size < self.expected[0]:
            raise ModelError("the input is shorter than what the stopped run read: start again without --resume")

    @property
    def contents(self) -> dict[str, JsonObject]:
        """Digests of what was read of each file."""
        self.note_contents()
        return self.digests

    def note_contents(self) -> None:
        for inputs in self.inputs:
            self.digests |= inputs.contents

    def close(self) -> None:
        for inputs in self.inputs:
            if inputs.state == "using" and len(inputs.config.paths) == 1:
                self.lines[inputs.config.paths[0]] = inputs.cache.lines
                self.bad[inputs.config.paths[0]] = inputs.cache.bad
        self.note_contents()  # a cache that is closed has none
        digests = {path: found["digest"] for path, found in self.digests.items() if found["whole"]}
        read = [FileRead(path, count, self.bad[path], digests.get(path)) for path, count in self.lines.items()]
        self.display.files(read)
        while self.inputs:
            self.inputs.pop().close()


class StoppedRun(TypedDict):
    """The record of the run in the checkpoint of a solver."""

    told: dict
    inputs: list[InputRead | None]
    known: list[Input]
    size: Natural
    checksum: Word
    history: list[dict]
    state: dict


def read_state(path: str) -> model_file.Model:
    """Read what a checkpoint holds of ``Solver.state``. Raises ModelError."""
    loaded = model_file.load(path)
    if "run" not in loaded.header:
        raise ModelError(f"{path} is a model, not a checkpoint")
    check_run(path, loaded.header)
    return loaded


def read_header(path: str) -> Mapping[str, Any]:
    """The header of a checkpoint, or of a model in its place. Raises ModelError."""
    header = model_file.read_header(path)
    if header.get("run") is not None:
        check_run(path, header)
    return header


def check_run(path: str, header: Mapping[str, Any]) -> None:
    with contents_of(path, "a checkpoint of this version"):
        require(header.get("run"), StoppedRun, "run")


class RunMonitor(DisplayMonitor):
    """Shows the steps of a solver, keeps its history, writes its checkpoint."""

    def __init__(
        self, solver: Solver, reader: Reader, checkpoint: Checkpoint | None, display: Display, guard: Guard,
        known: list[Entry],
    ) -> None:
        """``known``: what the model that the run goes on from has learned."""
        super().__init__(display, solver.unit)
        self.solver, self.reader, self.checkpoint, self.guard = solver, reader, checkpoint, guard
        self.saves = checkpoint is not None
        self.history: list[JsonObject] = []
        self.complete = 0  # entries of the history that the solver's state goes beyond
        self.known = known
        self.begun = False  # there is a state to go on from
        self.changing = False  # it is half done

    def history_row(self, **figures: Any) -> None:
        self.history.append(figures)

    @contextmanager
    def update(self) -> Iterator[None]:
        with self.guard.deferred():
            self.changing = True
            yield
            self.begun, self.changing, self.complete = True, False, len(self.history)
        self.save_if_due()
        self.guard.check()

    def save_if_due(self) -> None:
        if self.checkpoint and self.checkpoint.due:
            self.save()

    def saving(self) -> AbstractContextManager[None]:
        return self.checkpoint.saving(self.save) if self.checkpoint else ExitStack()

    def save(self) -> bool:
        """Write the checkpoint, where there is a whole state to go on from. Answers whether there is a checkpoint."""
        if not self.checkpoint or not self.begun or self.changing:
            return bool(self.checkpoint and self.checkpoint.written)
        state, arrays = self.solver.state()
        run = {
            "known": self.known, "size": self.reader.size, "checksum": self.reader.checksum,
            "history": self.history[: self.complete], "state": state,
        }  # fmt: skip

        def write(path: str, run: JsonObject, open_output: OpenOutput) -> None:
            header = {"learner": f"checkpoint of {self.solver.learner}", "run": run}
            model_file.save(path, header, arrays, open_output=open_output)

        return self.checkpoint.save(run, self.reader.contents, write)

    def restore(self, loaded: model_file.Model) -> None:
        """Go on from a checkpoint."""
        run, path = loaded.header["run"], self.checkpoint.path
        self.solver.restore(run["state"], loaded.arrays)
        self.history, self.begun = run["history"], True
        self.complete = len(self.history)
        self.checkpoint.say(f"going on from {path}")


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The result of a finished run."""

    solver: Solver
    history: list[JsonObject]
    lines: int
    bad_lines: int

    def report(self) -> JsonObject:
        return {**self.solver.report(), "lines": self.lines, "bad_lines": self.bad_lines}


def run_solver(
    kind: Callable[[Request, str | None], Solver],
    request: Request,
    display: Display,
    interrupts: Callable[[], AbstractContextManager[Guard]],
) -> Solved | None:
    """Learn the files of a request and write its model; None where all was learned before.

    ``kind`` makes the solver, of the request and the model to go on from. ``interrupts``: what can stop a run that is
    able to go on. Raises the errors of ``vwlite.errors``, and Interrupted.
    """
    quiet = bool(request.values.get("quiet"))
    files = RunFiles.of(request, Remarks.of(display.message, quiet))
    with ExitStack() as held:
        held.enter_context(files.locked())
        files.settle_initial()
        solver = kind(request, files.initial)
        files.read_ledger(known_when_stopped(files, read_header))
        left = files.unseen(solver.input.paths)
        if not left:
            files.keep_model()
            return None
        solver.limit(left)
        held.callback(display.close)
        reader = Reader(request.config(BadLinesConfig), solver.labels, display, quiet, solver.class_weights)
        checkpoint = checkpoint_of(files, solver)
        guard = held.enter_context(interrupts()) if checkpoint else Guard()
        monitor = RunMonitor(solver, reader, checkpoint, display, guard, files.known)
        ledger = files.ledger(left, not solver.input.examples)
        with monitor.saving():
            with reader.opened():
                stopped = checkpoint.load(read_state) if checkpoint and files.restart.resume else None
                if stopped:
                    reader.expect(stopped.header["run"]["size"], stopped.header["run"]["checksum"])
                solver.read(reader)
                if stopped:
                    go_on(solver, monitor, stopped)
                else:
                    solver.fit(monitor)
                reader.check_end()
                for note in solver.notes():
                    monitor.note(note)
            if files.model:
                save(files.model, solver.content(), ledger, reader)
        if checkpoint:
            checkpoint.remove()
    return Solved(solver, monitor.history, reader.policy.lines, reader.policy.bad)


def go_on(solver: Solver, monitor: RunMonitor, stopped: model_file.Model) -> None:
    """Make the steps that a stopped run had left. Raises ModelError for a damaged checkpoint, and as ``Solver.fit``."""
    try:
        monitor.restore(stopped)
        solver.fit(monitor)
    except (KeyError, ValueError) as error:
        raise ModelError(f"{monitor.checkpoint.path} is not a checkpoint of this version ({error})") from error


def save(path: str, content: Content, ledger: Ledger | None, reader: Reader) -> None:
    """Write the model, and what it has learned. Raises OutputError."""
    if ledger:
        ledger.watch(reader)
    model_file.save(path, *content, ledger.write if ledger else None)


def checkpoint_of(files: RunFiles, solver: Solver) -> Checkpoint | None:
    """Return the path of a model's checkpoint; None for a model that is no file."""
    if not files.keeps_record:
        return None
    initial = model_digest(files.initial) if files.initial else ""
    options = {"command": solver.learner, **solver.deciding_options(), "initial": initial}
    checkpoint = Checkpoint(files.model, options, solver.input.paths, files.remarks.say, files.restart.every)
    if not files.restart.resume:
        checkpoint.remark_on_standing()
    return checkpoint
