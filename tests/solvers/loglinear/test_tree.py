"""CRFs on trees: chains as trees, tags; see ``test_labellings``."""

import numpy as np
import pytest
from hypothesis import given
from l1_case import chain_part

from vwlite.errors import DataError
from vwlite.solvers.loglinear.examples import Node, Tree, tree_of
from vwlite.solvers.loglinear.problems import Pairs, tokens_before

from .test_labellings import EDGE, FEW, SEEDS, drawn, random_parents, tags_of, text_of, tree


@EDGE
@given(seed=SEEDS)
@FEW
def test_a_chain_as_a_tree_is_a_chain(edge, seed):
    """To the last bit in the order of the chain, and nearly so where the kernel of trees computes it."""
    text, edges = text_of([tags_of(one) for one in ([-1, 0, 1, 2, 3], [-1], [-1, 0])], seed), ("e",) if edge else ()
    straight, chain = (chain_part(text, model, edge=edges) for model in ("tree", "crf"))
    w, rows = drawn(chain.problem, seed), chain.rows
    branched = straight.problem.only(rows)
    branched.tree.order[:] = [0, 1, 2, 3, 4, 0, 0, 1]
    actual = []
    for problem in (chain.problem, straight.problem, branched):
        gradient = np.zeros(problem.weights)
        actual.append((problem.likelihood(w, rows, gradient), gradient, *problem.decode(w, marginals=True)))
    for one, other in zip(actual[0], actual[1], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(actual[0], actual[2], strict=True):
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
    actual = tree_of(nodes("b^a", "a", "c^b", "a", "b^a", "x"), np.array([0, 3, 5, 6]))
    assert actual.parent.tolist() == [1, -1, 0, -1, 0, -1]
    assert actual.order.tolist() == [1, 0, 2, -1, 0, -1]
    assert tokens_before(np.array([0, 3, 5, 6]), actual).tolist() == [1, -1, 0, -1, 3, -1]
    part = actual.take(np.array([3, 4]))
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
    actual = tree_of(nodes(*(tag[1:] for tag in tags_of(parents))), np.array([0, len(parents)]))
    assert actual.parent.tolist() == parents
    order = actual.order.tolist()
    if order[0] < 0:
        assert parents == list(range(-1, len(parents) - 1))
        return
    assert sorted(order) == list(range(len(parents)))
    assert all(parents[one] < 0 or order.index(parents[one]) < place for place, one in enumerate(order))


def test_the_kernel_takes_no_tree_that_does_not_fit():
    problem = tree(5).problem
    w = np.zeros(problem.weights)
    problem.tree = Tree(problem.tree.parent[:-1], problem.tree.order)
    with pytest.raises(ValueError, match="tree does not fit"):
        problem.decode(w)
    assert isinstance(problem.pairs, Pairs)
