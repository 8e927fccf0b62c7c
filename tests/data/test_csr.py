"""Sparse rows against dense ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import Csr, join_rows, offsets

COLUMNS = 5
ROWS = st.lists(st.lists(st.integers(0, COLUMNS - 1), max_size=4, unique=True), max_size=6)


def rows_of(lists):
    indices = np.array([column for row in lists for column in row], np.uint32)
    return Csr(offsets([len(row) for row in lists]), indices, np.arange(1, len(indices) + 1, dtype=np.float32))


def dense(rows):
    table = np.zeros((len(rows), COLUMNS), np.float32)
    table[rows.owner, rows.indices] = rows.values
    return table


@given(ROWS, st.data())
def test_sparse_rows_are_joined_like_dense_ones(lists, data):
    rows = rows_of(lists)
    table = dense(rows)
    assert len(rows) == len(lists) and rows.sizes.tolist() == list(map(len, lists))
    assert [rows.indices[rows.row(number)].tolist() for number in range(len(lists))] == lists
    if lists:
        taken = np.array(data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8)), np.int64)
        assert np.array_equal(dense(rows.take(taken)), table[taken])
    columns = np.array(data.draw(st.lists(st.booleans(), min_size=COLUMNS, max_size=COLUMNS)))
    assert np.array_equal(dense(rows.keep(columns[rows.indices])), np.where(columns, table, 0))


@given(st.lists(ROWS, max_size=4))
def test_parts_are_joined_in_order(parts):
    made = join_rows([rows_of(part) for part in parts])
    actual = [made.indices[made.row(number)].tolist() for number in range(len(made))]
    assert actual == [row for part in parts for row in part]
    assert (made.indptr.dtype, made.indices.dtype, made.values.dtype) == (np.int64, np.uint32, np.float32)


@pytest.mark.parametrize(("sizes", "expected"), [([], [0]), ([2, 0, 3], [0, 2, 2, 5])])
def test_offsets_are_running_sums(sizes, expected):
    actual = offsets(np.array(sizes, np.uint8))
    assert actual.tolist() == expected and actual.dtype == np.int64
