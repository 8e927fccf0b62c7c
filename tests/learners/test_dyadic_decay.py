"""L2 decay by side, by the number of updates, and of linear weights, against the full gradient flow."""

import numpy as np
import pytest
from oracle.dyadic import full_flow, merged
from oracle.dyadic_case import LOSSES, Case

from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig

LINE = "|a x:0.7 y:-0.4 |b u:0.5 v |c w:0.3"
SETTINGS = [
    {"dot_l2": "a=0.3,b=0.05"},
    {"dot_l2": "a=0.3,b=0"},
    {"dot_l2": 0.2, "linear_l2": 0.1},
    {"dot_l2": 0.0, "linear_l2": 0.4},
    {"dot_l2": 0.3, "dot_l2_power": 0.5},
    {"dot_l2": "a=0.2,b=0.1", "dot_l2_power": 1.0, "linear_l2": 0.3},
    {"dot_l2": "a=0.3,b=0.05", "dot_offset": 0.5},
    {"dot_l2": 0.3, "dot_offset": 0.5, "dot_l2_of": "weights"},
]


def filled(loss, seed=0, rate=0.05, **options):
    case = Case(loss, ("ab",), rank=3, learning_rate=rate, **options)
    rng = np.random.default_rng(seed)
    case.fill(rng, 0.6)
    for table in case.learner.latent[0]:
        table[:, 3] = rng.integers(1, 30, len(table))
    case.set_range()
    return case


def decays(case, row):
    """float64[n], the L2 of each parameter in the order of ``Case.parameters``."""
    config, latent = case.learner.config, case.learner.latent[0]

    def power(updates):
        return (1 + updates) ** -config.dot_l2_power

    updates = [{slot: float(latent[side][slot, 3]) for slot in merged(row.pairs[0][side])} for side in range(2)]
    paired = {**updates[0], **updates[1]}
    linear = [config.linear_l2 * power(paired[slot]) if slot in paired else 0.0 for slot in merged(row.linear)]
    parts = [np.array(linear)]
    for side, name in enumerate("ab"):
        decay = config.decays.get(name, config.decay)
        parts.append(np.repeat([decay * power(count) for count in updates[side].values()], 3))
    return np.concatenate(parts)


def wanted(case, row, label, importance):
    flow, x = case.twin().flow(row, label), merged(row.linear)
    weights = case.learner.weights[list(x), 0].astype(float)
    if case.learner.config.dot_l2_of == "weights":
        offset = case.learner.config.dot_offset
        w, pairs = weights_flow(flow, weights, np.array(list(x.values())), importance, decays(case, row), offset)
    else:
        w, pairs = full_flow(flow, weights, np.array(list(x.values())), importance, 400, decays(case, row))
    return np.concatenate([w, *(part.ravel() for pair in pairs for part in pair)])


def weights_flow(flow, weights, x, importance, decay, offset):
    """Where the vectors themselves decay: the flow of vectors that have the offset as a fixed feature of their own."""
    term = flow.terms[0]
    alpha, beta = (np.vstack([part, np.full(part.shape[1], offset)]) for part in (term.alpha, term.beta))
    widened = type(term)(alpha, np.append(term.xa, 1.0), beta, np.append(term.xb, 1.0))
    flow.terms = [widened]
    k, nothing = term.alpha.shape[1], np.zeros(term.alpha.shape[1])
    cut = len(x) + term.alpha.size
    spread = np.concatenate([decay[:cut], nothing, decay[cut:], nothing])
    free = np.concatenate([np.ones(cut), nothing, np.ones(len(decay) - cut), nothing])
    w, ((alpha, beta),) = full_flow(flow, weights, x, importance, 400, spread, free)
    assert (alpha[-1] == offset).all() and len(alpha[-1]) == k
    return w, [(alpha[:-1], beta[:-1])]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_the_full_flow(loss, options):
    case = filled(loss, **options)
    row, label = case.row(LINE), 1.0
    truth = wanted(case, row, label, 1.5)
    case.run(f"{label} 1.5 {LINE}")
    reached = LOSSES[loss].piecewise and abs(case.predict(LINE)[0] - label) < 1e-5
    np.testing.assert_allclose(case.parameters(row), truth, rtol=3e-6, atol=5e-5 if reached else 3e-6)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", ["squared", "logistic", "quantile"])
def test_two_importances_equal_their_sum(loss, options):
    once, twice = filled(loss, **options), filled(loss, **options)
    once.run(f"1 2 {LINE}")
    twice.run(f"1 0.5 {LINE}")
    for table, fresh in zip(twice.learner.latent[0], filled(loss, **options).learner.latent[0], strict=True):
        table[:, 3] = fresh[:, 3]  # decay goes by the number of updates
    twice.run(f"1 1.5 {LINE}")
    row = once.row(LINE)
    np.testing.assert_allclose(twice.parameters(row), once.parameters(row), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_decay_has_the_bytes_of_one_number(loss):
    made = []
    for decay in (0.1, "a=0.1,b=0.1"):
        case = filled(loss, dot_l2=decay)
        case.run(f"1 2 {LINE}\n1 {LINE}\n")
        made.append([table.tobytes() for table in (case.learner.weights, *case.learner.latent[0])])
    assert made[0] == made[1]


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
def test_the_label_is_where_it_ends(loss):
    case = filled(loss, rate=1.0, dot_l2="a=0.3,b=0.05", linear_l2=0.1)
    case.run(f"1 1000 {LINE}")
    assert case.predict(LINE)[0] == pytest.approx(1, abs=1e-5)
    tables = [case.learner.weights.copy(), *(table[:, :3].copy() for table in case.learner.latent[0])]
    if loss == "hinge":
        case.learner.weights[case.row(LINE).linear[-1][0]] += 1  # beyond the margin: no loss, no update, no decay
        tables[0] = case.learner.weights.copy()
        case.run(f"1 1000 {LINE}")
        now = [case.learner.weights, *(table[:, :3] for table in case.learner.latent[0])]
        assert all(np.array_equal(*both) for both in zip(tables, now, strict=True))


def test_updates_are_counted_once():
    case = filled("squared", dot_l2="a=30,b=5", rate=1.0)
    row = case.row(LINE)
    slots = [slot for slot, _ in row.pairs[0][0]]
    before = case.learner.latent[0][0][slots, 3].copy()
    case.run(f"1 {LINE}")
    assert np.array_equal(case.learner.latent[0][0][slots, 3], before + 1)


def test_a_namespace_of_two_pairs_has_its_linear_weights_decay_once():
    case = Case("squared", ("ab", "ac"), rank=2, learning_rate=1e-3, noconstant=True, dot_l2=0.0, linear_l2=100.0)
    case.learner.weights[:] = 1
    case.set_range()
    case.run("3 |a x |b y |c z |d w\n")
    row = case.row("|a x |b y |c z |d w")
    numbers = [float(case.learner.weights[slot, 0]) for slot, _ in row.linear]
    assert numbers[:3] == pytest.approx([np.exp(-0.1)] * 3, abs=0.01)
    assert numbers[3] == pytest.approx(1, abs=0.01)


def test_frequent_features_decay_less():
    rare, frequent = (filled("quantile", dot_l2=0.5, dot_l2_power=1.0) for _ in range(2))
    for case, count in ((rare, 1), (frequent, 100)):
        for table in case.learner.latent[0]:
            table[:, 3] = count
    row, norms = rare.row(LINE), []
    for case in (rare, frequent):
        case.run(f"{case.predict(LINE)[0] + 1e-3} 1e-3 {LINE}")
        norms.append(np.abs(case.parameters(row)).sum())
    assert norms[0] < norms[1]


@pytest.mark.parametrize("rate", [100.0, 1e4])
def test_linear_weights_stay_bounded_at_any_rate(rate):
    case = Case("logistic", rank=2, learning_rate=rate, dot_l2=0.1, linear_l2=0.01)
    for _ in range(30):
        case.run("1 |a x |b y\n-1 |a x |b z\n")
    assert np.abs(case.learner.weights).max() < 100


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"dot_l2": "a"}, "numbers by namespace"),
        ({"dot_l2": "a=1,a=2"}, "twice"),
        ({"dot_l2": "a=-1"}, "0 or more"),
        ({"dot_l2": -1.0}, "0 or more"),
        ({"dot_l2_of": "weights"}, "without --dot-offset"),
        ({"linear_l2": 0.1, "no_dot_linear": True}, "no-dot-linear"),
        ({"dot_l2_power": -1.0}, "dot-l2-power"),
    ],
)
def test_what_cannot_be_is_refused(options, what):
    with pytest.raises(UsageError, match=what):
        DyadicConfig(**options)
