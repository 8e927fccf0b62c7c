"""Penalties applied lazily give the weights of penalties applied to every weight at every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, binary_part, chain_part, text_of, twins
from oracle import l1 as oracle
from oracle import proximal

from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.solvers.loglinear.config import PENALTIES, RATES, L1Config
from vwlite.solvers.loglinear.minimisers import rows_of
from vwlite.solvers.loglinear.sgd import Sgd

PASSES = 4
ROW = st.tuples(st.sampled_from([-1, 1]), st.lists(st.sampled_from("abcdef"), max_size=4))


def learned(part, config, passes=PASSES, start=0.0):
    sgd = Sgd(config, np.zeros((2, part.problem.weights)))
    sgd.table[0] = start
    sgd.begin(len(part.rows))
    for _ in range(passes):
        sgd.run_pass(part.problem, part.rows)
    return sgd


def twin(part, config, gradient, start=0.0, rows=None):
    """The weights in the end, or the mean of those after the steps that it is of."""
    orders = [part.rows[order_of(len(part.rows), config.seed, number)] for number in range(PASSES)]
    schedule = {"rate": config.rate, "eta": config.initial_learning_rate, "alpha": config.decay}
    options = {"penalty": config.penalty, **schedule}
    iterates = []
    last = oracle.sgd(start + np.zeros(part.problem.weights), gradient, orders, options, config.l1, iterates, rows)
    if not config.average:
        return last
    before = PASSES * len(part.rows) // 2 if config.average_after is None else config.average_after
    return np.mean(iterates[before:], 0) if iterates[before:] else last


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("rate", RATES)
@given(
    rows=st.lists(ROW, min_size=1, max_size=12),
    l1=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 9),
)
@settings(max_examples=10, deadline=None)
def test_two_classes(penalty, rate, rows, l1, seed):
    features = [" ".join(f"{word}:{1 + i / 3:.2f}" for i, word in enumerate(words)) for _, words in rows]
    text = "".join(f"{label} |w {words}\n" for (label, _), words in zip(rows, features, strict=True))
    part = binary_part(text)
    problem = part.problem
    dense = np.zeros((problem.examples, problem.weights))
    for row in range(problem.examples):
        here = problem.terms.row(row)
        for feature, value in zip(problem.terms.indices[here], problem.terms.values[here], strict=True):
            dense[row, feature] += value
    config = L1Config(l1=l1, penalty=penalty, rate=rate, learning_rate=0.7, seed=seed)
    expected = twin(part, config, oracle.logistic_gradient(dense, problem.label))
    np.testing.assert_allclose(learned(part, config).weights, expected, atol=1e-10)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, l1=st.sampled_from([0.1, 0.7]))
@settings(max_examples=8, deadline=None)
def test_chains(penalty, edge, corpus, l1):
    part = chain_part(text_of(corpus, edge), edge=("e",) if edge else ())
    sequences = twins(part.problem)
    config = L1Config(model="crf", l1=l1, penalty=penalty, learning_rate=0.3)

    def gradient(w, row):
        return part.problem.weight[row] * sequences[row].gradient(w)

    # in symmetrical corpora weights are rounding errors around 0, whose sign decides the naive penalty
    start = np.random.default_rng(1).normal(size=part.problem.weights) if penalty == "naive" else 0.0
    actual = learned(part, config, start=start).weights
    np.testing.assert_allclose(actual, twin(part, config, gradient, start), atol=1e-10)


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@given(corpus=CORPUS, l1=st.sampled_from([0.1, 0.7, 3.0]), rate=st.sampled_from(RATES))
@settings(max_examples=8, deadline=None)
def test_rows_of_chains(edge, dense, corpus, l1, rate):
    part = chain_part(text_of(corpus, edge), edge=("e",) if edge else (), dense=dense)
    sequences, rows = twins(part.problem), proximal.rows_by(rows_of(part.problem.pairs))
    config = L1Config(model="crf", l1=l1, group=True, learning_rate=0.3, rate=rate)
    actual = learned(part, config)

    def gradient(w, row):
        return part.problem.weight[row] * sequences[row].gradient(w)

    np.testing.assert_allclose(actual.weights, twin(part, config, gradient, rows=rows), atol=1e-10)
    for row in rows:
        assert actual.weights[row].all() or not actual.weights[row].any()


AFTER = st.sampled_from([None, 0, 1, 7, 99])


@given(rows=st.lists(ROW, min_size=1, max_size=12), after=AFTER, rate=st.sampled_from(RATES))
@settings(max_examples=20, deadline=None)
def test_the_mean_of_two_classes(rows, after, rate):
    part = binary_part("".join(f"{label} |w {' '.join(words)}\n" for label, words in rows))
    problem = part.problem
    dense = np.zeros((problem.examples, problem.weights))
    for row in range(problem.examples):
        here = problem.terms.row(row)
        np.add.at(dense[row], problem.terms.indices[here], problem.terms.values[here])
    config = L1Config(penalty="none", average=True, average_after=after, rate=rate, passes=PASSES, learning_rate=0.7)
    expected = twin(part, config, oracle.logistic_gradient(dense, problem.label))
    actual = learned(part, config)
    np.testing.assert_allclose(actual.weights, expected, atol=1e-10)
    last = learned(part, L1Config(penalty="none", rate=rate, learning_rate=0.7)).weights
    np.testing.assert_array_equal(actual.kept()[1], last)


@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, after=AFTER)
@settings(max_examples=15, deadline=None)
def test_the_mean_of_chains(edge, corpus, after):
    part = chain_part(text_of(corpus, edge), edge=("e",) if edge else ())
    sequences = twins(part.problem)
    config = L1Config(model="crf", penalty="none", average=True, average_after=after, passes=PASSES, learning_rate=0.3)

    def gradient(w, row):
        return part.problem.weight[row] * sequences[row].gradient(w)

    np.testing.assert_allclose(learned(part, config).weights, twin(part, config, gradient), atol=1e-9)


def test_a_large_penalty_leaves_nothing():
    part = binary_part("1 |w a\n-1 |w b\n" * 20)
    assert not learned(part, L1Config(l1=1000.0)).weights.any()


def test_a_rate_beyond_measure_is_an_error():
    part = chain_part("X |w a:1e30\nY |w b\n\n" * 3)
    with pytest.raises(Diverged, match="learning rate"):
        learned(part, L1Config(model="crf", learning_rate=1e300))
