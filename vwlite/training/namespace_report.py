"""Which namespaces a run met, and which options never found theirs."""

from collections.abc import Iterable, Iterator
from string import digits

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.columns import quoted, read_columns
from vwlite.features.config import STEP, FeatureConfig
from vwlite.features.feature_plan import ANONYMOUS, Plan
from vwlite.features.freezing import PARTS
from vwlite.features.interactions import FullNames, decode_letters, matches, read_interaction
from vwlite.features.theta_config import NOTHING_KNOWN
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.training.display import Display
from vwlite.training.listener import Listener, Run

LETTERS = ("ignore", "keep", "ignore_linear")  # options whose every letter is a namespace's
NUMBERED = ("ngram", "skips", "feature_limit")  # options of a letter and a number
CROSSED = (("-q", 2, "quadratic"), ("--cubic", 3, "cubic"), ("--interactions", None, "interactions"))


class Sightings:
    """The namespaces that a run met, and what is to be said of the options that name them."""

    def __init__(self, features: FeatureConfig, plan: Plan, columns: str = "") -> None:
        """``columns`` of a table, as it is read."""
        self.features, self.plan = features, plan
        spaces = read_columns(columns).spaces
        self.columns = {one.name for some in spaces.values() for one in some} - set(spaces)
        named = any(getattr(features, name) for name in (*LETTERS, *NUMBERED, "redefine", "spelling", "random_of"))
        self.wanted = bool(plan.typed or plan.pairs or named)
        self.met = b""  # first bytes of namespaces' names, ascending

    def add(self, batch: Batch, begin: int, end: int) -> None:
        if self.wanted and end > begin:
            letters = batch.namespace_char[batch.row_namespace[begin] : batch.row_namespace[end]]
            if new := letters.tobytes().translate(None, self.met):
                self.met = bytes(sorted({*self.met, *new}))

    def notes(self, pairs: Iterable[tuple[str, str]] = ()) -> list[str]:
        """What is to be said at the end; ``pairs`` are options that did nothing, with their values."""
        return [*self.of_random_features(), *self.of_theta(), *self.warnings(pairs)]

    def of_random_features(self) -> list[str]:
        """What they are made with where that was not typed."""
        random, asked, told = self.plan.random, self.features.random_features, []
        if asked and not asked.endswith(f":{random.size}"):
            told.append(f"--random_features {asked} makes {random.size}, a multiple of {STEP}")
        if self.features.finds_gamma and random and random.gamma is not None:
            told.append(f"--gamma {random.gamma:g} is that of the {'random features' if asked else 'landmarks'}")
        return told

    def of_theta(self) -> list[str]:
        """That it does nothing, where a run of a few lines has ended all the same."""
        theta = self.plan.theta
        idle = theta and theta.lines and not (theta.known or theta.loaded)
        return [f"--theta adds nothing: {NOTHING_KNOWN}"] if idle else []

    def warnings(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """A sentence for every option that did nothing, or dropped everything."""
        if not self.wanted or not self.met:
            return []
        seen = f"(seen: {' '.join(map(shown, self.met))})"
        lines = [
            f"{option} {value} never matched: no line has {needed(value)} {seen}{self.hint(option, value)}"
            for option, value in (*self.unmatched_crossings(), *pairs)
        ]
        seen_letters = {int(self.plan.redefine[letter]) for letter in self.met}
        lines += [
            f"--random_of {chr(letter)} never matched: no line has {shown(letter)} {seen}"
            for letter in (np.flatnonzero(self.plan.random.of).tolist() if self.plan.random else ())
            if letter not in seen_letters
        ]
        lines += [
            f"--freeze {name} never matched: no line has {needed(f'{name},{name}')} {seen}"
            for name in self.features.freeze
            if name not in PARTS and self.plan.redefine[name.encode("utf-8", "surrogateescape")[0]] not in seen_letters
        ]
        if all(self.plan.ignore[self.plan.redefine[letter]] for letter in self.met):
            option = "keep" if self.features.keep else "ignore"
            lines.append(f"--{option} {' '.join(getattr(self.features, option))} dropped every feature {seen}")
            return lines
        for option, value, letters in self.letters():
            met = set(self.met) if option == "--redefine" else seen_letters
            if missing := [letter for letter in dict.fromkeys(letters) if letter not in met]:
                partly = "never matched" if met.isdisjoint(letters) else "is read letter by letter"
                absent = listed(list(map(shown, missing)), all_of=False)
                lines.append(f"{option} {value} {partly}: no line has {absent} {seen}{self.hint(option, value)}")
        return lines

    def letters(self) -> Iterator[tuple[str, str, bytes]]:
        """Options, their values, and the namespaces that these name by letters."""
        for name in LETTERS:
            yield from ((f"--{name}", value, decode_letters(value)) for value in getattr(self.features, name))
        for name in NUMBERED:
            for value in getattr(self.features, name):
                yield f"--{name}", value, decode_letters(value.rstrip(digits))
        for value in self.features.spelling:
            yield "--spelling", value, bytes([ANONYMOUS]) if value == "_" else decode_letters(value)[:1]
        for value in self.features.redefine:
            letters = decode_letters(value).partition(b":=")[2]
            yield "--redefine", value, b"" if b":" in letters else letters

    def hint(self, option: str, value: str) -> str:
        """What to type where a column of a table was taken for a namespace."""
        for name in (value, *value.split(",")):
            if name in self.columns:
                typed = quoted(name)
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
        self.begin()

    def begin(self, run: Run | None = None) -> None:
        self.sightings = Sightings(self.features, self.plan, self.columns)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        self.sightings.add(batch, begin, end)

    def end(self) -> None:
        for warning in (*self.sightings.notes(self.unmatched_pairs()), *self.learner.warnings()):
            self.display.note(warning)
        for failure in self.learner.failures():
            self.display.message(failure)

    def state(self) -> dict[str, list[int]]:
        return {"sightings": list(self.sightings.met)}

    def restore(self, state: dict[str, list[int]]) -> None:
        self.sightings.met = bytes(state["sightings"])

    def unmatched_pairs(self) -> list[tuple[str, str]]:
        return [
            ("--dotproduct", value)
            for number, value in enumerate(self.features.dotproduct)
            if not self.learner.has_learned_pair(number)
        ]


def shown(character: int) -> str:
    """A namespace as the user knows it."""
    return "the anonymous one" if character == ANONYMOUS else ascii(chr(character))[1:-1]


def needed(value: str) -> str:
    """What a line would have to have."""
    names = value.split(",") if "," in value else list(dict.fromkeys(value.replace(":", "")))
    return listed([shown(ord(name)) if len(name) == 1 else name for name in dict.fromkeys(names)], all_of=True)


def listed(names: list[str], all_of: bool) -> str:
    """``all_of`` them are meant, or any."""
    if len(names) < 2:
        return "".join(names) or "namespaces to cross"
    both = "both " if all_of and len(names) == 2 else ""
    return f"{both}{', '.join(names[:-1])} {'and' if all_of else 'or'} {names[-1]}"
