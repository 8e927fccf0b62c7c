"""``VWClassifier`` and ``VWRegressor``: scikit-learn's own checks, and the models that the command line makes."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import UsageError
from vwlite.sklearn import TextHasher, VWClassifier, VWRegressor

WEIGHTED = "a row of weight 2 is one step of twice the importance, not two steps; rows left out change the order drawn"
CHECKED = [
    VWClassifier(),
    VWClassifier(loss="hinge", solver="ftrl", multiclass="oaa", interactions=["::"]),
    VWClassifier(solver="coin", multiclass="oaa", early_stopping=True),
    VWRegressor(),
    VWRegressor(loss="quantile", early_stopping=True, centre=False, learning_rate=2),
    VWRegressor(solver="bfgs", passes=20),
    VWClassifier(solver="bfgs", passes=20),
]


def expected_to_fail(estimator):
    """As scikit-learn lists them for SGDClassifier and SGDRegressor."""
    kinds = () if estimator.solver == "bfgs" else ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTED for kind in kinds}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_to_fail)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


RANDOM = np.random.RandomState(3)
X = RANDOM.randint(-4, 5, (80, 6)).astype(np.float32) * (RANDOM.rand(80, 6) < 0.6)  # as text has them, digit by digit
TRUTH = X @ np.array([1, -2, 2, 0, 3, 1])
SEVERAL = np.column_stack([TRUTH, X[:, 0] - 3, 2 * X[:, 1] + X[:, 4]])
Y2, Y3 = np.where(TRUTH > 0, "yes", "no"), np.digitize(TRUTH, [-1, 2]) * 10
WEIGHT = RANDOM.randint(1, 4, 80)
SPACES = {"user": [0, 1], "item": [4, 3]}
OF_SEED_0 = ["--random_seed", str(np.random.RandomState(0).randint(2**31))]
SHUFFLED = ["--passes", "10", "--shuffle", *OF_SEED_0]
IN_ONE_ORDER = ["--passes", "10", *OF_SEED_0]
LOGISTIC, OF_THREE = ["--loss_function", "logistic"], ["--indexing", "1"]
CENTRED = ["-C", repr(float(np.average(TRUTH, weights=WEIGHT)))]
OF_MEAN = ["-C", repr(float(np.log(np.average(abs(TRUTH), weights=WEIGHT))))]
CROSSED = ["--interactions", "user,item"]
SAME = {  # estimator, y, the command's options
    "two": (VWClassifier(), Y2, [*LOGISTIC, *SHUFFLED]),
    "softmax": (VWClassifier(), Y3, ["--multiclass", "3", *OF_THREE, *SHUFFLED]),
    "oaa": (VWClassifier(multiclass="oaa"), Y3, ["--oaa", "3", *OF_THREE, *LOGISTIC, *SHUFFLED]),
    "hinge": (VWClassifier(loss="hinge"), Y3, ["--oaa", "3", *OF_THREE, "--loss_function", "hinge", *SHUFFLED]),
    "in order": (VWClassifier(shuffle=False, passes=2), Y2, [*LOGISTIC, "--passes", "2", *OF_SEED_0]),
    "ftrl": (
        VWClassifier(solver="ftrl", l1=0.01, learning_rate=1),
        Y2, ["--ftrl", "--ftrl_alpha", "1", "--l1", "0.01", *LOGISTIC, *SHUFFLED],
    ),
    "coin": (VWRegressor(solver="coin"), TRUTH, ["--coin", *SHUFFLED]),
    "numbers": (VWRegressor(), TRUTH, [*SHUFFLED, "--label-units", "spread"]),
    "raw numbers": (VWRegressor(label_units="raw"), TRUTH, [*SHUFFLED, *CENTRED]),
    "poisson": (VWRegressor(loss="poisson", centre=False), abs(TRUTH), ["--loss_function", "poisson", *SHUFFLED]),
    "poisson from the mean": (
        VWRegressor(loss="poisson"),
        abs(TRUTH), ["--loss_function", "poisson", *OF_MEAN, *SHUFFLED],
    ),
    "a quantile": (
        VWRegressor(loss="quantile", quantile=0.8, label_units="raw", centre=False),
        TRUTH, ["--loss_function", "quantile", "--quantile_tau", "0.8", "--label-units", "raw", *SHUFFLED],
    ),
    "namespaces": (
        VWClassifier(namespaces=SPACES, interactions=["user,item"]),
        Y2, [*CROSSED, *LOGISTIC, *SHUFFLED],
    ),
    "bfgs": (VWRegressor(solver="bfgs", centre=False), TRUTH, ["--bfgs", "--passes", "10"]),
    "bfgs to a tolerance": (
        VWRegressor(solver="bfgs", centre=False, passes=40, tol=1e-5, l1=1),
        TRUTH, ["--bfgs", "--passes", "40", "--termination", "1e-5", "--l1", "1"],
    ),
    "bfgs of classes": (VWClassifier(solver="bfgs"), Y3, ["--bfgs", "--multiclass", "3", *OF_THREE, "--passes", "10"]),
    "several numbers": (VWRegressor(centre=False), SEVERAL, ["--outputs", "3", *IN_ONE_ORDER]),
    "several, ftrl": (VWRegressor(solver="ftrl"), SEVERAL, ["--ftrl", "--outputs", "3", *IN_ONE_ORDER]),
    "several, bfgs": (
        VWRegressor(solver="bfgs", centre=False, l2=1, passes=30),
        SEVERAL, ["--bfgs", "--outputs", "3", "--l2", "1", "--passes", "30"],
    ),
}


def text_of(y, rows, weight, spaces=None):
    """Vowpal Wabbit text of rows, columns without a namespace last."""
    classes, numbers = np.unique(y, return_inverse=True)
    numbers = {2: 2 * numbers - 1, 3: numbers + 1}.get(len(classes), y)
    if numbers.ndim == 2:
        numbers = np.array([",".join(map(repr, row)) for row in numbers.tolist()])
    spaces = {"": range(rows.shape[1])} if spaces is None else {**spaces, "": [2, 5]}
    for label, row, importance in zip(numbers.tolist(), rows.tolist(), weight.tolist(), strict=True):
        parts = [
            f"|{space} " + " ".join(f"{number}:{row[column]}" for number, column in enumerate(columns) if row[column])
            for space, columns in spaces.items()
        ]
        yield f"{label} {importance} " + " ".join(parts) + "\n"


@pytest.mark.parametrize(
    ("name", "make"),
    [*product(SAME, (np.array, csr_matrix)), ("two", lambda X: csr_matrix(X.astype(np.float64)))],
)
def test_the_model_is_that_of_the_command_on_the_rows_in_the_order_drawn(name, make, run_here, tmp_path):
    estimator, y, options = SAME[name]
    rows, before = make(X), make(X)
    fitted = clone(estimator).fit(rows, y, sample_weight=WEIGHT)
    assert (rows != before).sum() == 0
    random = check_random_state(0)
    random.randint(2**31)
    order = random.permutation(80) if estimator.shuffle and estimator.solver != "bfgs" else np.arange(80)
    text = tmp_path / "data.vw"
    text.write_text("".join(text_of(y[order], X[order], WEIGHT[order], estimator.namespaces)))
    run_here("train", text, "-f", tmp_path / "model", "--holdout_off", "--quiet", *options)
    assert fitted.model_.dumps() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("name", ["two", "softmax", "oaa", "numbers", "namespaces"])
def test_scores_are_sums_of_coefficients(name):
    estimator, y, _ = SAME[name]
    fitted = clone(estimator).set_params(interactions=()).fit(X, y)
    assert fitted.coef_.shape == {"softmax": (3, 6), "oaa": (3, 6), "numbers": (6,)}.get(name, (1, 6))
    scores = X @ fitted.coef_.T + fitted.intercept_
    actual = fitted.predict(X) if name == "numbers" else fitted.decision_function(X)
    low, high = (min(y), max(y)) if name == "numbers" else (-50, 50)
    assert np.allclose(np.clip(scores, low, high).reshape(actual.shape), actual, atol=1e-5)


def test_a_tolerance_brings_the_minimum_of_scikit_learn():
    y = TRUTH + 0.3 * RANDOM.randn(80) + 20
    lasso = Lasso(alpha=0.5, tol=1e-6).fit(X, y)  # its squares are halved and averaged
    actual = VWRegressor(solver="bfgs", passes=500, tol=1e-9, l1=80).fit(X - X.mean(axis=0), y)
    assert np.allclose(actual.coef_, lasso.coef_, atol=1e-3)
    assert actual.intercept_ == pytest.approx(y.mean() - 0.5, abs=1e-3)  # which is penalised, too


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1.0, 7.0], [3, 200]])
def test_labels_may_be_anything(labels):
    y = np.array(labels)[(TRUTH > 0).astype(int)]
    fitted = VWClassifier().fit(X, y)
    assert fitted.classes_.tolist() == labels and fitted.predict(X).dtype == y.dtype
    assert np.mean(fitted.predict(X) == y) > 0.9
    probabilities = fitted.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(probabilities[:, 1] > 0.5, fitted.predict(X) == labels[1])


@pytest.mark.parametrize(
    ("options", "available"),
    [
        ({}, True),
        ({"multiclass": "oaa"}, True),
        ({"loss": "crammer_singer"}, False),
        ({"loss": "logistic"}, True),
    ],
)
def test_probabilities_where_the_loss_has_them(options, available):
    fitted = VWClassifier(**options).fit(X, Y3)
    assert hasattr(fitted, "predict_proba") == available
    if available:
        assert (fitted.classes_[fitted.predict_proba(X).argmax(axis=1)] == fitted.predict(X)).all()


def test_weights_of_classes_multiply_those_of_rows():
    doubled = VWClassifier(class_weight={"yes": 2, "no": 1}).fit(X, Y2, WEIGHT)
    by_hand = VWClassifier().fit(X, Y2, WEIGHT * np.where(Y2 == "yes", 2, 1))
    assert doubled.model_.dumps() == by_hand.model_.dumps()
    balanced = VWClassifier(class_weight="balanced").fit(X, Y2)
    shares = {label: 40 / np.sum(label == Y2) for label in ("yes", "no")}
    assert balanced.model_.dumps() == VWClassifier(class_weight=shares).fit(X, Y2).model_.dumps()


def test_parts_are_one_pass_in_the_order_given():
    whole = VWClassifier(passes=1, shuffle=False).fit(X, Y2)
    parts = VWClassifier()
    for begin in range(0, 80, 17):
        parts.partial_fit(X[begin : begin + 17], Y2[begin : begin + 17], classes=["yes", "no"])
    assert np.array_equal(parts.coef_, whole.coef_) and parts.n_iter_ == 5
    before = parts.coef_
    parts.partial_fit(X[:5], Y2[:5], sample_weight=np.zeros(5))
    assert np.array_equal(parts.coef_, before)


def test_a_warm_start_goes_on():
    once, again = VWRegressor(passes=2), VWRegressor(passes=2, warm_start=True)
    once.fit(X, TRUTH)
    again.fit(X, TRUTH)
    assert np.array_equal(once.coef_, again.coef_)
    model = again.model_
    assert again.fit(X, TRUTH).model_ is model and not np.array_equal(once.coef_, again.coef_)
    assert again.n_iter_ == 4


def test_early_stopping_makes_fewer_passes():
    noise = np.random.RandomState(1).randn(80)
    fitted = VWRegressor(passes=200, early_stopping=True, validation_fraction=0.25, n_iter_no_change=2).fit(X, noise)
    assert fitted.n_iter_ < 200
    assert VWRegressor(passes=20).fit(X, noise).n_iter_ == 20


@pytest.mark.parametrize(("columns", "bits"), [(10, 18), (116060, 18), (116061, 21), (1164637, 22)])
def test_the_fewest_bits_keep_columns_apart(columns, bits):
    rows = csr_matrix(([1.0, 1.0], ([0, 1], [0, columns - 1])), shape=(2, columns))
    assert VWClassifier().fit(rows, [0, 1]).model_.bits == bits
    if bits > 18:
        with pytest.raises(UsageError) as error:
            VWClassifier(bits=18).fit(rows, [0, 1])
        assert str(error.value) == f"bits=18 would have {columns} columns share slots: bits={bits} keeps them apart"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "adam"}, "solver: 'adam' is not one of gd, ftrl, coin, bfgs"),
        ({"multiclass": "ovo"}, "multiclass: 'ovo' is not one of softmax, oaa"),
        ({"loss": "logistc"}, "loss: 'logistc' is not one of"),
        ({"tol": -1, "solver": "bfgs"}, "tol takes a number of 0 or more and below 1, not -1"),
        ({"early_stopping": True, "validation_fraction": 0}, "validation_fraction is a number above 0 and up to 0.5"),
        ({"namespaces": {"a": [7]}}, "namespaces: there is no column 7 for 'a'"),
        ({"namespaces": {"a": [0], "b": [0]}}, "namespaces: column 0 is in 'a' and 'b'"),
        ({"namespaces": {"a": ["age"]}}, "namespaces: there is no column 'age' for 'a'"),
        ({"passes": 0}, "passes"),
    ],
)
def test_parameters_are_checked_in_fit(parameters, message):
    with pytest.raises(UsageError) as error:
        VWClassifier(**parameters).fit(X, Y2)
    assert message in str(error.value)


def test_a_frame_gives_its_columns_names_to_namespaces():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    by_name = VWClassifier(namespaces={"user": ["a", "b"], "item": ["e", "d"]}).fit(frame, Y2)
    by_number = VWClassifier(namespaces=SPACES).fit(X, Y2)
    assert by_name.feature_names_in_.tolist() == list("abcdef")
    assert by_name.model_.dumps() == by_number.model_.dumps()


def test_a_search_in_two_processes_over_a_pipeline_of_texts():
    lines, labels = ["|w good fine", "|w bad poor", "|w fine day", "|w poor day"] * 6, ["yes", "no", "yes", "no"] * 6
    pipeline = make_pipeline(TextHasher(bits=12), VWClassifier())
    grid = {"vwclassifier__learning_rate": [0.1, 1.0], "texthasher__ngram": [(), ("2",)]}
    search = GridSearchCV(pipeline, grid, n_jobs=2, cv=3)
    search.fit(lines, labels)
    assert search.best_score_ == 1 and search.predict(["|w good", "|w bad"]).tolist() == ["yes", "no"]


def test_sorted_rows_are_learned_in_a_random_order():
    """Measured: 0.33 with one pass in the order of the file."""
    flowers, kinds = load_iris(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), VWClassifier()), flowers, kinds).mean() > 0.9
    patients, progress = load_diabetes(return_X_y=True)
    assert cross_val_score(VWRegressor(learning_rate=2), patients, progress).mean() > 0.4


@pytest.mark.parametrize("solver", ["gd", "ftrl", "bfgs"])
def test_several_numbers_have_coefficients_each(solver):
    fitted = VWRegressor(solver=solver, passes=60).fit(X, SEVERAL)
    assert fitted.coef_.shape == (3, 6) and fitted.intercept_.shape == (3,)
    answers = fitted.predict(X)
    scores = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(np.clip(scores, SEVERAL.min(axis=0), SEVERAL.max(axis=0)), answers, atol=2e-5)
    assert fitted.score(X, SEVERAL) > 0.97


def test_the_constants_of_several_numbers_start_at_their_means():
    fitted = VWRegressor(passes=1, shuffle=False).fit(X[:1] * 0, [[5.0, -7.0]])
    assert fitted.intercept_.tolist() == [5, -7]
    parts = VWRegressor().partial_fit(X[:1] * 0, [[5.0, -7.0]]).partial_fit(X, SEVERAL[:, :2])
    assert parts.coef_.shape == (2, 6)


def test_ridge_regression_of_several_numbers_is_exact():
    from sklearn.linear_model import Ridge

    model = VWRegressor(solver="bfgs", l2=4, passes=200, centre=False)
    inputs = np.column_stack([X, np.ones(80)])  # of which the constant is one: its weight counts in the penalty
    best = Ridge(alpha=2, fit_intercept=False).fit(inputs, SEVERAL).coef_
    actual = model.fit(X, SEVERAL)
    np.testing.assert_allclose(np.column_stack([actual.coef_, actual.intercept_]), best, atol=0.05)


def test_the_shape_of_labels_stays():
    parts = VWRegressor().partial_fit(X, SEVERAL)
    with pytest.raises(ValueError, match=r"a row of y has the shape \(2,\), and had \(3,\) before"):
        parts.partial_fit(X, SEVERAL[:, :2])
    with pytest.raises(ValueError, match="1d array"):
        VWRegressor(solver="coin").fit(X, SEVERAL)
    again = VWRegressor(warm_start=True).fit(X, TRUTH)
    with pytest.raises(ValueError, match="had"):
        again.fit(X, SEVERAL)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learning_rate": -1}, "^learning_rate takes a number of 0 or more, not -1"),
        ({"learning_rate": "adaptive"}, "^learning_rate: 'adaptive' is not a finite number"),
        ({"loss": "squared_error"}, r"^loss: 'squared_error' is not one of .* \(did you mean squared\?\)"),
    ],
)
def test_wrong_parameters_are_named_as_the_estimator_has_them(parameters, message):
    with pytest.raises(ValueError, match=message):
        VWRegressor(**parameters).fit(np.eye(4), [1, 2, 3, 4])


@pytest.mark.parametrize("y", [["a", "b"] * 2, np.array(["1", "2"] * 2)])
def test_texts_are_no_numbers_to_learn(y):
    with pytest.raises(ValueError, match="y has texts, where numbers are learned"):
        VWRegressor().fit(np.eye(4), y)
