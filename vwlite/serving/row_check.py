"""What is told of rows whose columns are not those that the model has learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.columns import IGNORE, Columns, nearest
from vwlite.errors import UsageError
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

Row = Mapping[str, Any]
NUMBERS = 3  # of rows that are named
ADVICE = (
    "it is that of a row without features; was the model trained on other data? (namespaces and names must be the same)"
)


class RowCheck:
    """The columns of features that a model knows."""

    def __init__(self, columns: Columns) -> None:
        """Of lines of JSON whose other members are features too any may be missing."""
        features = [one for some in columns.spaces.values() for one in some] if columns.rest == IGNORE else []
        self.known = [one.name for one in features]
        self.needed = [one.name for one in features if not one.optional]

    def warnings(self, rows: Iterable[Row | None], place: str = "rows[{}]", first: int = 0) -> list[str]:
        """A sentence for each column that is missing in some rows. Raises UsageError for a row that has none.

        None is no row. ``place``: where a row stands, with its number for {}, ``first`` the first one's.
        """
        missing: dict[str, list[str]] = {}
        like: dict[str, str] = {}
        for number, row in enumerate(rows if self.known else (), first):
            if row is None:
                continue
            if not row.keys() & self.known:
                raise UsageError(f"{place.format(number)} has no column that the model knows: {self.instead(row)}")
            for name in self.needed:
                if name not in row:
                    missing.setdefault(name, []).append(place.format(number))
                    like[name] = like.get(name, "") or self.meant(name, row)
        found = ((name, listed(places)) for name, places in missing.items())
        return [f"no column {name!r} in {places}: predicted without it{like[name]}" for name, places in found]

    def instead(self, row: Row) -> str:
        has, knows = ", ".join(map(str, row)) or "none", ", ".join(self.known)
        return f"it has {has}; the model has learned {knows}"

    def meant(self, name: str, row: Row) -> str:
        near = nearest(name, [one for one in row if one not in self.known])
        return f" (is it {near!r}?)" if near else ""


class Unchanged(Listener):
    """The rows whose predictions before clip and link are the one ``without`` features.

    ``each``: they are told of also where others have another prediction.
    """

    def __init__(self, without: float, each: bool) -> None:
        self.without, self.each = without, each
        self.rows: list[str] = []  # where they stand
        self.others = 0

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        there = np.flatnonzero(batch.flags[begin:end] & BLANK == 0) + begin
        same = there[results.raw[there] == self.without]
        self.others += len(there) - len(same)
        self.rows += [place_of(batch.location(row)) for row in same.tolist()]

    def warnings(self) -> Iterator[str]:
        if self.rows and (self.each or not self.others):
            which = f"of {listed(self.rows)}" if self.others else "of the data"
            yield f"no feature {which} changed a prediction: {ADVICE}"


def place_of(location: str) -> str:
    """In the request, of where a row of it stands."""
    line, row = location.rpartition(":")[2], location.rpartition(" ")[2]
    return f"rows[{row if ' ' in location else int(line) - 1}]"


def listed(places: Sequence[str]) -> str:
    """The first of them."""
    return ", ".join(places[:NUMBERS]) + (f" and {len(places) - NUMBERS} more" if len(places) > NUMBERS else "")
