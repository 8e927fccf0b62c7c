"""Numbers as labels of ``VWRegressor``: their units do not matter unless they are to be raw."""

import numpy as np
import pytest
from friedman import friedman
from sklearn.base import clone

from vwlite.sklearn import VWRegressor

X, Y = friedman()
Y = Y.astype(np.float32)


@pytest.mark.parametrize("regressor", [VWRegressor(), VWRegressor(loss="absolute", l2=1e-4, shuffle=False)])
def test_the_scale_of_numbers_does_not_matter(regressor):
    plain, large = (clone(regressor).fit(X, Y * np.float32(factor)) for factor in (1, 1024))
    np.testing.assert_array_equal(large.predict(X), plain.predict(X) * np.float32(1024))
    np.testing.assert_array_equal(large.coef_, plain.coef_ * np.float32(1024))
    assert large.intercept_ == plain.intercept_ * 1024


def test_coefficients_are_in_units_of_the_labels():
    fitted = VWRegressor().fit(X, Y)
    np.testing.assert_allclose(X @ fitted.coef_ + fitted.intercept_, fitted.model_.predict(X, raw=True), rtol=1e-4)


def test_raw_numbers_begin_with_their_mean():
    fitted = VWRegressor(label_units="raw").fit(X, Y)
    assert fitted.model_.options["constant"] == pytest.approx(Y.mean())
    assert "label_units" not in fitted.model_.options


@pytest.mark.parametrize("solver", ["ftrl", "coin", "bfgs"])
def test_other_solvers_have_raw_numbers(solver):
    assert "label_units" not in VWRegressor(solver=solver).fit(X, Y).model_.options


def test_several_numbers_have_units_of_their_own():
    several = np.column_stack([Y, -1024 * Y])
    plain, raw = VWRegressor().fit(X, several), VWRegressor(label_units="raw").fit(X, several)
    np.testing.assert_array_equal(plain.predict(X)[:, 1], -1024 * plain.predict(X)[:, 0])
    assert plain.score(X, several) > 0.6 > raw.score(X, several)
