"""OWL-QN finds the minimum."""

import numpy as np
import pytest
from hypothesis import given
from l1_case import CORPUS, SENTENCES, binary_part, chain_part, text_of

from vwlite.errors import Diverged
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.held_out import Part
from vwlite.solvers.loglinear.minimisers import OwlQn, pseudo_gradient
from vwlite.solvers.loglinear.passes import Progress, passes_of
from vwlite.solvers.loglinear.sgd import Sgd


def minimise(function, size, penalty, iterations=500):
    solver = OwlQn(function, np.zeros(size), penalty, tolerance=1e-12)
    for _ in range(iterations):
        if not solver.iterate():
            break
    return solver


def test_a_quadratic_ends_at_the_soft_threshold():
    centre, scale = np.array([3.0, -0.5, 0.2, -4.0]), np.array([1.0, 2.0, 1.0, 10.0])
    solver = minimise(lambda w: (float(scale @ (w - centre) ** 2) / 2, scale * (w - centre)), 4, 1.0)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - 1 / scale, 0)
    np.testing.assert_allclose(solver.weights, expected, atol=1e-5)


def test_without_a_penalty_it_is_smooth_minimisation():
    solver = minimise(lambda w: (float(np.sum((w - 2) ** 4)), 4 * (w - 2) ** 3), 3, 0.0)
    np.testing.assert_allclose(solver.weights, 2, atol=1e-2)


@pytest.mark.parametrize("make", [binary_part, chain_part], ids=["binary", "crf"])
def test_no_slope_is_left(make):
    rng = np.random.default_rng(5)
    words = ["".join(rng.choice(list("abcdefgh"), 2)) for _ in range(60)]
    text = "".join(f"{1 if word < 'd' or rng.random() < 0.2 else -1} |w {word[0]} {word}\n" for word in words)
    part = make(text)

    def function(w):
        gradient = np.zeros_like(w)
        return -part.problem.likelihood(w, part.rows, gradient), -gradient

    solver = minimise(function, part.problem.weights, 0.5)
    assert np.abs(pseudo_gradient(solver.weights, solver.gradient, 0.5)).max() < 1e-3
    assert 0 < np.count_nonzero(solver.weights) < part.problem.weights


@pytest.mark.parametrize("make", [binary_part, chain_part], ids=["binary", "crf"])
@pytest.mark.parametrize(("solver", "l1"), [("owlqn", 0.0), ("owlqn", 0.3), ("fista", 0.3)])
def test_an_l2_penalty_is_a_part_of_the_slope(make, solver, l1):
    rng = np.random.default_rng(6)
    words = ["".join(rng.choice(list("abcdefgh"), 2)) for _ in range(60)]
    part = make("".join(f"{1 if word < 'd' else -1} |w {word[0]} {word}\n" for word in words))
    config = L1Config(model="binary" if make is binary_part else "crf", solver=solver, l1=l1, l2=0.7, tolerance=1e-10)
    sgd = Sgd(config, np.zeros((2, part.problem.weights)))
    trained = passes_of(config, sgd, part, Progress(config, part)).run()
    weights = trained.table[0]
    gradient = np.zeros_like(weights)
    value = part.problem.likelihood(weights, part.rows, gradient)
    slope = pseudo_gradient(weights, 0.7 * weights - gradient, l1)
    assert np.abs(slope).max() < 1e-3
    objective = value - 0.35 * weights @ weights - l1 * np.abs(weights).sum()
    assert trained.history[-1]["objective"] == pytest.approx(objective / len(part.rows), rel=1e-12)


@given(corpus=CORPUS)
def test_threads_do_not_change_a_gradient(corpus):
    part = chain_part(text_of(corpus) * 40)
    weights = np.random.default_rng(3).normal(size=part.problem.weights)
    value, gradient = part.gradient(weights)
    whole = np.zeros_like(weights)
    assert value == pytest.approx(part.problem.likelihood(weights, part.rows, whole))
    np.testing.assert_allclose(gradient, whole, rtol=1e-9, atol=1e-9)
    for threads in (2, 3, 20):
        other, slope = Part(part.problem, part.rows, threads).gradient(weights)
        assert other == value and slope.tobytes() == gradient.tobytes()


def test_few_terms_are_one_block():
    part = binary_part("1 |w a b\n-1 |w c d\n" * 2)
    weights, whole = np.full(part.problem.weights, 0.3), np.zeros(part.problem.weights)
    value = part.problem.likelihood(weights, part.rows, whole)
    assert part.gradient(weights)[0] == value and part.gradient(weights)[1].tobytes() == whole.tobytes()


def trained(part, model, **options):
    config = L1Config(model=model, solver="owlqn", **options)
    sgd = Sgd(config, np.zeros((2, part.problem.weights)))
    return passes_of(config, sgd, part, Progress(config, part)).run()


@pytest.mark.parametrize("penalty", [{"l1": 0.3}, {"l1": 0.0, "l2": 0.3}, {"l1": 0.1, "l2": 0.3}], ids=str)
def test_stochastic_passes_before_lead_to_the_same_optimum(penalty):
    part = chain_part(SENTENCES)
    cold = trained(part, "crf", tolerance=1e-9, **penalty)
    warm = trained(part, "crf", tolerance=1e-9, warm_passes=5, **penalty)
    assert warm.history[0]["objective"] > cold.history[0]["objective"]
    assert warm.history[-1]["objective"] == pytest.approx(cold.history[-1]["objective"], rel=1e-5)


def diverge(*_):
    raise Diverged("")


@pytest.mark.parametrize("broken", [False, True], ids=["worse", "diverged"])
def test_stochastic_passes_that_lead_nowhere_are_dropped(broken, monkeypatch):
    part = binary_part("1 |w a:1e4 b\n-1 |w a:1e4 c\n1 |w c\n-1 |w b\n" * 3)
    if broken:
        monkeypatch.setattr(Sgd, "run_pass", diverge)
    cold, warm = (trained(part, "binary", passes=3, warm_passes=passes) for passes in (0, 1))
    assert warm.table.tobytes() == cold.table.tobytes()
