"""CRFs on trees against all labellings: likelihood, gradient, marginals, best labels, losses, steps; tags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import chain_part, twins
from oracle import l1
from oracle import structured as oracle

from vwlite.data.shuffle import order_of
from vwlite.errors import DataError
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.examples import Node, Tree, tree_of
from vwlite.solvers.loglinear.feature_label_pairs import Pairs
from vwlite.solvers.loglinear.frank_wolfe import of_loss
from vwlite.solvers.loglinear.problems import tokens_before
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
FEW = settings(max_examples=20, deadline=None)


def tags_of(parents):
    return [f"'n{number}" if parent < 0 else f"'n{number}^n{parent}" for number, parent in enumerate(parents)]


def random_parents(choice, tokens):
    """A parent's number for each token of a tree, in any order of the tokens."""
    place = choice.permutation(tokens)
    parents = [-1] * tokens
    for number in range(1, tokens):
        parents[place[number]] = int(place[choice.integers(number)])
    return parents


def text_of(trees, seed):
    """Values that no two labellings have in common tell them apart, so that none is as good as another."""
    choice = np.random.default_rng(seed)
    return "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + number % 2} {tag} |w {choice.choice(list('abcd'))}:"
            f"{choice.uniform(0.5, 2):.4f} {choice.choice(list('abcd'))}:{choice.uniform(0.5, 2):.4f} "
            f"|e {choice.choice(list('pq'))}\n"
            for tag in tags_of(parents)
        )
        + "\n"
        for number, parents in enumerate(trees)
    )


def part_of(seed, edge=False, trees=6, longest=5):
    choice = np.random.default_rng(seed)
    parents = [random_parents(choice, 1 + number % longest) for number in range(trees)]
    return chain_part(text_of(parents, seed), "tree", edge=("e",) if edge else ())


def drawn(problem, seed, scale=1.0):
    return np.random.default_rng(seed).normal(scale=scale, size=problem.weights)


@EDGE
@given(seed=SEEDS)
@FEW
def test_likelihood_and_gradient(edge, seed):
    part = part_of(seed, edge)
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
    part = part_of(3, edge)
    problem, w, step = part.problem, drawn(part.problem, 1), 1e-5
    gradient = np.zeros(problem.weights)
    problem.likelihood(w, part.rows, gradient)
    for number, move in enumerate(np.eye(problem.weights) * step):
        higher, lower = (problem.likelihood(w + sign * move, part.rows, None) for sign in (1, -1))
        assert gradient[number] == pytest.approx((higher - lower) / (2 * step), abs=1e-6)


@EDGE
@given(seed=SEEDS)
@FEW
def test_best_labels_and_marginals(edge, seed):
    part = part_of(seed, edge, longest=6)
    problem, w = part.problem, drawn(part.problem, seed, 2.0)
    best, marginals = problem.decode(w, marginals=True)
    assert (problem.decode(w)[0] == best).all()
    chains = twins(problem)
    expected = [max((score, path) for path, score in one.paths(w))[1] for one in chains]
    assert best.tolist() == [label for path in expected for label in path]
    np.testing.assert_allclose(marginals, np.concatenate([one.marginals(w) for one in chains]), atol=1e-12)


@LOSS
@EDGE
@given(seed=SEEDS)
@FEW
def test_sums_of_losses(loss, cost, own, edge, seed):
    part = part_of(seed, edge)
    problem = of_loss(part.problem, L1Config(model="tree", loss=loss, cost=None if own is None else cost))
    w = drawn(problem, seed)
    expected = sum(
        importance * max(oracle.losses(twin, w, own).values())
        for importance, twin in zip(problem.weight, twins(problem), strict=True)
    )
    assert problem.value(w, part.rows) == pytest.approx(-expected, abs=1e-10)


@LOSS
@EDGE
@given(seed=st.integers(0, 999))
@settings(max_examples=5, deadline=None)
def test_steps_of_the_best_labelling(loss, cost, own, edge, seed):
    """From weights under which no labelling is as good as another; margins step as the schedule says."""
    options = {"penalty": "none", "average": True, "average_after": 0, "rate": "harmonic"} if loss == "margin" else {}
    config = L1Config(model="tree", loss=loss, cost=None if own is None else cost, passes=2, **options)
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
            found = oracle.losses(chains[row], w, own)
            path = max(found, key=found.get)
            d, importance = oracle.difference(chains[row], path, problem.weights), problem.weight[row]
            eta = config.initial_learning_rate / (1 + number + (steps % len(rows)) / len(rows))
            w = w + d * (eta * importance if loss == "margin" else sizes[loss](d, found[path], importance))
            total, steps = total + w, steps + 1
    np.testing.assert_allclose(sgd.kept()[1], w, atol=1e-9)
    np.testing.assert_allclose(sgd.weights, total / steps, atol=1e-9)


@pytest.mark.parametrize("penalty", ["naive", "clipping", "cumulative", "none"])
@EDGE
def test_steps_with_penalties(penalty, edge):
    config = L1Config(model="tree", penalty=penalty, learning_rate=0.3, decay=0.8)
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

    twin = {"penalty": penalty, "rate": "exponential", "eta": 0.3, "alpha": 0.8}
    expected = l1.sgd(np.zeros(problem.weights), gradient, orders, twin, 0.0 if penalty == "none" else 1.0)
    np.testing.assert_allclose(sgd.weights, expected, atol=1e-9)


@EDGE
@given(seed=SEEDS)
@FEW
def test_a_chain_as_a_tree_is_a_chain(edge, seed):
    """To the last bit in the order of the chain, and nearly so where the kernel of trees computes it."""
    text, edges = text_of([list(range(-1, 4)), [-1], [-1, 0]], seed), ("e",) if edge else ()
    tree, chain = (chain_part(text, model, edge=edges) for model in ("tree", "crf"))
    w, rows = drawn(chain.problem, seed), chain.rows
    branched = tree.problem.only(rows)
    branched.tree.order[:] = [0, 1, 2, 3, 4, 0, 0, 1]
    found = []
    for problem in (chain.problem, tree.problem, branched):
        gradient = np.zeros(problem.weights)
        found.append((problem.likelihood(w, rows, gradient), gradient, *problem.decode(w, marginals=True)))
    for one, other in zip(found[0], found[1], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found[0], found[2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_token_may_have_any_number_of_children():
    """Whose messages, half of them for either label, are beyond all numbers as a product."""
    children = 4000
    text = "X 'r |w a\n" + "".join(f"{'XY'[n % 2]} 'n{n}^r |w {'ab'[n % 2]}\n" for n in range(children)) + "\n"
    problem = chain_part(text, "tree").problem
    w = np.zeros(problem.weights)
    w[: problem.pairs.first_edge] = 3.0
    w[problem.pairs.first_transition :] = [2.0, 0.0, 0.0, 2.0]
    best, marginals = problem.decode(w, marginals=True)
    log_likelihood = problem.likelihood(w, np.zeros(1, np.int64), None)
    assert np.isfinite(log_likelihood) and best[0] == 0
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-12)


def nodes(*tags):
    return [Node(tag.encode(), f"f:{line}") for line, tag in enumerate(tags, 1)]


def test_trees_from_tags():
    tree = tree_of(nodes("b^a", "a", "c^b", "a", "b^a", "x"), np.array([0, 3, 5, 6]))
    assert tree.parent.tolist() == [1, -1, 0, -1, 0, -1]
    assert tree.order.tolist() == [1, 0, 2, -1, 0, -1]
    assert tokens_before(np.array([0, 3, 5, 6]), tree).tolist() == [1, -1, 0, -1, 3, -1]
    part = tree.take(np.array([3, 4]))
    assert part.parent.tolist() == [-1, 0] and part.order.tolist() == [-1, 0]


def test_a_tree_of_one_token_needs_no_tag():
    assert tree_of(nodes("", ""), np.array([0, 1, 2])).parent.tolist() == [-1, -1]


REFUSED = {
    ("a", "b^c"): "f:2: no token of its tree has the id of its parent, 'c'",
    ("a", "b"): "f:2: a tree has one root, and 'a' has no parent either",
    ("a", "a^a"): "f:2: a token before it in its tree has the id 'a' too",
    ("a", ""): "f:2: a token of a tree has a tag",
    ("a", "^a"): "f:2: a token of a tree has a tag",
    ("a", "b^c", "c^d", "d^c"): "f:[34]: the parents of its tree lead around in a circle",
    ("a^a",): "f:1: the parents of its tree lead around in a circle",
    ("b^a", "a^b"): "f:[12]: the parents of its tree lead around in a circle",
}


@pytest.mark.parametrize("tags", REFUSED)
def test_what_is_no_tree(tags):
    with pytest.raises(DataError, match=REFUSED[tags]):
        tree_of(nodes(*tags), np.array([0, len(tags)]))


@given(seed=SEEDS)
@FEW
def test_parents_come_first(seed):
    choice = np.random.default_rng(seed)
    parents = random_parents(choice, int(choice.integers(1, 30)))
    tree = tree_of(nodes(*(tag[1:] for tag in tags_of(parents))), np.array([0, len(parents)]))
    assert tree.parent.tolist() == parents
    order = tree.order.tolist()
    if order[0] < 0:
        assert parents == list(range(-1, len(parents) - 1))
        return
    assert sorted(order) == list(range(len(parents)))
    assert all(parents[one] < 0 or order.index(parents[one]) < place for place, one in enumerate(order))


def test_the_kernel_takes_no_tree_that_does_not_fit():
    problem = part_of(5).problem
    w = np.zeros(problem.weights)
    problem.tree = Tree(problem.tree.parent[:-1], problem.tree.order)
    with pytest.raises(ValueError, match="tree does not fit"):
        problem.decode(w)
    assert isinstance(problem.pairs, Pairs)
