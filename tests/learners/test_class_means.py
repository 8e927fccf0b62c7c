"""The mean of the iterates of ``--multiclass`` against its definition, over all iterates of a plain run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.average import before_mean

from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.per_class import LOSSES
from vwlite.learners.row_results import Results
from vwlite.learners.softmax import Multiclass

from .test_softmax import config, learn, lines

AFTER = st.sampled_from([None, None, 0, 1, 3, 20])


def averaging(loss, after=None, **changes):
    return Multiclass(config(loss, average=True, average_after=after, **changes), 12)


def iterates_of(text, loss):
    """float64[learned, slots] of a run without the mean."""
    plain, iterates = Multiclass(config(loss), 12), []
    for line in text:
        learn([line], loss, learner=plain)
        iterates.append(plain.weights[:, 0].astype(float))
    return np.array(iterates), plain


@given(lines, st.sampled_from(LOSSES), AFTER)
def test_the_mean_is_that_of_the_iterates(text, loss, after):
    iterates, plain = iterates_of(text, loss)
    _, learner = learn(text, loss, learner=averaging(loss, after))
    np.testing.assert_array_equal(learner.weights, plain.weights)
    first = before_mean(len(text), after)
    expected = iterates[first:].mean(0) if first < len(text) else iterates[-1]
    actual = learner.tester().weights[:, 0]
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=3e-6 * np.abs(iterates).max())
    assert bool(learner.warnings()) == (first >= len(text))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 64, 100])
def test_a_longer_run(count):
    rng = np.random.default_rng(3)
    words = [b" ".join(rng.choice([b"a", b"b", b"c:2", b"d:-3"], 2)) for _ in range(count)]
    text = [b"%d | %s" % (rng.integers(1, 6), word) for word in words]
    iterates, _ = iterates_of(text, "multinomial")
    _, learner = learn(text, "multinomial", learner=averaging("multinomial"))
    expected = iterates[before_mean(count, None) :].mean(0)
    np.testing.assert_allclose(learner.tester().weights[:, 0], expected, rtol=1e-4, atol=1e-6)


@given(lines, st.sampled_from(LOSSES), AFTER)
def test_what_is_held_out_is_predicted_as_by_the_model(text, loss, after):
    _, learner = learn(text, loss, learner=averaging(loss, after, scores=True))
    tester = learner.tester()
    learn(text, loss, learner=tester)
    features = FeatureConfig(bits=12)
    batch, results = parse_text(b"\n".join(text), text_format(features, skip_malformed=True)), Results()
    results.reserve(len(batch))
    results.holdout_mask = np.ones(len(batch), np.uint8)
    learner.want_scores()
    batch.label = learner.labels().check(batch)
    learner.run(batch, Plan(features), results, 0, len(batch))
    np.testing.assert_array_equal(learner.raw[: len(text)], tester.raw[: len(text)])


def test_a_model_without_a_mean_says_nothing_of_it():
    header = Multiclass(config("multinomial"), 12).header()
    assert not {"average", "average_after"} & header["config"].keys() and "learned" not in header["scalars"]


def test_sums_of_another_shape_are_refused():
    learner = averaging("multinomial")
    learner.means.sums = np.zeros((8, 1), np.float32)
    with pytest.raises(ValueError, match="the sums do not fit the table"):
        learn([b"1 | a"], "multinomial", learner=learner)
