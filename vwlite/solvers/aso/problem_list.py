"""Lists of auxiliary problems as text, and ``--where``: which examples such problems are made of."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vwlite.data.input_stream import whole_input
from vwlite.data.plain_text import decoded
from vwlite.errors import DataError, UsageError, escaped
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Targets, targets
from vwlite.solvers.loglinear.crfpp_templates import compiled

HEAD = ("kind", "problem", "positives", "features")


@dataclass(frozen=True, slots=True)
class Listed:
    """A problem, with texts escaped: its kind, as typed, with the number of the view where there are two; its name."""

    kind: str
    name: str
    positives: int
    features: int  # that it is predicted from

    def fields(self) -> tuple[str, str, int, int]:
        return self.kind, self.name, self.positives, self.features


def as_text(problems: Iterable[Listed]) -> str:
    """A line for each, its fields between tabs, and one of the fields' names."""
    rows = [HEAD, *(one.fields() for one in problems)]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def read_list(path: str) -> frozenset[tuple[str, str]]:
    """Kind and name of the problems of a list, but of those with a ``-`` before their line.

    Names are compared as they are written. Raises DataError.
    """
    chosen = set()
    for number, line in enumerate(decoded(whole_input(path)).split("\n"), 1):
        fields = line.rstrip("\r").split("\t")
        if fields == [""] or fields == list(HEAD) or line.startswith("-"):
            continue
        if len(fields) != len(HEAD):
            raise DataError(f"{path}:{number}: a line of aso problems has {len(HEAD)} fields between tabs")
        chosen.add((fields[0], fields[1]))
    if not chosen:
        raise DataError(f"{path} leaves no problem")
    return frozenset(chosen)


def kept(made: Targets, kind: str, chosen: frozenset[tuple[str, str]]) -> Targets:
    """The problems of one kind that are in a list."""
    own = np.array([(escaped(kind), escaped(name)) in chosen for name in made.names], bool)
    number = np.cumsum(own) - 1
    terms = made.positive.keep(own[made.positive.indices])
    names = [name for name, keep in zip(made.names, own.tolist(), strict=True) if keep]
    return targets(terms.owner, number[terms.indices], len(terms), names)


@dataclass(frozen=True, slots=True)
class Condition:
    """``NS=REGEX``: a feature of namespace ``space`` has a name that ``pattern`` matches; ``NS!=REGEX``: none has."""

    space: str
    pattern: re.Pattern[str]
    wanted: bool
    text: str


def read_condition(text: str) -> Condition:
    """Raises UsageError."""
    space, sign, pattern = text.partition("=")
    if not sign or not pattern:
        raise UsageError(f"--where takes NS=REGEX or NS!=REGEX, not {text!r}")
    try:
        return Condition(space.removesuffix("!"), compiled(pattern), not space.endswith("!"), text)
    except UsageError as error:
        raise UsageError(f"--where {text!r}: {error}") from error


def holding(corpus: Corpus, conditions: Sequence[Condition]) -> Corpus:
    """The examples of ``corpus`` that all conditions hold for. Raises DataError where a regex matches no name."""
    keep = np.ones(len(corpus.label), bool)
    sizes, keys = (np.concatenate([part[column] for part in corpus.parts]) for column in (0, 1))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    for one in conditions:
        named = {space for space, _ in corpus.known.values()}
        if one.space not in named:
            there = ", ".join(sorted(map(escaped, named)))
            raise DataError(f"--where {one.text}: nothing is in namespace {one.space!r} (there are {there})")
        found = [k for k, (space, name) in corpus.known.items() if space == one.space and one.pattern.fullmatch(name)]
        if not found:
            raise DataError(f"--where {one.text}: no feature of namespace {one.space!r} has such a name")
        holds = np.zeros(len(keep), bool)
        holds[owner[np.isin(keys, np.array(found, np.uint32))]] = True
        keep &= holds == one.wanted
    if not keep.any():
        raise DataError(f"--where {' --where '.join(one.text for one in conditions)}: no example is like that")
    return corpus.subset(keep)
