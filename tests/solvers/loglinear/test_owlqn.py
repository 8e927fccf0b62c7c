"""OWL-QN finds the minimum."""

import numpy as np
import pytest
from l1_case import binary_part, chain_part

from vwlite.solvers.loglinear.owlqn import OwlQn, pseudo_gradient


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
