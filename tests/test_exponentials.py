"""The twin of the kernels' exp and log against the library's; that kernels are the twin's, tests of losses show."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import exponentials


@given(st.floats(-700, 700))
def test_exp_is_good_to_a_billionth(x):
    assert math.isclose(exponentials.exp(x), math.exp(x), rel_tol=1e-9)


@given(st.floats(11 / 16, 1e300))
def test_log_is_good_to_a_hundred_billionth(x):
    assert math.isclose(exponentials.log(x), math.log(x), rel_tol=1e-11, abs_tol=5e-11)


@given(st.floats(0, 1 / 64))
def test_log_of_numbers_just_above_one_loses_nothing(x):
    assert math.isclose(exponentials.log(1 + x), math.log(1 + x), rel_tol=1e-11)


@given(st.floats(width=32))
def test_exp_of_any_float(x):
    with np.errstate(over="ignore"):
        wanted = np.exp(np.float64(x)).astype(np.float32)
    found = exponentials.expf(np.float32(x))
    np.testing.assert_allclose(found, wanted, rtol=1.3e-7, atol=2e-45)
