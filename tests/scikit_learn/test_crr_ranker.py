"""``CRRRanker``: scikit-learn's own checks, and the weights that ``vwlite crr`` learns."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import sklearn
from scipy.sparse import csr_matrix
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.group_columns import Queries
from vwlite.sklearn import CRRRanker
from vwlite.storage import model_file

WEIGHTED = "rows are drawn by their weights: other rows, other draws"


def expected_to_fail(estimator):
    return {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTED for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [CRRRanker(steps=30_000), CRRRanker(steps=30_000, alpha=1, rate="constant", learning_rate=0.01)],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


RANDOM = np.random.RandomState(2)
X = RANDOM.randint(-2, 3, (120, 5)) * (RANDOM.rand(120, 5) < 0.7)
QUERY = np.repeat(np.arange(1, 13), 10)
Y = np.clip(X @ [1, -1, 1, 0, 0] + RANDOM.randn(120) + QUERY % 3, 0, 4).round()
WEIGHT = RANDOM.randint(1, 3, 120)


OPTIONS = [  # parameters, the same on the command line
    ({"pairs": "lambda-ndcg", "truncate": 3, "calibrate": True}, "--pairs lambda-ndcg --truncate 3 --calibrate"),
    ({"pairs": "lambda-map", "learning_rate": 0.3, "average": False}, "--pairs lambda-map -l 0.3 --no-average"),
    ({"pairs": "all", "rate": "constant", "alpha": 0.2}, "--pairs all --rate constant --alpha 0.2"),
    ({"l1": 0.01, "pair_loss": "absolute"}, "--l1 0.01 --pair_loss absolute"),
    ({"average": True, "alpha": 0}, "--average --alpha 0"),
]


@pytest.mark.parametrize(("parameters", "typed"), OPTIONS)
def test_parameters_are_the_options_of_the_command(parameters, typed, run_here, tmp_path):
    rows = zip(Y.tolist(), QUERY.tolist(), X.tolist(), strict=True)
    text = "".join(f"{y} |q {q} | {' '.join(f'{j}:{x}' for j, x in enumerate(row) if x)}\n" for y, q, row in rows)
    (tmp_path / "data.vw").write_text(text)
    seed = str(np.random.RandomState(0).randint(2**31))
    how = ["--steps", "2000", "--seed", seed, "--qid", "q", "--ignore", "q", *typed.split()]
    run_here("crr", tmp_path / "data.vw", "-f", tmp_path / "m", "--quiet", *how)
    expected = model_file.load(str(tmp_path / "m"), want=("weights.w",)).arrays["weights.w"]
    qid = Queries(QueryConfig("q"), FeatureConfig()).of(parse_text(text.encode(), TextFormat()))
    actual = CRRRanker(steps=2000, **parameters).fit(X, Y, qid=qid)
    assert np.array_equal(actual.coef_, expected[:5]) and actual.intercept_ == expected[11650396 % 2**18]
    assert actual.coef_.any()


@pytest.mark.parametrize("make", [np.array, csr_matrix])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("qid", [None, QUERY])
def test_weights_are_those_of_the_command(loss, qid, make, run_here, tmp_path):
    y = (Y > 1) * 2 - 1 if loss == "logistic" else Y.astype(int)
    rows = zip(y.tolist(), WEIGHT.tolist(), QUERY.tolist(), X.tolist(), strict=True)
    text = "".join(
        f"{label} {w} |q {q} | {' '.join(f'{j}:{x}' for j, x in enumerate(row) if x)}\n" for label, w, q, row in rows
    )
    (tmp_path / "data.vw").write_text(text)
    options = ["--steps", "5000", "--lambda", "0.01", "--seed", str(np.random.RandomState(0).randint(2**31))]
    by = ["--qid", "none" if qid is None else "q", "--ignore", "q", "--loss_function", loss]
    run_here("crr", tmp_path / "data.vw", "-f", tmp_path / "m", "--quiet", *options, *by)
    expected = model_file.load(str(tmp_path / "m"), want=("weights.w",)).arrays["weights.w"]
    if qid is not None:  # queries are drawn in the order of their numbers
        qid = Queries(QueryConfig("q"), FeatureConfig()).of(parse_text(text.encode(), TextFormat()))
    actual = CRRRanker(loss=loss, steps=5000, penalty=0.01).fit(make(X), y, qid=qid, sample_weight=WEIGHT)
    assert np.array_equal(actual.coef_, expected[:5]) and actual.intercept_ == expected[11650396 % 2**18]
    assert actual.n_queries_ == (1 if qid is None else 12)


def test_ranking_is_scored_by_query():
    ranker = CRRRanker(alpha=0, steps=20_000).fit(X, Y, qid=QUERY)
    assert ranker.score(X, Y, qid=QUERY) > CRRRanker(steps=1).fit(X, -Y, qid=QUERY).score(X, Y, qid=QUERY)
    assert ranker.score(X, Y, qid=[f"query {q}" for q in QUERY]) == pytest.approx(ranker.score(X, Y, qid=QUERY))
    regressor = CRRRanker(alpha=1, steps=20_000).fit(X, Y)
    assert regressor.score(X, Y) > 0.3
    probabilities = CRRRanker(loss="logistic", steps=5000).fit(X, (Y > 1) * 1).predict(X)
    assert 0 < probabilities.min() < probabilities.max() < 1


def test_queries_are_routed_to_fit_and_score():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = CRRRanker(steps=5000).set_fit_request(qid=True).set_score_request(qid=True)
        folds = cross_validate(ranker, X, Y, cv=GroupKFold(3), params={"qid": QUERY, "groups": QUERY})
    assert folds["test_score"].min() > 0.5


def test_parameters_and_queries_are_checked_in_fit():
    with pytest.raises(UsageError, match="--alpha takes a number from 0 to 1"):
        CRRRanker(alpha=2).fit(X, Y)
    with pytest.raises(UsageError, match="combined regression and ranking knows squared, logistic, hinge"):
        CRRRanker(loss="poisson").fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CRRRanker().fit(X, Y, qid=QUERY[1:])
