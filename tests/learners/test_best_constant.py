"""The constant of least loss, against every other constant."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from vwlite._native.loss_functions import evaluate

from vwlite.learners.best_constant import fitted_constant
from vwlite.learners.losses import LOSSES, LossConfig

NUMBERS = [name for name, loss in LOSSES.items() if not loss.two_classes and name != "poisson"]
CONVEX = [name for name in NUMBERS if name not in ("truncated", "geman_mcclure")]
MARGINS = [name for name, loss in LOSSES.items() if loss.two_classes and name not in ("logistic", "perceptron")]


def config_of(name):
    return LossConfig(name=name, expectile_q=0.2 if name == "expectile" else None)


def mean_loss(config, constant, label, weight):
    constants = np.full(len(label), constant, np.float32)
    low, high = float(label.min()), float(label.max())
    return float(evaluate(config.loss.code, config.params((low, high)), constants, label)[0] @ weight / weight.sum())


labelled = st.lists(st.tuples(st.floats(-9, 9, width=16), st.sampled_from([0.5, 1, 3])), min_size=1, max_size=12)


@pytest.mark.parametrize("name", CONVEX)
@example([(0.0, 0.5), (2.0, 1), (5.960464477539063e-08, 0.5), (-4.0, 1)], [1.0])  # labels a rounding apart
@given(labelled, st.lists(st.floats(-9, 9, width=16), min_size=1, max_size=9))
def test_no_constant_is_better(name, rows, others):
    label, weight = np.ascontiguousarray(np.array(rows, np.float32).T)
    constant, loss = fitted_constant(config_of(name), label, weight)
    assert loss == pytest.approx(mean_loss(config_of(name), constant, label, weight), rel=1e-4, abs=1e-6)
    for other in np.clip(others, label.min(), label.max()):
        assert loss <= mean_loss(config_of(name), other, label, weight) + 1e-4 * (1 + loss)


@pytest.mark.parametrize("name", [*MARGINS, "logistic"])
@given(st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=9), st.floats(-9, 9, width=16))
def test_no_margin_is_better(name, labels, other):
    label = np.array(labels, np.float32)
    _, loss = fitted_constant(config_of(name), label, np.ones(len(label)))
    assert loss <= mean_loss(config_of(name), other, label, np.ones(len(label))) + 1e-4


def test_constants_that_are_known():
    label, weight = np.array([1, 2, 6, 7], np.float32), np.array([1, 1, 1, 3], np.float32)
    assert fitted_constant(config_of("squared"), label, weight) == pytest.approx((5, 38 / 6))
    assert fitted_constant(config_of("absolute"), label, weight)[1] == pytest.approx(2)
    assert fitted_constant(config_of("poisson"), label, weight)[0] == pytest.approx(np.log(5), abs=1e-3)
    share = np.array([-1, 1, 1, 1], np.float32)
    assert fitted_constant(config_of("logistic"), share, np.ones(4)) == pytest.approx((np.log(3), 0.5623351))
    assert fitted_constant(config_of("logistic"), share[1:], np.ones(3)) == (np.inf, 0)


@pytest.mark.parametrize(("rule", "loses"), [("--adaptive", True), ("--sgd", False)])
def test_evaluate_tells_of_a_model_that_loses_to_it(rule, loses, run_here, tmp_path):
    draw = np.random.default_rng(0)
    lines = "".join(f"{3000 + 2000 * x:.1f} | x:{x:.3f}\n" for x in draw.random(900))
    (tmp_path / "data.vw").write_text(lines)
    assert run_here("train", "data.vw", "-f", "m", "--quiet", rule).returncode == 0
    done = run_here("evaluate", "data.vw", "-i", "m")
    actual = dict(line.split() for line in done.stdout.splitlines())
    constant = np.var([float(line.split()[0]) for line in lines.splitlines()])
    assert float(actual["best_constant_loss"]) == pytest.approx(constant, rel=1e-5)
    assert (float(actual["loss"]) > constant) == loses
    way = "train --label-units spread learns numbers of any unit"
    note = f"vwlite: note: always predicting the best constant has a smaller loss, {constant:g}; {way}\n"
    assert done.stderr == (note if loses else "")


@pytest.mark.parametrize("metrics", ["log_loss,best_constant_log_loss", "auc,best_constant_log_loss,log_loss,accuracy"])
def test_it_tells_of_log_loss_where_both_are_asked_for(metrics, run_here, tmp_path):
    (tmp_path / "data.vw").write_text("".join(f"{2 * (n % 3 > 0) - 1} | x{n % 2}:{n % 7}\n" for n in range(90)))
    run_here("train", "data.vw", "-f", "m", "--quiet", "--loss_function", "logistic", "-l", "20", "--sgd")
    note = "note: always predicting the best constant has a smaller loss, 0.636514"
    command = ("evaluate", "data.vw", "-i", "m", "--metric", metrics)
    assert note in run_here(*command).stderr and run_here(*command, "--quiet").stderr == ""
    assert run_here(*command[:-1], "log_loss").stderr == ""


def test_it_is_measured_where_it_is_asked_for(run_here, tmp_path):
    (tmp_path / "signs.vw").write_text("1 | a\n1 | b\n-1 | c\n1 | a\n")
    assert run_here("train", "signs.vw", "-f", "m", "--loss_function", "logistic", "--quiet").returncode == 0
    done = run_here("evaluate", "signs.vw", "-i", "m", "--metric", "best_constant_loss,best_constant_log_loss,loss")
    actual = dict(line.split() for line in done.stdout.splitlines())
    assert actual["best_constant_loss"] == actual["best_constant_log_loss"] == "0.562335"
    assert "best_constant_loss" not in run_here("evaluate", "signs.vw", "-i", "m").stdout
