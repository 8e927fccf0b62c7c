"""Predictions and raw predictions of a run, written as they are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, INNER, SAVE, Batch
from vwlite.data.text_format import EMPTY_SET, TextFormat, parse_text
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import GroupsOfLines, OwnLines
from vwlite.learners.base import (
    Learner,
    answer_line,
    answers_of,
    has_simple_labels,
    no_answer_of,
    output_names,
    shows_actions,
    shows_raw,
    want_scores,
    writes_lines,
)
from vwlite.learners.row_results import Results
from vwlite.training.config import OutputConfig
from vwlite.training.listener import Listener
from vwlite.training.prediction_writer import PredictionWriter


class Predictions(Listener):
    """Writes a line for every example, or for every group of lines what the learner has for it."""

    def __init__(
        self,
        writer: PredictionWriter,
        learner: Learner,
        *,
        raw: bool = False,
        all_digits: bool = True,
        fill_gaps: bool = False,
        only: int = 0,
    ) -> None:
        """``raw``: predictions before clip and link, with ``all_digits`` or six of them. ``fill_gaps``: a malformed
        line's prediction is ``nan``, so that predictions stay beside their lines. ``only``: of this pass, 0: of all.
        """
        self.writer, self.learner, self.raw = writer, learner, raw
        self.all_digits, self.fill_gaps = raw and all_digits, fill_gaps
        self.only, self.number = only, 1

    def begin_pass(self, number: int) -> None:
        self.number = number

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.only and self.number != self.only:
            return
        values = results.raw if self.raw else results.prediction
        for gap in batch.gaps_of(begin, end) if self.fill_gaps else ():
            self.write_rows(batch, results, values, begin, gap)
            self.write_gap()
            begin = gap
        self.write_rows(batch, results, values, begin, end)

    def write_gap(self) -> None:
        self.writer.write_bytes(b"nan\n")

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        learner, writer, raw = self.learner, self.writer, self.raw
        if isinstance(learner, GroupsOfLines):
            writer.write_bytes(learner.group_lines(batch, results, begin, end, raw))
        elif not has_simple_labels(learner) if raw else writes_lines(learner):
            text = partial(answer_line, learner, batch, results, raw=raw)
            tags = not (isinstance(learner, OwnLines) and learner.places_tags)
            writer.write_lines(batch, text, begin, end, tags=tags)
        elif results.flip_importance is None:
            writer.write(batch, values, begin, end, whole=self.all_digits, small=learner.config.takes_any_unit)
        else:
            small = (learner.config.takes_any_unit, learner.kernel.target is not None)
            writer.write_beside(batch, values, results.flip_importance, begin, end, small)


def open_predictions(
    closing: ExitStack,
    output: OutputConfig,
    learner: Learner,
    *,
    as_raw: bool = False,
    all_digits: bool = True,
    fill_gaps: bool = False,
    only: int = 0,
) -> list[Predictions]:
    """The listeners that write the predictions of ``output``, in files that ``closing`` closes; ``as_raw``:
    predictions are written as raw ones are.

    The others as ``Predictions`` has them.

    Raises OutputError. Of a learner without raw predictions their file stays empty, as vw's does.
    """

    def opened(path: str, raw: bool) -> Predictions:
        writer = closing.enter_context(PredictionWriter(path))
        how = {"all_digits": all_digits, "fill_gaps": fill_gaps, "only": only}
        return Predictions(writer, learner, raw=raw, **how)

    plain = opened(output.predictions, as_raw) if output.predictions else None
    raw = opened(output.raw_predictions, True) if output.raw_predictions else None
    if shows_raw(learner) and (raw or as_raw) and not has_simple_labels(learner):
        want_scores(learner)
    return [writer for writer in (plain, raw if shows_raw(learner) else None) if writer]


class SimulatedLog(PredictionWriter, Listener):
    """The file of the decisions of a simulated bandit, with the actions drawn, their costs and probabilities."""

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: a ``vwlite.learners.simulate.Simulation``."""
        from vwlite.data.text_writer import TextWriter  # which other runs need not

        super().__init__(path)
        self.learner, self.text = learner, TextWriter(TextFormat())
        self.last: Batch | None = None  # whose features are ``bodies``
        self.bodies: list[bytes] = []

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if batch is not self.last:
            try:
                self.last, self.bodies = batch, self.text.bodies(batch)
            except DataError as error:
                raise DataError(f"--log: {error}") from error
        for decision in self.learner.played(batch, results, begin, end):
            cost, p = (str(np.float32(number)).removesuffix(".0") for number in (decision.cost, decision.probability))
            label = f"{decision.action}:{cost}:{p}".encode()
            self.write_bytes(self.learner.as_text(batch, decision.row, decision.place, label, self.bodies))


class LabelledPredictions(Predictions):
    """Writes the label of every example behind the prediction: a number, ``nan`` without one, or a class or a set."""

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        learner = self.learner
        if has_simple_labels(learner) and not writes_lines(learner):
            small = learner.config.takes_any_unit
            self.writer.write_beside(batch, values, batch.label, begin, end, (small, small))
            return

        def text(row: int) -> str:
            answer = answer_line(learner, batch, results, row, self.raw) or EMPTY_SET
            return f"{answer} {shown_label(learner, batch, row) or EMPTY_SET}"

        self.writer.write_lines(batch, text, begin, end)


def open_labelled(
    closing: ExitStack, output: OutputConfig, learner: Learner, *, as_raw: bool, fill_gaps: bool
) -> list[Predictions]:
    """Open predictions with labels, in place of ``open_predictions``.

    Raises OutputError, and UsageError as ``check_labels_shown``.
    """
    check_labels_shown(learner)
    others = open_predictions(closing, replace(output, predictions=None), learner, fill_gaps=fill_gaps)
    writer = closing.enter_context(PredictionWriter(output.predictions or "-"))
    if as_raw and not has_simple_labels(learner):
        want_scores(learner)
    return [LabelledPredictions(writer, learner, raw=as_raw, all_digits=False, fill_gaps=fill_gaps), *others]


SETS = "MULTILABEL"


def label_kind(learner: Learner) -> str:
    """The kind of labels, by vw's names; ``NUMBERS`` for several outputs."""
    return learner.description[1]


def check_labels_shown(learner: Learner) -> None:
    """Raises UsageError where labels are no numbers, classes or sets of them."""
    if learner.config.multiline or label_kind(learner) not in ("SIMPLE", "NUMBERS", "MULTICLASS", SETS):
        raise UsageError(
            "--with-labels is for labels that are numbers, classes or sets: costs and groups have none such"
        )


def shown_label(learner: Any, batch: Batch, row: int) -> str:
    """A row's label as predictions are written; ``unknown`` without one, of numbers ``nan``."""
    if output_names(learner):
        return " ".join(f"{value:g}" for value in learner.label_of(batch, row).tolist())
    return f"{batch.label[row]:g}" if has_simple_labels(learner) else learner.label_text(batch, row)


class Drawing:
    """A generator of actions for one event after the other."""

    def next(self) -> float | None:
        """A number in [0, 1) for the next event; None for its best action."""
        return None

    def skip(self) -> None:
        """The next event is malformed."""


class Draws(Drawing):
    """Draws by a seed and the number of the event; malformed ones have none."""

    def __init__(self, learner: Learner, seed: int) -> None:
        """Raises UsageError where the model is none of a policy that explores."""
        if not (shows_actions(learner) and learner.config.explorer):
            raise UsageError("--sample is for policies that explore (--cb_explore, --cb_explore_adf)")
        self.seed, self.number = seed, 0

    def next(self) -> float:
        self.number += 1
        return uniform_number(self.seed, self.number - 1, OF_EVENTS)


OF_EVENTS, OF_NAMED_EVENTS = 1 << 33, 1 << 34  # streams of random numbers


def uniform_number(seed: int, event: int, stream: int) -> float:
    from vwlite._native.bandit import uniform  # which only policies need

    number: float = uniform(seed % 2**64, event, stream)
    return number


def event_rows(learner: Learner, batch: Batch, begin: int, end: int) -> list[int]:
    """The rows at which answers to events stand."""
    other = BLANK | SAVE | (INNER if learner.config.multiline else 0)
    rows: list[int] = (np.flatnonzero(batch.flags[begin:end] & other == 0) + begin).tolist()
    return rows


class NamedDraws(Drawing):
    """Draws by a seed and the name of each event: the same name has the same number."""

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        self.seed, self.names, self.number = seed, names, 0

    def next(self) -> float:
        import hashlib  # which other runs need not

        self.skip()
        name = self.names[self.number - 1] if self.number <= len(self.names) else ""
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return uniform_number(self.seed, int.from_bytes(digest, "little"), OF_NAMED_EVENTS)

    def skip(self) -> None:
        self.number += 1

    def check(self) -> None:
        """Raises UsageError where there were more or fewer events than names."""
        if self.number != len(self.names):
            raise UsageError(f"event_id: {len(self.names)} for {self.number} events; each has its own")


class DrawnPredictions(Predictions):
    """Writes the action drawn and its probability, ``2:0.25``; those of all actions behind where they are asked for."""

    def __init__(self, writer: PredictionWriter, learner: Learner, draws: Draws) -> None:
        super().__init__(writer, learner, fill_gaps=True)
        self.draws = draws

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        learner: Any = self.learner
        lines = []
        for row in event_rows(learner, batch, begin, end):
            chosen, _, tag = learner.decision(batch, results, row, self.draws.next())
            others = learner.probable(batch, results, row) if learner.config.probabilities else ()
            text = " ".join(f"{action}:{p:g}" for action, p in [chosen[:2], *others]).encode()
            lines.append(text + (b" " + tag if tag else b"") + b"\n")
        self.writer.write_bytes(b"".join(lines))


def open_drawn(
    seed: int, closing: ExitStack, output: OutputConfig, learner: Learner, **other: Any
) -> list[Predictions]:
    """Open predictions with actions drawn, in place of ``open_predictions``.

    Raises OutputError, and UsageError as ``Draws``.
    """
    draws = Draws(learner, seed)
    raw = open_predictions(closing, replace(output, predictions=None), learner, fill_gaps=True)
    writer = closing.enter_context(PredictionWriter(output.predictions or "-"))
    return [DrawnPredictions(writer, learner, draws), *raw]


Answers = np.ndarray | list[Any]


class PredictionArrays(Listener):
    """Keeps what the learner answers to every row that is not blank; a malformed line's answer is ``missing``."""

    def __init__(
        self, learner: Learner, raw: bool = False, fill_gaps: bool = False, draws: Draws | None = None
    ) -> None:
        """``raw``: predictions before clip and link. ``fill_gaps``: malformed lines have an answer, too.

        ``draws``: answers are pairs of an action drawn and its probability.
        """
        self.learner, self.raw, self.fill_gaps, self.draws = learner, raw, fill_gaps, draws
        self.parts: list[Answers] = []

    def begin_pass(self, number: int) -> None:
        self.parts = []  # those of the last pass count

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for gap in batch.gaps_of(begin, end) if self.fill_gaps else ():
            self.add(batch, results, begin, gap)
            self.parts.append([(-1, math.nan)] if self.draws else no_answer_of(self.learner, self.raw))
            begin = gap
        self.add(batch, results, begin, end)

    def add(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.draws:
            learner: Any = self.learner
            rows_of_events = event_rows(learner, batch, begin, end)
            drawn = [learner.decision(batch, results, row, self.draws.next())[0] for row in rows_of_events]
            self.parts.append([(decision.action, decision.probability) for decision in drawn])
            return
        rows = np.flatnonzero(batch.flags[begin:end] & BLANK == 0) + begin
        self.parts.append(answers_of(self.learner, batch, results, rows, self.raw))

    def result(self) -> Answers:
        """The answers for all rows: an array of one dtype, or a list where answers are lists."""
        if any(isinstance(part, list) for part in self.parts):
            return [answer for part in self.parts for answer in part]
        parts = [part for part in self.parts if len(part)] or [no_answer_of(self.learner, self.raw)[:0]]
        return np.concatenate(parts)


class Unmoved(Listener):
    """Looks at predictions before clip and link until one differs from the first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget what was seen."""
        self.first: float | None = None
        self.all_same = True
        self.rows = 0

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.all_same:
            self.look(batch, results.raw, begin, end)

    def look(self, batch: Batch, raw: np.ndarray, begin: int, end: int) -> None:
        shown = raw[begin:end][batch.flags[begin:end] & BLANK == 0]
        if not len(shown):
            return
        if self.first is None:
            self.first = float(shown[0])
        self.all_same = bool((shown == self.first).all())
        self.rows += len(shown)

    def warning(self, learner: Learner, plan: Plan, text: TextFormat) -> str:
        """Empty unless all predictions were that of a line without features."""
        if not (self.all_same and self.rows) or self.first != without_features(learner, plan, text):
            return ""
        several = f"all {self.rows} predictions are" if self.rows > 1 else "the prediction is"
        return (
            f"no feature of the data changed a prediction: {several} that of a line without features; was the model "
            "trained on other data? (namespaces and names must be the same)"
        )


def without_features(learner: Learner, plan: Plan, text: TextFormat) -> float:
    """The prediction for a line without features, before clip and link."""
    batch, results = parse_text(b"|", text), Results()
    results.reserve(1)
    learner.run(batch, plan, results, 0, 1)
    return float(results.raw[0])
