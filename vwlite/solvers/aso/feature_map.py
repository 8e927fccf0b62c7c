"""Theta as a map of batches: examples with the features it makes of them, for learners of other commands."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite.config_check import built, require
from vwlite.data.batch import BLANK, Batch, Names
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.hashing import hash_name
from vwlite.solvers.aso.config import ApplyConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.model_file import load_theta, theta_from, theta_parts
from vwlite.solvers.aso.theta import Theta
from vwlite.training.model_header import FeatureMapHeader

PATIENCE = 10_000  # lines without a feature of Theta before it is taken for that of other text
NOTHING_KNOWN = "no feature of the text is in Theta"


@dataclass(slots=True)
class FeatureMap:
    """``theta`` has the rows and groups that ``config`` keeps of a Theta whose digest is ``digest``."""

    theta: Theta
    config: ApplyConfig
    digest: str
    known: int = 0  # features of Theta among those of all batches so far
    lines: int = 0

    @classmethod
    def read(cls, path: str, config: ApplyConfig) -> "FeatureMap":
        """Raises ModelError, InputMissing, UsageError for groups that are not there."""
        theta, _ = load_theta(path)
        return cls(theta.kept(config), config, digest_of(theta))

    def content(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a model keeps: of its header, and arrays."""
        header, arrays = theta_parts(self.theta)
        return {"theta": {**header, "config": asdict(self.config), "digest": self.digest}}, arrays

    @classmethod
    def of(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "FeatureMap":
        """From what a model keeps. Raises ModelError, ValueError, KeyError."""
        told = header["theta"]
        require(told, FeatureMapHeader, "theta")
        return cls(theta_from(told, arrays), built(ApplyConfig, told["config"]), told["digest"])

    def extend(self, batch: Batch, learning: bool = False) -> Batch:
        """The batch with a namespace of features for each group behind those of every example.

        Raises DataError when nothing of the first ``PATIENCE`` lines that are learned from is known.
        """
        corpus = Corpus(BadLines(None, None), tags=True, names=False)
        corpus.add(batch)
        rows = corpus.rows(self.theta.words)
        self.known, self.lines = self.known + len(rows.terms.indices), self.lines + len(batch)
        if learning and self.lines >= PATIENCE:
            self.check()
        made = self.theta.project(rows, self.theta.words, self.config.scale, self.config.unit)
        return extended(batch, self.theta, made)

    def check(self) -> None:
        """Raises DataError where no feature was known."""
        if not self.known:
            raise DataError(NOTHING_KNOWN)


def digest_of(theta: Theta) -> str:
    """Of the features, groups and numbers of a Theta."""
    header, arrays = theta_parts(theta)
    digest = mmh3_x64_128(json.dumps(header).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.digest().hex()


def check_plan(features: FeatureConfig, config: ApplyConfig) -> None:
    """Raises UsageError for features of which Theta knows nothing."""
    if features.hash != "strings" or features.hash_seed:
        raise UsageError("--theta tells features apart by their usual hash: drop --hash and --hash_seed")
    if not config.unit and (features.affix or features.spelling):
        raise UsageError("--no-theta-unit goes by the lengths of examples, which --affix and --spelling change")


def extended(batch: Batch, theta: Theta, values: np.ndarray) -> Batch:
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
        text, names = named(batch, theta, places, own, number[column])
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


def named(batch: Batch, theta: Theta, places: Places, own: np.ndarray, number: np.ndarray) -> tuple[bytes, Names]:
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
