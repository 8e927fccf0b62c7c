"""Theta: the structure that problems share, and the features it makes of rows."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite.config_check import Between, JsonObject, built, contents_of, require
from vwlite.data.batch import BLANK, Batch, Names
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.features.config import NOTHING_KNOWN, ApplyConfig
from vwlite.features.hashing import hash_name
from vwlite.features.sparse_rows import (
    Rows,
    Vocabulary,
    Weights,
    features_of,
    merge_features,
    rows_over,
    word_arrays,
    words_from,
)
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Arrays


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


def theta_parts(theta: Theta) -> tuple[JsonObject, dict[str, np.ndarray]]:
    header = {"groups": theta.names, "h": [len(v) for v in theta.values], "theta_spaces": theta.words.spaces}
    values = np.concatenate(theta.values) if theta.values else np.zeros(0)
    arrays = {"theta": theta.matrix, "theta_group": theta.group, "theta_values": values}
    return header, {**arrays, **word_arrays("theta", theta.words)}


def theta_from(header: JsonObject, arrays: Arrays) -> Theta:
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


def save_theta(path: str, theta: Theta, facts: JsonObject, open_output: OpenOutput = atomic_output) -> None:
    model_file.save(path, *content(theta, facts), open_output=open_output)


def content(
    theta: Theta, facts: JsonObject, more: tuple[JsonObject, dict[str, np.ndarray]] = ({}, {})
) -> tuple[JsonObject, dict[str, np.ndarray]]:
    """Header and arrays of the file; ``more``: what else the header holds, and other arrays."""
    header, arrays = theta_parts(theta)
    return {"learner": THETA, "aso": facts, **header, **more[0]}, {**arrays, **more[1]}


def load_theta(path: str) -> tuple[Theta, JsonObject]:
    """Theta and the facts of its learning. Raises ModelError."""
    header = model_file.read_header(path)
    stream = header.get("stream")
    want = None
    if isinstance(stream, dict):  # whose weights are not wanted
        want = [name for name in THETA_ARRAYS if name != IDF or stream.get("idf")]
    header, arrays = open_theta(path, THETA, "made by vwlite aso learn", want)
    with contents_of(path, "a Theta of this version"):
        require(header["aso"], dict, "aso")
        return theta_from(header, arrays), header["aso"]


def open_theta(
    path: str, kind: str, needed: str, want: list[str] | None = None
) -> tuple[JsonObject, Arrays]:
    """Header and arrays, all or those of ``want``, of a model of the learner ``kind``. Raises ModelError."""
    learner = model_file.learner_name_of(path)
    if learner != kind:
        raise ModelError(f"{path} holds a model of learner {learner}; this takes one {needed}")
    loaded = model_file.load(path, want=want)
    return loaded.header, loaded.arrays


def extend_batch(batch: Batch, theta: Theta, values: np.ndarray) -> Batch:
    """``values`` float32[examples, sum of h] as features of the examples; those of value 0 are left out."""
    owners = np.flatnonzero(batch.flags & BLANK == 0)
    hashes = [hash_name(b"theta_" + name.encode("utf-8", "surrogateescape"), 0) for name in theta.names]
    heights = [len(own) for own in theta.values]
    group = np.repeat(np.arange(len(heights)), heights)
    number = np.concatenate([np.arange(height) for height in heights])
    example, column = np.nonzero(values)
    segment, first = np.unique(example * len(heights) + group[column], return_index=True)  # features are in their order
    sizes = np.diff(np.append(first, len(example)))
    new_hash = np.array(hashes, np.uint32)
    own = segment % len(heights)
    added = {
        "namespace_char": np.full(len(segment), ord("t"), np.uint8),
        "namespace_hash": new_hash[own],
        "feature_hash": new_hash[group[column]] + number[column].astype(np.uint32),
        "value": values[example, column],
    }
    places = Places(batch, owners[segment // len(heights)], sizes)
    columns = {
        name: places.merged(getattr(batch, name), new, features=name in ("feature_hash", "value"))
        for name, new in added.items()
    }
    names = batch.names
    text = batch.text
    if names is not None:
        text, names = name_features(batch, theta, places, own, number[column])
    return replace(batch, **columns, **places.starts(), names=names, text=text)


class Places:
    """Where segments, int64[segments] rows with ``sizes`` features each, stand behind the segments of their rows."""

    def __init__(self, batch: Batch, row: np.ndarray, sizes: np.ndarray) -> None:
        counts = np.diff(batch.row_namespace.astype(np.int64))
        self.segments = int(batch.row_namespace[-1])
        start = batch.namespace_start[: self.segments + 1].astype(np.int64)
        self.features = int(start[-1])
        owner = np.append(np.repeat(np.arange(len(batch)), counts), row)
        self.order = np.argsort(owner, kind="stable")
        lengths = np.append(np.diff(start), sizes)
        self.of_features = np.argsort(np.repeat(owner, lengths), kind="stable")
        self.row_namespace = np.append(0, np.cumsum(np.bincount(owner, minlength=len(batch))))
        self.namespace_start = np.append(0, np.cumsum(lengths[self.order]))

    def starts(self) -> dict[str, np.ndarray]:
        return {
            "row_namespace": self.row_namespace.astype(np.uint32),
            "namespace_start": self.namespace_start.astype(np.uint32),
        }

    def merged(self, old: np.ndarray, new: np.ndarray, features: bool) -> np.ndarray:
        """Both columns, an entry for each feature or else each segment."""
        count, order = (self.features, self.of_features) if features else (self.segments, self.order)
        return np.concatenate((old[:count], new.astype(old.dtype)))[order]


def name_features(
    batch: Batch, theta: Theta, places: Places, own: np.ndarray, number: np.ndarray
) -> tuple[bytes, Names]:
    """The text with the names of groups and numbers behind it, and all names; of segments and of features."""
    words = [b"theta_" + name.encode("utf-8", "surrogateescape") for name in theta.names]
    words += [b"%d" % one for one in range(max(map(len, theta.values), default=0))]
    ends = len(batch.text) + np.cumsum([len(word) for word in words])
    begins = ends - [len(word) for word in words]
    rows = len(theta.names) + number
    zeros = np.zeros(len(number), np.uint8)
    of_features = {
        "start": begins[rows], "end": ends[rows], "kind": zeros, "detail": zeros, "value_start": zeros,
        "value_end": zeros,
    }  # fmt: skip
    of_segments = {"namespace_start": begins[own], "namespace_end": ends[own]}
    columns = {name: places.merged(getattr(batch.names, name), new, True) for name, new in of_features.items()}
    columns |= {name: places.merged(getattr(batch.names, name), new, False) for name, new in of_segments.items()}
    return bytes(batch.text) + b"".join(words), Names(**columns)


PATIENCE = 10_000  # lines without a feature of Theta before it is taken for that of other text


@dataclass(slots=True)
class FeatureMap:
    """``theta`` has the rows and groups that ``config`` keeps of a Theta whose digest is ``digest``."""

    theta: Theta
    config: ApplyConfig
    digest: str
    known: int = 0  # features of Theta among those of all batches so far
    lines: int = 0
    projection: Projection | None = None
    loaded: bool = False  # from a model, which has learned with it

    @classmethod
    def read(cls, path: str, config: ApplyConfig) -> "FeatureMap":
        """Raises ModelError, InputMissing, UsageError for groups that are not there."""
        theta, _ = load_theta(path)
        return cls(theta.kept(config), config, digest_of(theta))

    def content(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """What a model keeps: of its header, and arrays."""
        header, arrays = theta_parts(self.theta)
        told = {**header, "config": asdict(self.config), "digest": self.digest}
        return {"theta": {**told, **({"idf": True} if IDF in arrays else {})}}, arrays

    @classmethod
    def of(cls, header: JsonObject, arrays: Arrays) -> "FeatureMap":
        """From what a model keeps. Raises ModelError, ValueError, KeyError."""
        told = header["theta"]
        require(told, FeatureMapHeader, "theta")
        try:
            config = built(ApplyConfig, told["config"])
        except UsageError as error:  # it was not typed
            raise ValueError(str(error)) from error
        return cls(theta_from(told, arrays), config, told["digest"], loaded=True)

    def extend(self, batch: Batch, learning: bool = False) -> Batch:
        """The batch with a namespace of features for each group behind those of every example.

        Raises DataError when nothing of the first ``PATIENCE`` lines that are learned from is known.
        """
        rows = self.rows(batch)
        self.known, self.lines = self.known + len(rows.terms.indices), self.lines + len(batch)
        if learning and self.lines >= PATIENCE:
            self.check()
        self.projection = self.projection or self.theta.projection(self.theta.words)
        return extend_batch(batch, self.theta, self.projection.features(rows, self.config.scale, self.config.unit))

    def rows(self, batch: Batch) -> Rows:
        """The rows that are not blank. Raises DataError for a negative value where features have weights."""
        words, taken = self.theta.words, np.flatnonzero(batch.flags & BLANK == 0)
        owner, keys, values, _ = features_of(batch, taken)
        sizes, keys, values = merge_features(owner, keys, values, len(taken))
        negative = np.flatnonzero(values < 0) if words.idf is not None else ()
        if len(negative):
            row = int(taken[np.searchsorted(np.cumsum(sizes), negative[0], side="right")])
            where = batch.location(row)
            raise DataError(f"{where}: a Theta of --idf needs values of 0 or more, not {values[negative[0]]:g}")
        return rows_over(words, sizes, keys, values, batch.importance[taken], unit=True)

    def check(self) -> None:
        """Raises DataError where no feature was known."""
        if not self.known:
            raise DataError(NOTHING_KNOWN)


def digest_of(theta: Theta) -> str:
    """The digest of the features, groups and numbers of a Theta."""
    header, arrays = theta_parts(theta)
    digest = mmh3_x64_128(json.dumps(header).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.digest().hex()


def check_same(model: str, digest: str | None, path: str) -> None:
    """Raises UsageError unless the Theta of ``path`` is that of ``model``, whose digest this is; ModelError."""
    if digest_of(load_theta(path)[0]) != digest:
        raise UsageError(f"{model} was trained with another Theta than {path}: drop --theta")


def kept_arrays(header: Mapping[str, Any]) -> list[str]:
    """The names of the arrays of the Theta that a model with this header keeps."""
    record = header.get("theta")
    return [name for name in THETA_ARRAYS if name != IDF or record.get("idf")] if isinstance(record, dict) else []
