"""Estimators of rows of numbers refuse texts and categories, also those that look like numbers."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline

from vwlite.sklearn import CRRRanker, L1Classifier, RandomFeatures, TextHasher, VWClassifier, VWRegressor

Y = [0, 1, 0, 1]
NUMBERS = [[1.0, 2], [3, 4], [5, 6], [7, 8]]
TEXTS = ["12", "34", "5", "12"]
ESTIMATORS = [VWClassifier(), VWRegressor(), L1Classifier(), CRRRanker(steps=10), RandomFeatures(n_components=16)]
REFUSED = r"X has texts or categories.*TextHasher\(\) before the estimator"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_texts_like_numbers_are_no_numbers(estimator):
    for rows in ([["12", 1], ["34", 2]], np.array([["12"], ["34"]]), np.array([["12", 1]], object), ["12", "34"]):
        with pytest.raises(ValueError, match=REFUSED):
            estimator.fit(rows * 2 if isinstance(rows, list) else np.repeat(rows, 2, axis=0), Y[: 2 * len(rows)])
    fitted = estimator.fit(NUMBERS, Y)
    with pytest.raises(ValueError, match=REFUSED):
        getattr(fitted, "predict", getattr(fitted, "transform", None))([["1", "2"]])


@pytest.mark.parametrize("rows", [NUMBERS, np.array(NUMBERS, object), csr_matrix(NUMBERS), tuple(NUMBERS)])
def test_numbers_are(rows):
    """An array of any objects has them too, as scikit-learn takes it."""
    assert VWClassifier().fit(rows, Y).model_.dumps() == VWClassifier().fit(np.array(NUMBERS), Y).model_.dumps()


def columns(library, kind):
    """A column of ``TEXTS`` of this type."""
    if kind == "object":
        return library.Series(TEXTS, dtype=object)
    if library.__name__ == "pandas":
        return library.Series(TEXTS, dtype=kind)
    return library.Series(TEXTS, dtype=library.Enum(sorted(set(TEXTS))) if kind == "enum" else library.Categorical)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("pandas", kind) for kind in ("object", "string", "category")] + [("polars", kind) for kind in ("enum", "cat")],
)
def test_the_type_of_a_column_decides(name, kind):
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    frame = library.DataFrame({"age": [1, 2, 3, 4], "code": columns(library, kind)})
    with pytest.raises(ValueError, match="categories in column 'code'"):
        VWClassifier().fit(frame, Y)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_columns_of_texts_are_refused_and_truth_values_are_numbers(name):
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    with pytest.raises(ValueError, match="categories in column 'code'"):
        VWClassifier().fit(library.DataFrame({"age": [1, 2, 3, 4], "code": TEXTS}), Y)
    VWClassifier().fit(library.DataFrame({"age": [1, 2, 3, 4], "new": [True, False, True, True]}), Y)


def test_the_hasher_makes_columns_of_them():
    """Of a category as well as of a number beside it; a text of several words is one category."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"age": [1, 2, 3, 4], "code": columns(polars, "enum")})
    model = make_pipeline(TextHasher(), VWClassifier(passes=50)).fit(frame, ["no", "yes", "no", "no"])
    assert model.predict(frame).tolist() == ["no", "yes", "no", "no"]
    rows = TextHasher().transform(polars.DataFrame({"code": ["12 34", "12"]}))
    assert rows.nnz == 2 and len(set(rows.indices)) == 2
