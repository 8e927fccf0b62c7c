"""The kernels' exp and log against their twin, bit by bit, and the twin against the library's."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import exponentials
from oracle.curved_losses import lambert_rest

from vwlite._native import testing


def test_kernels_are_the_twin_in_every_stretch_of_their_tables():
    grid = [x for k in range(-2000, 2001) for x in (k / 64 * math.log(2), math.nextafter(k / 64 * math.log(2), 1000))]
    assert [testing.exp(x) for x in grid] == [exponentials.exp(x) for x in grid]
    edges = [m / 64 * 2.0**e for m in range(44, 88) for e in (0, 1, 7, 100)]
    grid = [x for edge in edges for x in (edge, edge * (1 + 1e-15), edge * 1.003, math.nextafter(edge * 2, 0))]
    assert [testing.log(x) for x in grid] == [exponentials.log(x) for x in grid]
    grid = [np.float32(x / 8) for x in range(-800, 2000)]
    assert [testing.lambert_excess(x) for x in grid] == [lambert_rest(x) for x in grid]


@given(st.floats(-700, 700))
def test_exp_is_good_to_a_billionth(x):
    assert math.isclose(exponentials.exp(x), math.exp(x), rel_tol=1e-9)


@given(st.floats(11 / 16, 1e300))
def test_log_is_good_to_a_hundred_billionth(x):
    assert math.isclose(exponentials.log(x), math.log(x), rel_tol=3e-11, abs_tol=2e-12)


@given(st.floats(0, 1 / 64))
def test_log_of_numbers_just_above_one_loses_nothing(x):
    assert math.isclose(exponentials.log(1 + x), math.log(1 + x), rel_tol=1e-11)


@given(st.floats(width=32))
def test_exp_of_any_float(x):
    with np.errstate(over="ignore"):
        expected = np.exp(np.float64(x)).astype(np.float32)
    actual = exponentials.expf(np.float32(x))
    np.testing.assert_allclose(actual, expected, rtol=1.3e-7, atol=2e-45)
