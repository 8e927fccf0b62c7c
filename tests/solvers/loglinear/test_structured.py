"""Losses of the best label sequence against all label sequences, and their steps against dense vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, chain_part, text_of, twins
from oracle import structured as oracle

from vwlite.data.shuffle import order_of
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.frank_wolfe import of_loss
from vwlite.solvers.loglinear.sgd import Sgd

THREE = "".join(
    "".join(f"{label} |w {word} {word}{number} |e {tag}\n" for label, word, tag in tokens) + "\n"
    for number, tokens in enumerate(
        [
            [("X", "a", "p"), ("Y", "b", "q"), ("Z", "a", "p")],
            [("Y", "c", "q"), ("Z", "b", "q"), ("X", "c", "p")],
            [("Z", "a", "p"), ("X", "a", "q"), ("Y", "b", "q")],
        ]
    )
)
LOSSES = [  # loss, cost, the twin's cost
    ("perceptron", "zero-one", None),
    ("mira", "hamming", "hamming"),
    ("mira", "zero-one", "zero-one"),
]


def problem_of(text, config, edge=False):
    part = chain_part(text, edge=("e",) if edge else ())
    return of_loss(part.problem, config), part.rows


def config_of(loss, cost, **more):
    return L1Config(model="crf", loss=loss, cost=cost, **more)


@pytest.mark.parametrize(("loss", "cost", "own"), LOSSES)
@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_three_sequences_of_three_tokens(loss, cost, own, edge, seed):
    problem, rows = problem_of(THREE, config_of(loss, cost), edge)
    w = np.random.default_rng(seed).normal(size=problem.weights)
    for row, twin in enumerate(twins(problem)):
        expected = max(oracle.losses(twin, w, own).values())
        assert problem.value(w, rows[row : row + 1]) == pytest.approx(-expected, abs=1e-12)


@pytest.mark.parametrize(("loss", "cost", "own"), LOSSES)
@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_sums_of_losses(loss, cost, own, edge, corpus, seed):
    problem, rows = problem_of(text_of(corpus, edge), config_of(loss, cost), edge)
    w = np.random.default_rng(seed).normal(size=problem.weights)
    expected = sum(
        importance * max(oracle.losses(twin, w, own).values())
        for importance, twin in zip(problem.weight, twins(problem), strict=True)
    )
    assert problem.value(w, rows) == pytest.approx(-expected, abs=1e-10)


@pytest.mark.parametrize(("loss", "cost", "own"), LOSSES)
@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("largest", [0.05, 1.0])
def test_steps(loss, cost, own, edge, largest):
    """Values that no two label sequences have in common tell them apart, so that none is as good as another."""
    choice = np.random.default_rng(7)
    text = "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + n % 2} |w {choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} "
            f"{choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} |e {choice.choice(list('pq'))}\n"
            for _ in range(1 + n % 4)
        )
        + "\n"
        for n in range(12)
    )
    config = config_of(loss, cost, **({"aggressiveness": largest} if loss == "mira" else {}))
    problem, rows = problem_of(text, config, edge)
    sgd = Sgd(config, np.zeros((2, problem.weights)))
    sgd.begin(len(rows))
    for _ in range(3):
        sgd.run_pass(problem, rows)
    orders = [rows[order_of(len(rows), config.seed, number)] for number in range(3)]
    size = oracle.perceptron if loss == "perceptron" else oracle.mira(largest)
    mean, last = oracle.mean_of_steps(twins(problem), problem.weight, orders, problem.weights, own, size)
    assert last.any()
    np.testing.assert_allclose(sgd.weights, mean, atol=1e-10)
    np.testing.assert_allclose(sgd.kept()[1], last, atol=1e-10)


def test_a_label_alone_has_no_other():
    for loss, cost, _ in LOSSES:
        problem, rows = problem_of("X |w a\nX |w b\n\n", config_of(loss, cost))
        assert problem.value(np.ones(problem.weights), rows) == 0
        sgd = Sgd(config_of(loss, cost), np.zeros((2, problem.weights)))
        sgd.begin(len(rows))
        sgd.run_pass(problem, rows)
        assert not sgd.table.any()
