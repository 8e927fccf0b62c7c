"""Passive-aggressive updates against their plain twin, row by row and bit by bit, and scikit-learn's."""

from dataclasses import fields

import numpy as np
import pytest
from oracle.options import Options
from oracle.parse import parse_line
from oracle.passive_aggressive import PassiveAggressive as Twin
from oracle.pipeline import expand
from passes import run_passes
from vwtext import gd_config

from vwlite import DataError, Model, UsageError
from vwlite.learners.coin import PassiveAggressive
from vwlite.learners.configs.gd import PassiveAggressiveConfig
from vwlite.learners.losses import LossConfig

KINDS = ("pa", "pa-i", "pa-ii")
LOSSES = {"hinge": [-1, 1], "tube": [-2.5, 0, 1, 3]}


def lines_of(loss, count=120):
    """Words may be there twice, and share slots."""
    rng = np.random.default_rng(8)
    for _ in range(count):
        words = " ".join(f"f{slot}:{rng.normal():.3f}" for slot in rng.integers(0, 40, 6))
        yield f"{rng.choice(LOSSES[loss])} {rng.choice([1, 1, 0, 2.5])} |x {words} f1 f1 |y a".encode()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_weights_are_the_twins(kind, loss):
    known = "hinge" if loss == "hinge" else "squared"
    options = Options(bits=5, loss=known, interactions=[b"xy"], min_prediction=-3, max_prediction=3)
    lines = list(lines_of(loss))
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)} | {"loss": LossConfig(loss, tube=0.2)}
    learner = PassiveAggressive(PassiveAggressiveConfig(**same, passive_aggressive=kind, aggressiveness=0.05), 5)
    twin, seen, rows = Twin(options, 0.05, 0.2, True), set(), []
    twin.kind_of_step, twin.classes = kind, loss == "hinge"
    examples = [parse_line(line, options) for line in lines]
    expanded = [expand(example, options, seen) for example in examples]
    for example, (terms, count, _) in 2 * list(zip(examples, expanded, strict=True)):
        shown = twin.process_example(terms, example.label, example.importance, example.base, True)
        rows.append([*shown, np.float32(count)])
    actual = run_passes(learner, (lines, options, None), 2)
    expected, loss_column = np.array(rows, np.float32), [2]
    np.testing.assert_array_equal(np.delete(actual, loss_column, 1), np.delete(expected, loss_column, 1))
    np.testing.assert_allclose(actual[:, 2], expected[:, 2], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(learner.weights[:, 0], twin.table()[:, 0])
    assert not learner.weights[:, 1].any() and np.count_nonzero(learner.weights[:, 0]) > 20


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS[1:])
def test_weights_are_those_of_scikit_learn(kind, loss):
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 6))
    y = rng.choice([-1, 1], 80) if loss == "hinge" else x @ rng.normal(size=6) + rng.normal(size=80)
    made = {"eta0": 0.05, "penalty": None, "shuffle": False, "max_iter": 1, "tol": None, "fit_intercept": False}
    made |= {"learning_rate": "pa1" if kind == "pa-i" else "pa2"}
    if loss == "hinge":
        other = linear_model.SGDClassifier(loss="hinge", **made)
    else:
        other = linear_model.SGDRegressor(loss="epsilon_insensitive", epsilon=0.1, **made)
    try:
        expected = other.fit(x, y).coef_.ravel()
    except ValueError:
        pytest.skip("this version has no such learning rate")
    model = Model(f"--loss_function {loss} --passive_aggressive {kind} --aggressiveness 0.05 --noconstant")
    names = [f"f{column}" for column in range(6)]
    model.learn(x, y, names=names)
    actual = [model.predict([{name: 1.0}], raw=True)[0] for name in names]
    np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=1e-6)


def test_a_step_leaves_no_loss():
    model = Model("--loss_function hinge --passive_aggressive pa")
    for line in ("1 |a x:3 y y y\n", "-1 |a x y:0.5\n", "1 5 |a z:100\n"):
        model.learn(line)
        label = float(line.split()[0])
        assert label * model.predict(line, raw=True)[0] == pytest.approx(1, abs=1e-6)


def test_what_cannot_be_is_refused():
    for options, said in (
        ("--passive_aggressive pa --loss_function logistic", "classes with --loss_function hinge"),
        ("--passive_aggressive pa-i --loss_function tube --l2 1", "does not go with --ftrl and regularisation"),
        ("--passive_aggressive pa-i --loss_function tube -l 1", "-l does nothing"),
        ("--passive_aggressive pa --loss_function hinge --aggressiveness 2", "--aggressiveness does nothing"),
        ("--passive_aggressive pa", "numbers with tube; not --loss_function squared"),
        ("--aggressiveness 2", "--aggressiveness needs --passive_aggressive"),
    ):
        with pytest.raises(UsageError, match=said):
            Model(options)
    with pytest.raises(DataError):
        Model("--passive_aggressive pa --loss_function hinge").learn("3 |a x\n")
