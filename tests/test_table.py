"""The weight table: lazily allocated, and scanned for the rows that are set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite import table
from vwlite.errors import UsageError
from vwlite.table import zeros
from vwlite.table_store import nonzero_rows


@pytest.mark.parametrize("huge", [True, False])
@pytest.mark.parametrize(("slots", "stride"), [(1, 1), (1 << 10, 4), (1 << 20, 4), (1 << 19, 1)])
def test_zeros_are_an_ordinary_array(slots, stride, huge):
    values = zeros(slots, stride, huge=huge)
    assert (values.shape, values.dtype) == ((slots, stride), np.float32)
    assert values.flags.c_contiguous and values.flags.writeable and values.flags.aligned
    assert not values.any()
    values[-1, -1] = 1
    assert values.sum() == 1


def test_a_table_may_be_larger_than_memory():
    values = zeros(1 << 32, 4)
    assert values.nbytes == 64 << 30
    values[-1] = values[0] = 1
    assert values[[0, 1 << 31, -1], 0].tolist() == [1, 0, 1]


def test_what_the_system_refuses_is_said(monkeypatch):
    with pytest.raises(UsageError, match=r"refuses .* TiB of address space .* smaller -b"):
        zeros(1 << 60, 4)
    monkeypatch.setattr(table, "SMALL", 1 << 70)
    with pytest.raises(UsageError, match="smaller -b"):
        zeros(1 << 60, 4)


@given(
    rows=st.lists(st.tuples(*[st.sampled_from([0, 0, 0, 1, 0x80000000])] * 4), max_size=30),
    columns=st.integers(1, 4),
    data=st.data(),
)
def test_nonzero_rows(rows, columns, data):
    bits = np.array(rows, np.uint32).reshape(-1, 4)
    begin = data.draw(st.integers(0, len(rows)))
    end = data.draw(st.integers(begin, len(rows)))
    out = np.full(end - begin, 99, np.uint32)
    found = nonzero_rows(bits, begin, end, columns, out)
    expected = begin + np.flatnonzero(bits[begin:end, :columns].any(axis=1))
    assert out[:found].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("begin", "end", "columns", "room"),
    [(-1, 2, 1, 8), (0, 5, 1, 8), (3, 2, 1, 8), (0, 4, 1, 3), (0, 4, 0, 8), (0, 4, 3, 8)],
)
def test_nonzero_rows_stays_inside(begin, end, columns, room):
    with pytest.raises(IndexError):
        nonzero_rows(np.zeros((4, 2), np.uint32), begin, end, columns, np.empty(room, np.uint32))
