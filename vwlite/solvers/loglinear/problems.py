"""Training sets as the solvers see them: likelihood, gradient, stochastic steps over a vector of weights.

Features have numbers; pairs of a feature and a label that it has a weight for have positions in that vector.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from vwlite._native import crf as chain
from vwlite._native import logistic_l1, nbest_labels, weigh_terms
from vwlite.data.batch import Csr, offsets
from vwlite.errors import Diverged
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.base import UNSTABLE
from vwlite.solvers.loglinear.examples import LINE, Lines, Tree, sequences_of, tree_of

FREQUENT = 16  # occurrences from which features are numbered before rarer ones


def find(features: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """int64[n]: the index of each hash in ``features``, uint32[features] in any order; -1 where it is missing."""
    index = np.empty(len(hashes), np.int64)
    weigh_terms.find_slots(features, hashes, index)
    return index


def number_terms(features: np.ndarray, terms: Csr) -> Csr:
    """The terms among ``features``, whose numbers are the columns; those of ``terms`` are hashes."""
    index = find(features, terms.indices)
    return replace(terms, indices=index.astype(np.uint32)).keep(index >= 0)


def in_order(hashes: np.ndarray) -> np.ndarray:
    """uint32[features]: frequent ones first, then the others as they come: those of one sequence lie close together."""
    features, count = np.empty(len(hashes), np.uint32), np.empty(len(hashes), np.int64)
    found = weigh_terms.number_slots(hashes, features, count)
    features, count = features[:found], count[:found]
    return features[np.argsort(np.where(count >= FREQUENT, -count, 0), kind="stable")]


@dataclass(slots=True)
class FeatureLabelIndex:
    """State or edge features by their hashes, and pairs (feature, label) in ascending order."""

    features: np.ndarray  # uint32[features]
    feature: np.ndarray  # int64[pairs], the feature's number
    label: np.ndarray  # uint32[pairs]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def start(self) -> np.ndarray:
        """int64[features + 1]: the first pair of each feature."""
        return np.searchsorted(self.feature, np.arange(len(self.features) + 1)).astype(np.int64)

    def keys(self, features: np.ndarray, labels: int) -> np.ndarray:
        """int64[pairs]: the pairs as numbers, by the places of their features among ``features``."""
        return find(features, self.features)[self.feature] * labels + self.label

    def relabelled(self, label: np.ndarray) -> "FeatureLabelIndex":
        return FeatureLabelIndex(self.features, self.feature, label.astype(np.uint32))


def family(terms: Csr, label: np.ndarray, labels: int, dense: bool = False) -> FeatureLabelIndex:
    """The pairs that occur in the lines; lines with a label below 0 are ignored. ``labels``: the number of labels."""
    own = np.repeat(label, terms.sizes).astype(np.int64)
    labelled = own >= 0
    hashes = terms.indices[labelled]
    features = in_order(hashes)
    if dense:
        feature = np.repeat(np.arange(len(features), dtype=np.int64), labels)
        return FeatureLabelIndex(features, feature, np.tile(np.arange(labels, dtype=np.uint32), len(features)))
    keys = find(features, hashes) * labels + own[labelled]
    return from_keys(features, distinct(keys, len(features) * labels), labels)


def distinct(keys: np.ndarray, size: int) -> np.ndarray:
    """int64[n]: the different ones of ``keys``, numbers below ``size``, ascending."""
    if size > 8 * len(keys):  # marks would take more memory than the keys
        return np.unique(keys)
    present = np.zeros(size, bool)
    present[keys] = True
    return np.flatnonzero(present)


def from_keys(features: np.ndarray, keys: np.ndarray, labels: int) -> FeatureLabelIndex:
    return FeatureLabelIndex(features, keys // max(labels, 1), (keys % max(labels, 1)).astype(np.uint32))


def union(one: FeatureLabelIndex, other: FeatureLabelIndex, labels: int) -> FeatureLabelIndex:
    """The pairs of both; the features of ``one`` keep their numbers."""
    new = other.features[find(one.features, other.features) < 0]
    features = np.concatenate((one.features, new))
    return from_keys(features, np.union1d(one.keys(features, labels), other.keys(features, labels)), labels)


@dataclass(slots=True)
class Pairs:
    """The weights of a chain or multinomial model, in the words of ``solvers/label_chain.pxd``.

    ``histories``: pairs of labels as numbers, the first times ``labels`` plus the second, ascending.
    """

    names: list[str]
    state: FeatureLabelIndex
    edges: FeatureLabelIndex
    transitions: bool
    histories: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))  # uint32[n]; of order 2 alone

    def __post_init__(self) -> None:
        self.start, self.label = self.state.start, self.state.label
        self.edge_start, self.edge_label = self.edges.start, self.edges.label
        own = np.arange(self.labels, dtype=np.int32)
        self.last = np.concatenate((own, self.histories % max(self.labels, 1))).astype(np.int32)
        self.state_after = np.tile(own, self.labels)
        self.state_after[self.histories] = self.labels + np.arange(len(self.histories))

    start: np.ndarray = None  # type: ignore[assignment]
    label: np.ndarray = None  # type: ignore[assignment]
    edge_start: np.ndarray = None  # type: ignore[assignment]
    edge_label: np.ndarray = None  # type: ignore[assignment]
    last: np.ndarray = None  # type: ignore[assignment]
    state_after: np.ndarray = None  # type: ignore[assignment]

    @property
    def labels(self) -> int:
        return len(self.names)

    @property
    def first_edge(self) -> int:
        return len(self.state)

    @property
    def first_transition(self) -> int:
        return len(self.state) + len(self.edges)

    @property
    def first_triple(self) -> int:
        return self.first_transition + (self.labels**2 if self.transitions else 0)

    @property
    def weights(self) -> int:
        return self.first_triple + len(self.histories) * self.labels

    @property
    def previous(self) -> list[str]:
        """What is before a label, of each row of transitions and triples: the names of one label or two."""
        pairs = (divmod(one, self.labels) for one in self.histories.tolist())
        return [*(self.names if self.transitions else ()), *(f"{self.names[z]} {self.names[y]}" for z, y in pairs)]

    def positions_in(self, wider: "Pairs") -> np.ndarray:
        """int64[weights]: where these weights stand among those of ``wider``, which has all of them."""
        labels, own = wider.labels, self.labels
        features = wider.state.features
        state = np.searchsorted(wider.state.keys(features, labels), self.state.keys(features, labels))
        moved = self.edges.relabelled(renumber_pairs(self.edges.label, own, labels))
        keys = wider.edges.keys(wider.edges.features, labels**2)
        edges = len(wider.state) + np.searchsorted(keys, moved.keys(wider.edges.features, labels**2))
        ways = renumber_pairs(np.arange(own**2 if self.transitions else 0), own, labels)
        places = np.searchsorted(wider.histories, renumber_pairs(self.histories, own, labels))
        triples = wider.first_triple + (places[:, None] * labels + np.arange(own)).reshape(-1)
        return np.concatenate((state, edges, wider.first_transition + ways, triples)).astype(np.int64)


def renumber_pairs(way: np.ndarray, labels: int, more: int) -> np.ndarray:
    """Numbers of pairs of labels when there are ``more`` labels."""
    return way if labels == more else way // max(labels, 1) * more + way % max(labels, 1)


def merge_pairs(old: Pairs, new: Pairs) -> Pairs:
    """All weights of both; the names of ``new`` begin with those of ``old``."""
    labels = new.labels
    moved = old.edges.relabelled(renumber_pairs(old.edges.label, old.labels, labels))
    state, edges = union(old.state, new.state, labels), union(moved, new.edges, labels**2)
    histories = np.union1d(renumber_pairs(old.histories, old.labels, labels), new.histories).astype(np.uint32)
    return Pairs(new.names, state, edges, new.transitions, histories)


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

    @property
    def size(self) -> int: ...  # features of all examples, each as often as it occurs


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

    @property
    def size(self) -> int:
        return len(self.terms.indices)

    def steps(self, table: np.ndarray, order: np.ndarray, schedule: Any, first: int, last: int) -> tuple[int, float]:
        return unless_stopped(logistic_l1.steps(self, table, order, schedule, first, last))

    def likelihood(self, weights: np.ndarray, rows: np.ndarray, gradient: np.ndarray | None) -> float:
        return unless_stopped(logistic_l1.likelihood(self, weights, rows, gradient))

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float:
        return self.likelihood(weights, rows, None)


def examples_of(lines: Lines, features: np.ndarray) -> Examples:
    """``lines`` have labels -1 and 1; terms whose slot is not among ``features`` are dropped."""
    return Examples(features, number_terms(features, lines.state), lines.label.astype(np.float64), lines.weight)


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
    def size(self) -> int:
        return len(self.state.indices)

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
    """The chains of all lines of kind LINE, without features that the pairs do not know; a sequence weighs what its
    first token does.

    ``tree`` is that of the lines, if it is known already. Raises DataError for sequences that ought to be trees.
    """
    tokens = np.flatnonzero(lines.kind == LINE)
    sequence = sequences_of(lines.kind) if pairs.transitions else np.arange(len(tokens) + 1, dtype=np.int64)
    if len(tokens) < len(lines):
        lines = lines.select(tokens)
    edge = number_terms(pairs.edges.features, lines.edge) if lines.edge is not None and len(pairs.edges) else None
    weight = lines.weight[sequence[:-1]] if len(tokens) else np.zeros(0)
    sequence = sequence if len(tokens) else np.zeros(1, np.int64)
    label = lines.label.astype(np.int32)
    if lines.node is not None and tree is None:
        tree = tree_of(lines.node.tolist(), sequence)
    return Chains(pairs, sequence, number_terms(pairs.state.features, lines.state), edge, label, weight, tree)
