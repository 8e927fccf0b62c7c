"""Features by their names, as arrays of a model."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from vwlite.storage.model_file import numbers


@dataclass(slots=True)
class Vocabulary:
    """The features: full 32-bit hashes, ascending, with name and namespace of each.

    With ``idf`` rows of these features have their values times these weights.
    """

    key: np.ndarray  # uint32[p]
    space: np.ndarray  # int32[p], place in spaces
    names: list[str]
    spaces: list[str]
    idf: np.ndarray | None = None  # float32[p + 1], last that of unknown features, where ``find`` gives -1
    rare: int = 0  # further features of the text that it is of, which too few rows hold

    def __len__(self) -> int:
        return len(self.key)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """int64: the features' numbers, -1 where unknown."""
        if not len(self.key):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[place] == keys, place, -1)


def inverse_frequencies(held: np.ndarray, rows: int) -> np.ndarray:
    """float32[p + 1]: ln((rows + 1) / (held + 1)), of features that ``held`` of the rows have, and one that none has.

    Sparck Jones, Journal of Documentation 28 (1972), smoothed.
    """
    return np.log((rows + 1) / (np.append(held, 0) + 1.0)).astype(np.float32)


def word_arrays(prefix: str, words: Vocabulary) -> dict[str, np.ndarray]:
    """``key`` uint32[p], ``space`` int32[p]; names as the bytes of ``text``, name i ending before ``end[i]``.

    ``idf`` float32[p + 1] where there are weights.
    """
    names = [name.encode("utf-8", "surrogateescape") for name in words.names]
    arrays = {
        "key": words.key,
        "space": words.space,
        "end": np.cumsum([len(name) for name in names], dtype=np.int64),
        "text": np.frombuffer(b"".join(names), np.uint8),
    }
    if words.idf is not None:
        arrays["idf"] = words.idf
    return {f"{prefix}_{name}": array for name, array in arrays.items()}


def words_from(prefix: str, arrays: dict[str, Any], spaces: list[str]) -> Vocabulary:
    key = numbers(arrays, f"{prefix}_key", np.uint32, (-1,))
    count = len(key)
    space = numbers(arrays, f"{prefix}_space", np.int32, (count,))
    ends = numbers(arrays, f"{prefix}_end", np.int64, (count,))
    raw = numbers(arrays, f"{prefix}_text", np.uint8, (-1,)).tobytes()
    edges = np.concatenate(([0], ends))
    if (np.diff(edges) < 0).any() or edges[-1] != len(raw) or (key[1:] <= key[:-1]).any():
        raise ValueError("the names of its features")
    if count and not 0 <= int(space.min()) <= int(space.max()) < len(spaces):
        raise ValueError("the namespaces of its features")
    names = [raw[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(edges.tolist())]
    weights = f"{prefix}_idf"
    return Vocabulary(key, space, names, spaces, weights_from(arrays, weights, count) if weights in arrays else None)


def weights_from(arrays: dict[str, Any], name: str, count: int) -> np.ndarray:
    found = numbers(arrays, name, np.float32, (count + 1,))
    if (found < 0).any():
        raise ValueError("the weights of its features")
    return found
