"""Splits text files into one part to learn and one to measure on, when no file was set aside."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vwlite.data.columns import read_columns
from vwlite.data.config import COLUMNAR, DELIMITERS
from vwlite.data.input_stream import open_input
from vwlite.data.shuffle import order_of
from vwlite.errors import DataError, UsageError

EVERY = 5  # units of which one is set aside
HEADER = -2  # in place of the number of a unit
LONGEST_GROUP = 200  # lines; where blank lines are rarer on average, each line is an example of its own


def fifth(unit: int) -> bool:
    """Whether a unit is among each fifth."""
    return unit % EVERY == EVERY - 1


class Folds:
    """Folds of units, by a seed: of each ``count`` units in turn one is in each fold, at random."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.turn, self.order = -1, [0] * count

    def fold(self, unit: int) -> int:
        """The fold of a unit, from 0."""
        turn, place = divmod(unit, self.count)
        if turn != self.turn:
            self.turn, self.order = turn, order_of(self.count, self.seed, turn).tolist()
        return self.order[place]


def split_files(
    paths: Sequence[str],
    kind: str,
    columns: str,
    folder: Path,
    measured: Callable[[int], bool] = fifth,
    grouped: bool | None = None,
) -> tuple[str, str]:
    """Write two files of the format ``kind`` into ``folder``: units to learn, and those that are to be ``measured``, by
    their numbers.

    A unit is an example, a group of lines that a blank line ends, as a sequence does, or a query (``qid:``); the first
    line of a table with a header goes to both. ``grouped`` None: blank lines end groups where they are frequent. Raises
    UsageError for tables that are no text, DataError where there is nothing to measure, InputMissing and InputDamaged.
    """
    if kind in COLUMNAR:
        raise UsageError(f"--test FILE is needed with --format {kind}: only text is split without it")
    names = folder / f"learned.{kind}", folder / f"measured.{kind}"
    units = 0
    with open(names[0], "wb") as learned, open(names[1], "wb") as held:
        for unit, line in units_of(paths, kind, columns, grouped):
            if unit == HEADER:
                learned.write(line)
            of_held = unit >= 0 and measured(unit)
            units += of_held
            (held if of_held or unit == HEADER else learned).write(line)
    if not units:
        raise DataError(f"there are fewer than {EVERY} examples: name other data with --test")
    return str(names[0]), str(names[1])


def units_of(paths: Sequence[str], kind: str, columns: str, grouped: bool | None = None) -> Iterator[tuple[int, bytes]]:
    """Every line with the number of its unit, from 0; -1 before the first one, HEADER that of a table. As
    ``split_files``.
    """
    headed = kind in DELIMITERS and read_columns(columns).headed is not False
    if grouped is None:
        grouped = kind == "vw" and has_groups(paths)
    count = -1
    for path in paths:
        begun, query = True, b""
        for number, line in enumerate(lines_of(path)):
            if headed and number == 0:
                if path == paths[0]:
                    yield HEADER, line
                continue
            if line.strip():
                new_query = query_of(line) if kind == "svmlight" else b""
                if begun or not (grouped or (new_query and new_query == query)):
                    count += 1
                begun, query = False, new_query
            else:
                begun = True
            yield count, line
        if grouped and not begun:
            yield count, b"\n"


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file or URL, decompressed, each with its newline."""
    with io.BufferedReader(open_input(path)) as file:  # type: ignore[type-var]
        for line in file:
            yield line if line.endswith(b"\n") else line + b"\n"


def has_groups(paths: Sequence[str]) -> bool:
    """Whether blank lines end groups of lines."""
    lines = gaps = 0
    for path in paths:
        before = True
        for line in lines_of(path):
            blank = not line.strip()
            gaps += blank and not before
            lines, before = lines + 1, blank
    return gaps > 0 and lines <= LONGEST_GROUP * (gaps + 1)


def query_of(line: bytes) -> bytes:
    """The word ``qid:N`` of a line of svmlight; empty where there is none."""
    words = line.split(None, 2)
    return words[1] if len(words) > 1 and words[1].startswith(b"qid:") else b""
