"""Features that are kernels of an example with landmarks: fixed examples, the lines of a file or some of the first.

With ``--whiten`` they are multiplied by a root of (K + 1e-6 I)^-1, K the kernels of the landmarks with each other, so
that their dot products are Nystrom's approximation of the kernel (Williams and Seeger, NIPS 2000). A model keeps the
landmarks.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite._native.random_features import FILL_LANDMARKS
from vwlite.data.batch import BLANK, Csr, offsets
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.config import LANDMARK_KERNELS, MOST_WHITENED, FeatureConfig
from vwlite.features.hashing import hash_name, hash_numbers
from vwlite.features.random_features import GAMMA, mapped_namespaces, usual_gamma
from vwlite.storage.model_file import numbers

START, SLOT, VALUE, WHITEN = "landmark_start", "landmark_slot", "landmark_value", "landmark_whiten"  # a model's arrays
PLAN_ARRAYS = (GAMMA, START, SLOT, VALUE, WHITEN)  # of all features of kernels
RIDGE = 1e-6


@dataclass(slots=True)
class LandmarkIndex:
    """Arrays as in ``cython_ext/features/plan.pxd``; ``whiten`` float32[0, 0] where there is none."""

    slot: np.ndarray
    start: np.ndarray
    landmark: np.ndarray
    value: np.ndarray
    norm: np.ndarray
    whiten: np.ndarray


class LandmarkMap:
    """The features that ``--landmarks`` adds to an example: a feature for each landmark, from the slot ``first`` on.

    Without landmarks, ``index`` None, it waits for ``set_rows`` or ``load``.
    """

    fill = FILL_LANDMARKS
    shifted = False

    def __init__(self, config: FeatureConfig) -> None:
        name, _, self.path = config.landmarks.partition(":")
        self.count = config.landmark_count  # of the first examples; 0: all lines of ``path``
        self.kernel, self.only, self.whitened = LANDMARK_KERNELS.index(name), config.random_only, config.whiten
        self.nearest, self.bits, self.seed = config.nearest, config.bits, config.hash_seed
        self.first = hash_name(b"landmarks", config.hash_seed, config.hash == "all")
        self.of, self.chosen = mapped_namespaces(config), bool(config.random_of)
        self.has_gamma, self.gamma = config.has_gamma, config.gamma
        self.rows: Csr | None = None
        self.index: LandmarkIndex | None = None

    @property
    def waiting(self) -> bool:
        return self.index is None

    @property
    def size(self) -> int:
        return len(self.rows) if self.rows else 0

    def set_rows(self, rows: Csr) -> None:
        """Take the landmarks, and find what is not typed: ``gamma`` as random features do, the whitening matrix.

        Raises DataError, UsageError.
        """
        rows = merge_slots(rows)
        rows = rows.take(np.flatnonzero(rows.sizes))
        if not len(rows):
            of_file = f"{self.path} has no landmark with a feature"
            raise DataError(f"--landmarks: {'the first examples have no features' if self.count else of_file}")
        if len(rows) > 2**self.bits:
            raise UsageError(f"--landmarks: {len(rows)} features need as many slots: give a larger -b")
        if self.whitened and len(rows) > MOST_WHITENED:
            raise UsageError(f"--whiten takes {MOST_WHITENED} landmarks at most, not {len(rows)}")
        if self.has_gamma and self.gamma is None:
            self.gamma = usual_gamma(rows, self.seed, square=True)
        self.rows, self.index = rows, index_of(rows)
        if self.whitened:
            self.index.whiten = whitening(self.kernels())

    def kernels(self) -> np.ndarray:
        """float64[size, size]: of the landmarks with each other."""
        dots = np.zeros((self.size, self.size))
        index, norm = self.index, self.index.norm
        for low, high in zip(index.start[:-1].tolist(), index.start[1:].tolist(), strict=True):
            at, value = index.landmark[low:high], index.value[low:high].astype(np.float64)
            dots[np.ix_(at, at)] += np.outer(value, value)
        name = LANDMARK_KERNELS[self.kernel]
        if name == "rbf":
            return np.exp(-self.gamma * np.maximum(norm[:, None] + norm - 2 * dots, 0))
        if name == "cosine":
            return dots / np.sqrt(np.outer(norm, norm))
        return dots if name == "linear" else (1 + dots) ** int(name[-1])

    def slots(self) -> np.ndarray:
        """uint32[size]: of its features."""
        return (np.arange(self.size, dtype=np.uint32) + np.uint32(self.first)) & np.uint32((1 << self.bits) - 1)

    def names(self) -> list[str]:
        return [f"landmarks^{number}" for number in range(self.size)]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a model contains."""
        if self.index is None:
            return {}
        rows = {START: self.rows.indptr, SLOT: self.rows.indices, VALUE: self.rows.values}
        whiten = {WHITEN: self.index.whiten} if self.whitened else {}
        return {**rows, **whiten, **({GAMMA: np.array([self.gamma])} if self.has_gamma else {})}

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for arrays that are none of these."""
        start = numbers(arrays, START, np.int64, (-1,))
        if len(start) < 2 or start[0] or (np.diff(start) < 1).any():
            raise ValueError("the rows of its landmarks")
        slot = numbers(arrays, SLOT, np.uint32, (int(start[-1]),))
        value = numbers(arrays, VALUE, np.float32, (int(start[-1]),))
        if int(slot.max()) >= 2**self.bits or not np.isfinite(value).all():
            raise ValueError("the features of its landmarks")
        self.rows = Csr(start, slot, value)
        self.index = index_of(self.rows)
        if self.whitened:
            self.index.whiten = numbers(arrays, WHITEN, np.float32, (self.size, self.size))
        if self.has_gamma:
            self.gamma = float(numbers(arrays, GAMMA, np.float64, (1,))[0])
            if not 0 < self.gamma < math.inf:
                raise ValueError("gamma of its landmarks")


def merge_slots(rows: Csr) -> Csr:
    """Rows whose slots ascend, each of them once; the values of one that is there twice are added up."""
    order = np.lexsort((rows.indices, rows.owner))
    owner, slot, value = rows.owner[order], rows.indices[order], rows.values[order]
    first = np.flatnonzero(np.append(True, (owner[1:] != owner[:-1]) | (slot[1:] != slot[:-1])))[: len(owner)]
    if len(first):
        value = np.add.reduceat(value.astype(np.float64), first)
    nonzero = np.flatnonzero(value)
    owner, slot = owner[first][nonzero], slot[first][nonzero]
    return Csr(offsets(np.bincount(owner, minlength=len(rows))), slot, value[nonzero].astype(np.float32))


def index_of(rows: Csr) -> LandmarkIndex:
    """An index from slots to the rows that have them."""
    order = np.argsort(rows.indices, kind="stable")
    slot, counts = np.unique(rows.indices, return_counts=True)
    norm = np.bincount(rows.owner, rows.values.astype(np.float64) ** 2, len(rows))
    owner = rows.owner[order].astype(np.uint32)
    return LandmarkIndex(slot, offsets(counts), owner, rows.values[order], norm, np.zeros((0, 0), np.float32))


def whitening(kernels: np.ndarray) -> np.ndarray:
    """float32[m, m]: the eigenvectors of K + 1e-6 I over the roots of their eigenvalues, the strongest first.

    It is (K + 1e-6 I)^(-1/2) turned so that features are uncorrelated over the landmarks: the rates that adaptive
    learners keep for each feature fit them then. The largest entry of an eigenvector is positive.
    """
    values, vectors = np.linalg.eigh(kernels + RIDGE * np.eye(len(kernels)))
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(vectors))]
    return np.ascontiguousarray(vectors * np.sign(largest) / np.sqrt(np.maximum(values, RIDGE)), np.float32)


def arrays_of(config: FeatureConfig) -> list[str]:
    """The names of the arrays that a model keeps of features of kernels."""
    whitened = [WHITEN] if config.whiten else []
    landmarks = [START, SLOT, VALUE, *whitened] if config.landmarks else []
    return [*landmarks, GAMMA] if config.has_gamma else landmarks

def landmarks_digest(config: FeatureConfig) -> str:
    """The digest of the file of landmarks, by which a later run recognises it; empty for none and for a pipe."""
    path = config.landmarks.partition(":")[2]
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]


LINE = 7  # what is hashed, beside what ``random_features`` hashes


def chosen_rows(rows: int, count: int, seed: int) -> np.ndarray:
    """int64, ascending: ``count`` of ``rows`` rows, or all if there are fewer, chosen as by ``chosen_lines``."""
    return smallest(hash_numbers(seed, LINE, np.arange(rows)), count)


def smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """int64, ascending: the places of the ``count`` smallest."""
    return np.sort(np.argpartition(keys, count - 1)[:count]) if len(keys) > count else np.arange(len(keys))


def chosen_lines(parts: Iterable[Parsed], policy: BadLines, count: int, seed: int) -> list[bytes]:
    """``count`` of the examples' lines, or all of fewer, each as likely as any other, in the order of the text.

    A line's number and the seed decide. Raises as ``policy`` does.
    """
    keys, lines, numbered = np.zeros(0, np.uint64), list[bytes](), 0
    for part in parts:
        batch = policy.examine(part)
        text = bytes(memoryview(part.block.data)[: part.block.size]).split(b"\n")
        owners = batch.line[batch.flags & BLANK == 0].tolist()
        if batch.release:
            batch.release()
        keys = np.append(keys, hash_numbers(seed, LINE, numbered + np.arange(len(owners))))
        lines += [text[line].removesuffix(b"\r") for line in owners]
        numbered += len(owners)
        chosen_keys = smallest(keys, count)
        keys, lines = keys[chosen_keys], [lines[place] for place in chosen_keys.tolist()]
    policy.finish()
    return lines
