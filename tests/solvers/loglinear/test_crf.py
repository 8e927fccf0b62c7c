"""Likelihood, gradient, marginals and best sequences against sums over all label sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, chain_part, text_of, twins


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@given(corpus=CORPUS, seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_likelihood_and_gradient(edge, dense, corpus, seed):
    part = chain_part(text_of(corpus, edge), edge=("e",) if edge else (), dense=dense)
    problem = part.problem
    w = np.random.default_rng(seed).normal(size=problem.weights)
    gradient = np.zeros_like(w)
    total = problem.likelihood(w, part.rows, gradient)
    sequences = twins(problem)
    assert total == pytest.approx(sum(c * t.log_likelihood(w) for c, t in zip(problem.weight, sequences, strict=True)))
    expected = sum(c * t.gradient(w) for c, t in zip(problem.weight, sequences, strict=True))
    np.testing.assert_allclose(gradient, expected, atol=1e-11)


@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_best_sequence_and_marginals(edge, corpus, seed):
    problem = chain_part(text_of(corpus, edge), edge=("e",) if edge else ()).problem
    w = np.random.default_rng(seed).normal(size=problem.weights)
    best, marginals = problem.decode(w, marginals=True)
    sequences = twins(problem)
    for twin, start in zip(sequences, problem.sequence.tolist(), strict=False):
        scores = dict(twin.paths(w))
        actual = tuple(best[start : start + len(twin.true)].tolist())
        assert scores[actual] == pytest.approx(max(scores.values()), abs=1e-12)  # of equal ones any
    np.testing.assert_allclose(marginals, np.concatenate([twin.marginals(w) for twin in sequences]), atol=1e-12)


def test_scores_that_no_exponential_holds():
    problem = chain_part("X |w a\nY |w b\n\nY |w a b\n").problem
    w = np.full(problem.weights, 0.0)
    w[: len(problem.pairs.state)] = np.linspace(-3000, 3000, len(problem.pairs.state))
    value = problem.likelihood(w, np.arange(problem.examples), np.zeros_like(w))
    assert np.isfinite(value) and value <= 0
    assert np.isfinite(problem.decode(w, marginals=True)[1]).all()


def test_multinomial_lines_stand_alone():
    problem = chain_part("X |w a\nY |w b\nZ |w a b\n", model="multinomial").problem
    w = np.random.default_rng(3).normal(size=problem.weights)
    assert problem.examples == 3 and problem.weights == len(problem.pairs.state)
    gradient = np.zeros_like(w)
    value = problem.likelihood(w, np.arange(3), gradient)
    sequences = twins(problem)
    assert value == pytest.approx(sum(twin.log_likelihood(w) for twin in sequences))
    np.testing.assert_allclose(gradient, sum(twin.gradient(w) for twin in sequences), atol=1e-12)


def test_only_pairs_seen_have_weights():
    text = "X |w a\nY |w b\n"
    assert chain_part(text, model="multinomial").problem.weights == 4  # a, b and the constant twice
    assert chain_part(text, model="multinomial", dense=True).problem.weights == 6
    assert chain_part(text).problem.weights == 8


def test_equal_scores_give_the_first_label():
    problem = chain_part("X |w a\nY |w b\n\n").problem
    assert problem.decode(np.zeros(problem.weights))[0].tolist() == [0, 0]
