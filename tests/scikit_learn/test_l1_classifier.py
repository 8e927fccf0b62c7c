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
    L1Classifier(solver="sgd"),
    L1Classifier(C=0.1, solver="fista"),
    L1Classifier(solver="sgd", penalty="clipping", rate="harmonic", shuffle=False, C=0.1),
]
CONSTANT = 11650396


def expected_to_fail(estimator):
    if estimator.solver != "sgd":
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


SOLVERS = {
    "--solver sgd": {"solver": "sgd"},
    "--solver sgd --penalty clipping --no-shuffle": {"solver": "sgd", "penalty": "clipping", "shuffle": False},
    "--solver owlqn --passes 40": {"solver": "owlqn", "passes": 40},
    "--solver owlqn --warm_passes 3 --passes 4": {"solver": "owlqn", "warm_passes": 3, "passes": 4},
    "--solver fista": {"solver": "fista"},
    "--solver sgd --group": {"solver": "sgd", "group": True},
    "--solver fista --group": {"solver": "fista", "group": True},
    "--solver fista --trace 2 --dense-pairs": {"solver": "fista", "trace": 2.0},
}
OF_ROWS_AND_DIRECTIONS = ("group", "trace")


@pytest.mark.parametrize("make", [np.array, csr_matrix])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("y", [Y2, Y3], ids=["two", "three"])
def test_weights_are_those_of_the_command(y, solver, make, run_here, tmp_path):
    binary, parameters = y is Y2, SOLVERS[solver]
    if binary and {*parameters} & {*OF_ROWS_AND_DIRECTIONS}:
        pytest.skip("of several weights a feature")
    numbers = np.where(y == "yes", 1, -1) if binary else y
    rows = zip(numbers.tolist(), WEIGHT.tolist(), X.tolist(), strict=True)
    text = (f"{label} {w} | {' '.join(f'{j}:{v}' for j, v in enumerate(row) if v)}\n" for label, w, row in rows)
    (tmp_path / "data.vw").write_text("".join(text))
    shuffled = parameters["solver"] == "sgd" and "shuffle" not in parameters
    seed = ["--seed", str(np.random.RandomState(0).randint(2**31))] if shuffled else []
    model = ["--model", "binary" if binary else "multinomial", *([] if "trace" in parameters else ["--l1", "0.7"])]
    run_here("l1", tmp_path / "data.vw", "-f", tmp_path / "m", "--quiet", *model, *solver.split(), *seed)
    loaded = model_file.load(str(tmp_path / "m"))
    actual = L1Classifier(**({} if "trace" in parameters else {"C": 0.7}), **parameters)
    actual.fit(make(X.astype(np.float64)), y, sample_weight=WEIGHT)
    order = lambda hashes: np.where(hashes == CONSTANT % (2**18 if binary else 2**32), 12, hashes)  # noqa: E731
    expected = np.zeros((1 if binary else 3, 13))
    if binary:
        expected[0, order(loaded.slots)] = loaded.weights
    else:
        names, state = np.array(loaded.pairs.names).astype(int), loaded.pairs.state
        expected[names[state.label], order(state.features[state.feature])] = loaded.weights
    assert np.allclose(np.column_stack([actual.coef_, actual.intercept_]), expected, rtol=1e-9, atol=1e-12)
    rounding = 1e-7 if "trace" in parameters else 1e-12  # of singular values, by the order of features
    assert actual.n_iter_ == loaded.past.passes
    assert actual.objective_ == pytest.approx(loaded.past.objective, rel=rounding)


def test_the_optimum_is_that_of_another_solver():
    actual = L1Classifier(C=2, solver="owlqn", tolerance=1e-12).fit(X, Y2)
    with_constant = np.column_stack([X, np.ones(90)])  # penalised too
    penalty = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1}  # up to 1.7, from 1.8
    other = LogisticRegression(C=0.5, **penalty, solver="liblinear", fit_intercept=False, tol=1e-10)
    other.fit(with_constant, Y2)
    assert np.allclose(np.append(actual.coef_, actual.intercept_), other.coef_[0], atol=1e-4)


def test_a_penalty_leaves_few_weights_which_may_be_kept_sparse():
    actual = L1Classifier(C=5, solver="owlqn").fit(X, Y3)
    assert 0 < np.count_nonzero(actual.coef_) < actual.coef_.size / 2
    dense = actual.predict_proba(X)
    assert issparse(actual.sparsify().coef_) and np.allclose(actual.predict_proba(csr_matrix(X)), dense)
    assert np.allclose(dense.sum(axis=1), 1) and np.mean(actual.predict(X) == Y3) > 0.7


def test_rows_vanish_and_directions_are_few():
    rows = L1Classifier(C=6, solver="fista", group=True).fit(X, Y3).coef_ != 0
    assert (rows.any(axis=0) == rows.all(axis=0)).all() and 0 < rows.any(axis=0).sum() < 12
    few = L1Classifier(solver="fista", trace=20, tolerance=1e-6).fit(X, Y3)
    singular = np.linalg.svd(np.column_stack([few.coef_, few.intercept_]), compute_uv=False)
    assert np.count_nonzero(singular > 1e-6 * singular[0]) == 1 and np.mean(few.predict(X) == Y3) > 0.7


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"warm_passes": 3, "solver": "fista"}, Y2, "--warm_passes does nothing without --solver owlqn"),
        ({"group": True, "solver": "fista"}, Y2, "it needs --model multinomial, crf or tree"),
        ({"group": True}, Y3, "--group needs --solver fista or sgd"),
        ({"trace": 1.0, "solver": "fista"}, Y2, "it needs --model multinomial"),
        ({"trace": 1.0}, Y3, "--trace needs --solver fista"),
        ({"trace": 1.0, "C": 2.0, "solver": "fista"}, Y3, "--trace is a penalty of its own: drop --l1"),
        ({"trace": -1.0, "solver": "fista"}, Y3, "--trace takes a number of 0 or more, not -1"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(parameters, y, message):
    with pytest.raises(UsageError) as raised:
        L1Classifier(**parameters).fit(X, y)
    assert message in str(raised.value)


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
