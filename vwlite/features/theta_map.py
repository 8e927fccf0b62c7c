"""Theta as a map of batches: examples with the features it makes of them, for learners of other commands."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite.config_check import built, require
from vwlite.data.batch import BLANK, Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.added_features import extended
from vwlite.features.batch_rows import features_of, merged, rows_over
from vwlite.features.sparse_rows import Rows
from vwlite.features.theta import Projection, Theta
from vwlite.features.theta_config import NOTHING_KNOWN, ApplyConfig
from vwlite.features.theta_file import IDF, THETA_ARRAYS, FeatureMapHeader, load_theta, theta_from, theta_parts

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
        """What a model keeps: of its header, and arrays."""
        header, arrays = theta_parts(self.theta)
        told = {**header, "config": asdict(self.config), "digest": self.digest}
        return {"theta": {**told, **({"idf": True} if IDF in arrays else {})}}, arrays

    @classmethod
    def of(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "FeatureMap":
        """From what a model keeps. Raises ModelError, ValueError, KeyError."""
        told = header["theta"]
        require(told, FeatureMapHeader, "theta")
        try:
            config = built(ApplyConfig, told["config"])
        except UsageError as error:  # nobody typed it
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
        return extended(batch, self.theta, self.projection.features(rows, self.config.scale, self.config.unit))

    def rows(self, batch: Batch) -> Rows:
        """Those that are not blank. Raises DataError for a negative value where features have weights."""
        words, taken = self.theta.words, np.flatnonzero(batch.flags & BLANK == 0)
        owner, keys, values, _ = features_of(batch, taken)
        sizes, keys, values = merged(owner, keys, values, len(taken))
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
    """Of the features, groups and numbers of a Theta."""
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
    told = header.get("theta")
    return [name for name in THETA_ARRAYS if name != IDF or told.get("idf")] if isinstance(told, dict) else []


