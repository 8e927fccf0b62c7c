"""``predict --active``: the importance that would flip a prediction does flip it."""

import numpy as np
import pytest

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

LINES = [f"{1 if u * i % 3 else -1} |u {u} |i {i}:0.5 {i + 7}" for u in range(6) for i in range(5)]


def run(learner, plan, text):
    batch, results = parse_text(text.encode(), TextFormat()), Results()
    results.want_flip_importance()
    results.reserve(len(batch))
    learner.run(batch, plan, results, 0, len(batch))
    return results


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("row", range(4))
def test_that_importance_carries_the_prediction_to_zero(loss, row):
    config = DyadicConfig(LossConfig(loss), rank=3, dot_l2=0.0, dot_init=0.5)
    plan = Plan(FeatureConfig(bits=10, dotproduct=("u,i",)))
    learner = Dyadic(config, 10)
    run(learner, plan, "\n".join(LINES))
    features = LINES[7 * row].split(" ", 1)[1]
    before = run(learner, plan, features)
    label = -1 if before.raw[0] > 0 else 1
    run(learner, plan, f"{label} {float(before.flip_importance[0])!r} {features}")
    after = run(learner, plan, features)
    assert abs(before.raw[0]) > 0.01
    assert abs(after.raw[0]) < 2e-3 * abs(before.raw[0])


def test_lines_without_an_update_never_flip():
    plan = Plan(FeatureConfig(bits=8, dotproduct=("u,i",)))
    learner = Dyadic(DyadicConfig(LossConfig("hinge"), rank=0), 8)
    results = run(learner, plan, "\n1 |u a b |i c\n")
    assert results.flip_importance[:2].tolist() == [np.inf, np.inf]


def test_a_prediction_that_no_weight_can_move_never_flips():
    plan = Plan(FeatureConfig(bits=8, noconstant=True, dotproduct=("ui",)))
    learner = Dyadic(DyadicConfig(LossConfig("hinge"), rank=2), 8)
    results = run(learner, plan, "1 1 0.5 |w\n")
    assert results.raw[0] == 0.5
    assert np.isinf(results.flip_importance).all()
