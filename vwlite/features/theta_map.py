"""Theta as a map of batches: examples with the features it makes of them, for learners of other commands."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite.config_check import built, require
from vwlite.data.batch import BLANK, Batch, Names
from vwlite.errors import DataError, UsageError
from vwlite.features.config import NOTHING_KNOWN, ApplyConfig
from vwlite.features.hashing import hash_name
from vwlite.features.sparse_rows import Rows, features_of, merge_features, rows_over
from vwlite.features.theta import (
    IDF,
    THETA_ARRAYS,
    FeatureMapHeader,
    Projection,
    Theta,
    load_theta,
    theta_from,
    theta_parts,
)


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

    def content(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The header entries and arrays that a model contains."""
        header, arrays = theta_parts(self.theta)
        record = {**header, "config": asdict(self.config), "digest": self.digest}
        return {"theta": {**record, **({"idf": True} if IDF in arrays else {})}}, arrays

    @classmethod
    def of(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "FeatureMap":
        """The map that a model contains. Raises ModelError, ValueError, KeyError."""
        record = header["theta"]
        require(record, FeatureMapHeader, "theta")
        try:
            config = built(ApplyConfig, record["config"])
        except UsageError as error:  # it was not typed
            raise ValueError(str(error)) from error
        return cls(theta_from(record, arrays), config, record["digest"], loaded=True)

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
