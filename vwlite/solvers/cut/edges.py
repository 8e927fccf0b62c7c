"""A graph's nodes and edges out of text: the label of a line is a node, its features are the neighbours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import spectral
from vwlite.data.batch import BLANK, TAGGED, Batch
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError

MOST = 2**31 - 1  # nodes that have a number
ANONYMOUS, TEXT_VALUE = 1, 2  # of Names.kind
NO_NAME = "no name of a node, expected one before '|' and a space behind it"
IMPORTANCE = "a number behind the node's name, expected neighbours only: nodes have no importance"
NO_WEIGHT = "the weight of an edge is not a number"
NAMELESS = "an edge to a node without a name"


class NodeNames:
    """The names of nodes, in order of appearance.

    Whole names are kept, so that none is taken for another of the same hash.
    """

    def __init__(self) -> None:
        self.known = 0
        self.table = np.full(1 << 12, -1, np.int32)
        self.ends = np.zeros(1 << 11, np.int64)
        self.text = np.zeros(1 << 14, np.uint8)

    def __len__(self) -> int:
        return self.known

    def numbers(self, text: Any, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """int32[n]: the numbers of the names ``text[start[i]:end[i]]``, uint32[n]; new names get the next ones.

        Raises DataError for more names than there are numbers.
        """
        self.make_room(len(start), int((end.astype(np.int64) - start).sum()))
        numbers = np.empty(len(start), np.int32)
        places = np.ascontiguousarray(start, np.uint32), np.ascontiguousarray(end, np.uint32)
        self.known = spectral.number_names(text, *places, self.table, self.ends, self.text, self.known, numbers)
        return numbers

    def make_room(self, more: int, size: int) -> None:
        """For ``more`` names of ``size`` bytes in all."""
        if self.known + more > MOST:
            raise DataError(f"the graph has more than {MOST:,} nodes")
        if len(self.ends) <= self.known + more:
            self.ends = np.concatenate((self.ends, np.zeros(more + len(self.ends), np.int64)))
        if len(self.text) < int(self.ends[self.known]) + size:
            self.text = np.concatenate((self.text, np.zeros(size + len(self.text), np.uint8)))
        if len(self.table) < 2 * (self.known + more):
            self.table = np.full(1 << (2 * (self.known + more)).bit_length(), -1, np.int32)
            spectral.enter_names(self.table, self.ends, self.text, self.known)

    def all(self) -> list[bytes]:
        text, edges = self.text.tobytes(), self.ends[: self.known + 1].tolist()
        return [text[begin:end] for begin, end in pairwise(edges)]


class Edges(NamedTuple):
    """Entry i: ``tail[i]`` names ``head[i]`` as its neighbour."""

    names: NodeNames
    tail: np.ndarray  # int32[entries]
    head: np.ndarray  # int32[entries]
    weight: np.ndarray  # float32[entries], 0 or more


def read_edges(inputs: Inputs, policy: BadLines, check: Callable[[int], None]) -> Edges:
    """The edges of a text whose labels are names. ``check`` is called with their number so far.

    Raises DataError for a negative weight, Interrupted.
    """
    names, parts, total = NodeNames(), [], 0
    for part in inputs.texts():
        batch = policy.examine(part)
        entries = entries_of(batch, names, policy)
        parts.append(entries)
        total += len(entries[0])
        check(total)
        if batch.release:
            batch.release()
    policy.finish()
    none = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Edges(names, *map(np.concatenate, zip(none, *parts, strict=True)))


def entries_of(batch: Batch, names: NodeNames, policy: BadLines) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tails, heads and weights of the batch's entries; lines that are no node's are left out as malformed ones."""
    starts = batch.namespace_start[batch.row_namespace].astype(np.int64)
    owner = np.repeat(np.arange(len(batch)), np.diff(starts))
    refuse(batch, owner, policy)
    rows = np.flatnonzero(batch.flags & BLANK == 0)
    taken = np.flatnonzero(batch.flags[owner] & BLANK == 0)
    refuse_negative(batch, owner, taken)
    label_start, label_end = labels_of(batch, rows)
    # A node's name stands in front of its neighbours': numbers are in the order of the text.
    place = np.searchsorted(owner[taken], rows) + np.arange(len(rows))
    of_edges = np.ones(len(rows) + len(taken), bool)
    of_edges[place] = False
    start, end = np.empty(len(of_edges), np.uint32), np.empty(len(of_edges), np.uint32)
    start[place], end[place] = label_start, label_end
    start[of_edges], end[of_edges] = batch.names.start[taken], batch.names.end[taken]
    numbers = names.numbers(batch.text, start, end)
    tail = np.zeros(len(batch), np.int32)
    tail[rows] = numbers[place]
    return tail[owner[taken]], numbers[of_edges], batch.value[taken].copy()


def labels_of(batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """uint32[rows], twice: where the names of nodes begin and end; a tag may stand behind them."""
    start, end = batch.tag_start[rows].copy(), batch.tag_end[rows].copy()
    for at in np.flatnonzero(batch.flags[rows] & TAGGED).tolist():
        end[at] = start[at] + len(batch.tag(int(rows[at])).partition(b" ")[0])
    return start, end


def refuse(batch: Batch, owner: np.ndarray, policy: BadLines) -> None:
    """Make lines blank that say something else than a node and its neighbours. Raises DataError."""
    filled, kind = batch.flags & BLANK == 0, batch.names.kind[: len(owner)]
    wrong: dict[int, str] = {}
    for sentence, rows in (
        (NAMELESS, owner[kind == ANONYMOUS]),
        (NO_WEIGHT, owner[kind == TEXT_VALUE]),
        (IMPORTANCE, np.flatnonzero(batch.importance != 1)),
        (NO_NAME, np.flatnonzero(np.isnan(batch.label))),
    ):
        wrong |= {row: sentence for row in rows.tolist() if filled[row]}
    policy.leave_out(batch, dict(sorted(wrong.items())))


def refuse_negative(batch: Batch, owner: np.ndarray, taken: np.ndarray) -> None:
    negative = taken[batch.value[taken] < 0]
    if len(negative):
        first = int(negative[0])
        name = bytes(batch.text[batch.names.start[first] : batch.names.end[first]]).decode("utf-8", "backslashreplace")
        weight = float(batch.value[first])
        where = batch.location(int(owner[first]))
        raise DataError(f"{where}: the edge to {name} has the weight {weight:g}, and a cut needs weights of 0 or more")
