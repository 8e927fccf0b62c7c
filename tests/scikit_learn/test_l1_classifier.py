"""``L1Classifier``: scikit-learn's own checks, and the weights that ``vwlite l1`` learns."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix, issparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import UsageError
from vwlite.sklearn import L1Classifier
from vwlite.solvers.loglinear import model_file

WEIGHTED = "a row of weight 2 is one step of twice the weight, not two steps"
CHECKED = [
    L1Classifier(),
    L1Classifier(C=0.1, passes=200),
    L1Classifier(solver="sgd"),
    L1Classifier(solver="sgd", penalty="clipping", rate="harmonic", shuffle=False, C=0.1),
]
CONSTANT = 11650396


def expected_to_fail(estimator):
    if estimator.solver == "owlqn":
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTED for kind in ("dense", "sparse")}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_to_fail)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


RANDOM = np.random.RandomState(5)
X = RANDOM.randint(-2, 3, (90, 12)) * (RANDOM.rand(90, 12) < 0.5)
TRUTH = X @ np.array([2, -2, 1, *[0] * 9]) + RANDOM.randn(90) / 2
Y2, Y3 = np.where(TRUTH > 0, "yes", "no"), np.digitize(TRUTH, [-1, 1])
WEIGHT = RANDOM.randint(1, 4, 90)


SOLVERS = (["sgd"], ["sgd", "--penalty", "clipping", "--no-shuffle"], ["owlqn", "--passes", "40"])


@pytest.mark.parametrize("make", [np.array, csr_matrix])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("y", [Y2, Y3], ids=["two", "three"])
def test_weights_are_those_of_the_command(y, solver, make, run_cli, tmp_path):
    binary = y is Y2
    numbers = np.where(y == "yes", 1, -1) if binary else y
    rows = zip(numbers.tolist(), WEIGHT.tolist(), X.tolist(), strict=True)
    text = (f"{label} {w} | {' '.join(f'{j}:{v}' for j, v in enumerate(row) if v)}\n" for label, w, row in rows)
    (tmp_path / "data.vw").write_text("".join(text))
    seed = ["--seed", str(np.random.RandomState(0).randint(2**31))] if solver == ["sgd"] else []
    model = ["--model", "binary" if binary else "multinomial", "--l1", "0.7"]
    run_cli("l1", tmp_path / "data.vw", "-f", tmp_path / "m", "--quiet", *model, "--solver", *solver, *seed)
    loaded = model_file.load(str(tmp_path / "m"))
    options = {"penalty": "clipping", "shuffle": False} if "--no-shuffle" in solver else {}
    found = L1Classifier(C=0.7, solver=solver[0], passes=40 if "owlqn" in solver else None, **options)
    found.fit(make(X.astype(np.float64)), y, sample_weight=WEIGHT)
    order = lambda hashes: np.where(hashes == CONSTANT % (2**18 if binary else 2**32), 12, hashes)  # noqa: E731
    wanted = np.zeros((1 if binary else 3, 13))
    if binary:
        wanted[0, order(loaded.slots)] = loaded.weights
    else:
        names, state = np.array(loaded.pairs.names).astype(int), loaded.pairs.state
        wanted[names[state.label], order(state.features[state.feature])] = loaded.weights
    assert np.allclose(np.column_stack([found.coef_, found.intercept_]), wanted, rtol=1e-9, atol=1e-12)
    assert found.n_iter_ == loaded.past.passes and found.objective_ == pytest.approx(loaded.past.objective, rel=1e-12)


def test_the_optimum_is_that_of_another_solver():
    found = L1Classifier(C=2, solver="owlqn", tolerance=1e-12).fit(X, Y2)
    with_constant = np.column_stack([X, np.ones(90)])  # penalised too
    penalty = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1}  # up to 1.7, from 1.8
    other = LogisticRegression(C=0.5, **penalty, solver="liblinear", fit_intercept=False, tol=1e-10)
    other.fit(with_constant, Y2)
    assert np.allclose(np.append(found.coef_, found.intercept_), other.coef_[0], atol=1e-4)


def test_a_penalty_leaves_few_weights_which_may_be_kept_sparse():
    found = L1Classifier(C=5, solver="owlqn").fit(X, Y3)
    assert 0 < np.count_nonzero(found.coef_) < found.coef_.size / 2
    dense = found.predict_proba(X)
    assert issparse(found.sparsify().coef_) and np.allclose(found.predict_proba(csr_matrix(X)), dense)
    assert np.allclose(dense.sum(axis=1), 1) and np.mean(found.predict(X) == Y3) > 0.7


def test_parameters_are_checked_in_fit():
    with pytest.raises(UsageError, match="--penalty: 'lasso' is not one of"):
        L1Classifier(penalty="lasso").fit(X, Y2)
    with pytest.raises(ValueError, match="two classes or more"):
        L1Classifier().fit(X, np.zeros(90))


@pytest.mark.parametrize("solver", ["sgd", "owlqn"])
def test_weights_of_classes_are_relative_to_the_penalty(solver):
    plain = L1Classifier(solver=solver, C=0.5).fit(X, Y2)
    heavy = L1Classifier(solver=solver, C=2000, class_weight={"yes": 4000, "no": 4000}).fit(X, Y2)
    assert np.allclose(heavy.coef_, plain.coef_, atol=1e-4)
    assert heavy.objective_ == pytest.approx(4000 * plain.objective_, rel=1e-5)
