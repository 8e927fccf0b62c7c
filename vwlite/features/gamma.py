"""``gamma`` of random features, from the first examples of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, SAVE, SHARED, Batch
from vwlite.data.csr import Csr, joined
from vwlite.features.feature_plan import Plan
from vwlite.features.random_features import EXAMPLES
from vwlite.features.terms import meet, terms_of

LINEAR: dict[str, Any] = {"quadratic": (), "cubic": (), "interactions": (), "ignore_linear": ()}


def settle_gamma(plan: Plan, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches; where ``gamma`` is to be found, the first ones are read and kept until it is known."""
    source, kept = iter(batches), list[Batch]()

    def first_ones() -> Iterator[Batch]:
        for batch in source:
            kept.append(owned(batch))
            yield kept[-1]

    find_gamma(plan, first_ones())
    yield from kept
    yield from source


def find_gamma(plan: Plan, batches: Iterable[Batch]) -> float | None:
    """Find it, where it is to be found, from the first of the batches; what it is, None where there is none."""
    random = plan.random
    if random is None or not random.waiting:
        return random and random.gamma
    sample = Sample(plan)
    for batch in batches:
        sample.add(batch)
        if sample.rows >= EXAMPLES:
            break
    random.find_gamma(sample.terms())
    return random.gamma


def owned(batch: Batch) -> Batch:
    """The batch with columns, names and text that stay as they are when the next batch is read."""
    columns, names = batch.columns_from(0, len(batch))
    copy = replace(batch, **columns, names=names, text=bytes(batch.text), release=None)
    if batch.release:
        batch.release()
        batch.release = None
    return copy


class Sample:
    """The terms that random features are made from, of the first examples."""

    def __init__(self, plan: Plan) -> None:
        alone = {"random_features": "", "gamma": None, "random_of": (), "random_only": False, "noconstant": True}
        chosen = plan.random is not None and plan.random.chosen
        config = replace(plan.config, **alone, **(LINEAR if chosen else {}))
        self.weights, self.plan = plan.weights, Plan(config, plan.seen)
        if chosen:
            self.plan.ignore = self.plan.ignore | (1 - plan.random.of)
            self.plan.plain = self.plan.flat = False
        self.parts: list[Csr] = []
        self.rows = 0

    def add(self, batch: Batch) -> None:
        meet(batch, self.plan)
        terms = self.weights.terms(batch)[0] if self.weights else terms_of(batch, self.plan)
        rows = np.flatnonzero(batch.flags & (BLANK | SAVE | SHARED) == 0)[: EXAMPLES - self.rows]
        self.parts.append(terms.take(rows))
        self.rows += len(rows)

    def terms(self) -> Csr:
        """A row for each example."""
        return joined(self.parts)
