"""The driver: rounds of shards, their merge, and what is kept of them."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from vwlite.config_check import JsonObject
from vwlite.data.config import BadLinesConfig
from vwlite.distributed.delta import Delta
from vwlite.distributed.engines import Engine
from vwlite.distributed.gradients import Optimiser, Then, sum_up
from vwlite.distributed.merge import check_agreement, check_lines, merge, write
from vwlite.distributed.plan import shards_of
from vwlite.distributed.task import Work, learn
from vwlite.errors import ModelError
from vwlite.evaluation.evaluate import evaluate
from vwlite.interrupts import Guard, Interrupted, TemporaryFolder
from vwlite.learners.base import own_rows
from vwlite.learners.losses import LossConfig
from vwlite.options import OptionValues
from vwlite.storage import model_file
from vwlite.storage.atomic_file import atomic_output, beside_output, temporary_file
from vwlite.storage.model_file import Model
from vwlite.storage.output_checks import BEST, CHECKPOINT
from vwlite.training.checkpoint import check_same, deciding_options
from vwlite.training.config import RunConfig
from vwlite.training.ledger import model_digest
from vwlite.training.listener import Display
from vwlite.training.model_loader import restore

ENOUGH = 64_000_000  # bytes of a shard, below which averages lose much
HEADER = "round    average    holdout   seconds  slowest task   MB shipped"


@dataclass(slots=True)
class Round:
    """The result of a round. ``seconds``: its duration, ``slowest``: of its slowest task; ``bytes`` of all deltas."""

    number: int
    average_loss: float | None
    holdout_loss: float | None
    seconds: float
    slowest: float
    bytes: int
    retries: int

    @property
    def line(self) -> str:
        losses = ["n.a." if loss is None else f"{loss:.6f}" for loss in (self.average_loss, self.holdout_loss)]
        costs = f"{self.seconds:10.2f}{self.slowest:14.2f}{self.bytes / 1e6:13.1f}"
        return f"{self.number:5d}{losses[0]:>11}{losses[1]:>11}{costs}"


class Settings(NamedTuple):
    """``holdout``: a file on which every round is measured; ``patience``: rounds without gain after which it ends."""

    shards: int
    rounds: int
    holdout: str | None = None
    patience: int = 3
    resume: bool = False
    then: Then | None = None


@dataclass(slots=True)
class State:
    """The progress of the rounds."""

    reports: list[Round] = field(default_factory=list)
    lines: int = 0
    bad: int = 0
    best: int = 0  # the round whose model is the best so far
    optimised: JsonObject | None = None  # the report of L-BFGS after the rounds

    @property
    def done(self) -> int:
        return len(self.reports)


class Rounds:
    """Makes one model of the data of ``config``, shard by shard, round by round. Close it."""

    def __init__(
        self,
        config: RunConfig,
        settings: Settings,
        base: bytes,
        engine: Engine,
        bad_lines: BadLinesConfig | None = None,
        display: Display | None = None,
        guard: Guard | None = None,
    ) -> None:
        """``base``: the model that the first round begins with. Raises UsageError, InputMissing, and ModelError where
        rounds that were stopped cannot be gone on with.
        """
        self.config, self.settings, self.engine = config, settings, engine
        self.bad_lines, self.display, self.guard = bad_lines or BadLinesConfig(), display or Display(), guard or Guard()
        self.shards = shards_of(config, settings.shards)
        self.state = State()
        output = config.output.model
        self.checkpoint = f"{output}{CHECKPOINT}"
        goes_on = settings.resume and self.goes_on()
        self.folder = TemporaryFolder("vwlite-")
        self.best = f"{output}{BEST}" if output else self.place("best")
        if not output:
            self.checkpoint = self.place("round")
        self.base = self.checkpoint if goes_on else self.place("base")
        if not goes_on:
            with open(self.base, "wb") as file:
                file.write(base)

    def close(self) -> None:
        self.engine.close()
        self.folder.cleanup()

    @property
    def description(self) -> JsonObject:
        """The settings that decide the bytes of the model, as JSON data."""
        pieces = [[piece._asdict() for piece in shard.pieces] for shard in self.shards]
        settings = {**self.settings._asdict(), "resume": None}
        return json.loads(json.dumps({**deciding_options(self.config), **settings, "pieces": pieces}))

    def goes_on(self) -> bool:
        """Whether there is a checkpoint to go on from. Raises ModelError, UsageError."""
        if not os.path.exists(self.checkpoint):
            self.display.message(f"there is no {self.checkpoint} to resume: training starts from the beginning")
            return False
        record = model_file.read_header(self.checkpoint).get("rounds")
        try:
            if record is None:
                raise ModelError(f"{self.checkpoint} is not a checkpoint of rounds")
            then, now = dict(record["told"]), self.description
            if then.pop("pieces") != now.pop("pieces"):
                raise ModelError(f"the input has changed since {self.checkpoint} was written: drop --resume")
            check_same(self.checkpoint, then, now)
            reports = [Round(**fields) for fields in record["reports"]]
            self.state = State(reports, record["lines"], record["bad"], record["best"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"{self.checkpoint} is not a checkpoint of this version ({error})") from error
        self.display.message(f"going on after round {self.state.done} of {self.settings.rounds}")
        return True

    def run(self, announce: Callable[[str], None] | None = None) -> Model:
        """The model of the best round, which is also written where the configuration says; ``announce`` as
        ``model_file.save``. Raises as tasks and the merge do, WorkerLost, Interrupted, OutputError.
        """
        self.note_size()
        self.display.line(HEADER)
        try:
            model = self.all_rounds()
            if self.settings.holdout and self.state.reports[self.state.best - 1].holdout_loss is None:
                self.display.note("the held-out file has no loss to go by, so the model is that of the last round")
            if self.state.best != self.state.done:
                model = model_file.load(self.best)
            if self.settings.then:
                model = self.optimised(model, self.settings.then)
        except Interrupted as signal:
            advice = f"; {self.checkpoint} keeps round {self.state.done}, --resume goes on with it"
            raise Interrupted(signal.number, advice if self.state.done and self.config.output.model else "") from signal
        if self.config.output.model:
            write(self.config.output.model, model, atomic_output, announce)
            for path in (self.checkpoint, self.best):
                with suppress(OSError):
                    os.unlink(path)
        return model

    def all_rounds(self) -> Model:
        model = None
        while not self.is_over:
            model = self.one_round(model or model_file.load(self.base, grows=True))
        return model or without_rounds(model_file.load(self.base))

    @property
    def is_over(self) -> bool:
        state, settings = self.state, self.settings
        stale = bool(settings.holdout) and state.done - state.best >= settings.patience
        return state.done >= settings.rounds or stale

    def one_round(self, model: Model) -> Model:
        begun, retries = time.monotonic(), self.engine.retries
        before = model.header["counters"]
        deltas = self.worked(learn, self.base)
        with self.guard.deferred():
            check_lines(deltas, self.bad_lines.max_ratio)
            check_agreement([(f"shard {delta.task.number}", delta.header) for delta in deltas])
            self.tell(deltas, before)
            model = merge(without_rounds(model), model_digest(self.base), deltas)
            report = Round(
                number=self.state.done + 1,
                average_loss=average_loss(before, model.header["counters"]),
                holdout_loss=None,
                seconds=0.0,
                slowest=max(delta.task.seconds for delta in deltas),
                bytes=sum(delta.nbytes for delta in deltas),
                retries=self.engine.retries - retries,
            )
            self.keep(model, report, begun)
        return model

    def worked(self, work: Work, base: str) -> list[Delta]:
        """The deltas of all shards, in order."""
        how = replace(self.config.input, paths=(), threads=1), self.bad_lines
        with self.guard.deferred():  # a signal must not end the start of a process half way
            deltas = self.engine.run(work, base, self.shards, how, self.guard.check)
            return sorted(deltas, key=lambda delta: delta.task.number)

    def optimised(self, model: Model, then: Then) -> Model:
        """The model after L-BFGS, or ``model`` where that does better on the holdout file."""
        begun, start = time.monotonic(), self.place("optimised")
        write(start, model, temporary_file)
        optimiser = Optimiser(start, then, self.display.line)
        for row in own_rows(optimiser.learner):
            self.display.line(row)

        def sums(base: Model) -> list[Delta]:
            write(start, base, temporary_file)
            return self.worked(sum_up, start)

        optimised = optimiser.run(sums)
        report = {"passes": optimiser.learner.current, "holdout_loss": None, "kept": True, "seconds": 0.0}
        self.state.optimised = report
        if self.settings.holdout:
            write(start, optimised, temporary_file)
            loss, before = self.measured(start), self.state.reports[self.state.best - 1].holdout_loss
            report["holdout_loss"] = loss
            if loss is not None and before is not None:
                self.display.message(f"held out: {loss:.6f} after L-BFGS, {before:.6f} before")
            report["kept"] = is_better(loss, before)
        report["seconds"] = time.monotonic() - begun
        return optimised if report["kept"] else model

    def keep(self, model: Model, report: Round, begun: float) -> None:
        """Measure the round, and write its model as the base of the next one."""
        state = self.state
        state.reports.append(report)
        last = state.done == self.settings.rounds and not self.settings.then
        if self.settings.holdout:
            write(self.place("measured"), model, temporary_file)
            report.holdout_loss = self.measured(self.place("measured"))
        best = state.reports[state.best - 1].holdout_loss if state.best else None
        if is_better(report.holdout_loss, best):
            state.best = state.done
            if self.settings.holdout and not last:
                self.write_beside(self.best, model)
        report.seconds = time.monotonic() - begun
        if not last:
            reports = [asdict(report) for report in state.reports]
            counts = {"lines": state.lines, "bad": state.bad, "best": state.best}
            rounds = {"told": self.description, "reports": reports, **counts}
            self.write_beside(self.checkpoint, model._replace(header={**model.header, "rounds": rounds}))
            self.base = self.checkpoint
        self.display.line(report.line)

    def place(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def write_beside(self, path: str, model: Model) -> None:
        like = self.config.output.model
        write(path, model, (lambda name: beside_output(name, like=like)) if like else temporary_file)

    def measured(self, path: str) -> float | None:
        """The average loss on the holdout file, None where it is undefined or infinite. Raises as ``evaluate``."""
        changes: dict[str, OptionValues] = {"learner_changes": {}, "feature_changes": {}}
        model = restore(path, learning=False, vw_compat=False, **changes)
        input = replace(self.config.input, paths=(self.settings.holdout,))
        config = RunConfig(input=input, features=model.features, learner=model.learner.config, learning=False)
        counters, _ = evaluate(config, model, self.bad_lines, quiet=True)
        loss = counters.sum_loss / counters.labeled_weight if counters.labeled_weight else math.nan
        return loss if math.isfinite(loss) else None

    def tell(self, deltas: Sequence[Delta], before: JsonObject) -> None:
        """Tell in the first round of malformed lines, and labels that differ between shards."""
        if self.state.done:
            return
        self.state.lines = sum(delta.task.lines for delta in deltas)
        self.state.bad = sum(delta.task.bad for delta in deltas)
        for line in [line for delta in deltas for line in delta.task.shown][:10]:
            self.display.message(line)
        if self.state.bad:
            self.display.message(f"{self.state.bad} of {self.state.lines} lines were malformed and left out")
        self.display.note(sorted_labels_note(deltas, before, self.config.learner.loss))

    def note_size(self) -> None:
        of = self.settings.shards
        size = sum(shard.size for shard in self.shards) / of
        compressed = any(piece.compressed for shard in self.shards for piece in shard.pieces)
        if of > 1 and size < ENOUGH and not compressed:
            shards = f"{of} shards of {size / 1e6:.3g} MB"
            self.display.note(f"{shards}: averages of so little are poor; fewer --shards lose less")


def without_rounds(model: Model) -> Model:
    return model._replace(header={name: value for name, value in model.header.items() if name != "rounds"})


def is_better(loss: float | None, best: float | None) -> bool:
    """Whether a held-out loss is below the best one so far; None, no loss, is never better."""
    return best is None or (loss is not None and loss < best)


def average_loss(before: JsonObject, after: JsonObject) -> float | None:
    """The average loss of the examples of a round, each predicted before it was learned."""
    weight = after["labeled_weight"] - before["labeled_weight"]
    return (after["sum_loss"] - before["sum_loss"]) / weight if weight else None


def sorted_labels_note(deltas: Sequence[Delta], before: JsonObject, loss: LossConfig) -> str:
    """A note if two classes, -1 and 1, are spread unevenly over the shards; else empty."""
    counts = [delta.header["counters"] for delta in deltas]
    sizes = [counters["labeled_weight"] - before["labeled_weight"] for counters in counts]
    sums = [counters["weighted_labels"] - before["weighted_labels"] for counters in counts]
    if not loss.loss.two_classes or loss.soft or not sum(sizes):
        return ""
    mean = sum(sums) / sum(sizes)
    deviation = math.sqrt(max(1 - mean * mean, 0))
    means = [total / size for total, size in zip(sums, sizes, strict=True) if size]
    far = [
        abs(total / size - mean) > max(5 / math.sqrt(size), 0.25) * deviation
        for total, size in zip(sums, sizes, strict=True) if size
    ]
    if not any(far):
        return ""
    spread = f"the labels' mean goes from {min(means):.3g} to {max(means):.3g}"
    return f"the shards differ, {spread}: averages of sorted data are poor; shuffle the lines"
