"""How far a pass has come, whatever the batches."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.errors import ModelError
from vwlite.training.trainer import Position


class Labels(SimpleNamespace):
    def __len__(self):
        return len(self.label)


def cut(labels, sizes):
    begin = 0
    for size in [*sizes, len(labels)]:
        yield Labels(label=labels[begin : begin + size])
        begin += size


SIZES = st.lists(st.integers(0, 7), max_size=8)


@given(st.integers(0, 30), SIZES, SIZES)
def test_the_rows_learned_are_passed_over(stop, first, second):
    labels = np.arange(30, dtype=np.float32)
    place = Position()
    for batch in cut(labels[:stop], first):
        place.advance(batch)
    again, learned = Position(), []
    again.skip, again.expected = place.rows, place.checksum
    for batch in cut(labels, second):
        learned += batch.label[again.learned(batch) :].tolist()
        again.advance(batch)
    assert learned == labels[stop:].tolist()
    again.end_pass()
    assert (again.rows, again.skip, again.checksum) == (0, 0, 0)


def test_other_labels_are_noticed():
    place = Position()
    place.skip, place.expected = 2, 12345
    with pytest.raises(ModelError, match="not what"):
        place.advance(Labels(label=np.ones(3, np.float32)))


def test_an_input_that_is_too_short_is_noticed():
    place = Position()
    place.skip = 2
    place.advance(Labels(label=np.ones(1, np.float32)))
    with pytest.raises(ModelError, match="fewer than"):
        place.end_pass()
