"""Columns of a table as features: which namespace each is in, which slots it has, how many bits keep them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.features.hashing import CONSTANT_HASH, hash_name

FEWEST, MOST = 18, 32  # bits


class Columns:
    """The ``n_columns`` columns of tables, some of them in namespaces.

    Column ``j`` of a namespace's is the feature ``j`` of it; those of no namespace are anonymous features.
    """

    def __init__(
        self,
        n_columns: int,
        namespaces: Mapping[str, Sequence[int | str]] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """``namespaces``: the columns of each, by number or, where columns have ``names``, by name.

        Raises UsageError for a column that does not exist or is in two namespaces.
        """
        self.n_columns = n_columns
        self.members: dict[str, np.ndarray] = {}
        if not namespaces:
            return
        numbers = {name: number for number, name in enumerate(() if names is None else names)}
        owner: dict[int, str] = {}
        for space, members in namespaces.items():
            for one in members:
                number = numbers.get(one) if isinstance(one, str) else int(one)
                if number is None or not -n_columns <= number < n_columns:
                    raise UsageError(f"namespaces: there is no column {one!r} for {space!r}")
                if owner.setdefault(number % n_columns, space) != space:
                    raise UsageError(f"namespaces: column {one!r} is in {owner[number % n_columns]!r} and {space!r}")
        rest = [number for number in range(n_columns) if number not in owner]
        grouped = {space: [number for number, of in owner.items() if of == space] for space in namespaces}
        self.members = {space: np.array(found) for space, found in {**grouped, "": rest}.items() if found}

    def split(self, X: Any) -> Any:
        """The table itself or, with namespaces, a table for each."""
        return {space: in_order(X[:, found]) for space, found in self.members.items()} or X

    def hashes(self) -> np.ndarray:
        """int64[n_columns]: the hash of each column's feature."""
        if not self.members:
            return np.arange(self.n_columns)
        hashes = np.empty(self.n_columns, np.int64)
        for space, found in self.members.items():
            hashes[found] = (np.arange(len(found)) + (hash_name(space.encode(), 0) if space else 0)) % 2**32
        return hashes

    def bits(self, given: int | None, shift: int = 0) -> int:
        """Those given or, where they are None, the fewest. Raises UsageError for too few."""
        needed = self.fewest_bits(shift)
        if given is not None and given < needed:
            columns = f"{self.n_columns} columns"
            raise UsageError(f"bits={given} would have {columns} share slots: bits={needed} keeps them apart")
        return needed if given is None else given

    def fewest_bits(self, shift: int) -> int:
        """Bits, from 18, at which no column shares a slot with another or the constant, each having ``2**shift``.

        Of more than 11,650,396 columns in no namespace one is the constant's, whatever the bits: it is let through.
        """
        needed = range(max(FEWEST, shift), MOST + 1)
        if not self.members:
            return first_of(bits for bits in needed if self.n_columns <= self.room(2 ** (bits - shift)))
        hashes = np.append(self.hashes(), CONSTANT_HASH)
        return first_of(bits for bits in needed if distinct(hashes % 2 ** (bits - shift)))

    def room(self, slots: int) -> int:
        """How many columns in no namespace there may be beside the constant."""
        return CONSTANT_HASH % slots if self.n_columns <= CONSTANT_HASH else slots


def in_order(table: Any) -> Any:
    """The columns of each row ascending, as they are in an array."""
    return table.sorted_indices() if hasattr(table, "sorted_indices") else table


def distinct(values: np.ndarray) -> bool:
    return len(np.unique(values)) == len(values)


def first_of(bits: Iterable[int]) -> int:
    found = next(iter(bits), None)
    if found is None:
        raise UsageError(f"even with {MOST} bits some columns share a slot")
    return found
