"""Scale and offset are those of least loss, checked at the gradient and against a run of the solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers.crr.test_train import CONSTANT, as_svmlight, random_text, read, trained

from vwlite.errors import DataError
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.train import scale_and_offset


def rows_of(seed, kind, n=200):
    rng = np.random.default_rng(seed)
    score, before = 30 * rng.normal(size=n) + 5, rng.normal(size=n)
    label = 0.1 * score + before + rng.normal(size=n)
    if kind == "logistic":
        label = (label + rng.logistic(size=n) > 0).astype(float)
    return score, before, label, rng.integers(1, 4, n).astype(float)


@given(st.integers(0, 10**6), st.sampled_from(["squared", "logistic"]))
def test_the_gradient_is_0_there(seed, kind):
    score, before, label, importance = rows_of(seed, kind)
    c, d = scale_and_offset(score, before, label, importance, LossConfig(kind))
    p = before + c * score + d
    if kind == "logistic":  # which counts half an example of either class at score 0 beside the mean
        p = 1 / (1 + np.exp(-p))
    center = np.average(score, weights=importance)
    rest = importance * (p - label)
    if kind == "squared":
        np.testing.assert_allclose([rest.sum(), rest @ (score - center)], 0, atol=1e-6)
    else:
        chance = 1 / (1 + np.exp(-(d + c * center)))
        np.testing.assert_allclose([rest.sum() + chance - 0.5, rest @ (score - center)], 0, atol=1e-4)


@pytest.mark.parametrize("kind", ["squared", "logistic"])
def test_scores_that_fall_are_refused(kind):
    score, before, label, importance = rows_of(1, kind)
    for wrong in (-score, np.ones(len(score))):
        with pytest.raises(DataError, match="do not rise"):
            scale_and_offset(wrong, 0 * before, label, importance, LossConfig(kind))


def test_classes_that_scores_separate_have_an_end():
    score, label = np.arange(-10.0, 11), (np.arange(-10, 11) > 0).astype(float)
    c, d = scale_and_offset(score, 0 * score, label, np.ones(21), LossConfig("logistic"))
    assert 0 < c < 100 and np.isfinite(d)


@pytest.mark.parametrize(("kind", "labels"), [("squared", [0, 1, 2]), ("logistic", [-1, 1]), ("logistic", [0, 0.5, 1])])
@pytest.mark.parametrize("pairing", ["random", "lambda-ndcg"])
def test_weights_are_scaled_and_the_constant_is_the_offset(tmp_path, kind, labels, pairing):
    rows = random_text(np.random.default_rng(20), 120, 8, labels)
    rows = [(labels[-1] if x.get(0, 0) > 0.5 else y, q, x) for y, q, x in rows]
    how = {"kind": "svmlight", "loss": LossConfig(kind), "steps": 400, "pairing": pairing, "alpha": 0.0}
    plain = trained(tmp_path, as_svmlight(rows), **how)[0].weights[:, 0]
    learner, facts, _ = trained(tmp_path, as_svmlight(rows), calibrate=True, **how)
    data = read(tmp_path, as_svmlight(rows), CrrConfig(loss=LossConfig(kind)), "svmlight")
    index = data.pair_index(CrrConfig(), True)
    score = np.array([sum(float(plain[f]) * v for f, v in rows[i][2].items()) for i in index.row.tolist()])
    label = np.array([rows[i][0] for i in index.row.tolist()])
    label = (label + 1) / 2 if -1 in labels else label
    c, d = scale_and_offset(score, 0 * score, label, np.ones(len(label)), LossConfig(kind))
    assert (facts["scale"], facts["offset"]) == pytest.approx((c, d), rel=1e-4)
    np.testing.assert_allclose(learner.weights[:12, 0], c * plain[:12], rtol=1e-4)
    assert learner.weights[CONSTANT, 0] == pytest.approx(d, rel=1e-4)
