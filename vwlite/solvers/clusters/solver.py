"""``vwlite cluster``: the solver, and which cluster the rows of a model belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from vwlite._native import nearest_means, weigh_terms
from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, Batch, LabelVocabulary, tag_of
from vwlite.data.config import has_words
from vwlite.errors import UsageError
from vwlite.evaluation.cluster_metrics import Agreement
from vwlite.options import Request
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.model import ClusterModel, MiniBatch
from vwlite.solvers.clusters.train import Clusters, Lloyd, squares_of
from vwlite.solvers.cut.find import DegreeRows, spectral_partitions, spectral_vectors
from vwlite.solvers.row_solver import Part, RowModel, RowSolver, RowSource, SlotRows, lines_of_rows
from vwlite.training.listener import Monitor
from vwlite.training.solver_run import Reader


class Cut(Lloyd):
    """k-means of the examples over their degrees, from partitions by eigenvectors or from the means of a model."""

    source: DegreeRows

    def run(self, monitor: Monitor) -> Clusters:
        """Raises as ``Lloyd.run`` and ``spectral_vectors``."""
        config = self.config
        if self.before:
            self.source.know(self.before.slots, self.before.total)
        else:
            self.vectors = spectral_vectors(
                self.source, config.clusters, config.seed, self.memory, self.threads, monitor
            )
            self.memory -= self.vectors.rows.nbytes
        clusters = super().run(monitor)
        monitor.line(f"normalised cut {clusters.cut:.6g}")
        return clusters

    def start(self, number: int) -> None:
        if self.before:
            super().start(number)
            return
        draw = Random(self.config.seed + (number << 64))
        self.means = np.zeros((len(self.rows.rows), self.config.clusters), np.float32)
        self.forget()
        self.add_all(min(spectral_partitions(self.vectors, self.config.clusters, draw), key=self.cut_of))
        self.move()

    def cut_of(self, cluster: np.ndarray) -> float:
        """k less the sum over the clusters of |the sum of the examples|^2 / volume; an empty one costs 1."""
        self.add_all(cluster)
        squares, volume = np.einsum("sk,sk->k", self.sums, self.sums), self.totals[1]
        return float(len(volume) - (squares[volume > 0] / volume[volume > 0]).sum())

    def shown(self, totals: np.ndarray) -> str:
        """Distances are from the means of the clusters before; from their own they are at most as large."""
        return f"normalised cut at most {totals[2].sum() + self.config.clusters - self.squared_lengths:.6g}"

    @cached_property
    def squared_lengths(self) -> float:
        """The sum of the rows' squares, times their weights."""
        total = 0.0
        for piece in self.rows:
            weight = np.repeat(piece.weight.astype(np.float64), piece.terms.sizes)
            total += float((weight * np.square(piece.terms.values, dtype=np.float64)).sum())
        return total

    def clusters(self, passes: int) -> Clusters:
        clusters = super().clusters(passes)
        return replace(clusters, cut=self.cut_of(self.cluster), total=self.source.total[clusters.slots])


ENOUGH = 1e-6  # a pass that lowers the free energy by less, as a share of the squared distances, is the last


def shares(distances: np.ndarray, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """float64[rows, k], float64[rows]: exp(-d / softness) over their sum, and -softness ln of that sum."""
    least = distances.min(axis=1, keepdims=True)
    weights = np.exp((least - distances) / softness)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, (least - softness * np.log(total))[:, 0]


class Soft(Lloyd):
    """``totals``: examples by their nearest means, sums of shares, and of these times squared distances."""

    def alternate(self, monitor: Monitor) -> Clusters:
        """Share and move until the free energy hardly falls."""
        while self.passes < self.config.passes:
            number = self.passes + 1
            changed = self.assign_all(monitor)
            self.check(self.energy)
            share = 100 * changed / self.examples
            text = f"{self.shown(self.totals)}, free energy {self.energy:.6g}, {share:.3g}% changed cluster"
            self.tell(monitor, number, text, free_energy=self.energy, changed=share)
            if self.cost - self.energy <= ENOUGH * float(self.totals[2].sum() / self.totals[1].sum()):
                return self.clusters(number)
            with monitor.update():
                self.passes, self.cost, self.assigned = number, self.energy, self.cluster
                self.move()
        return self.clusters(self.passes)

    def assign_all(self, monitor: Monitor) -> int:
        """As Lloyd's, and the ``energy``, an example's average free energy."""
        self.cluster = self.cluster.copy()
        self.sums[:] = 0
        self.totals[:] = 0
        begin, changed, energy = 0, 0, np.empty(len(self.cluster))
        monitor.step(begin, len(self.cluster))
        for piece in self.rows:
            end = begin + len(piece.weight)
            arrays = piece.terms.indptr, piece.terms.indices, piece.terms.values
            distances = np.empty((end - begin, self.config.clusters))
            nearest_means.distances(*arrays, self.means, self.squares, distances)
            share, free = shares(distances, self.config.soft)
            share *= piece.weight[:, None]
            nearest_means.add_shares(*arrays, share, distances, self.sums, self.totals)
            cluster = distances.argmin(axis=1).astype(np.int32)
            self.totals[0] += np.bincount(cluster[piece.weight > 0], minlength=self.config.clusters)
            energy[begin:end] = piece.weight * free
            changed += int(((self.cluster[begin:end] != cluster) & (piece.weight > 0)).sum())
            self.cluster[begin:end] = cluster
            begin = end
            monitor.step(begin, len(self.cluster))
        self.energy = float(energy.sum() / self.totals[1].sum())
        return changed

    def move(self) -> None:
        """A mean without any share stays."""
        there = self.totals[1] > 0
        examples, self.totals[0] = self.totals[0].copy(), there
        super().move()
        self.totals[0] = examples


def method_of(config: ClusterConfig) -> type[Lloyd]:
    return Cut if config.cut else MiniBatch if config.batch else Soft if config.soft else Lloyd


class Cluster(RowSolver):
    """Finds clusters, or moves the means of a model to more data."""

    learner = ClusterModel.learner
    model_type = ClusterModel
    what = "clusters"

    def configured(self, request: Request) -> ClusterConfig:
        config = request.config(ClusterConfig)
        if not config.clusters:
            raise UsageError("-k N is needed: the number of clusters")
        if config.clusters == 1:
            raise UsageError("-k takes 2 to 100000, not 1")
        if config.cut and self.features.weight == "degree":
            raise UsageError("--cut divides examples by their degrees: drop --weight degree")
        if config.cut and "seeding" in request.given:
            raise UsageError("--seeding does nothing with --cut, which begins with eigenvectors")
        return config

    def continued(self, request: Request, model: RowModel[Any, Any]) -> ClusterConfig:
        for name in ("seeding", "restarts"):
            if name in request.given:
                raise UsageError(f"--{name} does nothing beside -i, whose means are the start")
        return replace(super().continued(request, model), restarts=1)

    def read(self, reader: Reader) -> None:
        self.open(reader, again=True, kind=DegreeRows if self.config.cut else RowSource)
        solution = self.before.solution if self.before else None
        self.work = method_of(self.config)(self.config, self.source, solution, self.memory, self.input.threads)


class Assignment:
    """Squared distances from the means; slots that these do not have count for the length of an example alone."""

    def __init__(self, model: ClusterModel) -> None:
        self.solution, self.spherical = model.solution, model.config.spherical
        self.softness = model.config.soft
        self.rows = SlotRows(model.features.bits, model.solution.slots)
        self.squares = squares_of(self.solution.means, self.spherical)
        self.scale = np.ones(len(self.squares))

    def nearest(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """int32[rows], float64[rows]: clusters, and squared distances from their means.

        With means of length 1 an example without any is in cluster 0.
        """
        rows, beside = self.known(part)
        cluster, distance = np.zeros(len(beside), np.int32), np.zeros(len(beside))
        nearest_means.assign(*rows, self.solution.means, self.scale, self.squares, cluster, distance, 0, len(beside))
        return cluster, distance + beside

    def distances(self, part: Part) -> np.ndarray:
        """float64[rows, k]: squared distances from all means."""
        rows, beside = self.known(part)
        distances = np.zeros((len(beside), len(self.squares)))
        nearest_means.distances(*rows, self.solution.means, self.squares, distances)
        return distances + beside[:, None]

    def shares(self, part: Part) -> np.ndarray:
        """float64[rows, k]: probabilities of all clusters, of --soft."""
        return shares(self.distances(part), self.softness)[0]

    def known(self, part: Part) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """The rows' terms that the means have, as kernels take them; of the others float64[rows], their squares."""
        terms = part.terms
        if self.spherical:
            weigh_terms.normalize(terms.indptr, terms.values)
        number = self.rows.find(terms.indices)
        known, unknown = terms.keep(number >= 0), terms.keep(number < 0)
        squares = np.bincount(unknown.owner, unknown.values.astype(np.float64) ** 2, len(terms))
        return (known.indptr, number[number >= 0].astype(np.uint32), known.values), squares


def lines_of(
    assignment: Assignment, source: RowSource, kind: str, all_of: Callable[[Part], np.ndarray] | None = None
) -> Iterator[bytes]:
    """The cluster of each row of a batch, or numbers of all clusters, float64[rows, k], and the tag.

    A malformed line gives ``nan``, a blank one nothing.
    """
    form = " ".join(f"{number}:%.7g" for number in range(len(assignment.squares)))
    for part in source.parts():
        batch = part.batch
        answers = list(map(tuple, all_of(part).tolist())) if all_of else assignment.nearest(part)[0].tolist()

        def text(row: int, batch: Batch = batch, answers: list[Any] = answers) -> bytes:
            tag = tag_of(batch, row) if has_words(kind) else batch.tag(row)
            answer = (form % answers[row] if all_of else str(answers[row])).encode()
            return answer + b" " + tag if tag else answer

        yield lines_of_rows(batch, text, malformed=b"nan")


def measure_clusters(assignment: Assignment, source: RowSource, kind: str) -> JsonObject:
    """Examples, their weight, how far they are from the means, and how their clusters agree with their labels."""
    vocabulary, labels, clusters, weights = LabelVocabulary(), [np.zeros(0)], [np.zeros(0, np.int32)], [np.zeros(0)]
    total = distance = weighed = 0.0
    examples = 0
    for part in source.parts():
        cluster, nearest = assignment.nearest(part)
        weight = np.where(part.batch.flags & BLANK, 0, np.maximum(part.batch.importance, 0)).astype(np.float64)
        examples, total = examples + int((weight > 0).sum()), total + float(weight.sum())
        distance += float(np.maximum(part.weight, 0) @ nearest)
        weighed += float(np.maximum(part.weight, 0).sum())
        there = ~np.isnan(part.batch.label) & (weight > 0)
        number = vocabulary.numbers(part.batch) if has_words(kind) else part.batch.label
        labels.append(number[there].astype(np.float64))
        clusters.append(cluster[there])
        weights.append(weight[there])
    agreement = Agreement(np.concatenate(labels), np.concatenate(clusters), np.concatenate(weights))
    average = distance / weighed if weighed else float("nan")
    return {"examples": examples, "weight": total, **agreement.report(), "mean_squared_distance": average}


def strongest(model: ClusterModel, top: int) -> list[JsonObject]:
    """The examples of each cluster and its ``top`` features of the largest means, by name where there are names."""
    examples, weight, distance = model.solution.totals
    entries = []
    for number, mean in enumerate(model.solution.means.T):
        order = np.argsort(-mean, kind="stable")[:top]
        order = order[mean[order] > 0]
        features = model.features_at(order, mean[order])
        average = float(distance[number] / weight[number]) if weight[number] else None
        entries.append({"examples": int(examples[number]), "average_squared_distance": average, "features": features})
    return entries
