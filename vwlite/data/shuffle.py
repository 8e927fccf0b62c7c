"""The rows of a cache in random order."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence

import numpy as np

from vwlite._native.batch_rows import COLUMNS, gather, shuffle
from vwlite._native.cache_codec import join_pieces
from vwlite.data.batch import TAGGED, Batch, joined, offsets, ranges
from vwlite.data.text_format import FULL, Workspace
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
        self.lists = joined(read) if read else None
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
        """All rows, in the order of pass ``number``; with ``threads`` > 1 gathered while earlier ones are in use."""
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
        """Of the rows that are its ``numbers``."""
        edges = offsets(np.diff(self.start)[batch.numbers]).astype(np.uint32)
        batch.text, batch.tag_start, batch.tag_end = self.text[ranges(self.start, batch.numbers)], edges[:-1], edges[1:]
        batch.flags |= self.tagged[batch.numbers]
