"""``examples/perceptron_curriculum.py``: averaged weights gain from easy examples first, the last weights do not."""

import sys

import numpy as np
import pytest
from pages import PROJECT


@pytest.fixture
def experiment(monkeypatch):
    monkeypatch.syspath_prepend(PROJECT / "examples")
    import perceptron_curriculum

    yield perceptron_curriculum
    del sys.modules["perceptron_curriculum"]


def test_easy_first_gains_with_the_mean_of_the_weights_and_hardest_first_loses(experiment):
    runs = [experiment.errors(np.random.default_rng(seed)) for seed in range(200)]

    def t(hard, weights, order):
        apart = experiment.against_none(runs, hard, weights, order)
        return apart.mean() / (apart.std(ddof=1) / np.sqrt(len(apart)))

    for hard in ("irrelevant inputs", "margin"):
        assert t(hard, "mean", "curriculum") < 0 < t(hard, "mean", "anti")
    assert t("margin", "mean", "curriculum") < -3 and t("margin", "mean", "anti") > 3
    assert t("margin", "last", "curriculum") > 3  # the last weights turn it round
    assert t("margin", "last", "anti") < -3


def test_the_mean_is_that_of_the_weights_after_every_example(experiment):
    x, y = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([1.0, -1, -1])
    last, mean = experiment.perceptron(x, y, np.zeros(2))
    assert last.tolist() == [0, -2]  # a product of 0 is a mistake
    assert mean.tolist() == pytest.approx([2 / 3, -1])
