"""Columns as features: no two share a slot, and no fewer bits would do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.sklearn.validation import Columns


def are_apart(columns, bits, shift):
    hashes = np.append(columns.hashes(), CONSTANT_HASH)
    starts = (hashes << shift) % 2**bits
    return len(np.unique(starts)) == len(starts)


@pytest.mark.parametrize("namespaces", [None, {"user": [0, 1]}, {"user": [2], "item": [1, -1]}])
@settings(max_examples=15)
@given(st.integers(4, 130_000), st.integers(0, 4))
def test_the_fewest_bits_that_keep_columns_apart(namespaces, n_columns, shift):
    columns = Columns(n_columns, namespaces)
    bits = columns.fewest_bits(shift)
    assert are_apart(columns, bits, shift)
    assert bits == 18 or not any(are_apart(columns, fewer, shift) for fewer in range(18, bits))


@pytest.mark.parametrize(
    ("n_columns", "bits"),
    [(116060, 18), (116061, 21), (1164636, 21), (1164637, 22), (3261788, 22), (11650396, 24), (2**24, 24), (2**25, 25)],
)
def test_bits_by_the_number_of_columns(n_columns, bits):
    assert Columns(n_columns).fewest_bits(0) == bits


def test_hashes_are_those_of_the_text():
    columns = Columns(5, {"user": [3, 0], "b": ["e"]}, names=list("abcde"))
    batch = parse_text(b"|user 0:1 1:1 |b 0:1 | 0:1 1:1", TextFormat())
    assert columns.hashes()[[3, 0, 4, 1, 2]].tolist() == batch.feature_hash.tolist()
    tables = columns.split(np.arange(10).reshape(2, 5))
    assert {name: table[0].tolist() for name, table in tables.items()} == {"user": [3, 0], "b": [4], "": [1, 2]}
    whole = np.arange(4).reshape(2, 2)
    assert Columns(2).split(whole) is whole
