"""Hashes outside the kernels: names by MurmurHash3 with Vowpal Wabbit's treatment of digits, numbers by SplitMix64."""

from __future__ import annotations

from collections.abc import Iterable

import mmh3
import numpy as np

from vwlite._native.hash_names import insert_hashes

CONSTANT_NAME, CONSTANT_HASH = "Constant", 11650396
CONTROL = bytes(range(33))


def hash_name(name: bytes, seed: int, hash_all: bool = False) -> int:
    """32-bit hash of a name; with ``hash_all`` false a name of digits is its value plus the seed."""
    if not hash_all:
        name = name.strip(CONTROL)
        if not name or name.isdigit():
            return (int(name or b"0") % 2**64 + seed) % 2**32
    return mmh3.hash(name, seed, signed=False)


def key(seed: int, purpose: int) -> int:
    """The state from which the hash of numbers begins."""
    return int(mix64(np.array([seed << 8 | purpose], np.uint64))[0])


def hash_numbers(seed: int, purpose: int, numbers: np.ndarray) -> np.ndarray:
    """uint64: the hash of each number."""
    return mix64(np.uint64(key(seed, purpose)) + numbers.astype(np.uint64))


def mix64(z: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), as ``cython_ext/base/random.pxd``."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def unit_interval(bits: np.ndarray) -> np.ndarray:
    """float64: numbers in (0, 1) from the upper 52 bits."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) / 2**52


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
            begin, new = insert_hashes(self.table, hashes, begin, len(self.table) // 2 - self.count + 1)
            self.count += new
            if 2 * self.count > len(self.table):
                self.grow()

    def grow(self) -> None:
        self.full = self.count >= self.most
        if not self.full:
            old = self.hashes()
            self.table = np.zeros(2 * len(self.table), np.uint32)
            insert_hashes(self.table, old, 0, len(self.table) - 1)

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
