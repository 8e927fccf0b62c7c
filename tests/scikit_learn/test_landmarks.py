"""``Landmarks``: kernels with some rows, beside those of scikit-learn."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from oracle.landmarks import features as twin
from scipy.sparse import csr_matrix
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import DataError, UsageError
from vwlite.features.landmarks import chosen_rows
from vwlite.sklearn import Landmarks

RANDOM = np.random.RandomState(2)
X = (RANDOM.randn(80, 10) / 2).astype(np.float32)
RINGS = RANDOM.uniform(-1, 1, (600, 2))
INSIDE = (RINGS**2).sum(axis=1) < 0.6
CHOSEN = X[chosen_rows(80, 12, int(np.random.RandomState(0).randint(2**31)))]
KERNELS = {
    "linear": linear_kernel,
    "cosine": cosine_similarity,
    "rbf": lambda a, b: rbf_kernel(a, b, gamma=0.3),
    "poly2": lambda a, b: polynomial_kernel(a, b, degree=2, gamma=1),
    "poly3": lambda a, b: polynomial_kernel(a, b, degree=3, gamma=1),
}


@parametrize_with_checks([Landmarks(n_components=16), Landmarks("poly2", n_components=16, whiten=False)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_are_kernels_with_the_rows_chosen(kernel):
    gamma = 0.3 if kernel == "rbf" else None
    made = Landmarks(kernel, n_components=12, gamma=gamma, whiten=False).fit(X)
    actual = made.transform(X)
    assert (actual.shape, actual.dtype) == ((80, 12), np.float32)
    np.testing.assert_allclose(actual, KERNELS[kernel](X, CHOSEN), rtol=1e-4, atol=1e-5)
    assert made.transform(csr_matrix(X)).tolist() == actual.tolist()
    assert pickle.loads(pickle.dumps(made)).transform(X).tolist() == actual.tolist()


def test_whitened_features_are_those_of_the_twin_and_of_nystroem():
    made = Landmarks(n_components=12, gamma=0.3).fit(X)
    actual = made.transform(X)
    rows = [dict(enumerate(row.tolist())) for row in CHOSEN]
    np.testing.assert_allclose(
        actual[7], twin("rbf", dict(enumerate(X[7].tolist())), rows, 0.3, whiten=True), atol=1e-3
    )
    exact = KERNELS["rbf"](X, CHOSEN) @ np.linalg.inv(KERNELS["rbf"](CHOSEN, CHOSEN)) @ KERNELS["rbf"](CHOSEN, X)
    np.testing.assert_allclose(actual @ actual.T, exact, atol=1e-3)
    peer = Nystroem(gamma=0.3, n_components=12, random_state=0).fit(X).transform(X)
    errors = [np.abs(z @ z.T - KERNELS["rbf"](X, X)).mean() for z in (actual, peer)]
    assert errors[0] < 1.3 * errors[1]


def test_a_linear_classifier_learns_what_a_kernel_machine_does():
    model = make_pipeline(Landmarks(n_components=60), RidgeClassifier(0.01)).fit(RINGS[:400], INSIDE[:400])
    assert model.score(RINGS[400:], INSIDE[400:]) > 0.97


def test_fewer_rows_nearest_and_gamma():
    few = Landmarks(n_components=500).fit(X)
    assert few.transform(X).shape == (80, 80) and few.get_feature_names_out()[0] == "landmarks0"
    nearest = Landmarks(n_components=20, nearest=3, whiten=False).fit(X).transform(X)
    assert (nearest.sum(axis=1) == 3).all() and set(np.unique(nearest)) == {0, 1}
    assert few.gamma_ == pytest.approx(1 / np.median(((X[:40] - X[40:]) ** 2).sum(1)), rel=0.5)
    assert Landmarks("linear").fit(X).gamma_ is None


def test_what_is_refused():
    for options in ({"kernel": "rfb"}, {"kernel": "poly2", "gamma": 1.0}, {"gamma": -1.0}):
        with pytest.raises(UsageError):
            Landmarks(**options).fit(X)
    with pytest.raises(ValueError, match="n_components is 1 or more, not 0"):
        Landmarks(n_components=0).fit(X)
    with pytest.raises(DataError, match="no landmark"):
        Landmarks().fit(np.zeros((3, 2)))
