"""Models of clusters, and k-means by batches: means move after every batch, each example with the weight that it has in
its cluster so far.

Sculley, Web-scale k-means clustering, WWW 2010. Means are kept as sums, so that a step costs as much as its examples
have features; ``scale`` makes means of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np

from vwlite._native import nearest_means
from vwlite.config_check import Double, JsonObject
from vwlite.data.batch import join_rows
from vwlite.features.config import FeatureConfig
from vwlite.interrupts import raise_if_stopped
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.numbered_rows import Piece, trim_weights, uniform
from vwlite.solvers.clusters.train import Clusters, Lloyd, not_of_these_data, project, squares_of
from vwlite.solvers.row_solver import RowModel, Rows, check_slots
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor, StepsOnly
from vwlite.training.model_header import Byte, Kind, Natural
from vwlite.training.solver_run import Content

ENOUGH = 1e-3  # a pass that lowers the average distance by less, in proportion, is the last
ORDER = 1 << 20  # what the numbers of the order of rows are for


class MiniBatch(Lloyd):
    """``means`` float32 are the ``sums`` float64, ``squares`` the squares of the lengths of the means.

    ``learned``: batches of the pass at work. ``ended``: 1 when means do not move any more, 2 when empty clusters were
    filled after that.
    """

    learned = ended = 0

    def start(self, number: int) -> None:
        """The first means count as one example each; those of a model as its examples did."""
        super().start(number)
        self.learned = self.ended = 0
        self.set_order()
        self.weights = np.maximum(self.before.totals[1], 1) if self.before else np.ones(self.config.clusters)
        self.sums[:] = self.means
        self.sums *= self.weights
        self.means[:] = self.sums
        self.lengths = np.einsum("sk,sk->k", self.sums, self.sums)
        self.rescale()

    def set_order(self) -> None:
        """The order of the examples is another one in every start."""
        self.order = [self.config.seed, ORDER, self.restart]

    def rescale(self) -> None:
        if self.config.spherical:
            self.scale = 1 / np.sqrt(np.where(self.lengths > 0, self.lengths, 1))
        else:
            self.scale = 1 / self.weights
            self.squares = self.lengths * self.scale**2

    def alternate(self, monitor: Monitor) -> Clusters:
        """Passes while they help, then one that assigns all examples to the means as they are."""
        if self.rows.kept is None:
            note = "there is no room for the examples in memory: they are taken as they come, best in random order"
            monitor.line(f"{self.prefix}note: {note}")
        while not self.ended:
            number = self.passes + 1
            self.learn(number, monitor)
            cost = float(self.totals[2].sum() / self.totals[1].sum())
            self.tell(monitor, number, f"average squared distance {cost:.6g}")
            with monitor.update():
                helped = cost <= self.cost * (1 - ENOUGH)
                self.passes, self.cost, self.learned = number, cost, 0
                self.totals[:] = 0
                if not helped or number == self.config.passes:
                    self.end()
        self.assign_all(monitor)
        if self.ended == 1 and self.fill(monitor):
            with monitor.update():
                self.ended = 2
                self.move()
            self.assign_all(monitor)
        clusters = self.clusters(self.passes)
        monitor.line(f"{self.prefix}all: average squared distance {clusters.distance:.6g}")
        return clusters

    def end(self) -> None:
        """Means that do not move any more."""
        self.ended = 1
        self.sums *= self.scale
        self.means[:] = self.sums
        self.scale = np.ones(self.config.clusters)

    def learn(self, number: int, monitor: Monitor) -> None:
        """``totals`` become those of squared distances from the means as they were in every batch."""
        done = 0
        for place, batch in enumerate(self.batches(number)):
            monitor.step(done, len(self.cluster))
            done += len(batch.weight)
            if place < self.learned:
                continue
            cluster, distance = self.nearest(batch)
            terms, weight = batch.terms, trim_weights(batch.weight, distance, self.config.trim)
            arrays = terms.indptr, terms.indices, terms.values, weight, cluster, distance
            with monitor.update():
                nearest_means.add_to_means(*arrays, self.sums, self.totals, self.means, self.lengths)
                self.weights += np.bincount(cluster, weight, self.config.clusters)
                if self.config.sparse_means:
                    self.make_sparse()
                self.rescale()
                self.learned = place + 1
            raise_if_stopped()
        monitor.step(done, len(self.cluster))
        self.check(float(self.totals[2].sum()))

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        header, arrays = super().state()
        return {**header, "learned": self.learned, "ended": self.ended}, arrays

    def moving(self) -> dict[str, np.ndarray]:
        own = {"weights": self.weights, "lengths": self.lengths}
        return {**super().moving(), **own, **({} if self.ended else {"sums": self.sums})}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        super().restore(header, arrays)
        self.learned, self.ended = header["learned"], header["ended"]

    def take_up(self, stopped: dict[str, np.ndarray]) -> None:
        super().take_up(stopped)
        k = self.config.clusters
        try:
            self.weights = np.array(numbers(stopped, "weights", np.float64, (k,)))
            self.lengths = np.array(numbers(stopped, "lengths", np.float64, (k,)))
            if not self.ended:
                self.sums = np.array(numbers(stopped, "sums", np.float64, self.means.shape))
        except (KeyError, ValueError) as error:
            raise not_of_these_data(error) from error
        self.set_order()
        self.rescale()
        if self.ended:
            self.scale = np.ones(k)
        if self.ended == 2:
            self.squares = squares_of(self.means, self.config.spherical)

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
    """Pieces of equal numbers of rows, the last one of fewer."""
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
    return Piece(join_rows([one.terms for one in pieces]), np.concatenate([one.weight for one in pieces]))


class Header(TypedDict):
    """The header of a model of ``vwlite cluster``."""

    cluster: dict
    features: dict
    seen: list[Byte]
    kind: Kind
    columns: NotRequired[str]
    names: bool
    passes: Natural
    normalised_cut: NotRequired[Double]


class ClusterModel(RowModel[ClusterConfig, Clusters]):
    """Clusters of text."""

    learner: ClassVar[str] = "cluster"
    config_type: ClassVar[type] = ClusterConfig
    header_type: ClassVar[type] = Header

    def facts(self) -> JsonObject:
        return {
            **self.config.kept(),
            "passes": self.solution.passes,
            "examples": int(self.solution.totals[0].sum()),
            "slots": len(self.solution.slots),
            "average_squared_distance": self.solution.distance,
            **({"normalised_cut": self.solution.cut} if self.config.cut else {}),
            "sizes": [int(size) for size in self.solution.totals[0].tolist()],
        }

    def solution_content(self) -> Content:
        clusters, cut = self.solution, self.config.cut
        header = {"passes": clusters.passes, **({"normalised_cut": clusters.cut} if cut else {})}
        arrays = {
            "cluster_slot": clusters.slots.astype(np.uint32),
            "cluster_means": clusters.means,
            "cluster_totals": clusters.totals,
            **({"cluster_degree": clusters.total} if cut else {}),
        }
        return header, arrays

    @classmethod
    def solution_from(
        cls, header: Mapping[str, Any], arrays: Any, config: ClusterConfig, features: FeatureConfig
    ) -> Clusters:
        slots = numbers(arrays, "cluster_slot", np.uint32, (-1,))
        means = numbers(arrays, "cluster_means", np.float32, (len(slots), config.clusters))
        totals = numbers(arrays, "cluster_totals", np.float64, (3, config.clusters))
        check_slots(slots, features.bits)
        if (totals < 0).any():
            raise ValueError("its totals")
        if not config.clusters:
            raise ValueError("no clusters")
        clusters = Clusters(slots, means, totals, header["passes"])
        if config.cut:
            clusters.cut = header["normalised_cut"]
            clusters.total = numbers(arrays, "cluster_degree", np.float64, (len(slots),))
            if (clusters.total < 0).any():
                raise ValueError("the sum of its examples")
        return clusters


BATCH, PASSES = 1000, 5


def centre_lines(rows: Rows, count: int, seed: int, memory: float, threads: int, monitor: Monitor) -> list[bytes]:
    """The means of ``count`` clusters, as features that are the numbers of their slots.

    Raises DataError where there is no example, UsageError where there are fewer different ones than clusters.
    """
    config = ClusterConfig(clusters=count, batch=BATCH, passes=PASSES, seeding="random", seed=seed)
    clusters = MiniBatch(config, rows, None, memory, threads).run(StepsOnly(monitor))
    lines = []
    for mean in clusters.means.T:
        there = mean.nonzero()[0]
        pairs = zip(clusters.slots[there].tolist(), mean[there].tolist(), strict=True)
        lines.append("| " + " ".join(f"{slot}:{value:.9g}" for slot, value in pairs))
    return [line.encode() for line in lines]
