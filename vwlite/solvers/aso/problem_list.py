"""Lists of auxiliary problems as text: what ``aso problems`` writes and ``--problems`` reads."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vwlite.data.input_stream import whole_input
from vwlite.data.plain_text import decoded
from vwlite.errors import DataError
from vwlite.escapes import escaped
from vwlite.solvers.aso.sgd import Targets, targets

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
