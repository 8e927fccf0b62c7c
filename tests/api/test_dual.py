"""Support vector machines in Python: the bytes of the command, and what a fitted model refuses."""

import pickle

import numpy as np
import pytest
from model_runs import NUMBERS

import vwlite
from vwlite import Model
from vwlite.errors import DataError, UsageError

OPTIONS = ["--dual --l2 1", "--dual --l2 0.5 --loss_function squared -q ui", "--dual --l2 2 --weight idf --unit"]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_model_has_the_bytes_and_the_predictions_of_the_command(options, run_here, tmp_path):
    (tmp_path / "d").write_bytes(NUMBERS)
    run_here("train", "d", "-f", "m", "-p", "p", "--quiet", *options.split())
    model = Model(options)
    learned = model.learn(NUMBERS, keep_predictions=True)
    assert model.dumps() == (tmp_path / "m").read_bytes()
    numbers = [float(line.split()[0]) for line in (tmp_path / "p").read_text().splitlines()]
    np.testing.assert_allclose(numbers, learned.predictions, atol=1e-5)
    assert np.array_equal(learned.predictions, model.predict(NUMBERS)) and learned.examples == 90
    assert np.array_equal(vwlite.train(str(tmp_path / "d"), options).weights, model.weights)


def test_keywords_are_the_options():
    one, two = Model(dual=True, l2=1, gap=1e-5, bias_scale=3), Model("--dual --l2 1 --gap 1e-5 --bias_scale 3")
    for model in (one, two):
        model.learn(NUMBERS)
    assert one.dumps() == two.dumps()


def test_a_fitted_model_does_not_go_on():
    model = Model("--dual --l2 1")
    model.learn(NUMBERS)
    before = model.dumps()
    for copied in (model, pickle.loads(pickle.dumps(model)), Model.loads(before)):
        with pytest.raises(UsageError, match="a model of --dual does not go on learning"):
            copied.learn(NUMBERS)
        assert copied.dumps() == before


def test_nothing_to_learn_leaves_a_model_that_can_still_be_fitted():
    model, whole = Model("--dual --l2 1"), Model("--dual --l2 1")
    model.learn("")
    model.learn("|u u1\n" * 3)
    with pytest.raises(DataError, match="no example has a feature"):
        Model("--dual --l2 1 --noconstant").learn("1 |u a:0\n-1 |u\n")
    model.learn(NUMBERS)
    whole.learn(NUMBERS)
    assert np.array_equal(model.weights, whole.weights)


def test_passes_of_a_call_bound_those_over_memory():
    model = Model("--dual --l2 1e-3 --gap 1e-9")
    model.learn(NUMBERS, passes=3)
    assert model._learner.fitted["passes"] == 3
