"""``--where``: which examples auxiliary problems are made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.escapes import escaped
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.loglinear.crfpp_templates import compiled


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
