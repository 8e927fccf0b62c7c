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
from vwlite.training.curriculum import Difficulties, difficulties, of_batches

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
def test_the_difficulty_of_examples_is_that_of_the_option(by, wanted, size):
    actual = np.concatenate(difficulties(by, batches(size), FEATURES))
    np.testing.assert_array_equal(actual, wanted)
    one_by_one = Difficulties(by, FEATURES)
    for batch in batches(size):
        one_by_one.add(batch)
    np.testing.assert_array_equal(one_by_one.values(), wanted)


@pytest.mark.parametrize("features", [FeatureConfig(hash="all"), FeatureConfig(hash_seed=7)])
def test_names_are_hashed_as_features_are(features):
    batch = parse_text(b"1 |12 d:3\n1 |1 d:4", text_format(features, skip_malformed=True))
    np.testing.assert_array_equal(difficulties("value:12", [batch], features)[0], [3, np.nan])


def test_lines_without_the_namespace():
    notes = []
    easy = of_batches(CurriculumConfig("easy", "value:v"), batches(), 0, FEATURES, notes.append)
    assert easy.order.tolist() == [3, 0, 2, 4, 1] and "3 of 5 lines have no such namespace; 0 is taken" in notes.pop()
    of_batches(CurriculumConfig("easy"), batches(), 0, FEATURES, notes.append)
    assert not notes
    with pytest.raises(UsageError, match="value:value: no line has a namespace of this name"):
        of_batches(CurriculumConfig("easy", "value:value"), batches(), 0, FEATURES)


def test_easy_first_anti_last():
    easy = of_batches(CurriculumConfig("easy"), batches(), 0, FEATURES).order.tolist()
    assert easy == [2, 1, 0, 3, 4]
    assert of_batches(CurriculumConfig("anti"), batches(), 0, FEATURES).order.tolist() == [3, 4, 0, 1, 2]
    some = [of_batches(CurriculumConfig("random"), batches(), seed, FEATURES).order.tolist() for seed in range(9)]
    assert sorted(some[0]) == [0, 1, 2, 3, 4] and len(set(map(tuple, some))) > 3


@given(
    st.sampled_from(["easy", "anti", "random"]),
    st.floats(0.01, 1),
    st.integers(0, 9),
    st.integers(1, 12),
    st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=5, max_size=5)),
)
def test_admitted_examples_stay_and_in_the_end_all_are_admitted(order, start, full, passes, always):
    config = CurriculumConfig(order, start=start, passes=min(full, passes) or None)
    curriculum = of_batches(config, batches(), 1, FEATURES)
    always = None if always is None else np.array(always, np.uint8)
    before: set[int] = set()
    for number in range(1, passes + 1):
        admitted = curriculum.admitted(number, passes, always)
        rows = admitted.rows.tolist()
        assert admitted.weights is None and rows == sorted(rows) and before <= set(rows)
        if always is not None:
            assert set(np.flatnonzero(always).tolist()) <= set(rows)
        before = set(rows)
        assert config.share(number, passes) <= 1
    assert before == set(range(5))


def test_the_first_pass_has_the_share_asked_for():
    config = CurriculumConfig("easy", start=0.4, passes=4)
    shares = [config.share(number, 9) for number in (1, 2, 3, 4, 5)]
    assert shares == pytest.approx([0.4, 0.6, 0.8, 1, 1])
    assert of_batches(config, batches(), 0, FEATURES).admitted(1, 9, None).rows.tolist() == [1, 2]


def weights_of(curriculum, passes, always=None):
    """float64[passes, rows]"""
    result = []
    for number in range(1, passes + 1):
        admitted = curriculum.admitted(number, passes, always)
        weights = np.zeros(len(curriculum.order))
        weights[admitted.rows] = 1 if admitted.weights is None else admitted.weights[admitted.rows]
        result.append(weights)
    return np.array(result)


def entropies(notes):
    return [float(note.rpartition("entropy ")[2].split()[0]) for note in notes]


@given(
    st.sampled_from(["step", "linear", "logistic"]),
    st.floats(0.01, 0.99),
    st.floats(0.01, 5),
    st.integers(2, 9),
    st.sampled_from(["easy", "anti", "random"]),
)
def test_weights_and_the_entropy_of_drawing_by_them_never_fall(kind, start, width, passes, order):
    config = CurriculumConfig(order, start=start, weights=kind, width=None if kind == "step" else width)
    notes = []
    curriculum = of_batches(config, batches(), 1, FEATURES, notes.append)
    weights = weights_of(curriculum, passes)
    assert (np.diff(weights, axis=0) >= 0).all() and (weights >= 0).all() and (weights[-1] == 1).all()
    assert (np.diff(weights[:, curriculum.order]) <= 1e-7).all()
    assert len(notes) == passes and (np.diff(entropies(notes)) >= -1e-4).all()
    assert entropies(notes)[-1] == pytest.approx(np.log2(5), abs=1e-4)


def test_weights_between_0_and_1_by_the_formula():
    ranks = np.arange(5) / 4
    linear, logistic = np.clip((0.4 - ranks) / 0.5 + 0.5, 0, 1), 1 / (1 + np.exp((ranks - 0.4) / 0.5))
    for kind, wanted in (("linear", linear), ("logistic", logistic)):
        config = CurriculumConfig("easy", start=0.4, passes=4, weights=kind, width=0.5)
        curriculum = of_batches(config, batches(), 0, FEATURES)
        np.testing.assert_allclose(weights_of(curriculum, 1)[0][curriculum.order], wanted, rtol=1e-6)


def test_held_out_examples_are_not_weighted():
    config = CurriculumConfig("easy", start=0.2, passes=4, weights="linear")
    curriculum = of_batches(config, batches(), 0, FEATURES)
    held = np.array([0, 0, 0, 0, 1], np.uint8)
    assert weights_of(curriculum, 4, held)[:, 4].tolist() == [1, 1, 1, 1] and curriculum.order[-1] == 4


def test_sampling_takes_as_many_as_the_weights_add_up_to():
    text = b"\n".join(b"1 |a " + b"x " * (n % 40) for n in range(2000))
    many = [parse_text(text, text_format(FEATURES, skip_malformed=True))]
    config = CurriculumConfig("easy", start=0.3, passes=5, weights="logistic", width=0.1, sample=True)
    curriculum = of_batches(config, many, 7, FEATURES)
    expected = curriculum.weights(0.3)
    first, again = (curriculum.admitted(1, 9, None) for _ in range(2))
    assert first.weights is None and first.rows.tolist() == again.rows.tolist()
    assert first.rows.tolist() != of_batches(config, many, 8, FEATURES).admitted(1, 9, None).rows.tolist()
    assert len(first.rows) == pytest.approx(expected.sum(), abs=4 * np.sqrt(expected.sum()))
    easiest = curriculum.order[:400]
    assert np.isin(easiest, first.rows).mean() == pytest.approx(expected[easiest].mean(), abs=0.05)


@pytest.mark.parametrize(
    "options",
    [
        *({"by": by} for by in ("x", "length:3", "margin", "loss", "value:")),
        {"start": 0.0}, {"start": 1.5}, {"width": 0.3}, {"sample": True}, {"weights": "linear", "width": 0.0},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(UsageError, match="--curriculum-"):
        CurriculumConfig("easy", **options)
