"""Losses of examples and of pairs: steps are the plain twin's, and absolute ones bear outliers."""

import numpy as np
import pytest
from solvers.crr.test_train import BITS, as_svmlight, random_text, read, trained, twin_of

from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import CrrConfig

PARTS = [  # losses of examples and of pairs, labels
    ("absolute", None, [0, 1, 2]),
    ("modified_huber", None, [-1, 1]),
    ("absolute", "hinge", [0, 1, 2]),
    ("squared", "logistic", [0, 1, 2]),
    ("logistic", "squared", [0, 0.5, 1]),
    ("logistic", "modified_huber", [0, 1]),
    ("squared", "absolute", [0, 1, 5]),
    ("hinge", "logistic", [-1, 1]),
]


@pytest.mark.parametrize(("loss", "pair_loss", "labels"), PARTS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_losses_of_examples_and_of_pairs_may_differ(tmp_path, loss, pair_loss, labels, l1):
    rows = random_text(np.random.default_rng(15), 60, 6, labels)
    how = {"alpha": 0.5, "penalty": 0.05, "seed": 3, "l1": l1, "pair_loss": pair_loss}
    text, common = as_svmlight(rows), {"kind": "svmlight", "loss": LossConfig(loss)}
    learner, facts, _ = trained(tmp_path, text, steps=400, **how, **common)
    assert facts.get("pair_loss") == pair_loss
    data = read(tmp_path, text, CrrConfig(loss=LossConfig(loss)), "svmlight")
    twin, _ = twin_of(rows, data, loss=loss, **how)
    for i in range(1, 401):
        twin.step(i)
    twin.settle(list(twin.w))
    expected = np.zeros(2**BITS)
    for slot, w in twin.w.items():
        expected[slot] = w
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(learner.weights[:, 0], expected, atol=3e-5, rtol=3e-4)


def test_absolute_errors_of_pairs_bear_outliers(tmp_path):
    """2% of the grades are 100: squared errors follow them, absolute ones do not."""
    rng, rows = np.random.default_rng(16), []
    for i in range(600):
        x = rng.normal(size=4)
        grade = 100.0 if i % 50 == 0 else float(np.clip(round(1 + x[0] + 0.3 * rng.normal()), 0, 3))
        rows.append((grade, i % 20, {f: float(np.float32(v)) for f, v in enumerate(x)}))
    clean = [row for row in rows if row[0] < 100]
    ranked = {}
    for loss in ("squared", "absolute"):
        how = {"loss": LossConfig(loss), "alpha": 0.3, "penalty": 0.01, "steps": 60_000}
        w = trained(tmp_path, as_svmlight(rows), kind="svmlight", **how)[0].weights[:4, 0]
        scores = np.array([sum(w[f] * v for f, v in x.items()) for _, _, x in clean])
        ranked[loss] = np.corrcoef(scores, [x[0] for _, _, x in clean])[0, 1]
    assert ranked["absolute"] > 0.98 > ranked["squared"]
