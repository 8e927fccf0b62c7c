"""The clusters of new examples, and what clusters are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vwlite._native import nearest_means, weigh_terms
from vwlite.data.batch import BLANK
from vwlite.data.config import has_words
from vwlite.data.label_vocabulary import LabelVocabulary, tag_of
from vwlite.evaluation.cluster_metrics import Agreement
from vwlite.solvers.clusters.model import ClusterModel
from vwlite.solvers.clusters.solver import shares
from vwlite.solvers.clusters.train import squares_of
from vwlite.solvers.rows import Part, RowSource, SlotRows


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
        batch, gaps, lines = part.batch, set(part.batch.gaps), []
        answers = map(tuple, all_of(part).tolist()) if all_of else assignment.nearest(part)[0].tolist()
        for row, answer in enumerate(answers):
            lines += [b"nan"] * (row in gaps)
            if not batch.flags[row] & BLANK:
                tag = tag_of(batch, row) if has_words(kind) else batch.tag(row)
                text = (form % answer if all_of else str(answer)).encode()
                lines.append(text + b" " + tag if tag else text)
        lines += [b"nan"] * (len(batch) in gaps)
        yield b"".join(line + b"\n" for line in lines)


def measured(assignment: Assignment, source: RowSource, kind: str) -> dict[str, Any]:
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
    agreement = Agreement(*(np.concatenate(parts) for parts in (labels, clusters, weights)))
    average = distance / weighed if weighed else float("nan")
    return {"examples": examples, "weight": total, **agreement.report(), "mean_squared_distance": average}


def strongest(model: ClusterModel, top: int) -> list[dict[str, Any]]:
    """Of every cluster its examples, and the ``top`` features of the largest means, by name where there are names."""
    names = model.names.names if model.names else {}
    examples, weight, distance = model.solution.totals
    found = []
    for number, mean in enumerate(model.solution.means.T):
        order = np.argsort(-mean, kind="stable")[:top]
        order = order[mean[order] > 0]
        slots = model.solution.slots[order].tolist()
        features = [
            {"slot": slot, "name": names.get(slot), "value": float(value)}
            for slot, value in zip(slots, mean[order], strict=True)
        ]
        average = float(distance[number] / weight[number]) if weight[number] else None
        found.append({"examples": int(examples[number]), "average_squared_distance": average, "features": features})
    return found
