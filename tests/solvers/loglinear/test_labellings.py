"""Chains of order 2 and trees against all labellings: likelihood, gradient, marginals, best labels, losses, steps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import chain_part, twins
from oracle import l1
from oracle import structured as oracle

from vwlite.data.shuffle import order_of
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.frank_wolfe import of_loss
from vwlite.solvers.loglinear.minimisers import rows_of
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
SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=10, deadline=None)


def tags_of(parents):
    return [f"'n{number}" if parent < 0 else f"'n{number}^n{parent}" for number, parent in enumerate(parents)]


def random_parents(choice, tokens):
    """A parent's number for each token of a tree, in any order of the tokens."""
    place = choice.permutation(tokens)
    parents = [-1] * tokens
    for number in range(1, tokens):
        parents[place[number]] = int(place[choice.integers(number)])
    return parents


def text_of(sequences, seed):
    """Values that no two labellings have in common tell them apart, so that none is as good as another."""
    choice = np.random.default_rng(seed)
    return "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + number % 2} {tag} |w {choice.choice(list('abcd'))}:"
            f"{choice.uniform(0.5, 2):.4f} {choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} "
            f"|e {choice.choice(list('pq'))}\n"
            for tag in tags
        )
        + "\n"
        for number, tags in enumerate(sequences)
    )


def order_two(seed, edge=False, longest=5):
    return chain_part(text_of([[""] * (1 + n % longest) for n in range(8)], seed), edge=("e",) if edge else (), order=2)


def tree(seed, edge=False, longest=5):
    choice = np.random.default_rng(seed)
    tags = [tags_of(random_parents(choice, 1 + number % longest)) for number in range(6)]
    return chain_part(text_of(tags, seed), "tree", edge=("e",) if edge else ())


CONFIGS = {order_two: {"model": "crf", "order": 2}, tree: {"model": "tree"}}
KIND = pytest.mark.parametrize("part_of", CONFIGS, ids=lambda kind: kind.__name__)


def drawn(problem, seed, scale=1.0):
    return np.random.default_rng(seed).normal(scale=scale, size=problem.weights)


@KIND
@EDGE
@given(seed=SEEDS)
@FEW
def test_likelihood_and_gradient(part_of, edge, seed):
    part = part_of(seed, edge)
    problem, w = part.problem, drawn(part.problem, seed)
    chains, gradient = twins(problem), np.zeros(problem.weights)
    value = problem.likelihood(w, part.rows, gradient)
    weight = problem.weight
    assert value == pytest.approx(sum(a * one.log_likelihood(w) for a, one in zip(weight, chains, strict=True)))
    np.testing.assert_allclose(
        gradient, sum(a * one.gradient(w) for a, one in zip(weight, chains, strict=True)), atol=1e-10
    )


@KIND
@EDGE
def test_the_gradient_is_that_of_finite_differences(part_of, edge):
    part = part_of(3, edge)
    problem, w, step = part.problem, drawn(part.problem, 1), 1e-5
    gradient = np.zeros(problem.weights)
    problem.likelihood(w, part.rows, gradient)
    for number, move in enumerate(np.eye(problem.weights) * step):
        higher, lower = (problem.likelihood(w + sign * move, part.rows, None) for sign in (1, -1))
        assert gradient[number] == pytest.approx((higher - lower) / (2 * step), abs=1e-6)


@KIND
@EDGE
@given(seed=SEEDS)
@FEW
def test_best_labels_and_marginals(part_of, edge, seed):
    part = part_of(seed, edge, longest=6)
    problem, w = part.problem, drawn(part.problem, seed, 2.0)
    best, marginals = problem.decode(w, marginals=True)
    assert (problem.decode(w)[0] == best).all()
    chains = twins(problem)
    expected = [max((score, path) for path, score in one.paths(w))[1] for one in chains]
    assert best.tolist() == [label for path in expected for label in path]
    np.testing.assert_allclose(marginals, np.concatenate([one.marginals(w) for one in chains]), atol=1e-12)


@KIND
@LOSS
@EDGE
@given(seed=SEEDS)
@FEW
def test_sums_of_losses(loss, cost, own, part_of, edge, seed):
    part = part_of(seed, edge)
    problem = of_loss(part.problem, L1Config(**CONFIGS[part_of], loss=loss, cost=None if own is None else cost))
    w = drawn(problem, seed)
    expected = sum(
        importance * max(oracle.losses(twin, w, own).values())
        for importance, twin in zip(problem.weight, twins(problem), strict=True)
    )
    assert problem.value(w, part.rows) == pytest.approx(-expected, abs=1e-10)


@KIND
@LOSS
@EDGE
@given(seed=st.integers(0, 999))
@settings(max_examples=5, deadline=None)
def test_steps_of_the_best_labelling(loss, cost, own, part_of, edge, seed):
    """From weights under which no labelling is as good as another; margins step as the schedule says."""
    options = {"penalty": "none", "average": True, "average_after": 0, "rate": "harmonic"} if loss == "margin" else {}
    config = L1Config(**CONFIGS[part_of], loss=loss, cost=None if own is None else cost, passes=2, **options)
    part = part_of(seed, edge, longest=4)
    problem, rows = of_loss(part.problem, config), part.rows
    start = drawn(problem, seed, 0.1)
    sgd = Sgd(config, np.stack([start, np.zeros_like(start)]))
    sgd.begin(len(rows))
    chains, w, total, steps = twins(problem), start, np.zeros(problem.weights), 0
    sizes = {"perceptron": oracle.perceptron, "mira": oracle.mira(1.0)}
    for number in range(2):
        sgd.run_pass(problem, rows)
        for row in rows[order_of(len(rows), config.seed, number)]:
            actual = oracle.losses(chains[row], w, own)
            path = max(actual, key=actual.get)
            d, importance = oracle.difference(chains[row], path, problem.weights), problem.weight[row]
            eta = config.initial_learning_rate / (1 + number + (steps % len(rows)) / len(rows))
            w = w + d * (eta * importance if loss == "margin" else sizes[loss](d, actual[path], importance))
            total, steps = total + w, steps + 1
    np.testing.assert_allclose(sgd.kept()[1], w, atol=1e-9)
    np.testing.assert_allclose(sgd.weights, total / steps, atol=1e-9)


@KIND
@pytest.mark.parametrize("penalty", ["naive", "clipping", "cumulative", "group", "none"])
@EDGE
def test_steps_with_penalties(penalty, part_of, edge):
    group = penalty == "group"
    own = "cumulative" if group else penalty
    config = L1Config(**CONFIGS[part_of], penalty=own, group=group, learning_rate=0.3, decay=0.8)
    part = part_of(11, edge, longest=4)
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
    assert part_of is tree or expected[problem.pairs.first_triple :].any()


def order_one(seed, edge=False, longest=5):
    return chain_part(text_of([[""] * (1 + n % longest) for n in range(6)], seed), edge=("e",) if edge else ())


@pytest.mark.parametrize("part_of", [order_one, *CONFIGS], ids=lambda kind: kind.__name__)
@EDGE
@given(seed=SEEDS, count=st.sampled_from([1, 2, 7, 300]))
@FEW
def test_the_best_label_sequences_are_those_of_enumeration(part_of, edge, seed, count):
    problem = part_of(seed, edge).problem
    w = drawn(problem, seed, 2.0)
    labels, scores = problem.nbest(w, count, True)
    raw = problem.nbest(w, count, False)[1]
    assert (labels[0] == problem.decode(w)[0]).all()
    starts = problem.sequence.tolist()
    for row, one in enumerate(twins(problem)):
        expected = sorted(one.paths(w), key=lambda path: -path[1])[:count]
        chances = one.chances(w)
        actual = [tuple(path) for path in labels[:, starts[row] : starts[row + 1]].tolist()][: len(expected)]
        assert actual == [path for path, _ in expected]
        np.testing.assert_allclose(raw[: len(actual), row], [score for _, score in expected], atol=1e-9)
        np.testing.assert_allclose(np.exp(scores[: len(actual), row]), [chances[path] for path in actual], rtol=1e-9)
        assert (scores[len(actual) :, row] == -np.inf).all()


def test_of_equal_label_sequences_all_are_found():
    problem = order_one(1).problem
    labels, scores = problem.nbest(np.zeros(problem.weights), 300, True)
    starts, size = problem.sequence.tolist(), problem.pairs.labels
    for row, (begin, end) in enumerate(pairwise(starts)):
        most = min(size ** (end - begin), 300)
        assert len({tuple(path) for path in labels[:most, begin:end].tolist()}) == most
        np.testing.assert_allclose(scores[:most, row], -(end - begin) * np.log(size), atol=1e-12)
