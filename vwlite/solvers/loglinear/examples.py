"""The lines of batches as flat arrays: terms by their hash, labels by number, where sequences end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from vwlite.data.batch import BLANK, FIRST, TAGGED, Batch, Csr, LabelVocabulary, joined, tag_of
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.term_weights import meet, terms_of
from vwlite.options import read_decimal
from vwlite.solvers.loglinear.config import L1Config

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


LINE, EMPTY, BAD, BREAK = 0, 1, 2, 3  # what a line is; BREAK is none, but the end of a file before another


@dataclass(slots=True)
class Lines:
    """Lines in the order of the text, empty and malformed ones and ends of files among them."""

    state: Csr  # terms by their hash
    edge: Csr | None
    kind: np.ndarray  # uint8[lines], LINE, EMPTY, BAD or BREAK
    label: np.ndarray  # int32[lines], number of the label's name, -1 without; or float32, NaN without
    weight: np.ndarray  # float64[lines], importance
    tag: np.ndarray | None = None  # object[lines], bytes
    about: np.ndarray | None = None  # object[lines], what else is wanted of them
    node: np.ndarray | None = None  # object[lines] of trees.Node, where sequences are trees

    def __len__(self) -> int:
        return len(self.kind)

    def select(self, lines: np.ndarray) -> Lines:
        return Lines(
            self.state.take(lines),
            self.edge.take(lines) if self.edge is not None else None,
            *(column[lines] for column in (self.kind, self.label, self.weight)),
            *(None if column is None else column[lines] for column in (self.tag, self.about, self.node)),
        )


def join(parts: list[Lines]) -> Lines:
    """One after the other; there must be one."""
    edges = [part.edge for part in parts if part.edge is not None]
    columns = ([getattr(part, name) for part in parts] for name in ("kind", "label", "weight"))
    tags = [np.full(len(part), b"", object) if part.tag is None else part.tag for part in parts]
    return Lines(
        joined([part.state for part in parts]),
        joined(edges) if edges else None,
        *map(np.concatenate, columns),
        tag=np.concatenate(tags) if any(part.tag is not None for part in parts) else None,
        about=np.concatenate([part.about for part in parts]) if parts[0].about is not None else None,
        node=np.concatenate([part.node for part in parts]) if parts[0].node is not None else None,
    )


@dataclass(slots=True)
class Collector:
    """Turns batches into ``Lines``. ``book`` has the labels met so far; None: labels are numbers.
    ``tree``: sequences are trees. ``class_weights``: pairs of a label in the book, or its number, and a factor of the
    importance of its lines.
    """

    plan: Plan
    edge_plan: Plan | None = None
    book: LabelVocabulary | None = None
    tree: bool = False
    class_weights: tuple[tuple[Any, float], ...] = ()

    def lines(
        self, batch: Batch, with_gaps: bool = False, about: Callable[[Batch], np.ndarray | None] | None = None
    ) -> Lines:
        """The batch's lines; ``with_gaps`` includes malformed lines as BAD ones, and tags; ``about`` knows more."""
        meet(batch, self.plan)
        kind = np.where(batch.flags & BLANK, EMPTY, LINE).astype(np.uint8)
        edge = terms_of(batch, self.edge_plan) if self.edge_plan else None
        label = self.book.numbers(batch) if self.book else batch.label.copy()
        weight = batch.importance.astype(np.float64)
        if self.book and self.class_weights:
            weight *= np.append(self.label_factors(), 1.0)[label]  # a label of -1 has the last one
        lines = Lines(terms_of(batch, self.plan), edge, kind, label, weight)
        if with_gaps and batch.any_flags & TAGGED:
            lines.tag = np.empty(len(batch), object)
            lines.tag[:] = [tag_of(batch, row) for row in range(len(batch))]
        lines.about = about and about(batch)
        lines.node = nodes_of(batch) if self.tree else None
        if with_gaps and batch.gaps:
            lines = inserted(lines, BAD, np.array(batch.gaps, np.int64))
        return inserted(lines, BREAK, np.zeros(1, np.int64)) if begins_file(batch) else lines

    def label_factors(self) -> np.ndarray:
        """float64[labels], what ``class_weights`` multiply importance by."""
        factors = np.ones(len(self.book.texts))
        for label, weight in self.class_weights:
            factors[[is_label(text, label) for text in self.book.texts]] = weight
        return factors

    def check_class_weights(self) -> None:
        """Raises UsageError for one of a label that is not in the book."""
        for label, _ in self.class_weights if self.book else ():
            if not any(is_label(text, label) for text in self.book.texts):
                raise UsageError(f"--classweight {label if isinstance(label, str) else f'{label:g}'}: no such label")


def is_label(text: str, label: float | str) -> bool:
    """Whether a label's text is this one or, for a number, has its value."""
    if isinstance(label, str):
        return text == label
    try:
        return read_decimal(text) == label
    except ValueError:
        return False


def begins_file(batch: Batch) -> bool:
    return bool(len(batch) and batch.flags[0] & FIRST)


def inserted(lines: Lines, kind: int, gaps: np.ndarray) -> Lines:
    """Lines of a kind, without terms, in front of the rows ``gaps``."""
    state, *edge = (
        replace(terms, indptr=np.insert(terms.indptr, gaps, terms.indptr[gaps]))
        for terms in (lines.state, lines.edge)
        if terms is not None
    )
    return Lines(
        state,
        edge[0] if edge else None,
        np.insert(lines.kind, gaps, kind),
        np.insert(lines.label, gaps, -1),
        np.insert(lines.weight, gaps, 1.0),
        tag=None if lines.tag is None else np.insert(lines.tag, gaps, b""),
        about=None if lines.about is None else np.insert(lines.about, gaps, None),
        node=None if lines.node is None else np.insert(lines.node, gaps, None),
    )


def text_format_of(config: L1Config, features: FeatureConfig, names: bool = False) -> TextFormat:
    """How text is parsed for these models."""
    text = text_format(features, skip_malformed=True, names=names)
    return text.of_words() if config.words else text


def plans(features: FeatureConfig, edge: tuple[str, ...], seen: Any = ()) -> tuple[Plan, Plan | None]:
    """Of the state features and, if any, of those that transitions are conditioned on."""
    if not edge:
        return Plan(features, seen), None
    own = replace(
        features, keep=edge, ignore=(), quadratic=(), cubic=(), interactions=(), ignore_linear=(), noconstant=True
    )
    rest = replace(features, ignore=(*features.ignore, *edge)) if not features.keep else features
    return Plan(rest, seen), Plan(own)


def ends_sequence(kind: np.ndarray) -> np.ndarray:
    return (kind == EMPTY) | (kind == BREAK)


def sequences_of(kind: np.ndarray) -> np.ndarray:
    """int64[sequences + 1]: where sequences begin, counted in lines that are LINE; empty lines and ends of files end
    them.
    """
    tokens = np.cumsum(kind == LINE)
    ends = tokens[ends_sequence(kind)]
    total = int(tokens[-1]) if len(tokens) else 0
    return np.unique(np.concatenate(([0], ends, [total]))).astype(np.int64)
