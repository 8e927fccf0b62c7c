"""Batches with the features that Theta makes of their examples behind those of the text."""

from dataclasses import replace

import numpy as np

from vwlite.data.batch import BLANK, Batch, Names
from vwlite.features.hashing import hash_name
from vwlite.features.theta import Theta


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
