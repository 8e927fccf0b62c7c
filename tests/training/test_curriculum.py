"""The curriculum: what is admitted when, what is easy, and that nothing else changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import Curriculum, difficulties

LINES = [b"1 |a x y z", b"-1 |a x |v d:3", b"1 |", b"1 |a x y |v d:-1 e:0.5", b"-1 |a w x y |vv z"]
FEATURES = FeatureConfig()


def batches(size=2):
    text = text_format(FEATURES, skip_malformed=True)
    return [parse_text(b"\n".join(LINES[begin : begin + size]), text) for begin in range(0, len(LINES), size)]


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("length", [3, 2, 0, 4, 4]),
        ("rarest", [-1, -2, -np.inf, -1, -1]),
        ("value:v", [np.nan, 3, np.nan, -0.5, np.nan]),
        ("value:vv", [np.nan, np.nan, np.nan, np.nan, 1]),
        ("value:a", [3, 1, np.nan, 2, 3]),
        ("value:w", [np.nan] * 5),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_what_is_difficult(by, wanted, size):
    found = np.concatenate(difficulties(by, batches(size), FEATURES))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("features", [FeatureConfig(hash="all"), FeatureConfig(hash_seed=7)])
def test_names_are_hashed_as_features_are(features):
    batch = parse_text(b"1 |12 d:3\n1 |1 d:4", text_format(features, skip_malformed=True))
    np.testing.assert_array_equal(difficulties("value:12", [batch], features)[0], [3, np.nan])


def test_lines_without_the_namespace():
    easy = Curriculum(CurriculumConfig("easy", "value:v"), batches(), 0, FEATURES)
    assert easy.order.tolist() == [3, 0, 2, 4, 1] and "3 of 5 lines have no such namespace; 0 is taken" in easy.remark
    assert not Curriculum(CurriculumConfig("easy"), batches(), 0, FEATURES).remark
    with pytest.raises(UsageError, match="value:value: no line has a namespace of this name"):
        Curriculum(CurriculumConfig("easy", "value:value"), batches(), 0, FEATURES)


def test_easy_first_anti_last():
    easy = Curriculum(CurriculumConfig("easy"), batches(), 0, FEATURES).order.tolist()
    assert easy == [2, 1, 0, 3, 4]
    assert Curriculum(CurriculumConfig("anti"), batches(), 0, FEATURES).order.tolist() == [3, 4, 0, 1, 2]
    some = [Curriculum(CurriculumConfig("random"), batches(), seed, FEATURES).order.tolist() for seed in range(9)]
    assert sorted(some[0]) == [0, 1, 2, 3, 4] and len(set(map(tuple, some))) > 3


@given(
    st.sampled_from(["easy", "anti", "random"]),
    st.floats(0.01, 1),
    st.integers(0, 9),
    st.integers(1, 12),
    st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=5, max_size=5)),
)
def test_what_is_admitted_stays_so_and_in_the_end_all_are(order, start, full, passes, always):
    config = CurriculumConfig(order, start=start, passes=min(full, passes) or None)
    curriculum = Curriculum(config, batches(), 1, FEATURES)
    always = None if always is None else np.array(always, np.uint8)
    before: set[int] = set()
    for number in range(1, passes + 1):
        rows = curriculum.admitted(number, passes, always).tolist()
        assert rows == sorted(rows) and before <= set(rows)
        if always is not None:
            assert set(np.flatnonzero(always).tolist()) <= set(rows)
        before = set(rows)
        assert config.share(number, passes) <= 1
    assert before == set(range(5))


def test_the_first_pass_has_the_share_asked_for():
    config = CurriculumConfig("easy", start=0.4, passes=4)
    shares = [config.share(number, 9) for number in (1, 2, 3, 4, 5)]
    assert shares == pytest.approx([0.4, 0.6, 0.8, 1, 1])
    assert Curriculum(config, batches(), 0, FEATURES).admitted(1, 9, None).tolist() == [1, 2]


@pytest.mark.parametrize(
    "options", [{"by": "x"}, {"by": "length:3"}, {"by": "margin"}, {"by": "value:"}, {"start": 0.0}, {"start": 1.5}]
)
def test_bad_options(options):
    with pytest.raises(UsageError, match="--curriculum-"):
        CurriculumConfig("easy", **options)
