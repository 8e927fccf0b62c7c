"""Audits of groups of lines: a line is shown when it is predicted, and again when it is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import SHARED, Batch, first_of_group
from vwlite.data.label_vocabulary import tag_of
from vwlite.data.shared_lines import with_shared
from vwlite.features.feature_names import term_names, with_all_linear
from vwlite.features.feature_plan import Plan
from vwlite.features.row_terms import terms_of_row
from vwlite.learners.multiline import Multiline, line_of, number_text
from vwlite.training.audit import items_line
from vwlite.training.listener import Listener, Run


class Terms(NamedTuple):
    """A line's: ``linear`` of them come before the interactions."""

    names: list[str]
    slots: np.ndarray  # uint32[terms]
    values: np.ndarray  # float32[terms]
    linear: int


class GroupAudit(Listener):
    """Shows every score that the kernel tells of, while the weights are those it was made of."""

    def __init__(self, learner: Multiline, plan: Plan, show: Callable[[bytes], None]) -> None:
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


def difference(terms: Terms, other: Terms) -> Terms:
    """In the kernel's order; what is taken away has no names."""

    def between(a, b):
        return np.concatenate([a[: terms.linear], b, a[terms.linear :]])

    names = [*terms.names[: terms.linear], *[""] * len(other.names), *terms.names[terms.linear :]]
    return Terms(names, between(terms.slots, other.slots), between(terms.values, -other.values), terms.linear)
