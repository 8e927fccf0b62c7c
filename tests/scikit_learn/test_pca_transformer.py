"""``PCATransformer``: what ``vwlite pca`` and ``project`` do, for rows in memory."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from scipy.sparse import random as random_csr
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import DataError, UsageError
from vwlite.sklearn import PCATransformer, TextHasher

RANDOM = np.random.RandomState(4)
X = (RANDOM.randn(200, 3) @ RANDOM.randn(3, 30) + 0.1 * RANDOM.randn(200, 30)).astype(np.float32)
WORDS = [[f"w{word}" for word in RANDOM.zipf(1.5, 12) if word < 60] for _ in range(120)]
LINES = [f"{row % 2} |words {' '.join(words)}" for row, words in enumerate(WORDS)]
SEED = int(np.random.RandomState(0).randint(2**31))  # that random_state 0 draws


@parametrize_with_checks([PCATransformer(2), PCATransformer(2, center=True, unit=True)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("table", [X, csr_matrix(X)], ids=["dense", "sparse"])
def test_components_are_the_exact_ones(table):
    made = PCATransformer(3, passes=6).fit(table)
    _, values, vectors = np.linalg.svd(X.astype(np.float64))
    np.testing.assert_allclose(made.singular_values_, values[:3], rtol=1e-5)
    np.testing.assert_allclose(np.abs((made.components_ * vectors[:3]).sum(axis=1)), 1, atol=1e-5)
    np.testing.assert_allclose(made.transform(table), X @ made.components_.T, atol=1e-4)
    np.testing.assert_allclose(made.explained_variance_ratio_, values[:3] ** 2 / (values**2).sum(), rtol=1e-4)
    assert made.components_.shape == (3, 30) and made.transform(table).dtype == np.float32


def test_centred_components_are_those_of_scikit_learn():
    made, exact = PCATransformer(3, center=True, passes=6).fit(X + 2), PCA(3).fit(X + 2)
    np.testing.assert_allclose(made.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-3)
    np.testing.assert_allclose(np.abs(made.transform(X + 2)), np.abs(exact.transform(X + 2)), atol=2e-2)


@pytest.mark.parametrize(
    ("parameters", "typed"),
    [
        ({}, ""),
        ({"value": "log", "weight": "idf", "unit": True, "min_df": 2}, "--value log --weight idf --unit --min_df 2"),
        ({"center": True, "scale": "left", "bits": 20, "passes": 2}, "--center -b 20 --passes 2"),
    ],
)
def test_numbers_are_those_of_the_command(parameters, typed, run_here, tmp_path):
    (tmp_path / "text.vw").write_text("".join(line + "\n" for line in LINES))
    run_here("pca", "text.vw", "--dim", "3", "--seed", str(SEED), *typed.split(), "-f", "m", "--quiet")
    scale = ("--scale", "left") if "scale" in parameters else ()
    shown = [line.split("|pca ")[1] for line in run_here("project", "-i", "m", "text.vw", *scale).stdout.splitlines()]
    expected = [[float(entry.partition(":")[2]) for entry in line.split()] for line in shown]
    for threads in (None, 2):
        made = PCATransformer(3, n_jobs=threads, **parameters).fit(LINES)
        np.testing.assert_allclose(made.transform(LINES), expected, rtol=2e-6, atol=1e-9)
        assert pickle.loads(pickle.dumps(made)).transform(LINES).tolist() == made.transform(LINES).tolist()


def test_rows_of_every_kind_and_their_refusals():
    dicts = [{"words": {word: words.count(word) for word in words}} for words in WORDS]
    lines, counts = PCATransformer(3).fit(LINES), PCATransformer(3).fit(dicts)
    np.testing.assert_allclose(counts.singular_values_, lines.singular_values_, rtol=1e-5)
    assert lines.components_.shape == (3, len(lines.slots_))
    with pytest.raises(ValueError, match="a table of numbers, and was lines"):
        lines.transform(X)
    with pytest.raises(DataError, match="row 1"):
        lines.transform(["|a b", "no bar"])
    with pytest.raises(UsageError, match="--dim 31 is more than there is"):
        PCATransformer(31).fit(X)
    with pytest.raises(UsageError, match="bits=4 would have 30 columns share slots: bits=18"):
        PCATransformer(2, bits=4).fit(X)
    with pytest.raises(ValueError, match="scale is 'none' or 'left'"):
        PCATransformer(2, scale="right").fit(X)


def test_rows_that_are_all_the_same_have_no_component():
    made = PCATransformer(1, center=True).fit(np.ones((5, 3)))
    assert made.explained_variance_ratio_ == made.singular_values_ == 0
    assert (made.transform(np.ones((2, 3))) == 0).all()


def test_rows_are_not_changed():
    table = random_csr(50, 40, 0.2, format="csr", dtype=np.float32, random_state=1)
    before = table.copy()
    PCATransformer(2, value="log", weight="idf", min_df=1, unit=True).fit(table).transform(table)
    assert (table != before).nnz == 0


def test_it_stands_in_pipelines():
    labels = ["ab"[len(words) % 2] for words in WORDS]
    texts = [" ".join(words + ["odd"] * (label == "b")) for words, label in zip(WORDS, labels, strict=True)]
    for first in (CountVectorizer(), TextHasher(bits=16)):
        rows = texts if isinstance(first, CountVectorizer) else ["|w " + text for text in texts]
        model = make_pipeline(first, PCATransformer(10, unit=True), LogisticRegression(C=100)).fit(rows, labels)
        assert model.score(rows, labels) > 0.8
