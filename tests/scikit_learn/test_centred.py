"""``centred`` of ``VWClassifier`` and ``VWRegressor``: offsets of columns do not matter."""

import pickle

import numpy as np
import pytest
from friedman import friedman
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from vwlite.sklearn import VWClassifier, VWRegressor

X, Y = friedman()


def test_raw_measures_are_learned():
    data = load_breast_cancer()
    learned, test, labels, answers = train_test_split(data.data, data.target, random_state=0)
    plain, centred = (VWClassifier(centred=one).fit(learned, labels).score(test, answers) for one in (False, True))
    assert centred > 0.96 > plain


@pytest.mark.parametrize("more", [{}, {"namespaces": {"a": [0, 3], "more": [4]}}, {"solver": "coin"}])
def test_coefficients_predict(more):
    fitted = VWRegressor(centred=True, **more).fit(X + 100, Y)
    raw = fitted.model_.predict(fitted._rows(X + 100), raw=True)
    np.testing.assert_allclose((X + 100) @ fitted.coef_ + fitted.intercept_, raw, rtol=1e-3)
    far = VWRegressor(centred=True, **more).fit(X + 1000, Y)
    assert np.abs(far.predict(X + 1000) - fitted.predict(X + 100)).max() < 0.05 * Y.std()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X + 100), fitted.predict(X + 100))


def test_it_does_not_go_with_bfgs():
    with pytest.raises(ValueError, match="centred does not go with solver bfgs"):
        VWRegressor(centred=True, solver="bfgs").fit(X, Y)
