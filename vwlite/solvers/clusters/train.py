"""k-means by Lloyd's alternation: the nearest mean of every example, then the mean of every cluster's examples.

Lloyd, IEEE Transactions on Information Theory 28 (1982); with means of length 1 Dhillon and Modha, Machine Learning 42
(2001). Neither step raises the sum of the squared distances, so that it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import numpy as np

from vwlite._native import nearest_means
from vwlite.config_check import Double, JsonObject, require
from vwlite.errors import DataError, Diverged, ModelError, UsageError
from vwlite.options import check_memory
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.numbered_rows import NumberedRows, Piece, dense, draw_rows, scalable, trim_weights
from vwlite.solvers.row_solver import Rows, SlotRows
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

ROUNDING = 1e-6  # squared distances below this share of the squared lengths may be 0
BYTES = 12.0  # of a slot and cluster: a mean in single precision, a sum in double precision


@dataclass(slots=True)
class Clusters:
    """``means`` float32[s, k] over ``slots`` uint32[s], ascending.

    ``totals`` float64[3, k]: examples of each cluster, the sum of their weights, and of these times their squared
    distances from the means as they were when they were assigned.

    Of --cut also the normalised ``cut``, and ``total`` float64[s], the sum of the examples before they are divided by
    their degrees.
    """

    slots: np.ndarray
    means: np.ndarray
    totals: np.ndarray
    passes: int
    cut: float = 0.0
    total: np.ndarray | None = None

    @property
    def distance(self) -> float:
        """The average squared distance."""
        _, weight, distance = self.totals.sum(axis=1).tolist()
        return distance / weight if weight else 0.0


class Best(TypedDict):
    """The best start so far."""

    passes: Natural
    cut: Double


class State(TypedDict):
    """The progress of a stopped run; ``cost`` None: no pass of this start is over."""

    restart: Natural
    going: bool
    passes: Natural
    cost: NotRequired[Double | None]
    learned: NotRequired[Natural]
    ended: NotRequired[Natural]
    best: NotRequired[Best]


def not_of_these_data(error: Exception) -> ModelError:
    """The error for a checkpoint of other data."""
    return ModelError(f"the checkpoint is not of these data ({error}): start again without --resume")


def squares_of(means: np.ndarray, spherical: bool) -> np.ndarray:
    """float64[k]: the squares of the lengths of means."""
    return np.ones(means.shape[1]) if spherical else np.einsum("sk,sk->k", means, means, dtype=np.float64)


class Lloyd:
    """``means`` float32[slots, k], and ``sums`` float64[slots, k] of what was assigned to them.

    ``weight`` float32[rows]: 0 for those that are trimmed.
    """

    def __init__(
        self, config: ClusterConfig, source: Rows, before: Clusters | None, memory: float, threads: int
    ) -> None:
        self.config, self.source, self.before, self.memory = config, source, before, memory
        slots = SlotRows(source.plan.bits, before.slots if before else np.zeros(0, np.uint32))
        self.rows = NumberedRows(source, slots, config.spherical, self.room)
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        self.restart = self.passes = 0  # starts that are over; passes of the one at work
        self.going, self.cost = False, np.inf  # whether there is one; the sum of squared distances of its last pass
        self.best: Clusters | None = None
        self.stopped: dict[str, np.ndarray] | None = None  # ``moving`` of a stopped run

    def room(self, slots: int) -> float:
        """Bytes left for rows. Raises UsageError for means of too many slots."""
        need = slots * (BYTES + 4 * (self.config.restarts > 1)) * self.config.clusters
        slots_text = f"{slots:,} slots that occur, {self.config.clusters} clusters"
        check_memory(need, self.memory, slots_text, "a smaller -k or -b needs less")
        return self.memory - need

    def run(self, monitor: Monitor) -> Clusters:
        """Make the starts, and their passes, that are left.

        Raises DataError where there is no example, UsageError where there are fewer different ones than clusters,
        Diverged where distances are no numbers, Interrupted.
        """
        self.source.count_terms()
        with self.pool:
            self.read(monitor)
            if self.rows.without_length:
                monitor.note(f"{self.rows.without_length} examples have no length and count for nothing")
            while self.restart < self.config.restarts:
                if self.stopped:
                    self.take_up(self.stopped)
                    self.stopped = None
                elif not self.going:
                    self.start(self.restart)
                    with monitor.update():
                        self.going, self.passes, self.cost = True, 0, np.inf
                clusters = self.alternate(monitor)
                with monitor.update():
                    if self.best is None or clusters.distance < self.best.distance:
                        self.best = clusters
                    self.restart, self.going = self.restart + 1, False
        if self.config.restarts > 1:
            monitor.line(f"kept: {self.shown(self.best.totals)}")
        return self.best

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """The state that ``restore`` takes: the best means so far, and those that the next pass assigns examples to."""
        best, header = self.best, {"restart": self.restart, "going": self.going, "passes": self.passes}
        arrays: dict[str, np.ndarray] = {}
        if best:
            header["best"] = {"passes": best.passes, "cut": best.cut}
            arrays |= {"best_slots": best.slots, "best_means": best.means, "best_totals": best.totals}
            arrays |= {} if best.total is None else {"best_total": best.total}
        if self.going:
            header["cost"] = float(self.cost) if np.isfinite(self.cost) else None
            arrays |= self.moving()
        return header, arrays

    def moving(self) -> dict[str, np.ndarray]:
        """The state at the beginning of a pass, and the result of the last one."""
        return {"means": self.means, "cluster": self.assigned, "totals": self.totals}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what is no state of such a run."""
        require(header, State, "state")
        k = self.config.clusters
        self.restart, self.going, self.passes = header["restart"], header["going"], header["passes"]
        if self.restart > self.config.restarts or self.passes > self.config.passes:
            raise ValueError("its passes")
        if "best" in header:
            slots = numbers(arrays, "best_slots", np.uint32, (-1,))
            means = numbers(arrays, "best_means", np.float32, (len(slots), k))
            totals, best = numbers(arrays, "best_totals", np.float64, (3, k)), header["best"]
            total = numbers(arrays, "best_total", np.float64, (len(slots),)) if "best_total" in arrays else None
            self.best = Clusters(slots, means, totals, best["passes"], best["cut"], total)
        if self.going:
            self.cost = np.inf if header["cost"] is None else header["cost"]
            self.stopped = {name: arrays[name] for name in arrays if not name.startswith("best_")}

    def take_up(self, stopped: dict[str, np.ndarray]) -> None:
        """Go on with what ``moving`` told of a stopped run, now that the rows are known. Raises ModelError."""
        k = self.config.clusters
        try:
            self.means = np.array(numbers(stopped, "means", np.float32, (len(self.rows.rows), k)))
            self.forget()
            self.cluster = self.assigned = np.array(numbers(stopped, "cluster", np.int32, self.cluster.shape))
            self.totals = np.array(numbers(stopped, "totals", np.float64, (3, k)))
            if ((self.cluster < -1) | (self.cluster >= k)).any():
                raise ValueError("its clusters")
        except (KeyError, ValueError) as error:
            raise not_of_these_data(error) from error

    def read(self, monitor: Monitor) -> None:
        """Read the data for the first time."""
        done = 0
        for piece in self.rows:
            done += len(piece.weight)
            monitor.step(done)
        self.examples = int((self.rows.weight > 0).sum())
        if not self.examples:
            raise DataError("no example has a feature that counts" if done else "there is no example")
        if not self.before and self.examples < self.config.clusters:
            raise UsageError(f"{self.config.clusters} clusters are more than there are examples: {self.examples}")

    def start(self, number: int) -> None:
        """The means are those of the model gone on from, or some examples; others for every ``number``."""
        config, slots = self.config, len(self.rows.rows)
        others = [number] * (number > 0)
        if self.before:
            self.means = np.zeros((slots, config.clusters), np.float32)
            self.means[self.rows.rows.find(self.before.slots)] = self.before.means
        elif config.seeding == "scalable":
            seeds = scalable(self.rows, self.nearest_of, config.clusters, config.trim, config.seed, *others)
            self.means = dense(seeds, slots)
        else:
            chosen = draw_rows(self.rows.weight, config.clusters, config.seed, *others)
            self.means = dense(self.rows.take(chosen), slots)
        self.forget()

    def forget(self) -> None:
        """Nothing is assigned to the means."""
        self.squares = squares_of(self.means, self.config.spherical)
        self.scale = np.ones(self.config.clusters)
        self.sums = np.zeros(self.means.shape)
        self.totals = np.zeros((3, self.config.clusters))
        self.cluster = np.full(len(self.rows.weight), -1, np.int32)
        self.assigned = self.cluster  # as it was when the pass began
        self.weight = self.rows.weight

    def alternate(self, monitor: Monitor) -> Clusters:
        """Assign and move until nothing changes."""
        while self.passes < self.config.passes:
            number = self.passes + 1
            changed = self.assign_all(monitor)
            cost = float(self.totals[2].sum())
            self.check(cost)
            share = 100 * changed / self.examples
            self.tell(monitor, number, f"{self.shown(self.totals)}, {share:.3g}% changed cluster", changed=share)
            filled = self.fill(monitor)
            if not filled and (not changed or cost >= self.cost):
                return self.clusters(number)
            with monitor.update():
                self.passes, self.cost, self.assigned = number, cost, self.cluster
                self.move()
        return self.clusters(self.passes)

    def tell(self, monitor: Monitor, number: int, text: str, **figures: float) -> None:
        """A row of the table, of pass ``number``."""
        several = {"start": self.restart + 1} if self.config.restarts > 1 else {}
        distance = float(self.totals[2].sum() / self.totals[1].sum())
        figures = {"pass": number, **several, "average_squared_distance": distance, **figures}
        monitor.row(f"{self.prefix}pass {number}: {text}", **figures)

    @property
    def prefix(self) -> str:
        """The prefix of lines, if there are several starts."""
        return f"start {self.restart + 1}, " if self.config.restarts > 1 else ""

    def check(self, cost: float) -> None:
        if not np.isfinite(cost):
            raise Diverged("distances are not finite numbers: features are too large")

    def shown(self, totals: np.ndarray) -> str:
        """The distance of the examples from the means, which Lloyd's alternation lowers."""
        return f"average squared distance {totals[2].sum() / totals[1].sum():.6g}"

    def assign_all(self, monitor: Monitor) -> int:
        """Assign all examples, and sum them up. Answers how many have changed their cluster."""
        self.cluster = self.cluster.copy()
        self.sums[:] = 0
        self.totals[:] = 0
        if self.config.trim:
            distances = np.concatenate([self.nearest(piece)[1] for piece in self.rows])
            self.weight = trim_weights(self.rows.weight, distances, self.config.trim)
        begin, changed = 0, 0
        monitor.step(begin, len(self.cluster))
        for piece in self.rows:
            cluster, distance = self.nearest(piece)
            end = begin + len(cluster)
            self.add(piece, self.weight[begin:end], cluster, distance)
            changed += int(((self.cluster[begin:end] != cluster) & (piece.weight > 0)).sum())
            self.cluster[begin:end] = cluster
            begin = end
            monitor.step(begin, len(self.cluster))
        return changed

    def add(self, piece: Piece, weight: np.ndarray, cluster: np.ndarray, distance: np.ndarray) -> None:
        rows = piece.terms.indptr, piece.terms.indices, piece.terms.values, weight
        nearest_means.add_members(*rows, cluster, distance, self.sums, self.totals)

    def add_all(self, cluster: np.ndarray) -> None:
        """Sum the examples up by these clusters, int32[rows]."""
        self.sums, self.totals, begin = np.zeros(self.means.shape), np.zeros((3, self.config.clusters)), 0
        for piece in self.rows:
            end = begin + len(piece.weight)
            self.add(piece, piece.weight, cluster[begin:end], np.zeros(end - begin))
            begin = end

    def nearest(self, piece: Piece) -> tuple[np.ndarray, np.ndarray]:
        """int32[rows], float64[rows]: clusters, and squared distances from their means."""
        return self.nearest_of(piece, self.means, self.squares, self.scale)

    def nearest_of(
        self, piece: Piece, means: np.ndarray, squares: np.ndarray, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of any means, with ``scale`` of what these are multiplied by it."""
        terms, rows = piece.terms, len(piece.weight)
        cluster, distance = np.empty(rows, np.int32), np.empty(rows)
        scale = np.ones(len(squares)) if scale is None else scale
        arrays = terms.indptr, terms.indices, terms.values, means, scale, squares, cluster, distance
        edges = np.searchsorted(terms.indptr, np.linspace(0, terms.indptr[-1], self.threads + 1)[1:-1])
        edges = [0, *edges.tolist(), rows]
        work = [
            self.pool.submit(nearest_means.assign, *arrays, begin, end)
            for begin, end in pairwise(edges)
        ]
        for one in work:
            one.result()
        return cluster, distance

    def fill(self, monitor: Monitor) -> bool:
        """Clusters that have become empty take the examples farthest from their means. Answers whether there were any.

        Raises UsageError where all examples are where means are.
        """
        empty = np.flatnonzero(self.totals[0] == 0)
        if not len(empty):
            return False
        far = self.farthest(len(empty))
        if not len(far):
            there = self.config.clusters - len(empty)
            raise UsageError(f"{self.config.clusters} clusters are more than there are different examples: {there}")
        terms = self.rows.take(far)
        for number, (row, cluster) in enumerate(zip(far.tolist(), empty.tolist(), strict=False)):
            place, weight = terms.row(number), float(self.rows.weight[row])
            moved = weight * terms.values[place].astype(np.float64)
            for at, sign in ((int(self.cluster[row]), -1), (cluster, 1)):
                self.sums[terms.indices[place], at] += sign * moved
                self.totals[:2, at] += sign, sign * weight
            self.cluster[row] = cluster
        monitor.line(f"{self.prefix}note: {len(empty)} empty clusters take the examples farthest from their means")
        return True

    def farthest(self, count: int) -> np.ndarray:
        """int64, ascending: the rows farthest from their means, none of them alone in its cluster or at its mean."""
        distances = np.concatenate([self.nearest(piece)[1] for piece in self.rows])
        own = self.squares[self.cluster]
        distances[(self.weight <= 0) | (distances <= ROUNDING * own)] = 0
        left, rows = self.totals[0].copy(), []
        for row in np.argsort(-distances, kind="stable").tolist():
            if len(rows) == count or not distances[row]:
                break
            if left[self.cluster[row]] > 1:
                left[self.cluster[row]] -= 1
                rows.append(row)
        return np.sort(np.array(rows, np.int64))

    def move(self) -> None:
        """Means of the clusters' examples; where these come to nothing, the mean stays."""
        length = np.sqrt(np.einsum("sk,sk->k", self.sums, self.sums)) if self.config.spherical else self.totals[1]
        there = (self.totals[0] > 0) & (length > 0)
        self.sums /= np.where(there, length, 1)
        np.copyto(self.means, self.sums, where=there, casting="same_kind")
        if self.config.sparse_means:
            project(self.means, self.config.sparse_means)
        self.squares = squares_of(self.means, self.config.spherical)

    def clusters(self, passes: int) -> Clusters:
        return Clusters(self.rows.rows.slots, self.means, self.totals, passes)


def project(means: np.ndarray, radius: float | np.ndarray) -> None:
    """Take every column of ``means`` [slots, k] to the nearest one whose absolute values sum up to ``radius`` at most.

    ``radius``: one of all columns, or float64[k]. Duchi, Shalev-Shwartz, Singer and Chandra, ICML 2008, figure 1;
    means that have few numbers other than 0: Sculley, WWW 2010, section 4.
    """
    size = np.abs(means, dtype=np.float64)
    limits = np.broadcast_to(np.asarray(radius, np.float64), (means.shape[1],))
    for column in np.flatnonzero(size.sum(axis=0) > limits).tolist():
        falling = np.sort(size[:, column])[::-1]
        beyond = np.cumsum(falling) - limits[column]
        support = int(np.flatnonzero(falling * np.arange(1, len(falling) + 1) > beyond)[-1]) + 1
        left = np.maximum(size[:, column] - beyond[support - 1] / support, 0)
        means[:, column] = np.copysign(left, means[:, column])
