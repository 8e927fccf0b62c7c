"""Theta: the structure that problems share, and the features it makes of rows."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Between, require
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import ApplyConfig
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights, word_arrays, words_from
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.model_file import numbers


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
        numbers = [number for number, name in enumerate(self.names) if name in groups]
        place = np.full(len(self.names) + 1, -1, np.int32)
        place[numbers] = np.arange(len(numbers))
        values = [self.values[number] for number in numbers]
        matrix = self.matrix[:, : max(map(len, values))]
        return Theta(self.words, place[self.group], matrix, [self.names[number] for number in numbers], values)

    def project(self, rows: Rows, words: Vocabulary, scale: float, unit: bool = True) -> np.ndarray:
        """As ``Projection.features``, of rows over ``words``."""
        return self.projection(words).features(rows, scale, unit)

    def projection(self, words: Vocabulary) -> "Projection":
        """The projection of rows over ``words``, which may be used any number of times."""
        place = self.words.find(words.key)
        group = np.where(place >= 0, self.group[place], -1)
        rows_of_group = [group == number for number in range(len(self.values))]
        matrices = [
            np.ascontiguousarray(self.matrix[place[own], : len(values)])
            for own, values in zip(rows_of_group, self.values, strict=True)
        ]
        return Projection(rows_of_group, [(np.cumsum(own) - 1).astype(np.uint32) for own in rows_of_group], matrices)


class Projection(NamedTuple):
    """For each group: which of p features it has, their numbers in it and its columns of Theta."""

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


THETA = "aso-theta"
IDF = "theta_idf"
THETA_ARRAYS = ("theta", "theta_group", "theta_values", "theta_key", "theta_space", "theta_end", "theta_text", IDF)


class ThetaHeader(TypedDict):
    """The header of models of ``vwlite aso learn``."""

    groups: list[str]
    h: list[Annotated[int, Between(0, 2**63 - 1)]]
    theta_spaces: list[str]


class FeatureMapHeader(ThetaHeader):
    """The header of the Theta whose features a model of another command takes."""

    config: dict
    digest: str
    idf: NotRequired[bool]  # has it weights of features?


def theta_parts(theta: Theta) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header = {"groups": theta.names, "h": [len(v) for v in theta.values], "theta_spaces": theta.words.spaces}
    values = np.concatenate(theta.values) if theta.values else np.zeros(0)
    arrays = {"theta": theta.matrix, "theta_group": theta.group, "theta_values": values}
    return header, {**arrays, **word_arrays("theta", theta.words)}


def theta_from(header: dict[str, Any], arrays: dict[str, Any]) -> Theta:
    require(header, ThetaHeader, "header")
    words, names, h = words_from("theta", arrays, header["theta_spaces"]), header["groups"], header["h"]
    if len(h) != len(names):
        raise ValueError("the groups of Theta")
    matrix = numbers(arrays, "theta", np.float32, (len(words), max(h, default=0)))
    group = numbers(arrays, "theta_group", np.int32, (len(words),))
    values = numbers(arrays, "theta_values", np.float64, (sum(h),))
    if len(group) and not -1 <= int(group.min()) <= int(group.max()) < len(h):
        raise ValueError("the groups of Theta")
    return Theta(words, group, matrix, names, np.split(values, np.cumsum(h)[:-1]) if h else [])


def save_theta(
    path: str,
    theta: Theta,
    facts: dict[str, Any],
    open_output: OpenOutput = atomic_output,
    more: tuple[dict[str, Any], dict[str, np.ndarray]] = ({}, {}),
) -> None:
    """``more``: what else the header holds, and other arrays."""
    model_file.save(path, *content(theta, facts, more), open_output=open_output)


def content(
    theta: Theta, facts: dict[str, Any], more: tuple[dict[str, Any], dict[str, np.ndarray]] = ({}, {})
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the file."""
    header, arrays = theta_parts(theta)
    return {"learner": THETA, "aso": facts, **header, **more[0]}, {**arrays, **more[1]}


def load_theta(path: str) -> tuple[Theta, dict[str, Any]]:
    """Theta and the facts of its learning. Raises ModelError."""
    header = model_file.read_header(path)
    stream = header.get("stream")
    want = None
    if isinstance(stream, dict):  # whose weights are not wanted
        want = [name for name in THETA_ARRAYS if name != IDF or stream.get("idf")]
    header, arrays = open_theta(path, THETA, "made by vwlite aso learn", want)
    try:
        require(header["aso"], dict, "aso")
        return theta_from(header, arrays), header["aso"]
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is not a Theta of this version ({error})") from error


def open_theta(
    path: str, kind: str, needed: str, want: list[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays, all or those of ``want``, of a model of the learner ``kind``. Raises ModelError."""
    learner = model_file.learner_name_of(path)
    if learner != kind:
        raise ModelError(f"{path} holds a model of learner {learner}; this takes one {needed}")
    loaded = model_file.load(path, want=want)
    return loaded.header, loaded.arrays
