"""Hashes of the names of columns and keys, as the parser makes them of a line of text.

A line cannot hold every name: white space, ``:`` and ``|`` count as ``_``, and so does an empty name. In text values
``:`` may stand; one that is empty or reads like a number gets ``_`` in front.
Letters are made small as Unicode 3.2 has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any
from unicodedata import ucd_3_2_0

import mmh3
import numpy as np

from vwlite._native.hash_names import hash_numbers, hash_texts, text_of
from vwlite.data.batch import offsets
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError


def encoded(name: Any) -> bytes:
    """The name as a line holds it. Raises UsageError for what is no text."""
    if not isinstance(name, str):
        raise UsageError(f"expected names that are text, not {type(name).__name__}: {name!r}")
    return text_of(name.encode("utf-8", "surrogateescape"), False)


def namespace_hash(name: bytes, format: TextFormat) -> int:
    """The hash of a namespace's name, empty where it is anonymous."""
    if name:
        return int(hashes_of([name], format.hash_seed, format)[0])
    return mmh3.hash(b"", format.hash_seed, signed=False)


def hashes_of(names: Sequence[bytes], seed: int, format: TextFormat, text_values: bool = False) -> np.ndarray:
    """uint32[names]: the hashes of names in a namespace of the hash ``seed``; of text values, in a feature of it."""
    out = np.empty(len(names), np.uint32)
    hash_texts(b"".join(names), offsets([len(name) for name in names]), seed, format.hash_all, text_values, out)
    return out


class ColumnNames:
    """The names of a table's columns: those given, or their numbers."""

    def __init__(self, namespace: bytes, names: Sequence[Any] | None, format: TextFormat) -> None:
        """Raises UsageError for names that are no text."""
        self.namespace, self.format = namespace, format
        self.seed = namespace_hash(namespace, format)
        self.names = None if names is None else [encoded(name) for name in names]
        self.table = None if self.names is None else hashes_of(self.names, self.seed, format)

    def hashes(self, columns: np.ndarray) -> np.ndarray:
        """uint32[n] of columns, int32 or int64[n]; shares their memory where it can."""
        if self.table is not None:
            return self.table[columns]
        if self.format.hash_all:
            out = np.empty(len(columns), np.uint32)
            hash_numbers(columns.astype(np.int64), self.seed, out)
            return out
        numbers = columns.view(np.uint32) if columns.dtype == np.int32 else columns.astype(np.uint32)
        return numbers + np.uint32(self.seed) if self.seed else numbers

    def texts(self, columns: np.ndarray) -> tuple[bytes, np.ndarray, np.ndarray]:
        """Bytes, and where in them the name of each of the columns begins and ends, int64[n]."""
        if self.names is not None:
            names, which = self.names, columns
        else:
            distinct, which = np.unique(columns, return_inverse=True)
            names = [b"%d" % number for number in distinct.tolist()]
        starts = offsets([len(name) for name in names])
        return b"".join(names), starts[which], starts[1:][which]

    def shown(self, column: int) -> str:
        """The column in messages."""
        return str(column) if self.names is None else repr(self.names[column].decode("utf-8", "surrogateescape"))


CHARACTERS = 1 << 16
NONE = np.zeros(CHARACTERS, np.uint16)  # for tables without such words


@cache
def lower_table() -> np.ndarray:
    """uint16[65536]: each letter, digit, mark and ``_`` in lower case, if that takes as many bytes; 0 for all else."""
    return np.array([lower(chr(code)) for code in range(CHARACTERS)], np.uint16)


def lower(character: str) -> int:
    if character != "_" and ucd_3_2_0.category(character)[0] not in "LNM":
        return 0
    small = character.lower()
    known = len(small) == 1 and ucd_3_2_0.category(small) != "Cn"
    return ord(small if known and len(small.encode()) == len(character.encode()) else character)
