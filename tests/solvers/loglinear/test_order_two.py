"""Chains of order 2 against all label sequences: likelihood, gradient, marginals, best labels, losses, steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, chain_part, text_of, twins
from oracle import l1
from oracle import structured as oracle

from vwlite.data.shuffle import order_of
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.feature_label_pairs import widened
from vwlite.solvers.loglinear.frank_wolfe import of_loss
from vwlite.solvers.loglinear.norms import rows_of
from vwlite.solvers.loglinear.sgd import Sgd

EDGE = pytest.mark.parametrize("edge", [False, True])
LOSSES = [  # loss, cost, the twin's cost
    ("perceptron", "zero-one", None),
    ("mira", "hamming", "hamming"),
    ("mira", "zero-one", "zero-one"),
    ("margin", "hamming", "hamming"),
    ("margin", "zero-one", "zero-one"),
]
LOSS = pytest.mark.parametrize(("loss", "cost", "own"), LOSSES)


def part_of(text, edge=False):
    return chain_part(text, edge=("e",) if edge else (), order=2)


def drawn(problem, seed, scale=1.0):
    return np.random.default_rng(seed).normal(scale=scale, size=problem.weights)


def corpus_text(seed, sequences=10, longest=5):
    """Values that no two label sequences have in common tell them apart, so that none is as good as another."""
    choice = np.random.default_rng(seed)
    return "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + n % 2} |w {choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} "
            f"{choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} |e {choice.choice(list('pq'))}\n"
            for _ in range(1 + n % longest)
        )
        + "\n"
        for n in range(sequences)
    )


@EDGE
@given(corpus=CORPUS, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_likelihood_and_gradient(edge, corpus, seed):
    part = part_of(text_of(corpus, edge), edge)
    problem, w = part.problem, drawn(part.problem, seed)
    chains, gradient = twins(problem), np.zeros(problem.weights)
    value = problem.likelihood(w, part.rows, gradient)
    weight = problem.weight
    assert value == pytest.approx(sum(a * one.log_likelihood(w) for a, one in zip(weight, chains, strict=True)))
    np.testing.assert_allclose(
        gradient, sum(a * one.gradient(w) for a, one in zip(weight, chains, strict=True)), atol=1e-10
    )


@EDGE
def test_the_gradient_is_that_of_finite_differences(edge):
    part = part_of(corpus_text(3), edge)
    problem, w, step = part.problem, drawn(part.problem, 1), 1e-5
    gradient = np.zeros(problem.weights)
    problem.likelihood(w, part.rows, gradient)
    for number, move in enumerate(np.eye(problem.weights) * step):
        higher, lower = (problem.likelihood(w + sign * move, part.rows, None) for sign in (1, -1))
        assert gradient[number] == pytest.approx((higher - lower) / (2 * step), abs=1e-6)


@EDGE
@pytest.mark.parametrize("seed", range(6))
def test_best_labels_and_marginals(edge, seed):
    part = part_of(corpus_text(seed, longest=6), edge)
    problem, w = part.problem, drawn(part.problem, seed, 2.0)
    best, marginals = problem.decode(w, marginals=True)
    assert (problem.decode(w)[0] == best).all()
    chains = twins(problem)
    expected = [max((score, path) for path, score in one.paths(w))[1] for one in chains]
    assert best.tolist() == [label for path in expected for label in path]
    np.testing.assert_allclose(marginals, np.concatenate([one.marginals(w) for one in chains]), atol=1e-12)


def test_without_weights_of_pairs_it_is_a_chain_of_order_1():
    seen = part_of("X |w a\nY |w b\nX |w c\n\n").problem
    assert seen.pairs.histories.tolist() == [0 * 2 + 1, 1 * 2 + 0]
    w = drawn(seen, 5)
    w[seen.pairs.first_triple :] = 0
    plain = chain_part("X |w a\nY |w b\nX |w c\n\n")
    rows = plain.rows
    assert seen.likelihood(w, rows, None) == pytest.approx(
        plain.problem.likelihood(w[: seen.pairs.first_triple], rows, None), abs=1e-12
    )


def test_sequences_of_one_token_have_no_pairs_of_labels():
    two, one = part_of("X |w a\n\nY |w b\n\n"), chain_part("X |w a\n\nY |w b\n\n")
    assert two.problem.weights == one.problem.weights


@LOSS
@EDGE
@given(corpus=CORPUS, seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_sums_of_losses(loss, cost, own, edge, corpus, seed):
    part = part_of(text_of(corpus, edge), edge)
    problem = of_loss(part.problem, L1Config(model="crf", order=2, loss=loss, cost=None if own is None else cost))
    w = drawn(problem, seed)
    expected = sum(
        importance * max(oracle.losses(twin, w, own).values())
        for importance, twin in zip(problem.weight, twins(problem), strict=True)
    )
    assert problem.value(w, part.rows) == pytest.approx(-expected, abs=1e-10)


@LOSS
@EDGE
def test_steps_of_the_best_sequence(loss, cost, own, edge):
    """From weights under which no label sequence is as good as another; margins step as the schedule says."""
    options = {"penalty": "none", "average": True, "average_after": 0, "rate": "harmonic"} if loss == "margin" else {}
    config = L1Config(model="crf", order=2, loss=loss, cost=None if own is None else cost, passes=2, **options)
    part = part_of(corpus_text(7, longest=4), edge)
    problem, rows = of_loss(part.problem, config), part.rows
    start = drawn(problem, 2, 0.1)
    sgd = Sgd(config, np.stack([start, np.zeros_like(start)]))
    sgd.begin(len(rows))
    chains, w, total, steps = twins(problem), start, np.zeros(problem.weights), 0
    sizes = {"perceptron": oracle.perceptron, "mira": oracle.mira(1.0)}
    for number in range(2):
        sgd.run_pass(problem, rows)
        for row in rows[order_of(len(rows), config.seed, number)]:
            found = oracle.losses(chains[row], w, own)
            path = max(found, key=found.get)
            d, importance = oracle.difference(chains[row], path, problem.weights), problem.weight[row]
            eta = config.initial_learning_rate / (1 + number + (steps % len(rows)) / len(rows))
            w = w + d * (eta * importance if loss == "margin" else sizes[loss](d, found[path], importance))
            total, steps = total + w, steps + 1
    np.testing.assert_allclose(sgd.kept()[1], w, atol=1e-10)
    np.testing.assert_allclose(sgd.weights, total / steps, atol=1e-10)


@pytest.mark.parametrize("penalty", ["naive", "clipping", "cumulative", "group", "none"])
@EDGE
def test_steps_with_penalties(penalty, edge):
    group = penalty == "group"
    own = "cumulative" if group else penalty
    config = L1Config(model="crf", order=2, penalty=own, group=group, learning_rate=0.3, decay=0.8)
    part = part_of(corpus_text(11, longest=4), edge)
    problem, rows = part.problem, part.rows
    sgd = Sgd(config, np.zeros((2, problem.weights)))
    sgd.begin(len(rows))
    for _ in range(3):
        sgd.run_pass(problem, rows)
    orders = [rows[order_of(len(rows), config.seed, number)] for number in range(3)]
    chains = twins(problem)

    def gradient(w, row):
        return problem.weight[row] * chains[row].gradient(w)

    together = [np.flatnonzero(rows_of(problem.pairs) == row) for row in np.unique(rows_of(problem.pairs))]
    twin = {"penalty": own, "rate": "exponential", "eta": 0.3, "alpha": 0.8}
    start, rows = np.zeros(problem.weights), together if group else None
    expected = l1.sgd(start, gradient, orders, twin, 0.0 if own == "none" else 1.0, rows=rows)
    np.testing.assert_allclose(sgd.weights, expected, atol=1e-9)
    assert expected[problem.pairs.first_triple :].any()


def test_weights_keep_their_places_where_labels_and_pairs_are_added():
    old = part_of("X |w a\nY |w b\nX |w a\n\n").problem.pairs
    new = part_of("X |w a\nY |w b\nZ |w c\nX |w a\nX |w a\n\n").problem.pairs
    wide = widened(old, new)
    places = old.positions_in(wide)
    triples = places[old.first_triple :] - wide.first_triple
    names = [(wide.previous[3 + row], wide.names[label]) for row, label in (divmod(one, 3) for one in triples.tolist())]
    assert names == [("X Y", "X"), ("X Y", "Y"), ("Y X", "X"), ("Y X", "Y")]
    assert wide.previous[3:] == ["X X", "X Y", "Y X", "Y Z", "Z X"]
    assert len(set(places.tolist())) == old.weights
