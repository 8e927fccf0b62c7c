"""``RandomFeatures``: the features of the command, for tables, and kernels of scikit-learn beside them."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from oracle.random_features import features as twin
from scipy.sparse import csr_matrix
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import UsageError
from vwlite.features.config import KERNELS
from vwlite.sklearn import RandomFeatures

RANDOM = np.random.RandomState(2)
X = (RANDOM.randn(80, 10) / 4).astype(np.float32)
RINGS = RANDOM.uniform(-1, 1, (600, 2))
INSIDE = (RINGS**2).sum(axis=1) < 0.6


@parametrize_with_checks([RandomFeatures(n_components=64), RandomFeatures("poly3", n_components=64, fold=64)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_are_those_of_the_twin(kernel):
    made = RandomFeatures(kernel, n_components=100, fold=64).fit(X)
    actual = made.transform(X[:3])
    assert (actual.shape, actual.dtype) == ((3, 128), np.float32)
    seed = int(np.random.RandomState(0).randint(2**31))
    for row, numbers in zip(X, actual, strict=False):
        terms = list(enumerate(row.tolist()))
        expected = twin(terms, kernel, 128, gamma=made.gamma_ or 1, fold=64, seed=seed)
        assert numbers.tolist() == pytest.approx(expected.tolist(), abs=2e-3 if kernel == "laplace" else 0)


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        ("rbf", rbf_kernel(X, gamma=0.5)),
        ("laplace", laplacian_kernel(X, gamma=0.5)),
        ("poly2", polynomial_kernel(X, degree=2, gamma=1, coef0=0)),
        ("poly3", polynomial_kernel(X, degree=3, gamma=1, coef0=0)),
    ],
)
def test_dot_products_are_about_those_of_the_kernel(kernel, wanted):
    gamma = 0.5 if kernel in ("rbf", "laplace") else None
    z = RandomFeatures(kernel, n_components=4096, gamma=gamma).fit_transform(X).astype(np.float64)
    assert np.abs(z @ z.T - wanted).mean() < 1.1 / 64


def test_a_linear_classifier_learns_what_a_kernel_machine_does():
    linear = make_pipeline(RandomFeatures(n_components=512), RidgeClassifier(0.01)).fit(RINGS[:400], INSIDE[:400])
    exact = SVC().fit(RINGS[:400], INSIDE[:400]).score(RINGS[400:], INSIDE[400:])
    assert linear.score(RINGS[400:], INSIDE[400:]) > exact - 0.03
    assert RidgeClassifier().fit(RINGS[:400], INSIDE[:400]).score(RINGS[400:], INSIDE[400:]) < 0.7


def test_sparse_tables_rows_of_zeros_and_single_rows():
    made = RandomFeatures(n_components=64).fit(X)
    table = X * (np.abs(X) > 0.2)
    table[3] = 0
    assert made.transform(csr_matrix(table)).tolist() == made.transform(table).tolist()
    assert made.transform(table[5:6]).tolist() == made.transform(table)[5:6].tolist()


def test_gamma_is_found_or_taken():
    assert RandomFeatures().fit(X).gamma_ == pytest.approx(1 / np.median(((X[:40] - X[40:]) ** 2).sum(1)), rel=0.5)
    assert RandomFeatures(gamma=2.5).fit(X).gamma_ == 2.5
    assert RandomFeatures("poly2").fit(X).gamma_ is None


def test_seeds_give_other_features():
    one, other = (RandomFeatures(n_components=64, gamma=1, random_state=seed).fit_transform(X) for seed in (0, 1))
    assert np.abs(one - other).max() > 0.05


def test_wide_tables_are_folded():
    wide = csr_matrix(([1.0, 1.0], ([0, 1], [5, 2**20])), shape=(2, 2**20 + 1))
    z = RandomFeatures(n_components=1024, gamma=0.5).fit_transform(wide)
    assert (z[0] @ z[1]) == pytest.approx(np.exp(-1), abs=0.1)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rfb"},
        {"n_components": 0},
        {"fold": 100},
        {"gamma": -1.0},
        {"kernel": "poly2", "gamma": 1.0},
    ],
)
def test_what_is_refused(options):
    with pytest.raises(UsageError):
        RandomFeatures(**options).fit(X)
