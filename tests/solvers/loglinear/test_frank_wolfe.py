"""The structured hinge loss with an L2 penalty against a quadratic program over all label sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, chain_part, text_of, twins
from oracle import structured as oracle

from vwlite.solvers.loglinear.config import COSTS, L1Config
from vwlite.solvers.loglinear.frank_wolfe import FrankWolfe, of_loss


def solver_of(text, edge=False, model="crf", **options):
    config = L1Config(model=model, loss="margin", **options)
    part = chain_part(text, model, edge=("e",) if edge else ())
    return FrankWolfe(config, of_loss(part.problem, config), part.rows)


def objective(solver):
    """What is minimised."""
    w = solver.weights
    return solver.config.l2 / 2 * float(w @ w) - solver.problem.value(w, solver.rows)


TREES = ("'a", "'b^a", "'c^a"), ("'a^b", "'b"), ("'a^c", "'b^c", "'c"), ("'a",)  # tags


def twenty_sequences(choice):
    return "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + n % 2} |w {' '.join(choice.choice(list('abcdefg'), 2))} "
            f"|e {choice.choice(list('pq'))}\n"
            for _ in range(1 + n % 3)
        )
        + "\n"
        for n in range(20)
    )


def twenty_trees(choice):
    return "".join(
        "".join(
            f"{choice.choice(list('XYZ'))} {1 + n % 2} {tag} |w {' '.join(choice.choice(list('abcdefg'), 2))} "
            f"|e {choice.choice(list('pq'))}\n"
            for tag in TREES[n % 4]
        )
        + "\n"
        for n in range(20)
    )


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize(("l2", "model"), [(3.0, "crf"), (10.0, "tree")])
def test_twenty_sequences_meet_the_quadratic_program(cost, edge, l2, model):
    text = (twenty_trees if model == "tree" else twenty_sequences)(np.random.default_rng(3))
    solver = solver_of(text, edge, model, l2=l2, cost=cost)
    sequences = twins(solver.problem)
    best, _ = oracle.quadratic_program(sequences, solver.problem.weight, solver.problem.weights, cost, l2, 1e-9)
    least = np.inf
    for number in range(30000):
        solver.run_pass()
        if number % 50 == 0:
            value = objective(solver)
            assert solver.dual <= best + 1e-6 and value >= best - 1e-6 and value >= solver.dual - 1e-9
            least = min(least, value)
            if least - best <= 1e-4 * best:
                break
    assert least == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, l2=st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=6, deadline=None)
def test_weights_are_those_of_the_dual_variables_and_the_dual_never_falls(cost, edge, corpus, l2):
    solver = solver_of(text_of(corpus, edge), edge, l2=l2, cost=cost)
    before = solver.dual
    for _ in range(5):
        solver.run_pass()
        assert solver.dual >= before - 1e-9 * max(1, abs(before))
        assert objective(solver) >= solver.dual - 1e-9 * max(1, abs(solver.dual))
        before = solver.dual
    np.testing.assert_allclose(solver.weights, from_marginals(solver), atol=1e-9 * max(1, 1 / l2))
    np.testing.assert_allclose(solver.node.sum(axis=1), 1, atol=1e-12)


def from_marginals(solver):
    """w of the marginals, feature by feature."""
    problem, w = solver.problem, np.zeros(solver.problem.weights)
    for row, twin in enumerate(twins(problem)):
        scale = problem.weight[row] / solver.config.l2
        for number, value in twin.counts(tuple(twin.true)).items():
            w[number] += scale * value
        start, labels = int(problem.sequence[row]), twin.labels
        for t in range(len(twin.true)):
            for y in range(labels):
                for feature, value in twin.state[t].items():
                    add(w, twin.place(feature, y), -scale * solver.node[start + t, y] * value)
        for z in range(labels):
            for y in range(labels):
                for t in parented(twin) if problem.edge is not None else [0]:
                    times = solver.way[start + t if problem.edge is not None else row, z * labels + y]
                    add(w, twin.place(None, y, z), -scale * times)
                    for feature, value in twin.edge[t].items():
                        add(w, twin.place(feature, y, z), -scale * times * value)
    return w


def parented(twin):
    return [t for t, before in enumerate(twin.before) if before >= 0]


def add(w, number, value):
    if number is not None:
        w[number] += value


@pytest.mark.parametrize("edge", [False, True])
def test_weights_of_trees_are_those_of_the_dual_variables(edge):
    solver = solver_of(twenty_trees(np.random.default_rng(4)), edge, "tree", l2=1.0)
    for _ in range(5):
        solver.run_pass()
    np.testing.assert_allclose(solver.weights, from_marginals(solver), atol=1e-9)


def test_subgradient_steps_settle_what_they_read():
    """Without a penalty they are the twin's, whose step is the learning rate."""
    from vwlite.data.shuffle import order_of
    from vwlite.solvers.loglinear.sgd import Sgd

    config = L1Config(model="crf", loss="margin", penalty="none", rate="harmonic", learning_rate=0.3)
    solver = solver_of(twenty_sequences(np.random.default_rng(5)), True, l2=1.0)
    problem, rows = of_loss(solver.problem, config), solver.rows
    sgd = Sgd(config, np.zeros((2, problem.weights)))
    sgd.begin(len(rows))
    sgd.run_pass(problem, rows)
    taken = iter(range(len(rows)))
    orders = [rows[order_of(len(rows), config.seed, 0)]]

    def size(d, loss, importance):
        return 0.3 / (1 + next(taken) / len(rows)) * importance

    _, last = oracle.mean_of_steps(twins(problem), problem.weight, orders, problem.weights, "hamming", size)
    np.testing.assert_allclose(sgd.weights, last, atol=1e-10)
