"""k-means by batches: means move after every batch, each example with the weight that it has in its cluster so far.

Sculley, Web-scale k-means clustering, WWW 2010. Means are kept as sums, so that a step costs as much as its examples
have features; ``scale`` makes means of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from vwlite._native import nearest_means
from vwlite.data.csr import joined
from vwlite.interrupts import obey
from vwlite.solvers.clusters.l1_ball import project
from vwlite.solvers.clusters.numbered_rows import Piece
from vwlite.solvers.clusters.seeding import trimmed, uniform
from vwlite.solvers.clusters.train import Clusters, Lloyd
from vwlite.training.display import Steps

ENOUGH = 1e-3  # a pass that lowers the average distance by less, in proportion, is the last
ORDER = 1 << 20  # what the numbers of the order of rows are for


class MiniBatch(Lloyd):
    """``means`` float32 are the ``sums`` float64, ``squares`` the squares of the lengths of the means."""

    def start(self, number: int) -> None:
        """The first means count as one example each; those of a model as its examples did."""
        super().start(number)
        self.order = [self.config.seed, ORDER, number]
        self.weights = np.maximum(self.before.totals[1], 1) if self.before else np.ones(self.config.clusters)
        self.sums[:] = self.means
        self.sums *= self.weights
        self.means[:] = self.sums
        self.lengths = np.einsum("sk,sk->k", self.sums, self.sums)
        self.rescale()

    def rescale(self) -> None:
        if self.config.spherical:
            self.scale = 1 / np.sqrt(np.where(self.lengths > 0, self.lengths, 1))
        else:
            self.scale = 1 / self.weights
            self.squares = self.lengths * self.scale**2

    def alternate(self, say: Callable[[str], None], steps: Steps) -> Clusters:
        """Passes while they help, then one that assigns all examples to the means as they are."""
        if self.rows.kept is None:
            say("note: there is no room for the examples in memory: they are taken as they come, best in random order")
        before, number = np.inf, 0
        while number < self.config.passes:
            number += 1
            cost = self.learn(number, steps)
            say(f"pass {number}: average squared distance {cost:.6g}")
            if cost > before * (1 - ENOUGH):
                break
            before = cost
        self.sums *= self.scale
        self.means[:] = self.sums
        self.scale = np.ones(self.config.clusters)
        self.assign_all(steps)
        if self.fill(say):
            self.move()
            self.assign_all(steps)
        found = self.clusters(number)
        say(f"all: average squared distance {found.distance:.6g}")
        return found

    def learn(self, number: int, steps: Steps) -> float:
        """Answers the average squared distance from the means as they were in every batch."""
        totals = np.zeros((3, self.config.clusters))
        done = 0
        steps(done, len(self.cluster))
        for batch in self.batches(number):
            cluster, distance = self.nearest(batch)
            terms, weight = batch.terms, trimmed(batch.weight, distance, self.config.trim)
            arrays = terms.indptr, terms.indices, terms.values, weight, cluster, distance
            nearest_means.add_to_means(*arrays, self.sums, totals, self.means, self.lengths)
            self.weights += np.bincount(cluster, weight, self.config.clusters)
            if self.config.sparse_means:
                self.make_sparse()
            self.rescale()
            obey()
            done += len(cluster)
            steps(done, len(self.cluster))
        self.check(float(totals[2].sum()))
        return float(totals[2].sum() / totals[1].sum())

    def make_sparse(self) -> None:
        project(self.sums, self.config.sparse_means * self.weights)
        self.means[:] = self.sums
        self.lengths = np.einsum("sk,sk->k", self.sums, self.sums)

    def batches(self, number: int) -> Iterator[Piece]:
        """In an order of its own for every pass where the rows are in memory, else in that of the data."""
        if self.rows.kept is None:
            yield from split(self.rows, self.config.batch)
            return
        whole = self.rows.whole()
        order = np.argsort(uniform(np.arange(len(whole.weight)), *self.order, number), kind="stable")
        for begin in range(0, len(order), self.config.batch):
            rows = order[begin : begin + self.config.batch]
            yield Piece(whole.terms.take(rows), whole.weight[rows])


def split(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces of so many rows, the last one of fewer."""
    left: list[Piece] = []
    for piece in pieces:
        left.append(piece)
        while (rows := sum(len(one.weight) for one in left)) >= size:
            begin = len(piece.weight) - (rows - size)
            numbers = np.arange(len(piece.weight))
            last, rest = (Piece(piece.terms.take(one), piece.weight[one]) for one in np.split(numbers, [begin]))
            yield together([*left[:-1], last])
            left, piece = [rest], rest
    if left and sum(len(one.weight) for one in left):
        yield together(left)


def together(pieces: list[Piece]) -> Piece:
    return Piece(joined([one.terms for one in pieces]), np.concatenate([one.weight for one in pieces]))
