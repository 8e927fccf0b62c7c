"""Why an example got its score: the terms of the sums that its prediction was made from, by name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import SHARED, Batch, tag_of
from vwlite.data.config import BadLinesConfig
from vwlite.errors import Diverged
from vwlite.features.feature_names import once_each, row_terms
from vwlite.features.feature_plan import Plan
from vwlite.features.name_index import shift_slots
from vwlite.learners.abilities import Explainable
from vwlite.learners.base import Learner, collect_non_finite, has_simple_labels
from vwlite.learners.row_results import CrossedTerms, Results, WeightedSum
from vwlite.training.assembly import MalformedLineCheck, check_terms, malformed_line_policy
from vwlite.training.audit import shrink_weights
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener, Run
from vwlite.training.model_loader import Restored
from vwlite.training.predict import not_finite
from vwlite.training.predictions import Unmoved
from vwlite.training.trainer import Trainer


class Term(NamedTuple):
    """A feature of a line, or several crossed, and its part in a sum."""

    name: str  # as in audits; empty where the data have no names
    slot: int | None  # of the weight's table; None where the weight is a product of latent vectors or factors
    value: float
    weight: float
    product: float  # of the two, in double precision


class Sum(NamedTuple):
    """``base`` and the products of all terms add up to ``value``, as far as the kernel's precision goes.

    A feature that a line repeats is one term, with the sum of its values.

    A kernel of one weight a feature adds in float32: with n terms, those left out and repetitions included, the sum
    differs from ``value`` by at most (n + 2) 2^-24 of ``abs(base)`` plus all ``abs(product)``. The dot products of a
    dyadic model are added in float64, and ``value`` is rounded to float32.
    """

    name: str  # of the class, or what the sum is the score of; empty where an example has but one
    value: float  # before it is clipped and linked
    base: float  # the example's initial prediction
    terms: list[Term]  # the strongest first
    others: int  # how many more terms there are
    others_product: float  # what these add


class Explanation(NamedTuple):
    """The explanation of an example: its place in the data, its prediction, and its sums, the answer's first."""

    location: str
    tag: str
    prediction: float | str
    sums: list[Sum]


class Explainer(Listener):
    """Tells ``show`` of every example, in order. The run is to go row by row and not to learn."""

    def __init__(self, show: Callable[[Explanation], None], top: int | None = None, classes: int | None = None) -> None:
        """``top`` terms of each sum at most, and sums of ``classes`` classes; None for all."""
        self.show, self.top, self.classes = show, top, classes

    def begin(self, run: Run) -> None:
        self.learner, self.plan = run.learner, run.plan
        self.learner.want_sums()

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for row in batch.example_rows(begin, end, without=SHARED).tolist():
            tag = batch.tag(row) if has_simple_labels(self.learner) else tag_of(batch, row)
            sums = self.learner.weighted_sums(batch, results, row, self.classes)
            self.show(
                Explanation(
                    batch.location(row),
                    tag.decode("utf-8", "surrogateescape"),
                    self.learner.answer_of(results, row),
                    sums_of_row(batch, self.plan, self.learner, row, sums, self.top),
                )
            )


def sums_of_row(
    batch: Batch, plan: Plan, learner: Learner, row: int, wanted: list[WeightedSum], top: int | None
) -> list[Sum]:
    """The ``top`` strongest terms of each sum. ``plan`` must have seen the row's namespaces.

    Raises DataError for a row of too many terms, MemoryError.
    """
    crossed = learner.crossed_terms(batch, plan, row)
    if crossed is None:
        return [Sum(score.name, score.value, score.value, [], 0, 0.0) for score in wanted]
    base = float(batch.initial_prediction[row])
    names, slots, values = once_each(row_terms(batch, plan, row))
    slots, values = shift_slots(slots, learner.layout[0], plan.bits), values.astype(float)
    sums = []
    for score in wanted:
        places = slots + np.uint32(score.weight_set)
        own = shrink_weights(learner.weights[places, 0], learner)
        weights = np.array(learner.in_label_units(own, names, places), float)
        linear = CrossedTerms(names.__getitem__, values, weights)
        sums.append(Sum(score.name, score.value, base, *strongest_terms([linear, *crossed], places, top)))
    return sums


def strongest_terms(parts: list[CrossedTerms], slots: np.ndarray, top: int | None) -> tuple[list[Term], int, float]:
    """The ``top`` terms that move the sum most, the number of the others and what they add.

    The terms of the first part have ``slots``. Among equals the earlier one comes first.
    """
    values, weights = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    with np.errstate(all="ignore"):
        products = values * weights
        order = np.argsort(-np.abs(products), kind="stable")
        left_out = float(products[order[top:]].sum()) if top is not None else 0.0
    edges = np.cumsum([len(part.values) for part in parts])
    terms = []
    for place in order[:top].tolist():
        part = int(np.searchsorted(edges, place, side="right"))
        name = parts[part].name(place - (int(edges[part - 1]) if part else 0))
        slot = None if part else int(slots[place])
        terms.append(Term(name, slot, float(values[place]), float(weights[place]), float(products[place])))
    return terms, len(order) - len(terms), left_out


def explain(
    config: RunConfig,
    model: Restored,
    output: AbstractContextManager[Callable[[Explanation], None]],
    bad_lines: BadLinesConfig | None = None,
    *,
    top: int | None = None,
    classes: int | None = None,
    quiet: bool = False,
    display: Display | None = None,
) -> None:
    """Explain every example, whatever its label. ``output`` gives the function that takes them, closed at the end.

    ``top`` and ``classes`` as of ``Explainer``; ``quiet``: no messages. ``config.output`` must ask for names.

    Raises UsageError when predictions of the model are no sums. DataError (too many lines were malformed) and Diverged
    (a prediction was not a finite number) are raised only at the end, when ``output`` is closed.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    learner, plan = model.learner, model.plan
    check_terms("explain", learner, isinstance(learner, Explainable) and learner.is_sum)
    say = None if quiet else display.message
    policy = malformed_line_policy(config, learner, model, bad_lines, say, check_labels=False, to_the_end=True)
    source, unmoved = FileBatches(config, learner, policy, display), Unmoved()
    collect_non_finite(learner)
    with ExitStack() as closing:
        closing.callback(source.close)
        show = closing.enter_context(output)
        closing.enter_context(policy.keeping())
        closing.callback(display.close)
        display.start(source.inputs.size())
        watching = [unmoved] if has_simple_labels(learner) else []
        listeners = [Explainer(show, top, classes), *watching, MalformedLineCheck(policy)]
        Trainer(learner, plan, source, listeners, row_by_row=True).run()
    if say and (warning := unmoved.warning(learner, plan, source.inputs.format)):
        say(f"note: {warning}")
    policy.check_ratio(policy.lines)
    if learner.non_finite:
        raise Diverged(not_finite(learner.non_finite))
