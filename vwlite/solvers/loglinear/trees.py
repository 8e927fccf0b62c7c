"""Trees of tokens, from the tags of lines: a token names itself and its parent, ``'id^parent``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.label_vocabulary import tag_of
from vwlite.errors import DataError

BETWEEN = b"^"  # a token's own name and that of its parent


class Node(NamedTuple):
    """A line of a tree: its tag, and where it stands, for messages."""

    tag: bytes
    location: str


def nodes_of(batch: Batch) -> np.ndarray:
    """object[rows] of Node."""
    nodes = np.empty(len(batch), object)
    nodes[:] = [Node(tag_of(batch, row), batch.location(row)) for row in range(len(batch))]
    return nodes


@dataclass(slots=True)
class Tree:
    """The structure of label sequences, in the words of ``solvers/label_chain.pxd``; numbers within a sequence."""

    parent: np.ndarray  # int32[tokens], -1 of a root
    order: np.ndarray  # int32[tokens], parents first; the first entry of a sequence that is a chain is -1

    def take(self, tokens: np.ndarray) -> Tree:
        """Of some sequences, all of whose ``tokens`` are there."""
        return Tree(self.parent[tokens], self.order[tokens])


def tree_of(nodes: Sequence[Node], sequence: np.ndarray) -> Tree:
    """Of sequences, which begin at ``sequence``. Raises DataError, with the line, for one that is no tree."""
    parent, order = np.zeros(len(nodes), np.int32), np.zeros(len(nodes), np.int32)
    for first, last in pairwise(sequence.tolist()):
        parent[first:last] = parents = parents_of(nodes[first:last])
        order[first:last] = order_of(parents, nodes[first:last])
    return Tree(parent, order)


def parents_of(nodes: Sequence[Node]) -> list[int]:
    """The parent's number for each token of a sequence, -1 for the root. Raises DataError."""
    names, above, numbers = [], [], dict[bytes, int]()
    for number, (tag, location) in enumerate(nodes):
        name, _, parent = tag.partition(BETWEEN)
        if not name and len(nodes) > 1:
            raise DataError(f"{location}: a token of a tree has a tag, 'id^parent, or 'id where it is the root")
        if numbers.setdefault(name, number) != number:
            raise DataError(f"{location}: a token before it in its tree has the id {shown(name)} too")
        names.append(name)
        above.append(parent)
    root, found = -1, []
    for number, (parent, (_, location)) in enumerate(zip(above, nodes, strict=True)):
        if parent and parent not in numbers:
            raise DataError(f"{location}: no token of its tree has the id of its parent, {shown(parent)}")
        if not parent and root >= 0:
            why = f"{shown(names[root])} has no parent either; an empty line ends a tree"
            raise DataError(f"{location}: a tree has one root, and {why}")
        root = root if parent else number
        found.append(numbers[parent] if parent else -1)
    return found


def order_of(parents: list[int], nodes: Sequence[Node]) -> list[int]:
    """Numbers of tokens, parents first, or -1 and zeros where it is a chain. Raises DataError for a cycle."""
    if all(parent == number for number, parent in enumerate(parents, -1)):
        return [-1] + [0] * (len(parents) - 1)
    below: list[list[int]] = [[] for _ in parents]
    order = []
    for number, parent in enumerate(parents):
        (below[parent] if parent >= 0 else order).append(number)
    for number in order:  # which grows
        order += below[number]
    if len(order) < len(parents):
        raise DataError(f"{nodes[in_cycle(parents, order)].location}: the parents of its tree lead around in a circle")
    return order


def in_cycle(parents: list[int], reached: list[int]) -> int:
    """A token of a cycle: those that the root does not reach lead to one."""
    token = min(set(range(len(parents))) - set(reached))
    for _ in parents:
        token = parents[token]
    return token


def shown(name: bytes) -> str:
    return repr(name.decode("utf-8", "surrogateescape"))
