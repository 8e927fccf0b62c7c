"""Numbers of slots, beside NumPy's and a dictionary's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite._native import weigh_terms

HASHES = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1)), max_size=300)


def numbered(hashes):
    """The slots and their counts."""
    slots, count = np.empty(len(hashes), np.uint32), np.empty(len(hashes), np.int64)
    found = weigh_terms.number_slots(np.array(hashes, np.uint32), slots, count)
    return slots[:found].tolist(), count[:found].tolist()


def places(slots, hashes):
    place = np.empty(len(hashes), np.int64)
    weigh_terms.find_slots(np.array(slots, np.uint32), np.array(hashes, np.uint32), place)
    return place.tolist()


@given(HASHES)
def test_slots_are_numbered_as_they_come_and_counted(hashes):
    counts = {}
    for one in hashes:
        counts[one] = counts.get(one, 0) + 1
    assert numbered(hashes) == (list(counts), list(counts.values()))


@given(st.sets(st.integers(0, 2**32 - 1), max_size=100).map(list), HASHES)
def test_slots_are_found(slots, hashes):
    hashes = hashes + slots[::2]
    index = {slot: place for place, slot in enumerate(slots)}
    assert places(slots, hashes) == [index.get(one, -1) for one in hashes]


def test_tables_grow():
    hashes = np.random.default_rng(1).integers(0, 2**32, 50_000).tolist() * 2
    slots, count = numbered(hashes)
    assert slots == list(dict.fromkeys(hashes)) and sum(count) == len(hashes)
    assert places(slots, hashes[:2000]) == list(range(2000))


def test_arrays_have_room():
    three, two = np.zeros(3, np.uint32), np.zeros(2, np.int64)
    with pytest.raises(IndexError):
        weigh_terms.number_slots(three, three.copy(), two)
    with pytest.raises(IndexError):
        weigh_terms.find_slots(three, three, two)
