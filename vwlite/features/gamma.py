"""What features of kernels need to know before the first example: ``gamma``, the landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from vwlite.data.batch import SHARED, Batch, Csr, join_rows
from vwlite.data.block_parser import read
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import reading_policy
from vwlite.features.config import RANDOM
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.landmarks import LandmarkMap, chosen_rows
from vwlite.features.random_features import EXAMPLES
from vwlite.features.term_weights import meet, terms_of

LINEAR: dict[str, tuple[str, ...]] = {"quadratic": (), "cubic": (), "interactions": (), "ignore_linear": ()}


def settle_gamma(plan: Plan, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches; where ``gamma`` is to be found, the first ones are read and kept until it is known."""
    source, sample = iter(batches), list[Batch]()

    def first_ones() -> Iterator[Batch]:
        for batch in source:
            sample.append(copy_batch(batch))
            yield sample[-1]

    find_gamma(plan, first_ones())
    yield from sample
    yield from source


def find_gamma(plan: Plan, batches: Iterable[Batch]) -> float | None:
    """Find it, where it is to be found, from the first of the batches; what it is, None where there is none."""
    random = plan.random
    if random is None or not random.waiting:
        return random and random.gamma
    if not isinstance(random, LandmarkMap):
        random.find_gamma(first_rows(plan, EXAMPLES, batches))
    elif random.count:
        rows = first_rows(plan, max(EXAMPLES, random.count), batches)
        random.set_rows(rows.take(chosen_rows(len(rows), random.count, random.seed)))
    else:
        random.set_rows(rows_of(plan, random.path))
    return random.gamma


def first_rows(plan: Plan, most: int, batches: Iterable[Batch]) -> Csr:
    """The terms of the first ``most`` examples."""
    sample = Sample(plan, most)
    for batch in batches:
        sample.add(batch)
        if sample.rows >= most:
            break
    return sample.terms()


def rows_of(plan: Plan, path: str) -> Csr:
    """The terms of a file's lines, whatever their labels are. Raises DataError for a malformed line, InputMissing."""
    form = text_format(plan.config, skip_malformed=True).of_words(lists=True)
    policy, sample = reading_policy(BadLinesConfig(strict=True)), Sample(plan, most=None)
    for part in read([path], form):
        sample.add(plan.extend(policy.examine(part)))
        if part.batch.release:
            part.batch.release()
    return sample.terms()


def copy_batch(batch: Batch) -> Batch:
    """The batch with columns, names and text that stay as they are when the next batch is read."""
    columns, names = batch.columns_from(0, len(batch))
    copy = replace(batch, **columns, names=names, text=bytes(batch.text), release=None)
    if batch.release:
        batch.release()
        batch.release = None
    return copy


class Sample:
    """The terms that features of kernels are made from, of the first ``most`` examples; None: of all."""

    def __init__(self, plan: Plan, most: int | None = EXAMPLES) -> None:
        self.most = most
        alone = {one.name: one.default for one in plan.config.OPTIONS.values() if one.section == RANDOM}
        alone["noconstant"] = True
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
        rows = batch.example_rows(without=SHARED)
        rows = rows if self.most is None else rows[: self.most - self.rows]
        self.parts.append(terms.take(rows))
        self.rows += len(rows)

    def terms(self) -> Csr:
        """A row for each example."""
        return join_rows(self.parts)
