"""Theta: the structure that problems share, and the features it makes of rows."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vwlite.errors import UsageError
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.features.theta_config import ApplyConfig
from vwlite.features.vocabulary import Vocabulary


@dataclass(slots=True)
class Theta:
    """Per feature its group and its column of the group's h orthonormal rows."""

    words: Vocabulary
    group: np.ndarray  # int32[p], -1 in none
    matrix: np.ndarray  # float32[p, widest h], zero beyond a group's own h
    names: list[str]  # of the groups
    values: list[np.ndarray]  # float64[h] singular values of each group

    def cut(self, h: int) -> "Theta":
        """Theta with the first ``h`` rows of each group."""
        return replace(self, matrix=self.matrix[:, :h], values=[values[:h] for values in self.values])

    def kept(self, config: ApplyConfig) -> "Theta":
        """Theta with the groups and rows that are asked for. Raises UsageError as ``only``."""
        theta = self.only(config.groups) if config.groups else self
        return theta.cut(config.dim) if config.dim else theta

    def only(self, groups: tuple[str, ...]) -> "Theta":
        """Theta with these groups, in its own order; ``A,B`` that is no group is two.

        Raises UsageError for one that is not there.
        """
        asked = [[text] if text in self.names else text.split(",") for text in groups]
        groups = tuple(name for part in asked for name in part)
        if missing := [name for name in groups if name not in self.names]:
            raise UsageError(f"Theta has no group {missing[0]!r} (there are {', '.join(self.names)})")
        kept = [number for number, name in enumerate(self.names) if name in groups]
        place = np.full(len(self.names) + 1, -1, np.int32)
        place[kept] = np.arange(len(kept))
        values = [self.values[number] for number in kept]
        matrix = self.matrix[:, : max(map(len, values))]
        return Theta(self.words, place[self.group], matrix, [self.names[number] for number in kept], values)

    def project(self, rows: Rows, words: Vocabulary, scale: float, unit: bool = True) -> np.ndarray:
        """As ``Projection.features``, of rows over ``words``."""
        return self.projection(words).features(rows, scale, unit)

    def projection(self, words: Vocabulary) -> "Projection":
        """What makes features of rows over ``words``, any number of times."""
        place = self.words.find(words.key)
        group = np.where(place >= 0, self.group[place], -1)
        kept = [group == number for number in range(len(self.values))]
        matrices = [
            np.ascontiguousarray(self.matrix[place[own], : len(values)])
            for own, values in zip(kept, self.values, strict=True)
        ]
        return Projection(kept, [(np.cumsum(own) - 1).astype(np.uint32) for own in kept], matrices)


class Projection(NamedTuple):
    """Of each group which of p features it has, their numbers in it and its columns of Theta."""

    kept: list[np.ndarray]  # bool[p]
    number: list[np.ndarray]  # uint32[p]
    matrix: list[np.ndarray]  # float32[features of the group, h]

    def features(self, rows: Rows, scale: float, unit: bool = True) -> np.ndarray:
        """float32[n, sum of h]: ``Theta x`` of each group, scaled to length ``scale`` (or by it, without ``unit``)."""
        parts = [np.zeros((len(rows), 0), np.float32)]
        for kept, number, matrix in zip(*self, strict=True):
            part = shared_features(rows.numbered(kept, number), matrix)
            if unit:
                part /= np.maximum(np.sqrt((part**2).sum(1, keepdims=True)), 1e-12)
            part *= scale
            parts.append(part)
        return np.hstack(parts)


def shared_features(rows: Rows, matrix: np.ndarray) -> np.ndarray:
    """float32[n, h]: ``x . matrix`` of sparse rows and float32[p, h]."""
    h = matrix.shape[1]
    plain = replace(rows, extra=np.zeros((len(rows), 0), np.float32))
    return Weights(matrix, np.zeros((0, h), np.float32), np.zeros(h, np.float32)).scores(plain)
