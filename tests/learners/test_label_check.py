"""Labels of two classes: what is accepted, what is refused, and what the learner gets."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vwlite._native.counters import all_integers, label_range

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import DataError
from vwlite.learners.label_check import LabelCheck
from vwlite.learners.losses import LossConfig

LABELS = [0.0, -0.0, 1.0, -1.0, 2.0, -1.5, math.inf, math.nan]


def batch_of(labels):
    batch = parse_text(b"|w a\n" * len(labels), TextFormat())
    batch.label = np.array(labels, np.float32)
    return batch


def slowly(labels, negative):
    """The learner's labels, the first wrong row or None, and the label of the lower class, one row after the other."""
    made = []
    lower = [label for label in labels if label in (0, -1)]
    if negative is None and lower:
        negative = lower[0]
    for row, label in enumerate(labels):
        if not (math.isnan(label) or label == 1 or label == negative):
            return made, row, negative
        made.append(-1.0 if label == 0 else label)
    return made, None, negative


@given(st.lists(st.lists(st.sampled_from(LABELS), max_size=12), max_size=4), st.sampled_from([None, 0.0, -1.0]))
def test_like_one_row_after_the_other(batches, negative):
    check = LabelCheck(LossConfig("logistic"), negative)
    for labels in batches:
        made, wrong, negative = slowly(labels, negative)
        if wrong is not None:
            with pytest.raises(DataError, match=re.escape(f"example {wrong + 1}: label {labels[wrong]:g} ")):
                check.check(batch_of(labels))
            return
        np.testing.assert_array_equal(check.check(batch_of(labels)), np.array(made, np.float32))
        assert check.negative == negative


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 7.0, float("nan"), float("inf")]), max_size=6))
def test_kernels_see_labels_as_numpy_does(values):
    labels = np.array(values, np.float32)
    there = labels[~np.isnan(labels)]
    low, high = label_range(labels)
    assert (low, high) == (there.min(), there.max()) if len(there) else np.isnan([low, high]).all()
    assert all_integers(labels) == (there == np.floor(there)).all()
