"""The dyadic update where numbers are at their largest, smallest and most alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.dyadic_case import LOSSES, Case
from oracle.dyadic_updates import check_against_twin, check_invariance, updates

from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig

FEATURES = "|a x |b y"


def pair(loss, a, b, **options):
    """A model that is nothing but one a.b, both vectors given."""
    case = Case(loss, rank=len(a), noconstant=True, no_dot_linear=True, **{"learning_rate": 1.0, **options})
    case.set_range()
    for table, vector in zip(case.learner.latent[0], (a, b), strict=True):
        table[:, : len(a)], table[:, len(a)] = vector, 1
    return case


def vectors(case):
    row = case.row(FEATURES)
    return case.parameters(row)


@pytest.mark.parametrize(("loss", "labels"), [("logistic", (-1, 1)), ("poisson", (0,)), ("poisson", (1, 4))])
@settings(max_examples=30)
@given(data=st.data())
def test_the_flow_is_followed_to_its_end(loss, labels, data):
    """Also where the loss is flat nowhere, and the slope only shrinks."""
    check_against_twin(data.draw(updates(loss, labels=labels)))


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=20)
@given(data=st.data())
def test_no_update_without_decay_hits_a_limit(loss, data):
    update = data.draw(updates(loss, importances=(-6, 2)))
    update.learn()
    update.learn()
    assert update.case.learner.get("unbounded") == 0


@settings(max_examples=20)
@given(data=st.data())
def test_two_importances_equal_their_sum_for_poisson(data):
    check_invariance(data, "poisson")


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
@settings(max_examples=30)
@given(data=st.data())
def test_two_importances_equal_their_sum_with_any_decay(loss, data):
    check_invariance(data, loss, (0.01, 0.3))


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@settings(max_examples=15)
@given(data=st.data())
def test_stiff_flows_with_decay(loss, data):
    """Far more than an explicit integration can go in a bounded number of steps."""
    ranges = {"rates": (-1, 0), "importances": (0, 1), "values": (-1, 0.5), "linear": True}
    for update in check_invariance(data, loss, (0.01, 0.03), **ranges):
        assert update.case.learner.get("unbounded") == 0


@pytest.mark.parametrize("importance", [1e2, 1e4, 1e6])
@pytest.mark.parametrize(("loss", "label"), [("hinge", 1), ("quantile", 5)])
def test_small_vectors_reach_the_label(loss, label, importance):
    """p is flat where it starts and steep where it ends."""
    case = pair(loss, [0.01], [0.01], learning_rate=100.0)
    case.run(f"{label} {importance} {FEATURES}")
    assert case.predict(FEATURES)[0] == pytest.approx(label, rel=1e-6)
    assert case.learner.get("unbounded") == 0


@pytest.mark.parametrize("importance", [1.0, 10.0, 40.0, 1e3, 1e6])
@pytest.mark.parametrize(("loss", "label"), [("hinge", -1), ("quantile", -3), ("squared", -3), ("logistic", -1)])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_equal_vectors_cannot_make_a_negative_prediction(loss, label, importance, decay):
    """a(s) = a e^-s never changes its sign: the prediction falls towards 0 and no further."""
    case = pair(loss, [0.3, 0.7], [0.3, 0.7], dot_l2=decay)
    case.run(f"{label} {importance} {FEATURES}")
    a, b = vectors(case).reshape(2, 2)
    assert np.array_equal(a, b)
    assert 0 <= a[0] < 0.3
    assert 0 <= case.predict(FEATURES)[0] < 0.25
    half, other = pair(loss, [0.3, 0.7], [0.3, 0.7], dot_l2=decay), importance / 2
    half.run(f"{label} {other} {FEATURES}\n{label} {other} {FEATURES}")
    np.testing.assert_allclose(vectors(half), vectors(case), rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize(("loss", "label"), [("hinge", -1), ("quantile", -3), ("squared", -3)])
@pytest.mark.parametrize("importance", [1e3, 1e6])
def test_almost_equal_vectors_change_sign_in_the_end(loss, label, importance):
    case = pair(loss, [0.3, 0.7], [0.3000001, 0.7])
    case.run(f"{label} {importance} {FEATURES}")
    assert case.predict(FEATURES)[0] == pytest.approx(label, rel=1e-6)


@settings(max_examples=40)
@given(
    x=st.sampled_from((0.1, 0.3, 0.7, 3, 5, 7, 11, 13)),
    z=st.sampled_from((0.1, 0.3, 0.7, 3, 5, 7, 11, 13)),
    percent=st.integers(1, 200),
    importance=st.sampled_from((30, 60, 100, 300, 1000)),
)
def test_parallel_vectors_never_grow_on_their_way_to_zero(x, z, percent, importance):
    weight = float(np.float32(percent / 100))
    case = pair("quantile", [weight], [weight])
    features = f"|a x:{x} |b y:{z}"
    case.run(f"0 {importance} {features}")
    assert (np.abs(case.parameters(case.row(features))) <= weight).all()


@pytest.mark.parametrize("options", [{"dot_offset": float("nan")}, {"dot_offset": float("inf")}])
def test_an_offset_is_a_number(options):
    with pytest.raises(UsageError):
        DyadicConfig(**options)


def test_power_t_needs_a_start_time():
    with pytest.raises(UsageError):
        DyadicConfig(power_t=0.5, initial_t=0.0)
