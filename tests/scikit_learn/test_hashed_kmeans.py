"""``HashedKMeans``: the clusters of ``vwlite cluster`` for rows in memory."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from scipy.sparse import random as random_csr
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import UsageError
from vwlite.sklearn import HashedKMeans

RANDOM = np.random.RandomState(6)
CENTRES = RANDOM.randn(4, 8) * 4
TRUTH = np.arange(160) % 4
X = (CENTRES[TRUTH] + RANDOM.randn(160, 8)).astype(np.float32)
LINES = [
    f"{1 + row % 3 / 2:g} |w " + " ".join(f"w{number}" for number in RANDOM.randint(0, 12, 6) + 12 * (row % 3))
    for row in range(90)
]
SEED = int(np.random.RandomState(0).randint(2**31))  # that random_state 0 draws


@parametrize_with_checks([HashedKMeans(3), HashedKMeans(3, batch_size=20), HashedKMeans(3, spherical=True)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("table", [X, csr_matrix(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("batch_size", [0, 16])
def test_clusters_that_lie_apart_are_found(table, batch_size):
    fitted = HashedKMeans(4, batch_size=batch_size, n_init=3).fit(table)
    assert normalized_mutual_info_score(TRUTH, fitted.labels_) > 0.99
    centres = fitted.cluster_centers_
    assert centres.shape == (4, 8)
    distances = np.sqrt(((X[:, None].astype(np.float64) - centres) ** 2).sum(axis=2))
    np.testing.assert_allclose(fitted.transform(table), distances, rtol=1e-4, atol=1e-3)
    assert fitted.predict(table).tolist() == fitted.labels_.tolist() == distances.argmin(axis=1).tolist()
    assert fitted.inertia_ == pytest.approx((distances.min(axis=1) ** 2).sum(), rel=1e-4)
    assert fitted.score(table) == pytest.approx(-fitted.inertia_)


def test_the_objective_is_that_of_scikit_learn():
    fitted, peer = HashedKMeans(4, n_init=5).fit(X), KMeans(4, n_init=5, random_state=0).fit(X)
    assert fitted.inertia_ == pytest.approx(peer.inertia_, rel=1e-4)


@pytest.mark.parametrize(
    ("parameters", "typed"),
    [
        ({}, ""),
        ({"spherical": True, "weight": "idf", "min_df": 2}, "--spherical --weight idf --min_df 2"),
        ({"batch_size": 30, "init": "random", "max_iter": 4}, "--batch 30 --seeding random --passes 4"),
        ({"soft": 0.5, "sparse_means": 4.0}, "--soft 0.5 --sparse_means 4"),
        ({"n_init": 2, "trim": 0.1, "bits": 20}, "--restarts 2 --trim 0.1 -b 20"),
    ],
)
def test_numbers_are_those_of_the_command(parameters, typed, run_here, tmp_path):
    (tmp_path / "text.vw").write_text("".join(line + "\n" for line in LINES))
    run_here("cluster", "text.vw", "-k", "3", "--seed", str(SEED), *typed.split(), "-f", "m", "--quiet")
    clusters = [int(line) for line in run_here("predict", "-i", "m", "text.vw").stdout.splitlines()]
    scores = [
        [float(entry.partition(":")[2]) for entry in line.split()]
        for line in run_here("predict", "-i", "m", "text.vw", "--scores").stdout.splitlines()
    ]
    for threads in (None, 2):
        fitted = HashedKMeans(3, n_jobs=threads, **parameters).fit(LINES)
        assert fitted.labels_.tolist() == fitted.predict(LINES).tolist() == clusters
        np.testing.assert_allclose(fitted.transform(LINES) ** 2, scores, rtol=1e-5, atol=1e-6)
        assert pickle.loads(pickle.dumps(fitted)).transform(LINES).tolist() == fitted.transform(LINES).tolist()


def test_rows_are_not_changed():
    table = random_csr(50, 40, 0.2, format="csr", dtype=np.float32, random_state=1)
    before = table.copy()
    for options in ({"spherical": True}, {"value": "log", "weight": "idf", "min_df": 1, "unit": True}):
        HashedKMeans(3, **options).fit(table).predict(table)
    assert (table != before).nnz == 0


def test_shares_are_probabilities():
    fitted = HashedKMeans(4, soft=5.0, n_init=3).fit(X)
    shares = fitted.predict_proba(X)
    expected = np.exp(-(fitted.transform(X).astype(np.float64) ** 2) / 5)
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=1e-4)
    assert shares.argmax(axis=1).tolist() == fitted.labels_.tolist()
    assert not hasattr(HashedKMeans(), "predict_proba")


def test_wrong_parameters_are_refused():
    with pytest.raises(UsageError, match="clusters are more than there are different examples"):
        HashedKMeans(4).fit(np.repeat([[1.0, 0], [0, 1], [1, 1]], 3, axis=0))
    with pytest.raises(UsageError, match="--seeding"):
        HashedKMeans(2, init="far").fit(X)
