"""The structured hinge loss with an L2 penalty against a quadratic program over all label sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, SENTENCES, chain_part, text_of, twins
from oracle import structured as oracle

from vwlite.data.shuffle import order_of
from vwlite.solvers.loglinear import frank_wolfe
from vwlite.solvers.loglinear.config import COSTS, L1Config
from vwlite.solvers.loglinear.frank_wolfe import FrankWolfe, of_loss
from vwlite.solvers.loglinear.sgd import Sgd


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
@pytest.mark.parametrize(("l2", "model"), [(1.0, "crf"), (10.0, "tree")])
def test_twenty_sequences_meet_the_quadratic_program(cost, edge, l2, model):
    text = (twenty_trees if model == "tree" else twenty_sequences)(np.random.default_rng(3))
    solver = solver_of(text, edge, model, l2=l2, cost=cost)
    sequences = twins(solver.problem)
    best, _ = oracle.quadratic_program(sequences, solver.problem.weight, solver.problem.weights, cost, l2, 1e-9)
    least = np.inf
    for _ in range(2000):
        solver.run_pass()
        value = objective(solver)
        assert solver.dual <= best + 1e-6 and value >= best - 1e-6 and value >= solver.dual - 1e-9
        least = min(least, value)
        if least - solver.dual <= 1e-4 * best:
            break
    assert least == pytest.approx(best, rel=1e-4) == solver.dual


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("l2", [1e-3, 0.03, 1.0])
def test_the_gap_closes_at_any_penalty_where_labels_can_be_told_apart(l2, cost):
    solver = solver_of(SENTENCES, l2=l2, cost=cost)
    least = np.inf
    for _ in range(250):
        solver.run_pass()
        least = min(least, objective(solver))
    assert 0 <= least - solver.dual <= 1e-4 * solver.dual


@pytest.mark.parametrize("room", [3, 64])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize(("l2", "model"), [(0.05, "crf"), (3.0, "crf"), (0.5, "tree")])
def test_steps_are_those_of_the_twin(room, cost, edge, l2, model, monkeypatch):
    """From weights under which no labelling is as good as another."""
    monkeypatch.setattr(frank_wolfe, "ROOM", room)
    draw = np.random.default_rng(6)
    text = (twenty_trees if model == "tree" else twenty_sequences)(draw)
    solver = solver_of(text, edge, model, l2=l2, cost=cost, seed=2)
    problem, rows = solver.problem, solver.rows
    twin = oracle.PairwiseSteps(twins(problem), problem.weight, problem.weights, cost, l2, room)
    twin.w = draw.normal(0, 0.1, problem.weights)
    solver.weights[:] = twin.w
    for number in range(4):
        solver.run_pass()
        twin.run_pass(rows[order_of(len(rows), 2, number)])
        np.testing.assert_allclose(solver.weights, twin.w, atol=1e-9 / l2)
    for row, kept in enumerate(twin.kept):
        known = solver.share[row] >= 0
        columns = slice(problem.sequence[row], problem.sequence[row + 1])
        assert list(map(tuple, solver.label[known, columns].tolist())) == list(kept)
        np.testing.assert_allclose(solver.share[row, known], [*kept.values()], atol=1e-9)


@pytest.mark.parametrize("room", [2, 64])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("edge", [False, True])
@given(corpus=CORPUS, l2=st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=6, deadline=None)
def test_weights_are_those_of_the_dual_variables_and_the_dual_never_falls(room, cost, edge, corpus, l2):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frank_wolfe, "ROOM", room)
        solver = solver_of(text_of(corpus, edge), edge, l2=l2, cost=cost)
    before = solver.dual
    for _ in range(5):
        solver.run_pass()
        assert solver.dual >= before - 1e-9 * max(1, abs(before))
        assert objective(solver) >= solver.dual - 1e-9 * max(1, abs(solver.dual))
        before = solver.dual
    w, cost = from_shares(solver)
    np.testing.assert_allclose(solver.weights, w, atol=1e-9 * max(1, 1 / l2))
    np.testing.assert_allclose(solver.cost, cost, atol=1e-9)


def from_shares(solver):
    """w and the expected costs of the label sequences that are kept, whose shares add up to 1."""
    problem, w, cost = solver.problem, np.zeros(solver.problem.weights), []
    for row, twin in enumerate(twins(problem)):
        known = np.flatnonzero(solver.share[row] >= 0)
        assert solver.share[row, known].sum() == pytest.approx(1, abs=1e-12)
        paths = [tuple(solver.label[k, problem.sequence[row] : problem.sequence[row + 1]].tolist()) for k in known]
        assert len(set(paths)) == len(paths)
        shares = problem.weight[row] * solver.share[row, known]
        costs = [oracle.cost_of(solver.config.cost_applied, path, twin.true) for path in paths]
        cost.append(float(shares @ costs))
        for path, share in zip(paths, shares, strict=True):
            w += share / solver.config.l2 * oracle.difference(twin, path, len(w))
    return w, cost


@pytest.mark.parametrize("edge", [False, True])
def test_weights_of_trees_are_those_of_the_dual_variables(edge):
    solver = solver_of(twenty_trees(np.random.default_rng(4)), edge, "tree", l2=1.0)
    for _ in range(5):
        solver.run_pass()
    np.testing.assert_allclose(solver.weights, from_shares(solver)[0], atol=1e-9)


def damaged(name, place, value):
    def damage(state):
        state[name] = state[name].copy()
        state[name][place] = value

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damaged("label", (0, 0), -1),
        damaged("label", (0, 0), 3),
        damaged("share", (0, 0), np.nan),
        lambda state: state.pop("cost"),
        lambda state: state.update(label=state["label"][:1]),
        lambda state: state.update(label=state["label"].astype(np.int64)),
        lambda state: state.update(weights=state["weights"][1:]),
    ],
)
def test_a_damaged_state_is_refused(damage):
    solver = solver_of(twenty_sequences(np.random.default_rng(7)), l2=0.1)
    solver.run_pass()
    state = solver.state()
    solver.check(state, solver.problem)
    damage(state)
    with pytest.raises((KeyError, ValueError)):
        solver.check(state, solver.problem)


def test_subgradient_steps_settle_what_they_read():
    """Without a penalty they are the twin's, whose step is the learning rate."""
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
