"""Parts of dyadic models that stand while the rest learns (``--freeze``)."""

import numpy as np
import pytest
from oracle.dyadic import full_flow, merged
from oracle.dyadic_case import Case, parse

from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan

LINE = "|a x:0.7 y:-0.4 |b u:0.5 v |c w:0.3"


def filled(loss, freeze, seed=0, **options):
    case = Case(loss, ("ab",), rank=3, learning_rate=0.05, freeze=freeze, **options)
    case.fill(np.random.default_rng(seed), 0.6)
    case.set_range()
    return case


def free(case, row):
    """float64[n], 0 for parameters that stand, in the order of ``Case.parameters``."""
    words = case.plan.config.freeze
    spaces = {slot: name for name, part in zip("ab", row.pairs[0], strict=True) for slot, _ in part}
    constant = row.linear[-1][0]

    def moves(slot):
        stands = "linear" in words or spaces.get(slot, "c") in words or (slot == constant and "Constant" in words)
        return float(not stands)

    parts = [[moves(slot) for slot in merged(row.linear)]]
    for name, side in zip("ab", row.pairs[0], strict=True):
        parts.append([float("latent" not in words and name not in words)] * 3 * len(merged(side)))
    return np.concatenate(parts)


@pytest.mark.parametrize("decay", [0.0, 0.2])
@pytest.mark.parametrize(
    "freeze", [("latent",), ("linear",), ("a",), ("b", "Constant"), ("latent,a",), ("a,b",)], ids=str
)
@pytest.mark.parametrize("loss", ["squared", "logistic", "quantile", "hinge"])
def test_agrees_with_the_full_flow_of_what_is_free(loss, freeze, decay):
    case = filled(loss, freeze, dot_l2=decay)
    row = case.row(LINE)
    mask, old = free(case, row), case.parameters(row)
    flow, x = case.twin().flow(row, 1.0), merged(row.linear)
    weights = case.learner.weights[list(x), 0].astype(float)
    lambdas = np.concatenate([np.zeros(len(x)), np.full(len(mask) - len(x), decay)])
    w, pairs = full_flow(flow, weights, np.array(list(x.values())), 1.5, 400, lambdas, mask)
    case.run(f"1 1.5 {LINE}")
    expected = np.concatenate([w, *(part.ravel() for pair in pairs for part in pair)])
    now = case.parameters(row)
    reached = loss in ("hinge", "quantile") and abs(case.predict(LINE)[0] - 1) < 1e-5
    np.testing.assert_allclose(now, expected, rtol=3e-6, atol=5e-5 if reached else 3e-6)
    assert np.array_equal(now[mask == 0], old[mask == 0]) and not np.array_equal(now[mask == 1], old[mask == 1])


def test_vectors_that_stand_are_as_a_base():
    lines = ["|a x |b u |c w", "|a y |b u |c z", "|a x |b v"]
    frozen, plain = filled("squared", ("latent",)), Case("squared", ("pq",), rank=3, learning_rate=0.05)
    plain.learner.weights[:] = frozen.learner.weights
    plain.set_range()
    for text in lines * 5:
        row = frozen.row(text)
        base = float(frozen.twin().flow(row, 0.0).terms[0].dot(0.0))
        frozen.run(f"3 {text}")
        plain.run(f"3 1 {base:.9g} {text}")
    np.testing.assert_allclose(frozen.learner.weights, plain.learner.weights, rtol=2e-5, atol=2e-6)


def test_predictions_do_not_depend_on_what_stands():
    assert filled("squared", ("latent", "c")).predict(LINE)[0] == filled("squared", ()).predict(LINE)[0]


def test_full_names():
    case = Case("squared", ("user,item",), rank=2, freeze=("user", "more"))
    text = "|user x |item y |more z |u q"
    case.fill(np.random.default_rng(0))
    row = case.row(text)
    before = case.parameters(row)
    case.run(f"5 {text}")
    moved = case.parameters(row) != before
    assert moved.tolist() == [False, True, False, True, True, False, False, True, True]


def test_no_dot_linear_with_full_names():
    case = Case("squared", ("user,item",), rank=2, no_dot_linear=True)
    text = "|user x |item y |unit z"
    case.fill(np.random.default_rng(0))
    slots = [parse_slot(case, one) for one in ("|user x", "|item y", "|unit z")]
    before = case.learner.weights[slots, 0].copy()
    assert case.predict(text)[0] == pytest.approx(case.twin().predict(case.row(text)), rel=1e-5)
    case.run(f"50 {text}")
    assert (case.learner.weights[slots, 0] != before).tolist() == [False, False, True]


def parse_slot(case, text):
    return int(parse(text).feature_hash[0]) & case.mask


@pytest.mark.parametrize(
    ("freeze", "options", "what"),
    [
        (("latent",), {"dotproduct": ()}, "need --dotproduct"),
        (("latent,linear",), {}, "nothing to learn"),
        (("latent", "linear"), {}, "nothing to learn"),
        (("latent,none",), {}, "nothing is frozen any more"),
        (("latent,",), {}, "empty"),
        (("user",), {}, "letter"),
    ],
)
def test_what_cannot_be_is_refused(freeze, options, what):
    with pytest.raises(UsageError, match=what):
        Plan(FeatureConfig(**{"dotproduct": ("ui",), "freeze": freeze, **options}))


def test_none_ends_it():
    assert FeatureConfig(dotproduct=("ui",), freeze=("none",)).freeze == ()
