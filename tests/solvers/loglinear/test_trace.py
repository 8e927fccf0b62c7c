"""The trace norm leaves few directions, and FISTA finds its optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from l1_case import chain_part
from oracle import proximal as oracle

from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.minimisers import Trace, norm_of
from vwlite.solvers.loglinear.passes import Progress, passes_of
from vwlite.solvers.loglinear.sgd import Sgd

PENALTY = 50.0  # at 45 noise makes a fourth direction
MATRIX = st.tuples(st.integers(0, 99), st.integers(1, 6), st.integers(1, 6)).map(
    lambda drawn: np.random.default_rng(drawn[0]).normal(size=drawn[1:])
)


@given(MATRIX, st.floats(0.01, 4))
def test_singular_values_are_shrunk_as_the_twin_does(matrix, by):
    norm = Trace(matrix.shape)
    actual = norm.shrunk(matrix.reshape(-1), by)
    np.testing.assert_allclose(actual.reshape(matrix.shape), oracle.of_low_rank(matrix, by), atol=1e-7)
    assert norm.value(matrix.reshape(-1)) == pytest.approx(np.linalg.norm(matrix, "nuc"), abs=1e-6)
    assert norm.dual(matrix.reshape(-1)) == pytest.approx(np.linalg.norm(matrix, 2))


def planted(examples, features, labels, rank):
    """Text with labels drawn by weights of so low a rank."""
    draw = np.random.default_rng(7)
    weights = draw.normal(size=(features, rank)) @ draw.normal(size=(rank, labels))
    x = draw.normal(size=(examples, features)).astype(np.float32)
    label = (x @ weights + draw.gumbel(size=(examples, labels))).argmax(axis=1)
    rows = (" ".join(f"f{j}:{value:.7g}" for j, value in enumerate(row.tolist())) for row in x)
    return "".join(f"L{k} |w {row}\n" for k, row in zip(label.tolist(), rows, strict=True))


def learned(part, config):
    sgd = Sgd(config, np.zeros((2, part.problem.weights)))
    return passes_of(config, sgd, part, Progress(config, part)).run()


def test_a_planted_rank_is_found_and_the_optimum_is_that_of_plain_steps():
    alone = FeatureConfig(bits=32, noconstant=True)
    part = chain_part(planted(500, 50, 20, 3), "multinomial", dense=True, features=alone)
    problem = part.problem
    x = np.zeros((problem.examples, len(problem.pairs.state.features)))
    x[np.repeat(np.arange(len(x)), problem.state.sizes), problem.state.indices] = problem.state.values
    config = L1Config(model="multinomial", dense_pairs=True, solver="fista", trace=PENALTY, tolerance=1e-5)
    trained = learned(part, config)
    expected, value = oracle.softmax(x, problem.label, PENALTY, 500)
    assert -trained.history[-1]["objective"] * len(x) == pytest.approx(value, rel=1e-4)
    actual = trained.weights.reshape(expected.shape)
    assert np.linalg.matrix_rank(actual, tol=1e-6) == np.linalg.matrix_rank(expected, tol=1e-6) == 3
    np.testing.assert_allclose(actual, expected, atol=1e-2)


def test_an_initial_model_must_have_all_weights():
    part = chain_part("X |w a\nY |w b\n", "multinomial")
    config = L1Config(model="multinomial", dense_pairs=True, solver="fista", trace=1.0)
    with pytest.raises(UsageError, match="no weights of some features with some labels"):
        norm_of(config, part.problem)
