"""Hashes of features that a run met, to tell how many share a slot."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vwlite._native.hash_set import insert

MAX_DISTINCT_FEATURES = 1 << 26  # further ones are not counted


class HashSet:
    """The different hashes among many, exactly up to ``most`` of them; four to eight bytes each."""

    def __init__(self, most: int = MAX_DISTINCT_FEATURES) -> None:
        self.most = most
        self.table = np.zeros(1 << 16, np.uint32)
        self.count = 0
        self.zero = False  # the hash that marks an empty place
        self.full = False

    def add(self, hashes: np.ndarray) -> None:
        self.zero = self.zero or not hashes.all()
        begin = 0
        while begin < len(hashes) and not self.full:
            begin, new = insert(self.table, hashes, begin, len(self.table) // 2 - self.count + 1)
            self.count += new
            if 2 * self.count > len(self.table):
                self.grow()

    def grow(self) -> None:
        self.full = self.count >= self.most
        if not self.full:
            old = self.hashes()
            self.table = np.zeros(2 * len(self.table), np.uint32)
            insert(self.table, old, 0, len(self.table) - 1)

    def hashes(self) -> np.ndarray:
        return self.table[self.table != 0]

    def __len__(self) -> int:
        return self.count + self.zero

    def shared(self, numbers: Iterable[int]) -> dict[int, float]:
        """For every one of these numbers of bits, the share of features whose slot holds another one as well."""
        hashes = np.append(self.hashes(), np.zeros(int(self.zero), np.uint32))
        order = reversed_bits(hashes)
        order.sort()  # now features of one slot are neighbours, whatever the number of bits
        shares = {}
        for bits in numbers:
            slots = order >> np.uint32(32 - bits)
            first = np.append(True, slots[1:] != slots[:-1])
            alone = first & np.append(first[1:], True)
            shares[bits] = 1 - float(alone.sum()) / len(slots) if len(slots) else 0.0
        return shares


def reversed_bits(hashes: np.ndarray) -> np.ndarray:
    """uint32[n], every number read from its other end."""
    result = hashes.astype(">u4").view(np.uint8)
    table = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)
    return table[result].view("<u4").astype(np.uint32)
