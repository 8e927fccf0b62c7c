"""Audits: every example's prediction with the features and weights it is made of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import BinaryIO, NamedTuple

import numpy as np

from vwlite._native.feature_words import FeatureWords
from vwlite._native.format_predictions import format_predictions
from vwlite._native.format_terms import format_terms
from vwlite.data.batch import BLANK, SHARED, Batch, first_of_group, tag_of
from vwlite.data.multiline import with_shared
from vwlite.features.feature_names import row_terms, term_names, with_all_linear
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_NAME
from vwlite.features.name_index import RowNames, first_slots, rows_alone, shift_slots, without_stop
from vwlite.features.term_weights import terms_of, terms_of_row
from vwlite.learners.base import label_range
from vwlite.learners.explore import BanditGroups
from vwlite.learners.gd import COLUMNS, Gd
from vwlite.learners.multiline import Multiline, line_of, number_text
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.listener import Display, Listener, Run

ROWS_AT_ONCE, CROSSED_ROWS_AT_ONCE = 1 << 10, 1 << 4  # whose lines are made at once


class Audit(Listener):
    """Shows every row's prediction and what it is made of."""

    def __init__(self, learner: Gd, plan: Plan, show: Callable[[bytes], None]) -> None:
        """``row_by_row``: the run has to go row by row, as weights change or the learner keeps one row's sums."""
        self.learner, self.plan, self.show = learner, plan, show
        kind = type(learner)
        usual = Gd.audited_classes, Gd.reported_predictions, Gd.clipped_prediction
        own = (kind.audited_classes, kind.reported_predictions, kind.clipped_prediction) != usual
        self.row_by_row = learner.learning or own
        self.lines: dict[int, bytes] = {}  # of the row by class, from the weights before it is learned
        self.next = 0  # the first row of the batch that is not shown yet

    def before(self, batch: Batch, begin: int, end: int) -> None:
        self.next = begin
        if self.row_by_row:
            classes = self.learner.audited_classes(batch, begin) if end > begin else ()
            self.lines = {number: audit_line(batch, self.plan, self.learner, begin, number) for number in classes}

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        self.show_until(batch, results, end)

    def show_until(self, batch: Batch, results: Results, end: int) -> None:
        """Show the rows before ``end`` that have been run and are not shown yet."""
        rows = batch.example_rows(self.next, end)
        self.next = end
        if not self.row_by_row and len(rows) and has_plain_terms(batch, self.plan):
            size = ROWS_AT_ONCE if self.plan.flat else CROSSED_ROWS_AT_ONCE
            for part in np.array_split(rows, -(-len(rows) // size)):
                self.show(audit_of_rows(batch, self.plan, self.learner, results, part))
            return
        for row in rows.tolist():
            line_now = partial(audit_line, batch, self.plan, self.learner, row)
            lines = self.lines if self.row_by_row else {0: line_now(0)}
            self.show(audit_text(batch, self.learner, results, row, lines, line_now))


def has_plain_terms(batch: Batch, plan: Plan) -> bool:
    """Whether the rows' terms are their features as the data have them, and interactions of these, with names."""
    changed = plan.weights or plan.centring or plan.random or plan.theta or plan.pairs
    return bool(plan.plain and not changed and batch.names is not None and not batch.any_flags & SHARED)


class NamesInText:
    """Names that stand one behind the other in ``text``; name ``i`` ends before byte ``ends[i]``, int64[names]."""

    def __init__(self, text: bytes, ends: np.ndarray) -> None:
        self.text, self.ends = text, ends

    @classmethod
    def of(cls, names: list[str]) -> NamesInText:
        words = [name.encode("utf-8", "surrogateescape") for name in names]
        return cls(b"".join(words), np.cumsum([len(word) for word in words], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> str:
        begin = int(self.ends[place - 1]) if place else 0
        return self.text[begin : int(self.ends[place])].decode("utf-8", "surrogateescape")


def audit_of_rows(batch: Batch, plan: Plan, learner: Gd, results: Results, rows: np.ndarray) -> bytes:
    """``audit_text`` of ``rows``, int64[n] ascending, none of which has been learned from, of plain terms."""
    plan = without_stop(with_all_linear(plan))
    terms = terms_of(rows_alone(batch, rows), plan)
    edges = terms.indptr[[*(rows - rows[0]), len(terms)]]
    names = names_of_rows(batch, plan, rows, np.diff(edges))
    low, high = label_range(learner)
    raw = results.raw[: rows[-1] + 1].astype(float)
    shown = np.where(np.isnan(raw), 0.0, np.minimum(np.maximum(raw, low), high)).astype(np.float32)
    wanted = np.full(len(shown), BLANK, np.uint8)
    wanted[rows] = batch.flags[rows]
    tags = batch.tag_start, batch.tag_end, batch.text if len(batch.text) else None
    small = learner.config.takes_any_unit
    heads = format_predictions(shown, wanted, *tags, int(rows[0]), len(shown), small=small)
    slots = shift_slots(terms.indices, learner.layout[0], plan.bits)
    return term_lines(learner, names, slots, terms.values, edges, heads)


def names_of_rows(batch: Batch, plan: Plan, rows: np.ndarray, sizes: np.ndarray) -> NamesInText:
    """The names of all terms of ``rows``, which have ``sizes`` of them."""
    if plan.flat:
        constant = CONSTANT_NAME.encode() if plan.constant else b""
        text, ends = FeatureWords(batch, plan.redefine).of_rows(rows, constant)
        return NamesInText(text, np.frombuffer(ends, np.int64))
    made, names = RowNames(batch, plan), []
    for row, size in zip(rows.tolist(), sizes.tolist(), strict=True):
        names += made.of_row(row, range(size))
    return NamesInText.of(names)


def audit_text(
    batch: Batch, learner: Gd, results: Results, row: int, lines: dict[int, bytes], line_now: Callable[[int], bytes]
) -> bytes:
    """Write for each prediction behind that of the row just run: the prediction, its tag, and the class's line.

    ``lines``, by class, are of before the row was learned; ``line_now`` tells one of afterwards. As in Vowpal Wabbit's
    audits predictions are clipped but the link is not applied.
    """
    tag = batch.tag_start[row : row + 1], batch.tag_end[row : row + 1]
    text = batch.text if len(batch.text) else None
    line_text = b""
    for number, learned, prediction in learner.reported_predictions(results, row, lines):
        value = np.full(1, prediction, np.float32)
        line = line_now(number) if learned else lines[number]
        flags, small = batch.flags[row : row + 1], learner.config.takes_any_unit
        line_text += format_predictions(value, flags, *tag, text, 0, 1, small=small)
        line_text += line + b"\n"
    return line_text


def audit_line(batch: Batch, plan: Plan, learner: Gd, row: int, number: int = 0) -> bytes:
    """The row's terms with the weights of now, of class ``number`` from 0, those that move the prediction most first.

    Each is a tab and ``name:slot:value:weight``, then ``@G``, the sum of squared gradients, where
    learning is adaptive. ``plan`` must have seen the row's namespaces. Raises MemoryError.
    """
    names, slots, values = row_terms(batch, with_all_linear(plan), row)
    return items_line(learner, names, shift_slots(slots, learner.layout[0], plan.bits) + np.uint32(number), values)


def items_line(learner: Gd, names: list[str], slots: np.ndarray, values: np.ndarray) -> bytes:
    """The line of these terms."""
    return term_lines(learner, NamesInText.of(names), slots, values, np.array([0, len(slots)], np.int64))


def term_lines(
    learner: Gd,
    names: NamesInText,
    slots: np.ndarray,
    values: np.ndarray,
    edges: np.ndarray,
    heads: bytes | None = None,
) -> bytes:
    """The lines of rows of terms, those from ``edges[i]`` to ``edges[i + 1]``, as ``format_terms`` has them."""
    table = learner.weights[slots]
    squares = None
    if learner.stride > 1 and learner.config.modes[0] and not learner.config.ftrl:
        squares = np.ascontiguousarray(table[:, COLUMNS.index("adaptive")])
    with np.errstate(all="ignore"):
        effects = (learner.in_label_units(table[:, 0], names, slots) * values).astype(np.float32, copy=False)
    weights = learner.in_label_units(shrink_weights(table[:, 0], learner), names, slots)
    return format_terms(names.text, names.ends, edges, slots, values, weights, squares, effects, heads)


class WeightNames(Listener):
    """Writes every weight of a model with its name, ``name:slot:weight``, when the data first have the feature."""

    def __init__(self, learner: Gd, plan: Plan, path: str, closing: ExitStack, display: Display) -> None:
        """``closing`` closes the file ``path``."""
        self.learner, self.plan, self.path, self.closing, self.display = learner, plan, path, closing, display
        self.left = learner.weights[:, 0] != 0
        self.out: BinaryIO | None = None

    def begin(self, run: Run) -> None:
        self.out = self.closing.enter_context(atomic_output(self.path))
        self.display.line(f"Regressor contains {int(np.count_nonzero(self.left))} values")

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        plan = with_all_linear(self.plan)
        for row in batch.example_rows(begin, end, without=SHARED):
            whole, at = with_shared(batch, int(row))
            slots = first_slots(whole, plan, at, self.learner.layout[0])
            if not self.left[slots].any():
                continue
            for name, slot in zip(term_names(whole, plan, at), slots.tolist(), strict=True):
                if self.left[slot]:
                    self.left[slot] = False
                    line = f"{name}:{slot}:{self.learner.weights[slot, 0]:g}\n"
                    self.out.write(line.encode("utf-8", "surrogateescape"))


def shrink_weights(weights: np.ndarray, learner: Gd) -> np.ndarray:
    """Weights, float32[terms], contiguous, after the L1 and L2 shrinkage that the table is still due."""
    if "gravity" not in learner.SCALARS:
        return np.ascontiguousarray(weights)
    gravity, contraction = learner.get("gravity"), learner.get("contraction")
    if not gravity and contraction == 1:
        return np.ascontiguousarray(weights)
    truncated = np.copysign(np.maximum(abs(weights) - gravity, 0), weights).astype(np.float32)
    return truncated * np.float32(contraction)


class Terms(NamedTuple):
    """A line's: ``linear`` of them come before the interactions."""

    names: list[str]
    slots: np.ndarray  # uint32[terms]
    values: np.ndarray  # float32[terms]
    linear: int


class GroupAudit(Listener):
    """Shows every score that the kernel tells of, while the weights are those it was made of."""

    row_by_row = True

    def __init__(self, learner: Multiline | BanditGroups, plan: Plan, show: Callable[[bytes], None]) -> None:
        self.learner, self.plan, self.show = learner, plan, show
        self.rows: Batch | None = None  # those being run

    def begin(self, run: Run) -> None:
        self.learner.observe_scores(self.show_score)

    def before(self, batch: Batch, begin: int, end: int) -> None:
        self.rows = batch

    def show_score(self, row: int, other: int, learns: bool, score: float) -> None:
        terms = self.terms(row, with_all_linear(self.plan))
        if other != row:
            terms = difference(terms, self.terms(other, self.plan))
        self.show_terms(row, terms, score)

    def show_terms(self, row: int, terms: Terms, score: float) -> None:
        first = first_of_group(self.rows, row)
        shared = row == first + 1 and self.rows.flags[first] & SHARED
        line = items_line(self.learner, *terms[:3])
        self.show(line_of(number_text(score), tag_of(self.rows, first if shared else row)) + line + b"\n")

    def terms(self, row: int, plan: Plan) -> Terms:
        """The constant stands before the namespaces that only the shared line has."""
        whole, at = with_shared(self.rows, row)
        index, value, _, groups = terms_of_row(whole, plan, at)
        names = term_names(whole, plan, at)
        sizes = {letter: size for letter, size in groups if not plan.nonlinear[letter]}
        linear, order = sum(sizes.values()), np.arange(len(names))
        if plan.constant:
            segments = self.rows.namespace_char[self.rows.row_namespace[row] : self.rows.row_namespace[row + 1]]
            own = sum(sizes.get(letter, 0) for letter in set(plan.redefine[segments].tolist()))
            order = np.insert(np.delete(order, linear), own, linear)
            linear += 1
        slots, values = np.frombuffer(index, np.uint32)[order], np.frombuffer(value, np.float32)[order]
        return Terms([names[place] for place in order.tolist()], slots, values, linear)


class ActionAudit(GroupAudit):
    """The audit of the actions of a group, which may have several scores."""

    def show_score(self, row: int, place: int, score: float) -> None:  # type: ignore[override]
        terms = self.terms(row, with_all_linear(self.plan))
        slots = shift_slots(terms.slots, self.learner.layout[0], self.plan.bits) + np.uint32(place)
        self.show_terms(row, terms._replace(slots=slots), score)


def difference(terms: Terms, other: Terms) -> Terms:
    """Take ``other`` away from ``terms``, in the kernel's order; what is taken away has no names."""

    def between(a, b):
        return np.concatenate([a[: terms.linear], b, a[terms.linear :]])

    names = [*terms.names[: terms.linear], *[""] * len(other.names), *terms.names[terms.linear :]]
    return Terms(names, between(terms.slots, other.slots), between(terms.values, -other.values), terms.linear)
