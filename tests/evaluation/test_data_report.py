"""Different hashes are told apart as sets tell them apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vwlite._native.hash_names import insert_hashes

from vwlite.features.hashing import HashSet

HASHES = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1)), max_size=200)


@given(st.lists(HASHES, max_size=4))
def test_slots_are_counted_as_by_a_set(batches):
    distinct = HashSet()
    for batch in batches:
        distinct.add(np.array(batch, np.uint32))
    known = {hash for batch in batches for hash in batch}
    assert len(distinct) == len(known)
    assert set(distinct.hashes().tolist()) == known - {0}
    slots = [hash & (2**18 - 1) for hash in known]
    shared = sum(slots.count(slot) > 1 for slot in slots)
    assert distinct.shared([18])[18] == pytest.approx(shared / max(len(known), 1))


def test_the_table_grows():
    hashes = np.arange(1, 300_001, dtype=np.uint32)
    distinct = HashSet()
    for begin in range(0, len(hashes), 70_000):
        distinct.add(hashes[begin : begin + 100_000])
    assert len(distinct) == len(hashes)
    assert (np.sort(distinct.hashes()) == hashes).all()


def test_from_some_number_on_only_at_least_so_many_are_known():
    distinct = HashSet(1000)
    distinct.add(np.arange(1, 200_000, dtype=np.uint32))
    assert distinct.full and 1000 <= len(distinct) < 200_000


@pytest.mark.parametrize(("size", "begin", "most"), [(3, 0, 1), (4, 0, 4), (4, -1, 1), (0, 0, 0)])
def test_wrong_tables_are_refused(size, begin, most):
    with pytest.raises(IndexError):
        insert_hashes(np.zeros(size, np.uint32), np.ones(1, np.uint32), begin, most)
