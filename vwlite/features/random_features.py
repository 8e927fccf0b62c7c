"""Random features of an example's terms, whose dot products approximate those of a kernel.

Rahimi and Recht, NIPS 2007; Yu et al., NIPS 2016; Pham and Pagh, KDD 2013; Cho and Saul, NIPS 2009. What is random is a
function of the seed of the hash, so that a model keeps none of it but ``gamma``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native.random_features import FILL_RANDOM, fill_directions
from vwlite.data.batch import Csr
from vwlite.features.config import KERNELS, FeatureConfig
from vwlite.features.hashing import hash_name, hash_numbers, key, unit_interval
from vwlite.features.interactions import decode_letters
from vwlite.storage.model_file import numbers

GAMMA = "random_gamma"  # of a model's arrays
EXAMPLES, PAIRS = 2000, 1000  # from which ``gamma`` is found
FOLD, SKETCH, SIGN, PHASE, DIRECTION, PAIR = range(1, 7)  # what is hashed
RBF, LAPLACE, ARCCOS = KERNELS.index("rbf"), KERNELS.index("laplace"), KERNELS.index("arccos")


class RandomMap:
    """The features that ``--random_features`` adds to an example: ``size`` features from the slot ``first`` on.

    The arrays are described in ``cython_ext/features/plan.pxd``. Those of the kernels ``rbf`` and ``laplace``
    wait for ``gamma``.
    """

    fill = FILL_RANDOM
    index = None  # of landmarks

    def __init__(self, config: FeatureConfig) -> None:
        self.name, self.size = config.random_kernel, config.random_size
        self.kernel, self.fold, self.only = KERNELS.index(self.name), config.fold, config.random_only
        self.first = hash_name(self.name.encode(), config.hash_seed, config.hash == "all")
        self.of, self.chosen = mapped_namespaces(config), bool(config.random_of)
        self.seed = config.hash_seed
        self.fold_key, self.sketch_key = key(self.seed, FOLD), key(self.seed, SKETCH)
        self.amplitude = 1 / math.sqrt(self.size) if self.name in ("poly2", "poly3") else math.sqrt(2 / self.size)
        self.scale = 1.0
        self.sign = self.phase = self.direction = np.zeros(0, np.float32)
        self.shifted = config.has_gamma
        self.gamma: float | None = None
        if self.kernel in (RBF, ARCCOS):
            self.sign = signs(self.seed, -(-self.size // self.fold), self.fold)
        if self.kernel == ARCCOS:
            self.amplitude /= self.fold
        if self.shifted:
            self.phase = unit_interval(hash_numbers(self.seed, PHASE, np.arange(self.size))).astype(np.float32)
        if self.kernel == LAPLACE:
            self.direction = np.empty(self.fold * self.size, np.float32)
            fill_directions(key(self.seed, DIRECTION), self.direction, self.size)
        if config.gamma is not None:
            self.set_gamma(config.gamma)

    @property
    def waiting(self) -> bool:
        """Whether ``gamma`` is still to be found."""
        return self.shifted and self.gamma is None

    def set_gamma(self, gamma: float) -> None:
        self.gamma = gamma
        wide = math.sqrt(2 * gamma) / self.fold if self.kernel == RBF else gamma
        self.scale = wide / (2 * math.pi)

    def find_gamma(self, terms: Csr) -> None:
        """1 / the median of the (for ``rbf`` squared) distances of ``PAIRS`` pairs of these rows; 1 if that is 0."""
        self.set_gamma(usual_gamma(terms, self.seed, square=self.kernel == RBF))

    def names(self) -> list[str]:
        """The names of the features, as if they were numbers in a namespace."""
        return [f"{self.name}^{number}" for number in range(self.size)]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a model contains."""
        return {} if self.gamma is None else {GAMMA: np.array([self.gamma])}

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for arrays that are none of these."""
        if self.shifted:
            gamma = float(numbers(arrays, GAMMA, np.float64, (1,))[0])
            if not 0 < gamma < math.inf:
                raise ValueError("gamma of its random features")
            self.set_gamma(gamma)


def mapped_namespaces(config: FeatureConfig) -> np.ndarray:
    """uint8[256]: 1 at the namespaces that ``--random_of`` names."""
    of = np.zeros(256, np.uint8)
    of[[letter for value in config.random_of for letter in decode_letters(value)]] = 1
    return of


def signs(seed: int, blocks: int, fold: int) -> np.ndarray:
    """float32[blocks * 3 * fold] of 1 and -1."""
    place = np.arange(3 * blocks)[:, None] << 32 | np.arange(fold)
    return np.where(hash_numbers(seed, SIGN, place) >> np.uint64(63), -1, 1).astype(np.float32).ravel()


def usual_gamma(terms: Csr, seed: int, square: bool) -> float:
    """1 / the median of the distances of ``PAIRS`` pairs of rows; 1 if that is 0. ``square`` as for ``distance``."""
    drawn = (hash_numbers(seed, PAIR, np.arange(2 * PAIRS)) % np.uint64(max(len(terms), 1))).astype(np.int64)
    distances = [distance(terms, a, b, square) for a, b in drawn.reshape(PAIRS, 2).tolist() if a != b]
    middle = float(np.median(distances)) if distances else 0.0
    return 1 / middle if middle > 0 and math.isfinite(1 / middle) else 1.0


def distance(terms: Csr, first: int, second: int, square: bool) -> float:
    """The squared distance of two rows, or the sum of absolute differences."""
    one, other = terms.row(first), terms.row(second)
    slots = np.concatenate((terms.indices[one], terms.indices[other]))
    values = np.concatenate((terms.values[one], -terms.values[other])).astype(np.float64)
    _, place = np.unique(slots, return_inverse=True)
    gaps = np.bincount(place, values)
    return float((gaps * gaps).sum() if square else np.abs(gaps).sum())
