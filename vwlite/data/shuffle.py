"""The order of rows: those of a cache at random; text files split into one part to learn and one to measure on, when no
file was set aside.
"""

from __future__ import annotations

import io
import queue
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from vwlite._native.batch_rows import COLUMNS, gather, shuffle
from vwlite._native.cache_codec import join_pieces
from vwlite.data.batch import TAGGED, Batch, join_rows, offsets, ranges
from vwlite.data.columns import read_columns
from vwlite.data.config import COLUMNAR, DELIMITERS
from vwlite.data.input_stream import open_input
from vwlite.data.text_format import FULL, Workspace
from vwlite.errors import DataError, UsageError
from vwlite.storage.ordered_pool import in_order

ROWS, FEATURES = 1 << 14, 1 << 18  # of a shuffled batch, about
PASS_SEED, MASK = 0xA0761D6478BD642F, 2**64 - 1


def order_of(rows: int, seed: int, number: int) -> np.ndarray:
    """int64[rows], the order of pass ``number``: a pure function of the three arguments."""
    order = np.arange(rows, dtype=np.int64)
    shuffle(order, (seed * 0x9E3779B97F4A7C15 + (number + 1) * PASS_SEED) & MASK)
    return order


class Rows:
    """Random access to the rows of some batches, whose arrays must not change meanwhile.

    ``words``: labels are read from the spans of tags, which rows keep then.
    """

    def __init__(self, batches: Sequence[Batch], words: bool = False) -> None:
        self.batches, self.path = batches, batches[0].path if batches else ""
        self.words = Words(batches) if words else None
        read = [batch.lists for batch in batches if batch.lists is not None]
        self.lists = join_rows(read) if read else None
        self.starts = offsets([len(batch) for batch in batches])
        self.address = np.array(
            [[getattr(batch, name).ctypes.data for name in COLUMNS] for batch in batches], np.uint64
        ).reshape(len(batches), len(COLUMNS))
        features = sum(len(batch.value) for batch in batches)
        self.rows = max(min(ROWS, FEATURES * len(self) // max(features, 1)), 1)
        self.free: queue.SimpleQueue[Workspace] = queue.SimpleQueue()

    def __len__(self) -> int:
        return int(self.starts[-1])

    def take(self, numbers: np.ndarray) -> Batch:
        """The rows ``numbers``, int64[n], as a batch; once it is released its arrays are filled again."""
        owners = np.searchsorted(self.starts, numbers, side="right") - 1
        try:
            workspace = self.free.get_nowait()
        except queue.Empty:
            workspace = Workspace(1 << 20)
        while True:
            status, *counts = gather(self.address, owners, numbers - self.starts[owners], workspace)
            if status != FULL:
                break
            workspace.grow()
        batch = workspace.batch(*counts, b"")
        batch.numbers, batch.path = numbers, self.path
        batch.lists = None if self.lists is None else self.lists.take(numbers)
        if self.words:
            self.words.put_into(batch)
        batch.release = lambda: self.free.put(workspace)
        return batch

    def shuffled(self, seed: int, number: int, threads: int = 1) -> Iterator[Batch]:
        """Gather all rows, in the order of pass ``number``; with ``threads`` > 1 gathered while earlier ones are in
        use.
        """
        return self.chosen(order_of(len(self), seed, number), threads)

    def chosen(self, order: np.ndarray, threads: int = 1) -> Iterator[Batch]:
        """The rows ``order``, int64[n]."""
        pieces = (order[begin : begin + self.rows] for begin in range(0, len(order), self.rows))
        return in_order(pieces, self.take, min(threads, 2) - 1)


class Words:
    """The spans of tags of all rows of some batches."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        starts = [np.zeros(len(batch) + 1, np.uint32) for batch in batches]
        spans = zip(batches, starts, strict=True)
        text = b"".join(join_pieces(batch.text, batch.tag_start, batch.tag_end, start) for batch, start in spans)
        self.text = np.frombuffer(text, np.uint8)
        self.start = offsets(np.concatenate([np.zeros(0, np.uint32), *map(np.diff, starts)]))
        self.tagged = np.concatenate([np.zeros(0, np.uint8), *(batch.flags & TAGGED for batch in batches)])

    def put_into(self, batch: Batch) -> None:
        """Copy the rows with these ``numbers``."""
        edges = offsets(np.diff(self.start)[batch.numbers]).astype(np.uint32)
        batch.text, batch.tag_start, batch.tag_end = self.text[ranges(self.start, batch.numbers)], edges[:-1], edges[1:]
        batch.flags |= self.tagged[batch.numbers]


EVERY = 5  # units of which one is set aside
HEADER = -2  # in place of the number of a unit
LONGEST_GROUP = 200  # lines; where blank lines are rarer on average, each line is an example of its own


def of_fifths(unit: int) -> bool:
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
    measured: Callable[[int], bool] = of_fifths,
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
