"""``DyadicRegressor`` and ``DyadicClassifier``: the models of ``vwlite train --dotproduct``, and their vectors."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import check_random_state

from vwlite import Model
from vwlite.errors import DataError, UsageError
from vwlite.sklearn import DyadicClassifier, DyadicRegressor

RANDOM = np.random.RandomState(3)
USER, ITEM = RANDOM.randint(0, 12, 300), RANDOM.randint(0, 9, 300)
TASTE, KIND = RANDOM.randn(12, 2), RANDOM.randn(9, 2)
RATING = (3 + (TASTE[USER] * KIND[ITEM]).sum(axis=1)).round()
X = np.stack([USER * 1000, ITEM + 7], axis=1)
WEIGHT = RANDOM.randint(1, 3, 300)
CLICK = np.where(RATING > 3, "yes", "no")
CLASS = np.clip(RATING, 2, 4)
MIXED = np.array([[1, "a"], ["b", 2]] * 150, object)
OPTIONS = (
    "--rank 3 -l 0.1 --decay_learning_rate 0.9 --power_t 0.1 --initial_t 2 --dot-l2 0.01 --dot-init 0.2 "
    "--dot-init-kind normal --dot-offset 0.1 --no-dot-linear -b 19"
)
SETTINGS = {
    "default": (DyadicRegressor(), RATING, []),
    "set": (
        DyadicRegressor(
            rank=3,
            learning_rate=0.1,
            decay_learning_rate=0.9,
            power_t=0.1,
            initial_t=2.0,
            dot_l2=0.01,
            dot_init=0.2,
            dot_init_kind="normal",
            dot_offset=0.1,
            no_dot_linear=True,
            bits=19,
            passes=3,
        ),
        RATING,
        OPTIONS.split(),
    ),
    "quantile": (DyadicRegressor(loss="quantile", shuffle=False, passes=2), RATING, ["--loss_function", "quantile"]),
    "two": (DyadicClassifier(passes=3), CLICK, ["--loss_function", "logistic"]),
    "three": (DyadicClassifier(passes=2), CLASS, ["--oaa", "3", "--loss_function", "logistic", "--indexing", "1"]),
    "all": (
        DyadicClassifier(passes=2, multiclass="softmax", bits=19),
        CLASS,
        ["--multiclass", "3", "--indexing", "1", "-b", "19"],
    ),
    "rates": (DyadicRegressor(dot_rates="adaptive", passes=2), RATING, ["--dot-rates", "adaptive"]),
}


def ones(columns):
    return csr_matrix((np.ones(len(columns)), (np.arange(len(columns)), columns)))


@pytest.mark.parametrize("make", [np.array, np.ndarray.tolist, lambda X: (ones(USER), ones(ITEM)), "pandas", "polars"])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_the_command_on_the_rows_in_the_order_drawn(name, make, run_here, tmp_path):
    estimator, y, options = SETTINGS[name]
    rows = frame(make) if isinstance(make, str) else make(X)
    fitted = clone(estimator).fit(rows, y, sample_weight=WEIGHT)
    random = check_random_state(0)
    seed = random.randint(2**31)
    order = random.permutation(300) if estimator.shuffle else np.arange(300)
    labels = np.where(y == "yes", 1, -1) if name == "two" else y.astype(int) - (name in ("three", "all"))
    lines = zip(labels[order], WEIGHT[order], USER[order], ITEM[order], strict=True)
    (tmp_path / "data.vw").write_text("".join(f"{y} {w} |user {u} |item {i}\n" for y, w, u, i in lines))
    shuffle = "--shuffle" if estimator.shuffle else "--no-shuffle"
    passes = ["--passes", str(estimator.passes), shuffle, "--seed", str(seed), "--holdout_off"]
    data = ["train", tmp_path / "data.vw", "-f", tmp_path / "model", "--dotproduct", "ui"]
    run_here(*data, *passes, "--quiet", *options)
    assert fitted.model_.dumps() == (tmp_path / "model").read_bytes()


def frame(kind, **more):
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return library.DataFrame({"item": [f"i{one}" for one in ITEM], "user": USER * 1000, **more})


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame_are_of_a_side_or_of_neither(kind):
    words = [["red", "big"] if one % 2 else [] if one % 3 else ["red"] for one in ITEM]
    rows = frame(kind, age=USER % 5, genres=words, place=[f"p{one % 3}" for one in USER], hour=ITEM % 4)
    spaces = {"user": ["age", "place"], "item": ["genres"]}
    fitted = DyadicRegressor(namespaces=spaces, shuffle=False, passes=1).fit(rows, RATING)
    numbers = {("red", "big"): " 10 9", ("red",): " 10", (): ""}
    lines = [
        f"{y} |user {u} 12:{u % 5} {13 + u % 3} |item {i}{numbers[tuple(genres)]} | 0:{i % 4}"
        for y, u, i, genres in zip(RATING, USER, ITEM, words, strict=True)
    ]
    model = Model(dotproduct=["ui"], random_seed=check_random_state(0).randint(2**31), holdout_off=True)
    model.learn(lines)
    assert fitted.model_.dumps() == model.dumps()
    assert fitted.factors_["item"].shape == (9, 10) and fitted.ids_["item"].tolist() == [f"i{one}" for one in range(9)]
    assert kind == "polars" or fitted.feature_names_in_.tolist() == list(rows.columns)


def test_predictions_are_made_of_the_factors():
    fitted = DyadicRegressor(passes=30, no_dot_linear=True).fit(X, RATING)
    assert fitted.ids_["user"].tolist() == np.unique(X[:, 0]).tolist()
    assert fitted.factors_["user"].dtype == np.float32 and fitted.factors_["item"].shape == (9, 10)
    raw = (fitted.factors_["user"][USER] * fitted.factors_["item"][ITEM]).sum(axis=1)
    rest = fitted.model_.predict(fitted._sides.tables(X), raw=True) - raw
    assert np.ptp(rest) < 1e-5
    assert fitted.score(X, RATING) > 0.9


def test_ids_that_were_not_there_count_as_none():
    fitted = DyadicRegressor().fit(X, RATING)
    unknown = fitted.predict([[5, 8], [X[0, 0], 99], [5, 99]])
    linear = fitted.model_.predict(["|item 1", f"|user {USER[0]}", "|"])
    assert np.array_equal(unknown, linear)


@pytest.mark.parametrize(("y", "shape"), [(CLICK, (300, 2)), (CLASS, (300, 3))])
def test_classes_and_their_probabilities(y, shape):
    fitted = DyadicClassifier(passes=20).fit(X, y)
    probabilities = fitted.predict_proba(X)
    assert probabilities.shape == shape and np.allclose(probabilities.sum(axis=1), 1)
    assert (fitted.classes_[probabilities.argmax(axis=1)] == fitted.predict(X)).all()
    assert fitted.score(X, y) > 0.8
    assert not hasattr(DyadicClassifier(loss="hinge"), "predict_proba")
    assert hasattr(fitted, "factors_") == (y is CLICK)


def test_classes_that_are_learned_all_at_once():
    fitted = DyadicClassifier(passes=20, multiclass="softmax", learning_rate=0.3).fit(X, CLASS)
    assert fitted.model_.options["multiclass"] == 3 and fitted.score(X, CLASS) > 0.8
    probabilities = fitted.predict_proba(X)
    assert np.allclose(probabilities, fitted._answers(X, probabilities=True), atol=1e-6)
    assert not hasattr(fitted, "factors_")
    two, usual = (DyadicClassifier(multiclass=one).fit(X, CLICK) for one in ("softmax", "oaa"))
    assert two.model_.dumps() == usual.model_.dumps()
    with pytest.raises(UsageError, match="'all' is not one of"):
        DyadicClassifier(multiclass="all").fit(X, CLASS)


def test_weights_of_classes_multiply_those_of_rows():
    doubled = DyadicClassifier(class_weight={"yes": 2, "no": 1}).fit(X, CLICK)
    by_hand = DyadicClassifier().fit(X, CLICK, np.where(CLICK == "yes", 2, 1))
    assert doubled.model_.dumps() == by_hand.model_.dumps()


def test_early_stopping_and_a_warm_start():
    assert DyadicRegressor(passes=90, early_stopping=True, n_iter_no_change=1).fit(X, RATING).n_iter_ < 90
    again = DyadicRegressor(passes=2, warm_start=True).fit(X, RATING)
    model, before = again.model_, again.factors_["user"]
    assert again.fit(X[:50], RATING[:50]).model_ is model and again.n_iter_ == 4
    assert not np.array_equal(before, again.factors_["user"]) and again.factors_["user"].shape == before.shape


@pytest.mark.parametrize(
    ("parameters", "rows", "error", "message"),
    [
        ({}, X[:, :1], DataError, "X has 1 columns: expected two, the ids of users and items"),
        ({"namespaces": {"user": ["age"]}}, X, UsageError, "namespaces: these are of data frames"),
        ({"namespaces": {"film": ["age"]}}, X, UsageError, "namespaces: 'film' is not one of user, item"),
        ({"bits": 3}, X, UsageError, "bits=3 would have 21 columns share slots: bits=18 keeps them apart"),
        ({"loss": "poison"}, X, UsageError, "--loss_function: 'poison' is not one of"),
        ({"rank": -1}, X, UsageError, "--rank"),
        ({}, MIXED, DataError, "column 'user': ids are all numbers or all texts"),
        ({}, X[:200], ValueError, "inconsistent numbers of samples"),
    ],
)
def test_refusals_of_fit(parameters, rows, error, message):
    with pytest.raises(error) as raised:
        DyadicRegressor(**parameters).fit(rows, RATING)
    assert message in str(raised.value)


def test_refusals_of_predict():
    tables = DyadicRegressor().fit((ones(USER), ones(ITEM)), RATING)
    with pytest.raises(DataError, match="the user table has 9 columns, and had 12 at first"):
        tables.predict((ones(ITEM), ones(ITEM)))
    with pytest.raises(DataError, match="column 'user': 'ann' is text, and the column was of numbers"):
        DyadicRegressor().fit(X, RATING).predict([["ann", "film"]])
    side = DyadicRegressor(namespaces={"user": ["age"]}).fit(frame("pandas", age=USER % 5), RATING)
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        side.predict(frame("pandas"))
    with pytest.raises(UsageError, match="the frame has no column 'item', and namespaces names none for it"):
        DyadicRegressor().fit(frame("pandas").drop(columns="item"), RATING)
