"""Hashes and byte scans of the kernels against mmh3, the plain twin and scalar code."""

import random

import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import hashing as twin
from vwtext import names

from vwlite._native import testing
from vwlite.features import hashing

SLACK = b"\xff" * 64  # bytes that would be noticed
seeds = st.integers(0, 2**32 - 1)
DELIMITERS = b" :|\n\t\r"


@pytest.mark.parametrize("seed", [0, 1, 0x9747B28C, 2**32 - 1])
def test_murmur3_of_all_lengths(seed):
    data = random.Random(seed).randbytes(301)
    for length in range(301):
        expected = mmh3.hash(data[:length], seed, signed=False)
        assert testing.murmur3(data[:length] + SLACK, length, seed) == expected
        assert testing.murmur3(data + SLACK, length, seed) == expected  # whatever follows
        assert twin.murmur3(data[:length], seed) == expected


@given(st.one_of(names, st.binary(max_size=40)), seeds, st.booleans())
def test_hash_of_a_name(name, seed, hash_all):
    actual = testing.hash_name(name + SLACK, len(name), seed, hash_all)
    assert actual == twin.hash_name(name, seed, "all" if hash_all else "strings")
    assert actual == hashing.hash_name(name, seed, hash_all)


@given(st.integers(0, 10**40), st.sampled_from([b"", b" ", b"\x00\x1f"]), seeds)
def test_a_number_is_its_own_hash(number, around, seed):
    name = around + b"%d" % number + around
    assert testing.hash_name(name + SLACK, len(name), seed, False) == (number % 2**64 + seed) % 2**32


@given(st.binary(min_size=16, max_size=16))
def test_scans(sixteen):
    (ends, ends_scalar), (breaks, breaks_scalar), (others, others_scalar) = testing.scan(sixteen + SLACK)
    assert ends == ends_scalar == sum(1 << i for i, byte in enumerate(sixteen) if byte in DELIMITERS)
    assert breaks == breaks_scalar == sum(1 << i for i, byte in enumerate(sixteen) if byte <= 32 or byte in b":|")
    assert others == others_scalar == sum(1 << i for i, byte in enumerate(sixteen) if not 48 <= byte <= 57)


@given(st.binary(min_size=16, max_size=16), st.sampled_from(b'",\t\0\xff'), st.sampled_from(b'",\t\0\xff'))
def test_scans_for_one_of_two_bytes(sixteen, a, b):
    actual, scalar = testing.find_either(sixteen + SLACK, a, b)
    assert actual == scalar == sum(1 << i for i, byte in enumerate(sixteen) if byte in (a, b))


def test_scans_know_every_byte_in_every_place():
    for byte in range(256):
        for place in range(16):
            sixteen = bytearray(b"5" * 16)
            sixteen[place] = byte
            (ends, ends_scalar), (breaks, breaks_scalar), (others, others_scalar) = testing.scan(bytes(sixteen) + SLACK)
            assert ends == ends_scalar == (byte in DELIMITERS) << place
            assert breaks == breaks_scalar == (byte <= 32 or byte in b":|") << place
            assert others == others_scalar == (not 48 <= byte <= 57) << place


def test_doors_want_slack():
    for call in (
        lambda: testing.murmur3(b"abc" + bytes(63), 3, 0),
        lambda: testing.hash_name(bytes(64), -1, 0, False),
        lambda: testing.scan(bytes(79)),
        lambda: testing.find_either(bytes(79), 44, 34),
        lambda: testing.read_number(bytes(70), 7, 6),
    ):
        with pytest.raises(ValueError, match="slack"):
            call()
