"""Hashes outside the kernels: names by MurmurHash3 with Vowpal Wabbit's treatment of digits, numbers by SplitMix64."""

import mmh3
import numpy as np

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


def hashed(seed: int, purpose: int, numbers: np.ndarray) -> np.ndarray:
    """uint64: the hash of each number."""
    return mix64(np.uint64(key(seed, purpose)) + numbers.astype(np.uint64))


def mix64(z: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), as ``cython_ext/base/splitmix64.pxd``."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def unit_interval(bits: np.ndarray) -> np.ndarray:
    """float64: numbers in (0, 1) from the upper 52 bits."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) / 2**52
