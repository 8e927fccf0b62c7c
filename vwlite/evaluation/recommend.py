"""Which features of a namespace fit an example best: the items that a dyadic model scores highest for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.config import TEXTS, BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import DataError, Diverged, UsageError
from vwlite.evaluation.catalogue import (
    Catalogue,
    ItemBundles,
    Look,
    PersonBundles,
    PersonItems,
    WithoutItems,
    best,
    item_spaces,
    keys_of,
)
from vwlite.evaluation.config import RecommendConfig
from vwlite.interrupts import raise_if_stopped
from vwlite.learners.base import collect_non_finite
from vwlite.learners.row_results import Results
from vwlite.training.assembly import MalformedLineCheck, malformed_line_policy
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored
from vwlite.training.predict import not_finite
from vwlite.training.trainer import Trainer

SCORES_AT_ONCE = 4_000_000


class Recommendation(NamedTuple):
    name: str  # of the feature, without its namespace; its slot where names are unknown
    score: float  # the raw prediction for the example with this feature added


class Recommendations(NamedTuple):
    """For one example: its place in the data, its tag, and what fits best, the highest score first."""

    location: str
    tag: str
    items: list[Recommendation]


class Recommender(Listener):
    """Tells ``chooser.take`` of every wanted example: batch, row (None: a malformed line), float32[items] scores.

    The batches are to be without items.
    """

    def __init__(self, chooser: Lists | HeldOut) -> None:
        self.catalogue, self.wanted, self.take = chooser.catalogue, chooser.wanted, chooser.take
        self.chunk = max(1, SCORES_AT_ONCE // max(1, len(self.catalogue.names)))

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        gaps = batch.gaps_of(begin, end)
        rows = self.wanted(batch, batch.example_rows(begin, end).tolist())
        nothing = np.zeros(0, np.float32)
        for first in range(0, len(rows), self.chunk):
            chosen = rows[first : first + self.chunk]
            scores = self.catalogue.scores(batch, chosen, results.raw[chosen])
            for row, line in zip(chosen, scores, strict=True):
                while gaps and gaps[0] <= row:
                    self.take(batch, None, nothing)
                    gaps.pop(0)
                self.take(batch, row, line)
            raise_if_stopped()
        for _ in gaps:
            self.take(batch, None, nothing)


class Chooser:
    """Chooses the ``top`` items for an example, of those that ``seen`` does not have for its person."""

    def __init__(self, catalogue: Catalogue, top: int, seen: PersonItems | None) -> None:
        self.catalogue, self.top, self.seen = catalogue, top, seen
        self.people: set[int] = set()  # keys of those who were chosen for
        self.batch: Batch | None = None
        self.keys = np.zeros(0, np.uint64)

    def wanted(self, batch: Batch, rows: list[int]) -> list[int]:
        """Those of the rows, in their order, for which items are chosen."""
        return rows

    def key(self, batch: Batch, row: int) -> int:
        """The key of the person of a row."""
        if batch is not self.batch:
            self.batch, self.keys = batch, keys_of(batch, self.catalogue.plan, self.catalogue.partners)
        return int(self.keys[row])

    def known(self, key: int) -> np.ndarray:
        """The places of the items that the person has met."""
        met = self.seen.of(key) if self.seen else np.zeros(0, np.int32)
        return met[met >= 0]

    def choose(self, batch: Batch, row: int, scores: np.ndarray) -> np.ndarray:
        """The places of the items, the highest of ``scores`` first; none where a score is not finite."""
        key = self.key(batch, row)
        self.people.add(key)
        if not np.isfinite(scores).all():
            return np.zeros(0, np.int64)
        return best(scores, self.known(key), self.top)

    def note_unmatched(self, say: Callable[[str], None]) -> None:
        """Print a note of the number of persons without items to leave out, if any."""
        people = self.people - {0}
        unmatched = sum(not len(self.seen.of(key)) for key in people) if self.seen else 0
        if unmatched:
            how = f"the first feature of {self.catalogue.partner_names[0]} identifies a person"
            say(f"note: {unmatched} of {len(people)} persons have no items to leave out; {how}")


class Lists(Chooser):
    """Tells ``show`` what was chosen for each example, and None for a malformed line."""

    def __init__(
        self, catalogue: Catalogue, top: int, seen: PersonItems | None, show: Callable[[Recommendations | None], None]
    ) -> None:
        super().__init__(catalogue, top, seen)
        self.show = show
        self.lists = 0
        self.met = False  # whether the model has learned anything of anybody

    def take(self, batch: Batch, row: int | None, scores: np.ndarray) -> None:
        if row is None:
            self.show(None)
            return
        self.lists += 1
        self.met = self.met or self.catalogue.knows(batch, row)
        places = self.choose(batch, row, scores).tolist()
        items = [Recommendation(self.catalogue.names[place], float(scores[place])) for place in places]
        self.show(Recommendations(batch.location(row), batch.tag(row).decode("utf-8", "surrogateescape"), items))


class HeldOut(Chooser):
    """Measures what is chosen for the persons of held-out examples by the items that these have.

    Relevant are items of examples with a label of ``relevant`` or more that the person has not met before. A person
    without any does not count; an item that the model has not learned cannot be found and counts.
    """

    def __init__(self, catalogue: Catalogue, top: int, seen: PersonItems | None, relevant: float) -> None:
        super().__init__(catalogue, top, seen)
        self.relevant, self.pairs = relevant, catalogue.pairs()
        self.chosen: dict[int, np.ndarray] = {}  # of the first example of each person
        self.met = self.popular(seen)

    def popular(self, seen: PersonItems | None) -> np.ndarray:
        """float32[items]: how often each was met; 0 for all where that is not known, as drawn items count as met."""
        if seen:
            return np.bincount(seen.items[seen.items >= 0], minlength=len(self.catalogue.names)).astype(np.float32)
        drawn = self.catalogue.learner.config.negatives
        return np.zeros(len(self.catalogue.names), np.float32) if drawn else self.catalogue.updates()

    def look(self, batch: Batch) -> None:
        self.pairs.add(batch, batch.label >= self.relevant)

    def wanted(self, batch: Batch, rows: list[int]) -> list[int]:
        """The first row of each person who was not met before."""
        first = {self.key(batch, row): row for row in reversed(rows)}
        return sorted(row for key, row in first.items() if key and key not in self.chosen)

    def take(self, batch: Batch, row: int | None, scores: np.ndarray) -> None:
        if row is not None:
            self.chosen[self.key(batch, row)] = self.choose(batch, row, scores)

    def report(self) -> dict[str, float]:
        """Precision, recall, NDCG (gain 1, discount 1 / log2(1 + j) at position j) and share of persons with a hit; the
        NDCG of the most popular items beside them, where it is known what people have met.

        Raises DataError where no person has a relevant item.
        """
        self.pairs.close()
        rows = [self.measured(key, places) for key, places in self.chosen.items()]
        measured = np.array([row for row in rows if row is not None])
        if not len(measured):
            raise DataError("no person has a relevant item in the held-out data: see --relevant")
        names = (f"{name}@{self.top}" for name in ("p", "recall", "ndcg", "hr"))
        means = dict(zip(names, measured[:, 1:].mean(axis=0).tolist(), strict=True))
        return {"people": len(measured), "relevant": int(measured[:, 0].sum()), **means, **self.popularity()}

    def popularity(self) -> dict[str, float]:
        """The NDCG of the list of the most frequent items; empty if their frequencies are not known."""
        if not self.met.any():
            return {}
        rows = [self.measured(key, best(self.met, self.known(key), self.top)) for key in self.chosen]
        return {f"popularity_ndcg@{self.top}": float(np.mean([row[3] for row in rows if row]))}

    def note_popularity(self, say: Callable[[str], None], report: dict[str, float], negatives: int) -> None:
        """Print a note if the list of the most frequent items has a higher NDCG."""
        model, popular = report[f"ndcg@{self.top}"], report.get(f"popularity_ndcg@{self.top}", 0.0)
        if model < popular:
            way = "" if negatives else ": a model of ratings does not predict what people choose, --negatives does"
            say(f"note: the most frequent items rank better, ndcg@{self.top} {popular:.3g}{way}")

    def measured(self, key: int, places: np.ndarray) -> tuple[float, ...] | None:
        relevant, pairs = np.zeros(len(self.catalogue.names), bool), self.pairs.of(key)
        relevant[pairs[pairs >= 0]] = True
        relevant[self.known(key)] = False
        count = np.count_nonzero(relevant) + np.count_nonzero(pairs < 0)
        if not count:
            return None
        hits = relevant[places]
        discounts = 1 / np.log2(np.arange(2, self.top + 2))
        gain = float(discounts[: len(hits)][hits].sum() / discounts[: min(count, self.top)].sum())
        return count, hits.sum() / self.top, hits.sum() / count, gain, float(hits.any())


def recommend(
    config: RunConfig,
    model: Restored,
    names: Mapping[int, str],
    how: RecommendConfig,
    output: AbstractContextManager[Callable[[Recommendations | None], None]],
    bad_lines: BadLinesConfig | None = None,
    *,
    quiet: bool = False,
    display: Display | None = None,
    open_inputs: Callable[..., Inputs] = Inputs,
    open_seen: Callable[..., Inputs] | None = None,
    open_items: Callable[..., Inputs] | None = None,
    by_id: bool = False,
) -> None:
    """List for every example the ``how.top`` items of ``how.of``, a namespace, with the highest raw predictions.

    ``names`` of features by slot. Items are those of the examples that ``open_items`` opens, or else of what examples
    are left out, where an item is in several namespaces, as ``ItemBundles`` has them. Else they are the features of the
    namespace that the model has learned. Those that the example has itself do not matter.

    ``by_id``: an example with nothing but the id of a person has all that the person has in these data.

    Left out is what examples of ``how.exclude``, or of what ``open_seen`` opens, have beside the same person, whom
    ``catalogue.keys_of`` tells from others. ``output`` gives the function that takes lists of items, closed at the end;
    for a malformed line it is called with None.

    Raises UsageError for a model without latent vectors of the namespace, and for one with more than dot products of
    it; DataError where too many lines are malformed, Diverged where a prediction is not finite, both at the end.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    say = None if quiet else display.message
    reading = Reading(config, model, bad_lines, say, display)
    catalogue = reading.catalogue(names, how, open_items or open_seen, given=bool(open_items))
    seen = reading.seen(catalogue, how.exclude, open_seen)
    with output as show:
        lists = Lists(catalogue, how.top, seen, show)
        sources = [open_file for open_file in (open_items, open_seen) if open_file] if by_id else []
        reading.run(Recommender(lists), open_inputs, people=reading.people(catalogue, sources))
    if say:
        lists.note_unmatched(say)
    if say and lists.lists and not lists.met:
        say(f"note: {same_lists_note(model, catalogue, config)}")


def same_lists_note(model: Restored, catalogue: Catalogue, config: RunConfig) -> str:
    """The note on why all lists are the same."""
    spaces = catalogue.partner_names
    known = f"a feature of {' or '.join(spaces)} that the model has learned"
    note = f"no example has {known}: all lists are those of an unknown person"
    if config.input.kind in TEXTS or model.header["kind"] not in TEXTS:
        return note
    return f"{note} (it was trained on lines: --columns '{spaces[0]}=COLUMN:words' makes features of lines)"


def measure_lists(
    config: RunConfig,
    model: Restored,
    how: RecommendConfig,
    bad_lines: BadLinesConfig | None = None,
    *,
    quiet: bool = False,
    display: Display | None = None,
    open_seen: Callable[..., Inputs] | None = None,
    open_items: Callable[..., Inputs] | None = None,
) -> dict[str, float]:
    """Measure what ``recommend`` chooses for each person of labelled examples that hold items, by ``HeldOut``.

    Raises as ``recommend``, and DataError where no person has a relevant item.
    """
    display = display or Display()
    say = None if quiet else display.message
    reading = Reading(config, model, bad_lines or BadLinesConfig(), say, display)
    catalogue = reading.catalogue({}, how, open_items or open_seen, given=bool(open_items))
    held = HeldOut(catalogue, how.top, reading.seen(catalogue, how.exclude, open_seen), how.relevant)
    reading.run(Recommender(held), Inputs, held.look)
    if say:
        held.note_unmatched(say)
    report = held.report()
    if say:
        held.note_popularity(say, report, model.learner.config.negatives)
    return report


class Reading:
    """Passes over data of which nothing is learned."""

    def __init__(
        self,
        config: RunConfig,
        model: Restored,
        bad_lines: BadLinesConfig,
        say: Callable[[str], None] | None,
        display: Display,
    ) -> None:
        self.config, self.model, self.bad_lines, self.say, self.display = config, model, bad_lines, say, display

    def seen(
        self, catalogue: Catalogue, paths: tuple[str, ...], open_inputs: Callable[..., Inputs] | None = None
    ) -> PersonItems | None:
        """The pairs in the data, whatever their labels; None without data.

        Raises DataError where too many lines are malformed.
        """
        if not (paths or open_inputs):
            return None
        pairs = catalogue.pairs()
        config = replace(self.config, input=replace(self.config.input, paths=paths))
        self.read(config, open_inputs or Inputs, pairs.add)
        pairs.close()
        return pairs

    def catalogue(
        self, names: Mapping[int, str], how: RecommendConfig, opened: Callable[..., Inputs] | None, *, given: bool
    ) -> Catalogue:
        """The items of ``opened``, where these are ``given`` or an item is in several namespaces; else features.

        Raises UsageError, and DataError where too many lines are malformed or hold no item.
        """
        spaces = item_spaces(self.model, how.of)
        own, *others = spaces
        if opened and (given or others):
            items = ItemBundles(self.model, names, spaces)
            self.read(replace(self.config, output=replace(self.config.output, names=True)), opened, items.add)
            items.close()
            if not items.names:
                raise DataError(f"no example has an item, which is a feature of {own}")
            return items
        beside = " or ".join(others)
        if "," in how.of:
            raise UsageError(f"--of {how.of} needs --items FILE, which says what of {beside} every item has")
        if others and self.say:
            note = f"items are features of {own} alone, without those of {beside}"
            self.say(f"note: {note}: --items FILE, such as the training data, has items with all their features")
        return Catalogue(self.model, names, how.of)

    def people(self, catalogue: Catalogue, sources: list[Callable[..., Inputs]]) -> PersonBundles | None:
        """The persons of data; None without any. Raises DataError where too many lines are malformed."""
        bundles = PersonBundles(self.model.plan, catalogue.partners)
        for opened in sources:
            self.read(self.config, opened, bundles.add)
        return bundles if bundles.places else None

    def read(self, config: RunConfig, open_inputs: Callable[..., Inputs], take: Callable[[Batch], None]) -> None:
        """``take`` is called with all batches. Raises DataError where too many lines are malformed."""
        policy = malformed_line_policy(
            config, self.model.learner, self.model, replace(self.bad_lines, keep=None), self.say, check_labels=False
        )
        source = FileBatches(config, self.model.learner, policy, self.display, open_inputs=open_inputs)
        with closing(source), closing(source.batches(1)) as batches:
            for batch in batches:
                take(batch)
                if batch.release:
                    batch.release()
                raise_if_stopped()
        policy.check_ratio(policy.lines)

    def run(
        self,
        listener: Recommender,
        open_inputs: Callable[..., Inputs],
        look: Look | None = None,
        people: PersonBundles | None = None,
    ) -> None:
        """Raises DataError and Diverged at the end."""
        learner, config = self.model.learner, self.config
        policy = malformed_line_policy(
            config, learner, self.model, self.bad_lines, self.say, check_labels=False, to_the_end=True
        )
        source = FileBatches(config, learner, policy, self.display, open_inputs=open_inputs)
        collect_non_finite(learner)
        with ExitStack() as stack:
            stack.callback(source.close)
            stack.enter_context(policy.keeping())
            stack.callback(self.display.close)
            self.display.start(source.inputs.size())
            stripped = WithoutItems(source, listener.catalogue, look, people)
            Trainer(learner, self.model.plan, stripped, [listener, MalformedLineCheck(policy)]).run()
        policy.check_ratio(policy.lines)
        if learner.non_finite:
            raise Diverged(not_finite(learner.non_finite))
