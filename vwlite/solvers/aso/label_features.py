"""Features of the labels before a token: ``y1`` of the last one, ``y2`` of the last two, ``y1*NS`` with features of NS.

They are numbered from 0; number L stands for the label before a sequence. ``y-prev*NS`` is the label that an example
with the same features of NS had in a sequence before. Weights of all are float32[features, L].
"""

from dataclasses import dataclass, replace

import numpy as np

from vwlite.data.csr import Csr, offsets
from vwlite.errors import UsageError
from vwlite.features.sparse_rows import Rows
from vwlite.features.vocabulary import Vocabulary
from vwlite.solvers.aso.auxiliary import in_spaces

RECALL = "y-prev*"
VALUE = 0.05  # of each, beside a row of length 1: what guesses were made of is to count less than the words


@dataclass(slots=True)
class LabelFeatures:
    """``kinds`` y1, y2, y1*NS or y-prev*NS.

    With y1*NS a feature of NS has a row of L + 1 numbers, by its ``rank`` there, -1 for others.
    """

    labels: int
    kinds: tuple[str, ...]
    rank: dict[str, np.ndarray]  # int64[p] by namespace

    @property
    def starts(self) -> np.ndarray:
        """int64[kinds + 1]: where the numbers of each kind begin."""
        width = self.labels + 1
        sizes = [width * self.factor(kind) for kind in self.kinds]
        return offsets(np.array(sizes, np.int64))

    def factor(self, kind: str) -> int:
        if kind == "y2":
            return self.labels + 1
        if not crosses(kind):
            return 1
        return int(self.rank[kind[3:]].max(initial=-1)) + 1

    def crossed(self, rows: Rows, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Row and rank of each feature of the kind's namespace, int64 both."""
        rank = self.rank[kind[3:]][rows.terms.indices]
        own = np.flatnonzero(rank >= 0)
        return rows.terms.owner[own], rank[own]

    def added(
        self, rows: Rows, one: np.ndarray, two: np.ndarray, words: int, given: np.ndarray | None = None
    ) -> Rows:
        """Rows with features behind ``words`` others, by the labels one and two before and that ``given``, int64[n].

        Labels below 0 are not known and make no feature.
        """
        width, every = self.labels + 1, np.arange(len(rows))
        owners, indices = [rows.terms.owner], [rows.terms.indices.astype(np.int64)]
        for kind, start in zip(self.kinds, self.starts[:-1].tolist(), strict=True):
            label = one if given is None or not kind.startswith(RECALL) else given
            if crosses(kind):
                owner, place = self.crossed(rows, kind)
            else:
                owner, place = every, two if kind == "y2" else np.zeros_like(every)
            known = (label[owner] >= 0) & (place >= 0)
            owners.append(owner[known])
            indices.append(words + start + place[known] * width + label[owner][known])
        owner, index = np.concatenate(owners), np.concatenate(indices)
        values = np.full(len(owner), VALUE, np.float32)
        values[: len(rows.terms.values)] = rows.terms.values
        order = np.lexsort((index, owner))
        terms = Csr(offsets(np.bincount(owner, minlength=len(rows))), index[order].astype(np.uint32), values[order])
        return replace(rows, terms=terms)

    def pairs(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        """float32[n, L + 1, L]: what the label before adds to the scores of labels."""
        width = self.labels + 1
        out = np.zeros((len(rows), width, self.labels), np.float32)
        for kind, start in zip(self.kinds, self.starts[:-1].tolist(), strict=True):
            if kind == "y1":
                out += weights[start : start + width]
            elif crosses(kind):
                owner, rank = self.crossed(rows, kind)
                table = weights[start : start + width * self.factor(kind)].reshape(-1, width, self.labels)
                np.add.at(out, owner, table[rank])
        return out * np.float32(VALUE)

    def triples(self, weights: np.ndarray) -> np.ndarray | None:
        """float32[L + 1, L + 1, L]: what the two labels before add, the farther one first; None without y2."""
        if "y2" not in self.kinds:
            return None
        width, start = self.labels + 1, int(self.starts[self.kinds.index("y2")])
        table = weights[start : start + width * width].reshape(width, width, self.labels)
        return np.ascontiguousarray(table * np.float32(VALUE))


    def recalled(self, weights: np.ndarray) -> np.ndarray | None:
        """float32[L + 1, L]: what the label given to the same word adds, the last row for none; None without y-prev."""
        own = [start for kind, start in zip(self.kinds, self.starts[:-1], strict=True) if kind.startswith(RECALL)]
        if not own:
            return None
        table: np.ndarray = weights[own[0] : own[0] + self.labels + 1] * np.float32(VALUE)
        table[-1] = 0
        return table


def crosses(kind: str) -> bool:
    return kind.startswith("y1*")


def read_kinds(text: str) -> tuple[str, ...]:
    """``y1,y2,y1*NS,y-prev*NS``. Raises UsageError."""
    kinds = tuple(dict.fromkeys(text.split(",")))
    for kind in kinds:
        if kind not in ("y1", "y2") and not any(kind.startswith(one) and kind != one for one in ("y1*", RECALL)):
            raise UsageError(f"--label-features are y1, y2, y1*NS and y-prev*NS, not {kind!r}")
    if sum(kind.startswith(RECALL) for kind in kinds) > 1:
        raise UsageError("--label-features has y-prev of two namespaces: keep that of the words")
    return kinds


def recalled_space(text: str | None) -> str | None:
    """The namespace of y-prev, None without it. Raises as ``read_kinds``."""
    own = (kind for kind in (read_kinds(text) if text else ()) if kind.startswith(RECALL))
    return next(own, RECALL).removeprefix(RECALL) or None


def label_features(kinds: tuple[str, ...], labels: int, words: Vocabulary) -> LabelFeatures:
    """Raises UsageError for a namespace that the text has not."""
    rank = {}
    for kind in kinds:
        if kind not in ("y1", "y2"):
            space = kind.partition("*")[2]
            own = in_spaces(words, (space,))
            rank[space] = np.where(own, np.cumsum(own) - 1, -1)
    return LabelFeatures(labels, kinds, rank)
