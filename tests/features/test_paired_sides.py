"""The sizes of groups are those of the groups, n-grams and limits counted, whatever the row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vwlite._native.expand import group_of_row, group_sizes

from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.training.assembly import PairedSides

SIDE = st.lists(st.sampled_from("abcd"), max_size=4)


def read(rows, **options):
    config = FeatureConfig(**options)
    text = "".join(f"1 |user {' '.join(left)} |item {' '.join(right)} |x z\n" for left, right in rows)
    return parse_text(text.encode(), text_format(config, skip_malformed=False)), Plan(config)


@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=5), st.sampled_from(["ui", "user,item"]), st.booleans())
def test_sizes_are_those_of_the_groups(rows, pair, limited):
    batch, plan = read(rows, dotproduct=(pair,), ngram=("u2",), feature_limit=("i2",) if limited else ())
    numbers = np.array(plan.pairs, np.int32).reshape(-1)
    sizes = np.zeros((len(batch), 2), np.uint32)
    group_sizes(batch, plan, numbers, sizes)
    groups = [[len(group_of_row(batch, plan, row, n)[0]) // 4 for n in numbers.tolist()] for row in range(len(batch))]
    assert sizes.tolist() == groups
    faults = PairedSides(plan).faults(batch)
    assert {*faults} == {row for row, (left, right) in enumerate(groups) if left != right}


def test_what_does_not_fit_is_refused():
    batch, plan = read([("a", "b")], dotproduct=("ui",))
    for numbers, shape in (([117, 105], (2, 2)), ([117], (1, 2)), ([-1, 105], (1, 2)), ([117, 9999], (1, 2))):
        with pytest.raises(IndexError):
            group_sizes(batch, plan, np.array(numbers, np.int32), np.zeros(shape, np.uint32))
