"""Which namespaces a run met, and which options never found theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, ranges
from vwlite.features.config import NOTHING_KNOWN, STEP, FeatureConfig, covers, sides_of_pair
from vwlite.features.feature_plan import ANONYMOUS, PARTS, Plan
from vwlite.features.hashing import HashSet
from vwlite.features.interactions import FullNames, decode_letters, matches, read_interaction
from vwlite.learners.abilities import LatentVectors, Reporting
from vwlite.learners.base import Learner
from vwlite.learners.configs.lrq import read_pairs
from vwlite.learners.row_results import Results
from vwlite.options import options_of
from vwlite.training.config import RunConfig
from vwlite.training.label_sample import LabelOrder
from vwlite.training.listener import Display, Listener, Run

LETTERS = ("ignore", "keep", "ignore_linear")  # options whose every letter is a namespace's
NUMBERED = ("ngram", "skips", "feature_limit")  # options of a letter and a number
NAMED = ("redefine", "spelling", "random_of", "centred")  # others that name namespaces
FEW, SPARSE = 64, 4  # features that may be centred without a note; so many times those that an example has
CROSSED = (("-q", 2, "quadratic"), ("--cubic", 3, "cubic"), ("--interactions", None, "interactions"))


class Sightings:
    """The namespaces that a run met, and what is to be said of the options that name them."""

    def __init__(
        self, features: FeatureConfig, plan: Plan, columns: str = "", factored: tuple[str, ...] = ()
    ) -> None:
        """``columns`` of a table, as it is read; ``factored``: values of ``--lrq``."""
        self.features, self.plan, self.columns, self.factored = features, plan, columns, factored
        named = any(getattr(features, name) for name in (*LETTERS, *NUMBERED, *NAMED))
        self.wanted = bool(plan.typed or plan.pairs or factored or named)
        self.met = b""  # first bytes of namespaces' names, ascending

    def add(self, batch: Batch, begin: int, end: int) -> None:
        if self.wanted and end > begin:
            letters = batch.namespace_char[batch.row_namespace[begin] : batch.row_namespace[end]]
            if new := letters.tobytes().translate(None, self.met):
                self.met = bytes(sorted({*self.met, *new}))

    def notes(self, pairs: Iterable[tuple[str, str]] = ()) -> list[str]:
        """The notes at the end; ``pairs`` are options that did nothing, with their values."""
        return [*self.of_random_features(), *self.of_theta(), *self.warnings(pairs)]

    def of_random_features(self) -> list[str]:
        """The notes on settings of random features that were not typed."""
        random, asked, notes = self.plan.random, self.features.random_features, []
        if asked and not asked.endswith(f":{random.size}"):
            notes.append(f"--random_features {asked} makes {random.size}, a multiple of {STEP}")
        if self.features.finds_gamma and random and random.gamma is not None:
            notes.append(f"--gamma {random.gamma:g} is that of the {'random features' if asked else 'landmarks'}")
        return notes

    def of_theta(self) -> list[str]:
        """Note that Theta does nothing, where a run of a few lines has ended all the same."""
        theta = self.plan.theta
        idle = theta and theta.lines and not (theta.known or theta.loaded)
        return [f"--theta adds nothing: {NOTHING_KNOWN}"] if idle else []

    def warnings(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """A sentence for every option that did nothing, or dropped everything."""
        if not self.wanted or not self.met:
            return []
        seen = f"(seen: {' '.join(map(namespace_text, self.met))})"
        lines = [
            f"{option} {value} never matched: no line has {needed_part(value)} {seen}{self.hint(option, value)}"
            for option, value in (*self.unmatched_crossings(), *pairs)
        ]
        seen_letters = {int(self.plan.redefine[letter]) for letter in self.met}
        lines += [
            f"--lrq {value} never matched: no line has {needed_part(value[:2])} {seen}"
            for value in self.factored
            if not seen_letters.issuperset(decode_letters(value)[:2])
        ]
        lines += [
            f"--random_of {chr(letter)} never matched: no line has {namespace_text(letter)} {seen}"
            for letter in (np.flatnonzero(self.plan.random.of).tolist() if self.plan.random else ())
            if letter not in seen_letters
        ]
        lines += [
            f"--{option} {name} never matched: no line has {needed_part(f'{name},{name}')} {seen}"
            for option in ("freeze", "centred")
            for name in getattr(self.features, option)
            if name not in (*PARTS, "_")
            if self.plan.redefine[name.encode("utf-8", "surrogateescape")[0]] not in seen_letters
        ]
        if all(self.plan.ignore[self.plan.redefine[letter]] for letter in self.met):
            option = "keep" if self.features.keep else "ignore"
            lines.append(f"--{option} {' '.join(getattr(self.features, option))} dropped every feature {seen}")
            return lines
        for option, value, letters in self.letters():
            met = set(self.met) if option == "--redefine" else seen_letters
            if missing := [letter for letter in dict.fromkeys(letters) if letter not in met]:
                partly = "never matched" if met.isdisjoint(letters) else "is read letter by letter"
                absent = list_names(list(map(namespace_text, missing)), all_of=False)
                lines.append(f"{option} {value} {partly}: no line has {absent} {seen}{self.hint(option, value)}")
        return lines

    def letters(self) -> Iterator[tuple[str, str, bytes]]:
        """Options, their values, and the namespaces that these name by letters."""
        for name in LETTERS:
            yield from ((f"--{name}", value, decode_letters(value)) for value in getattr(self.features, name))
        for name in NUMBERED:
            for value in getattr(self.features, name):
                yield f"--{name}", value, decode_letters(value.rstrip("0123456789"))
        for value in self.features.spelling:
            yield "--spelling", value, bytes([ANONYMOUS]) if value == "_" else decode_letters(value)[:1]
        for value in self.features.redefine:
            letters = decode_letters(value).partition(b":=")[2]
            yield "--redefine", value, b"" if b":" in letters else letters

    def hint(self, option: str, value: str) -> str:
        """A hint if a column of a table was taken for a namespace."""
        if not self.columns:
            return ""
        from vwlite.data.columns import quote_name, read_columns  # which runs on text need not

        known = read_columns(self.columns)
        columns = {column.name for column in known.features} - set(known.spaces)
        for name in (value, *value.split(",")):
            if name in columns:
                typed = quote_name(name)
                what = f"ignore={typed} leaves it out" if option == "--ignore" else f"{typed}={typed} makes it one"
                return f"; {name} is a column, no namespace: in --columns {what}"
        return ""

    def unmatched_crossings(self) -> list[tuple[str, str]]:
        features, plan = self.features, self.plan
        names = FullNames(features.hash_seed, features.hash == "all")
        matched = plan.matching()
        missing = []
        for option, order, field in CROSSED:
            for value in getattr(features, field):
                if not matches(read_interaction(value, option, order, names), matched):
                    missing.append((option, value))
        return missing


class NamespaceReport(Listener):
    """Notes at the end of a run which options did nothing, and what the learner has to complain of."""

    def __init__(
        self, features: FeatureConfig, learner: Learner, plan: Plan, display: Display, columns: str = ""
    ) -> None:
        """``columns`` are those of ``Sightings``."""
        self.columns = columns
        self.features, self.learner, self.plan, self.display = features, learner, plan, display
        self.looks = bool(plan.centring)  # whether the next batch is the first
        self.begin()

    def begin(self, run: Run | None = None) -> None:
        self.sightings = Sightings(self.features, self.plan, self.columns, self.learner.config.lrq)

    def before(self, batch: Batch, begin: int, end: int) -> None:
        if self.looks:
            self.looks = False
            self.display.note(self.of_centred(batch, begin, end))

    def of_centred(self, batch: Batch, begin: int, end: int) -> str:
        """A note where examples have few of the features that are centred, of which each then gets all; else empty."""
        from vwlite.data.columns import TEXT, quote_name, read_columns  # which runs without centred features need not
        from vwlite.features.group_columns import segments_in

        centring, (first, last) = self.plan.centring, batch.row_namespace[[begin, end]].tolist()
        own = np.any([segments_in(batch, centring.redefine, space) for space in centring.spaces], axis=0)[first:last]
        places = ranges(batch.namespace_start, first + np.flatnonzero(own))
        count, each = len(np.unique(batch.feature_hash[places])), len(places) / max(end - begin, 1)
        if count <= FEW or count <= SPARSE * each:
            return ""
        spaces, names = read_columns(self.columns).spaces, self.features.centred
        of_names = [one for space in names for one in spaces.get("" if space == "_" else space, ())]
        texts = ",".join(quote_name(one.name) for one in of_names if one.type == TEXT)
        way = f", as --columns text={texts} does" if texts else ""
        what = f"examples have {each:.3g} of {count} features, and each gets all of them, which takes long"
        return f"--centred {' '.join(names)}: {what}: give words and names a namespace of their own{way}"

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        self.sightings.add(batch, begin, end)

    def end(self) -> None:
        own = self.learner if isinstance(self.learner, Reporting) else None
        for warning in (*self.sightings.notes(self.unmatched_pairs()), *(own.warnings() if own else ())):
            self.display.note(warning)
        for failure in own.failures() if own else ():
            self.display.message(failure)

    def state(self) -> dict[str, list[int]]:
        return {"sightings": list(self.sightings.met)}

    def restore(self, state: dict[str, list[int]]) -> None:
        self.sightings.met = bytes(state["sightings"])

    def unmatched_pairs(self) -> list[tuple[str, str]]:
        if not isinstance(self.learner, LatentVectors):
            return []
        return [
            ("--dotproduct", value)
            for number, value in enumerate(self.features.dotproduct)
            if not self.learner.has_learned_pair(number)
        ]


def namespace_text(character: int) -> str:
    """A namespace as the user knows it."""
    return "the anonymous one" if character == ANONYMOUS else ascii(chr(character))[1:-1]


def needed_part(value: str) -> str:
    """The part of a line that an option needs."""
    names = value.split(",") if "," in value else list(dict.fromkeys(value.replace(":", "")))
    texts = [namespace_text(ord(name)) if len(name) == 1 else name for name in dict.fromkeys(names)]
    return list_names(texts, all_of=True)


def list_names(names: list[str], all_of: bool) -> str:
    """``all_of`` them are meant, or any."""
    if len(names) < 2:
        return "".join(names) or "namespaces to cross"
    both = "both " if all_of and len(names) == 2 else ""
    return f"{both}{', '.join(names[:-1])} {'and' if all_of else 'or'} {names[-1]}"


@dataclass(eq=False, repr=False)
class Side:
    """Figures of a namespace in the data; ``group`` as ``--dotproduct`` and ``--lrq`` name it."""

    name: str
    group: int
    hash: int | None = None  # of its feature
    low: float = 0.0  # of its values
    high: float = 0.0
    is_number: bool = True  # has no second feature and no fraction so far
    size: float = 0.0  # the greatest value without sign, where that is far from 1

    def add(self, hashes: np.ndarray, values: np.ndarray) -> None:
        if len(hashes):
            if self.hash is None:
                self.hash, self.low, self.high = int(hashes[0]), float(values[0]), float(values[0])
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
            self.is_number = bool((hashes == self.hash).all() and (values == np.floor(values)).all())

    def measure(self, values: np.ndarray) -> None:
        self.size = max(self.size, float(np.abs(values).max(initial=0)))


LARGE = 10.0  # a value of a side that one learning rate for all vectors is not made for


class NumberSides(Listener):
    """Looks at each side until it has a second feature: with ids that are names, at the first batch only.

    And at large values in sides of dot products, where these have one learning rate.
    """

    def __init__(self, config: RunConfig, plan: Plan, display: Display, columns: str) -> None:
        """``columns`` of a table, as it is read."""
        self.plan, self.display, self.columns, self.watching = plan, display, columns, True
        self.sides = [Side(name, group) for name, group in dict(sides_of(config, plan)).items()]
        self.one_rate = bool(config.features.dotproduct) and not config.learner.own_rates
        self.cure = "--dot-rates adaptive, or " if "dot_rates" in options_of(type(config.learner)) else ""

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        crossed = config.features.dotproduct or config.learner.lrq
        return bool(config.learning and crossed and not config.vw_compat)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        from vwlite.features.group_columns import segments_of  # which runs without such crossings need not

        first, last = batch.row_namespace[[begin, end]].tolist()
        values = batch.value[slice(*batch.namespace_start[[first, last]].tolist())]
        large = self.watching and self.one_rate and len(values) and float(np.abs(values).max()) > LARGE
        for side in self.sides if self.watching else ():
            if side.is_number or large:
                of_side = first + np.flatnonzero(segments_of(batch, self.plan, side.group)[first:last])
                features = ranges(batch.namespace_start, of_side)
                if side.is_number:
                    side.add(batch.feature_hash[features], batch.value[features])
                if large:
                    side.measure(batch.value[features])

    def pass_read(self, number: int) -> None:
        for side in self.sides if self.watching else ():
            if side.is_number and side.low < side.high:
                note = f"namespace {side.name} has one feature, with different values: if they are ids"
                self.display.note(f"{note}, {self.remedy(side)}")
            elif side.size > LARGE:
                note = f"namespace {side.name} has values up to {side.size:g}, for which one learning rate is too large"
                self.display.note(f"{note}: {self.cure}divide them, so that they are about 1")
        self.watching = False

    def remedy(self, side: Side) -> str:
        if self.columns:
            from vwlite.data.columns import quote_name, read_columns  # which runs on text need not

            for space, columns in read_columns(self.columns).spaces.items():
                if covers(side.name, space):
                    return f"--columns {quote_name(space)}={quote_name(columns[0].name)}:text"
        return f"make them names: {side.high:g}, not id:{side.high:g}"

    def state(self) -> JsonObject:
        return {"number_sides": [self.watching, list(map(asdict, self.sides))]}

    def restore(self, state: JsonObject) -> None:
        self.watching, sides = state["number_sides"]
        self.sides = [Side(**side) for side in sides]


def sides_of(config: RunConfig, plan: Plan) -> Iterator[tuple[str, int]]:
    """The names of the sides, as they were typed, and their groups."""
    for value, groups in zip(config.features.dotproduct, plan.pairs, strict=True):
        yield from zip(sides_of_pair(value), groups, strict=True)
    for *letters, _ in read_pairs(config.learner.lrq):
        yield from ((chr(letter), letter) for letter in letters)


FIRST_LOOK = 10_000  # examples, and twice as many for each further look
MIXED = 0.5  # share of the changes of a random order from which on data count as shuffled


class SortedLabels(Listener):
    """Counts while labels seem sorted: where they are mixed, a run pays for its first thousands of examples only."""

    def __init__(self, config: RunConfig, display: Display) -> None:
        self.display = display
        self.order = LabelOrder()
        self.seen, self.look, self.watching = 0, FIRST_LOOK, True

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        """Whether the run learns line after line, in the order of the text."""
        learner, input = config.learner, config.input
        every_order = learner.needs_full_passes or learner.multiline or input.shuffle_first or config.curriculum.order
        return config.learning and not (every_order or config.vw_compat)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        while self.watching and begin < end:
            stop = min(end, begin + self.look - self.seen)
            self.order.add(batch.label[begin:stop])
            self.seen += stop - begin
            begin = stop
            if self.seen == self.look:
                self.watching = self.order.share_of_changes() < MIXED
                self.look *= 2

    def pass_read(self, number: int) -> None:
        if number == 1 and self.watching and (sentence := self.order.sorted_by_label()):
            self.display.note(f"{sentence}; the last examples count most: shuffle them, or --shuffle-first")
        self.watching = False

    def state(self) -> JsonObject:
        return {"label_order": [self.order.state(), self.seen, self.look, self.watching]}

    def restore(self, state: JsonObject) -> None:
        counted, self.seen, self.look, self.watching = state["label_order"]
        self.order.restore(counted)


MAX_SHARE = 0.02  # of features that share a slot, above which it is reported
MAX_BITS = 30


class SharedSlots(Listener):
    """Counts the different features of the first pass, at most one for each slot; then more than enough share one."""

    def __init__(self, learner: Learner, display: Display) -> None:
        self.bits, self.display = learner.bits, display
        self.distinct: HashSet | None = HashSet(1 << learner.bits)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.distinct is not None:
            first, last = batch.namespace_start[batch.row_namespace[[begin, end]]].tolist()
            self.distinct.add(batch.feature_hash[first:last])

    def pass_read(self, number: int) -> None:
        if self.distinct is not None:
            self.display.note(self.remark(self.distinct))
        self.distinct = None

    def remark(self, distinct: HashSet) -> str:
        """The remark, empty for none."""
        shares = distinct.shared(range(self.bits, MAX_BITS + 1))
        if shares[self.bits] <= MAX_SHARE:
            return ""
        enough = next((bits for bits, share in shares.items() if share <= MAX_SHARE), MAX_BITS)
        count = f"{'at least ' * distinct.full}{len(distinct)} features"
        share = f"{shares[self.bits]:.1%} of {count} share a slot, and so a vector, at -b {self.bits}"
        return f"{share}: -b {enough} {'or more ' * distinct.full}would do"
