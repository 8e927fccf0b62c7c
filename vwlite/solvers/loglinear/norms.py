"""Norms of weights that a penalty is made of, with their proximal steps and their duals."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from vwlite.errors import UsageError
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.feature_label_pairs import Pairs
from vwlite.solvers.loglinear.problems import Chains, Problem
from vwlite.solvers.tall_matrices import eigenpairs


class Norm(Protocol):
    """Of float64[weights]."""

    def value(self, weights: np.ndarray) -> float: ...

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        """The v for which |v - weights|^2 / 2 + by norm(v) is least."""

    def dual(self, gradient: np.ndarray) -> float:
        """The largest gradient.v where norm(v) is 1: 0 is the optimum under a penalty of so much or more."""


class Sizes:
    """The sum of the weights' sizes, the L1 norm."""

    def value(self, weights: np.ndarray) -> float:
        return float(np.abs(weights).sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        return weights - np.clip(weights, -by, by)

    def dual(self, gradient: np.ndarray) -> float:
        return float(np.abs(gradient).max(initial=0))


class Rows:
    """The sum of the lengths of rows, the 2,1 norm. ``row`` int64[weights]: that of each weight."""

    def __init__(self, row: np.ndarray) -> None:
        self.row = row

    def lengths(self, weights: np.ndarray) -> np.ndarray:
        """float64[rows]"""
        return np.sqrt(np.bincount(self.row, weights * weights))

    def value(self, weights: np.ndarray) -> float:
        return float(self.lengths(weights).sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        lengths = self.lengths(weights)
        left = np.maximum(lengths - by, 0)
        share = np.divide(left, lengths, out=np.zeros_like(left), where=left > 0)[self.row]
        return np.where(share > 0, weights * share, 0.0)

    def dual(self, gradient: np.ndarray) -> float:
        return float(self.lengths(gradient).max(initial=0))


class Trace:
    """The sum of the singular values of a matrix of ``shape``, whose rows are one after the other."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def singular(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The matrix with its shorter side as columns, its singular values and right singular vectors."""
        matrix = weights.reshape(self.shape)
        tall = matrix if self.shape[0] >= self.shape[1] else matrix.T
        squares, vectors = eigenpairs(tall.T @ tall)
        return tall, np.sqrt(np.maximum(squares, 0)), vectors

    def value(self, weights: np.ndarray) -> float:
        return float(self.singular(weights)[1].sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        tall, values, vectors = self.singular(weights)
        kept = values > by
        vectors, shares = vectors[:, kept], 1 - by / values[kept]
        made = tall @ ((vectors * shares) @ vectors.T)
        return np.ascontiguousarray(made if self.shape[0] >= self.shape[1] else made.T).reshape(-1)

    def dual(self, gradient: np.ndarray) -> float:
        return float(self.singular(gradient)[1].max(initial=0))


def rows_of(pairs: Pairs) -> np.ndarray:
    """int64[weights]: the feature of each weight. Transitions are those of what is before the label."""
    edges = len(pairs.state.features) + pairs.edges.feature
    ways = np.arange(pairs.weights - pairs.first_transition) // max(pairs.labels, 1)
    before = len(pairs.state.features) + len(pairs.edges.features) + ways
    return np.concatenate((pairs.state.feature, edges, before)).astype(np.int64)


def norm_of(config: L1Config, problem: Problem) -> Norm:
    """That of the penalty. Raises UsageError where the weights are no whole matrix."""
    if config.trace and isinstance(problem, Chains):
        shape = len(problem.pairs.state.features), problem.pairs.labels
        if shape[0] * shape[1] != problem.weights:
            raise UsageError("--trace: the initial model has no weights of some features with some labels: begin anew")
        return Trace(shape)
    if config.group and isinstance(problem, Chains):
        return Rows(rows_of(problem.pairs))
    return Sizes()
