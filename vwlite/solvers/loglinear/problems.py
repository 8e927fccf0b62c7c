"""Training sets as the solvers see them: likelihood, gradient, stochastic steps over a vector of weights."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from vwlite._native import crf as chain
from vwlite._native import logistic_l1, nbest_labels
from vwlite.data.batch import Csr, offsets
from vwlite.errors import Diverged
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.base import UNSTABLE
from vwlite.solvers.loglinear.examples import LINE, Lines, Tree, sequences_of, tree_of
from vwlite.solvers.loglinear.feature_label_pairs import Pairs, numbered

T = TypeVar("T")


def unless_stopped(result: T) -> T:
    """The result of a kernel. Raises Interrupted if a request to stop made it return early."""
    raise_if_stopped()
    return result


class Problem(Protocol):
    """``examples`` of them (sequences, for chains), ``weights`` to learn."""

    examples: int
    weights: int

    def steps(
        self, table: np.ndarray, order: np.ndarray, schedule: Any, first: int, last: int
    ) -> tuple[int, float]: ...

    def likelihood(self, weights: np.ndarray, rows: np.ndarray, gradient: np.ndarray | None) -> float: ...

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float: ...


@dataclass(slots=True)
class Part:
    """Some examples of a problem: ``rows`` int64[n]."""

    problem: Problem
    rows: np.ndarray

    def value(self, weights: np.ndarray) -> float:
        """What is maximised but for penalties: the sum of log p or of minus the losses, times importance."""
        return self.problem.value(weights, self.rows)

    @property
    def total_weight(self) -> float:
        """Importance in all."""
        return float(self.problem.weight[self.rows].sum())  # type: ignore[attr-defined]


@dataclass(slots=True)
class Examples:
    """Two classes, in the words of ``cython_ext/solvers/logistic_l1.pyx``."""

    features: np.ndarray  # uint32[features], the slot of each
    terms: Csr  # a row for each example, features by number
    label: np.ndarray  # float64[examples], -1 or 1
    weight: np.ndarray  # float64[examples]
    stop: ClassVar[Any] = STOP

    @property
    def examples(self) -> int:
        return len(self.label)

    @property
    def weights(self) -> int:
        return len(self.features)

    def steps(self, table: np.ndarray, order: np.ndarray, schedule: Any, first: int, last: int) -> tuple[int, float]:
        return unless_stopped(logistic_l1.steps(self, table, order, schedule, first, last))

    def likelihood(self, weights: np.ndarray, rows: np.ndarray, gradient: np.ndarray | None) -> float:
        return unless_stopped(logistic_l1.likelihood(self, weights, rows, gradient))

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float:
        return self.likelihood(weights, rows, None)


def examples_of(lines: Lines, features: np.ndarray) -> Examples:
    """``lines`` have labels -1 and 1; terms whose slot is not among ``features`` are dropped."""
    return Examples(features, numbered(features, lines.state), lines.label.astype(np.float64), lines.weight)


def sequence_bytes(tokens: int, pairs: Pairs) -> float:
    """Most bytes that the kernel allocates for a sequence of so many tokens: arrays of ``Lattice``, label_chain.pxd."""
    capacity, labels, states = float(max(2 * tokens, 64)), float(pairs.labels), float(len(pairs.last))
    steps = labels**2 * ((capacity if len(pairs.edges) else 1) + 4)
    triples = 2 * states * labels if len(pairs.histories) else 0
    return 8 * (capacity * (2 * labels + states + 1) + steps + triples)


@dataclass(slots=True)
class Chains:
    """Label sequences, in the words of ``solvers/label_chain.pxd``; without transitions a sequence is one token."""

    pairs: Pairs
    sequence: np.ndarray  # int64[sequences + 1]
    state: Csr  # a row for each token, features by number
    edge: Csr | None  # the same of the edge features
    label: np.ndarray  # int32[tokens]
    weight: np.ndarray  # float64[sequences]
    tree: Tree | None = None
    stop: ClassVar[Any] = STOP

    @property
    def examples(self) -> int:
        return len(self.sequence) - 1

    @property
    def before(self) -> np.ndarray:
        """int64[tokens]: the token that each is after, -1 where there is none."""
        return tokens_before(self.sequence, self.tree)

    @property
    def weights(self) -> int:
        return self.pairs.weights

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        return int(np.diff(self.sequence).max(initial=0))

    @property
    def sequence_bytes(self) -> float:
        """Most bytes that the kernel allocates for the longest sequence."""
        return sequence_bytes(self.longest, self.pairs)

    @property
    def labelled(self) -> np.ndarray:
        """bool[sequences]: those all of whose labels are known."""
        unknown = np.concatenate(([0], np.cumsum((self.label < 0) | (self.label >= self.pairs.labels))))
        return unknown[self.sequence[1:]] == unknown[self.sequence[:-1]]

    def only(self, rows: np.ndarray) -> "Chains":
        """The sequences ``rows``, int64[n] ascending."""
        sizes = np.diff(self.sequence)
        chosen = np.zeros(len(sizes), bool)
        chosen[rows] = True
        tokens = np.flatnonzero(np.repeat(chosen, sizes))
        edge = None if self.edge is None else self.edge.take(tokens)
        state, sequence = self.state.take(tokens), offsets(sizes[rows])
        tree = self.tree and self.tree.take(tokens)
        return Chains(self.pairs, sequence, state, edge, self.label[tokens], self.weight[rows], tree)

    def steps(self, table: np.ndarray, order: np.ndarray, schedule: Any, first: int, last: int) -> tuple[int, float]:
        return unless_stopped(chain.steps(self, self.pairs, table, order, schedule, first, last))

    def likelihood(self, weights: np.ndarray, rows: np.ndarray, gradient: np.ndarray | None) -> float:
        return unless_stopped(chain.likelihood(self, self.pairs, weights, rows, gradient))

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float:
        return self.likelihood(weights, rows, None)

    def decode(self, weights: np.ndarray, marginals: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """int32[tokens], the most likely sequences' labels; float64[tokens, labels], their probabilities, if wanted.

        Raises MemoryError, Diverged.
        """
        best = np.zeros(len(self.label), np.int32)
        chances = np.zeros((len(self.label), self.pairs.labels)) if marginals else None
        check_decoded(unless_stopped(chain.decode(self, self.pairs, weights, best, chances)))
        return best, chances

    def nbest(self, weights: np.ndarray, count: int, normalized: bool) -> tuple[np.ndarray, np.ndarray]:
        """int32[count, tokens], the most likely labels of every sequence, then the second most likely, and so on, and
        float64[count, sequences], their scores, -infinity where a sequence has fewer; ``normalized``: log p(labels).

        Raises MemoryError, Diverged.
        """
        labels = np.zeros((count, len(self.label)), np.int32)
        scores = np.zeros((count, self.examples))
        check_decoded(unless_stopped(nbest_labels.nbest(self, self.pairs, weights, normalized, labels, scores)))
        return labels, scores


def check_decoded(status: int) -> None:
    """Raises Diverged, MemoryError by the status of a kernel."""
    if status == UNSTABLE:
        raise Diverged("probabilities are not finite numbers: a feature's value is too large for its weights")
    if status:
        raise MemoryError("a sequence is too long for the memory there is")


def tokens_before(sequence: np.ndarray, tree: Tree | None) -> np.ndarray:
    """int64[tokens]: the token that each is after, the one before it or its parent, -1 where there is none."""
    if tree:
        first = np.repeat(sequence[:-1], np.diff(sequence))
        return np.where(tree.parent < 0, -1, tree.parent + first)
    before = np.arange(-1, int(sequence[-1]) - 1)
    before[sequence[:-1]] = -1
    return before


def chains_of(lines: Lines, pairs: Pairs, tree: Tree | None = None) -> Chains:
    """Of all lines that are LINE, without what the pairs do not know; a sequence weighs what its first token does.

    ``tree`` is that of the lines, if it is known already. Raises DataError for sequences that ought to be trees.
    """
    tokens = np.flatnonzero(lines.kind == LINE)
    sequence = sequences_of(lines.kind) if pairs.transitions else np.arange(len(tokens) + 1, dtype=np.int64)
    if len(tokens) < len(lines):
        lines = lines.select(tokens)
    edge = numbered(pairs.edges.features, lines.edge) if lines.edge is not None and len(pairs.edges) else None
    weight = lines.weight[sequence[:-1]] if len(tokens) else np.zeros(0)
    sequence = sequence if len(tokens) else np.zeros(1, np.int64)
    label = lines.label.astype(np.int32)
    if lines.node is not None and tree is None:
        tree = tree_of(lines.node.tolist(), sequence)
    return Chains(pairs, sequence, numbered(pairs.state.features, lines.state), edge, label, weight, tree)
