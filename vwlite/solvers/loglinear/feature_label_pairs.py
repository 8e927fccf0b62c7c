"""Features by number, the labels that each has weights for, and the positions of these weights."""

from dataclasses import dataclass, field, replace

import numpy as np

from vwlite.data.batch import Csr

FREQUENT = 16  # occurrences from which features are numbered before rarer ones


def find(features: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """int64[n]: the index of each hash in ``features``, uint32[features] in any order; -1 where it is missing."""
    if not len(features):
        return np.full(len(hashes), -1, np.int64)
    sorter = np.argsort(features, kind="stable")
    ascending = features[sorter]
    index = np.searchsorted(ascending, hashes)
    index[index == len(features)] = 0
    return np.where(ascending[index] == hashes, sorter[index], -1)


def numbered(features: np.ndarray, terms: Csr) -> Csr:
    """The terms among ``features``, whose numbers are the columns; those of ``terms`` are hashes."""
    index = find(features, terms.indices)
    return replace(terms, indices=index.astype(np.uint32)).keep(index >= 0)


def in_order(hashes: np.ndarray) -> np.ndarray:
    """uint32[features]: frequent ones first, then the others as they come: those of one sequence lie close together."""
    features, first, count = np.unique(hashes, return_index=True, return_counts=True)
    return features[np.lexsort((first, np.where(count >= FREQUENT, -count, 0)))]


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
    return from_keys(features, np.unique(find(features, hashes) * labels + own[labelled]), labels)


def from_keys(features: np.ndarray, keys: np.ndarray, labels: int) -> FeatureLabelIndex:
    return FeatureLabelIndex(features, keys // max(labels, 1), (keys % max(labels, 1)).astype(np.uint32))


def empty_family() -> FeatureLabelIndex:
    return FeatureLabelIndex(np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.uint32))


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
        moved = self.edges.relabelled(rebased(self.edges.label, own, labels))
        keys = wider.edges.keys(wider.edges.features, labels**2)
        edges = len(wider.state) + np.searchsorted(keys, moved.keys(wider.edges.features, labels**2))
        ways = rebased(np.arange(own**2 if self.transitions else 0), own, labels)
        places = np.searchsorted(wider.histories, rebased(self.histories, own, labels))
        triples = wider.first_triple + (places[:, None] * labels + np.arange(own)).reshape(-1)
        return np.concatenate((state, edges, wider.first_transition + ways, triples)).astype(np.int64)


def rebased(way: np.ndarray, labels: int, more: int) -> np.ndarray:
    """Numbers of pairs of labels when there are ``more`` labels."""
    return way if labels == more else way // max(labels, 1) * more + way % max(labels, 1)


def widened(old: Pairs, new: Pairs) -> Pairs:
    """All weights of both; the names of ``new`` begin with those of ``old``."""
    labels = new.labels
    moved = old.edges.relabelled(rebased(old.edges.label, old.labels, labels))
    state, edges = union(old.state, new.state, labels), union(moved, new.edges, labels**2)
    histories = np.union1d(rebased(old.histories, old.labels, labels), new.histories).astype(np.uint32)
    return Pairs(new.names, state, edges, new.transitions, histories)
