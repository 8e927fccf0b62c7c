"""The examples that the first means are.

``scalable``: k-means|| (Bahmani et al., VLDB 2012), whose candidates are drawn in a few passes, those far from the
earlier ones more often; of these k-means++ (Arthur and Vassilvitskii, SODA 2007) with several trials a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vwlite._native import nearest_means
from vwlite.data.csr import Csr, joined
from vwlite.features.random_features import mix64
from vwlite.solvers.clusters.numbered_rows import NumberedRows, Piece

ROUNDS, SHARE = 5, 2  # of k-means||: candidates a round for each cluster
Nearest = Callable[[Piece, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # clusters and distances from means


def uniform(numbers: np.ndarray, seed: int, *purposes: int) -> np.ndarray:
    """float64[n] within (0, 1): functions of whole numbers, of the seed and of what they are for."""
    state = mix64(np.array([seed + 1], np.uint64))
    for purpose in purposes:
        state = mix64(state ^ mix64(np.array([purpose + 1], np.uint64)))
    bits = mix64(state ^ mix64(numbers.astype(np.uint64) + np.uint64(1))) >> np.uint64(11)
    return (bits.astype(np.float64) + 0.5) / 2**53


def drawn(weight: np.ndarray, count: int, seed: int, *purposes: int) -> np.ndarray:
    """int64[count], ascending: rows drawn without replacement, as likely as their weights.

    Those of the smallest exponential times of these rates (Efraimidis and Spirakis, Information Processing Letters 97,
    2006).
    """
    with np.errstate(divide="ignore"):
        times = -np.log(uniform(np.arange(len(weight)), seed, *purposes)) / weight
    return np.sort(np.argsort(times, kind="stable")[:count])


def trimmed(weight: np.ndarray, distance: np.ndarray, share: float) -> np.ndarray:
    """The weights, 0 for the farthest rows, which have at most this share of them.

    Cuesta-Albertos, Gordaliza and Matran, Annals of Statistics 25 (1997).
    """
    if not share:
        return weight
    order = np.argsort(-distance, kind="stable")
    total = np.cumsum(weight[order], dtype=np.float64)
    left = weight.copy()
    left[order[total <= share * total[-1]]] = 0
    return left


def dense(rows: Csr, slots: int) -> np.ndarray:
    """float32[slots, rows]: the rows as columns."""
    made = np.zeros((slots, len(rows)), np.float32)
    made[rows.indices, rows.owner] = rows.values
    return made


def squares_of(rows: Csr) -> np.ndarray:
    return np.bincount(rows.owner, rows.values.astype(np.float64) ** 2, len(rows))


def scalable(
    rows: NumberedRows, nearest: Nearest, clusters: int, trim: float, seed: int, *purposes: int
) -> Csr:
    """So many rows, by ``ROUNDS`` + 1 passes over the data and one for each drawing.

    None is of the farthest share ``trim`` when it is drawn.
    """
    weight, slots = rows.weight.astype(np.float64), len(rows.rows)
    distance, owner = np.full(len(weight), np.inf), np.zeros(len(weight), np.int64)
    found = [rows.take(drawn(weight, 1, seed, *purposes))]
    known = 0
    for number in range(1, ROUNDS + 2):
        if len(found[-1]):
            means, squares = dense(found[-1], slots), squares_of(found[-1])
            begin = 0
            for piece in rows:
                part = slice(begin, begin + len(piece.weight))
                near, far = nearest(piece, means, squares)
                closer = far < distance[part]
                owner[part] = np.where(closer, near + known, owner[part])
                distance[part] = np.minimum(far, distance[part])
                begin = part.stop
        known += len(found[-1])
        if not np.isfinite(distance).all():  # distances from any means will not be
            return rows.take(drawn(weight, clusters, seed, *purposes))
        spread = trimmed(weight, distance, trim) * distance
        if number > ROUNDS or not spread.sum():
            break
        chance = spread * (SHARE * clusters / spread.sum())
        found.append(rows.take(np.flatnonzero(uniform(np.arange(len(weight)), seed, *purposes, number) < chance)))
    candidates = joined(found)
    chosen = plus_plus(candidates, np.bincount(owner, weight, len(candidates)), slots, clusters, seed, *purposes)
    missing = drawn(weight, clusters - len(chosen), seed, *purposes, ROUNDS + 1)
    return joined([candidates.take(chosen), rows.take(missing)])


def plus_plus(
    candidates: Csr, weight: np.ndarray, slots: int, clusters: int, seed: int, *purposes: int
) -> np.ndarray:
    """int64: at most so many of the candidates; fewer where the others are all where these are."""
    trials = 2 + int(math.log(clusters))
    squares = squares_of(candidates)
    chosen: list[int] = []
    distance = np.ones(len(candidates))
    while len(chosen) < clusters:
        total = np.cumsum(weight * distance)
        if not total[-1] > 0:
            break
        at = uniform(np.arange(trials), seed, *purposes, ROUNDS + 2, len(chosen)) * total[-1]
        tried = np.minimum(np.searchsorted(total, at, side="right"), len(candidates) - 1)
        arrays = candidates.indptr, candidates.indices, candidates.values
        found = np.empty((len(candidates), trials))
        nearest_means.distances(*arrays, dense(candidates.take(tried), slots), squares[tried], found)
        if chosen:
            found = np.minimum(found, distance[:, None])
        best = int((weight[:, None] * found).sum(axis=0).argmin())
        chosen.append(int(tried[best]))
        distance = found[:, best]
        distance[tried[best]] = 0
    return np.array(chosen, np.int64)
