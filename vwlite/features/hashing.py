"""Hashes of names outside the parser: MurmurHash3 with Vowpal Wabbit's treatment of digits."""

import mmh3

CONTROL = bytes(range(33))


def hash_name(name: bytes, seed: int, hash_all: bool = False) -> int:
    """32-bit hash of a name; with ``hash_all`` false a name of digits is its value plus the seed."""
    if not hash_all:
        name = name.strip(CONTROL)
        if not name or name.isdigit():
            return (int(name or b"0") % 2**64 + seed) % 2**32
    return mmh3.hash(name, seed, signed=False)
