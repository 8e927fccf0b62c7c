"""``TextHasher``: its columns are the slots of the learner, for other estimators."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from vwlite.errors import DataError, UsageError
from vwlite.sklearn import TextHasher, VWClassifier

LINES = ["1 |user ann |item book:2 pen", "spam 2 'tag |item pen pen", "", "|user bob 7:0.5"]
SETTINGS = {
    "plain": ({}, {}),
    "crossed": ({"quadratic": ["ui"]}, {"interactions": [b"ui"]}),
    "wildcards": ({"interactions": ["::"], "bits": 10}, {"interactions": [b"::"], "bits": 10}),
    "n-grams": ({"ngram": ["2"], "skips": ["i1"]}, {"ngram": [b"2"], "skips": [b"i1"]}),
    "ignored": ({"ignore": ["u"]}, {"ignore": b"u"}),
    "hashed": ({"hash": "all", "hash_seed": 3}, {"hash": "all", "hash_seed": 3}),
}


def summed(lines, **options):
    """By the plain-Python parser: of each row a dict of column and value."""
    options, seen, rows = Options(noconstant=True, **options), set(), []
    for line in lines:
        row = {}
        for column, value, _ in expand(parse_line(line.encode(), options), options, seen).terms:
            row[column] = row.get(column, 0) + float(value)
        rows.append(row)
    return rows


@pytest.mark.parametrize("name", SETTINGS)
def test_columns_are_the_slots_of_the_plain_parser(name):
    parameters, options = SETTINGS[name]
    hasher = TextHasher(**parameters)
    table = hasher.fit_transform(LINES)
    assert table.shape == (4, 2**hasher.bits) and table.dtype == np.float32 and table.has_canonical_format
    rows = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in table]
    assert rows == summed(LINES, **options)


@given(st.lists(st.sampled_from(LINES), max_size=8), st.data())
def test_a_row_does_not_depend_on_the_others(lines, data):
    hasher = TextHasher(interactions=["::"])
    cut = data.draw(st.integers(0, len(lines)))
    whole = hasher.transform(lines).toarray() if lines else np.zeros((0, 2**18))
    parts = [hasher.transform(part).toarray() for part in (lines[:cut], lines[cut:])]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array, lambda lines: [line.encode() for line in lines]])
def test_any_iterable_of_texts_or_bytes(kind):
    assert (TextHasher().transform(kind(LINES)) != TextHasher().transform(LINES)).nnz == 0


@pytest.mark.parametrize("kind", [list, iter])
@pytest.mark.parametrize("options", [{}, {"quadratic": ["ui"]}, {"hash": "all", "hash_seed": 2}])
def test_dicts_are_rows_as_their_text_is(options, kind):
    rows = [
        {"user": {"ann": 1}, "item": {"book": 2, "pen": True}, "city": "rome", "7": 0.5},
        {"tags": ["good", "fine"], "age": 3, "absent": None},
        {},
    ]
    lines = ["| city:rome 7:0.5 |user ann |item book:2 pen", "| age:3 |tags good fine", ""]
    hasher = TextHasher(**options)
    assert (hasher.transform(kind(rows)) != hasher.transform(lines)).nnz == 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("options", [{}, {"quadratic": ["ui"]}, {"hash": "all", "hash_seed": 2, "bits": 20}])
def test_columns_of_a_frame_are_features_as_their_text_is(options, kind):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    made = {"pyarrow": "table"}.get(kind, "DataFrame")
    columns = {"city": ["rome", "bonn"], "age": [34.5, 51.0], "words": [["free", "gift"], []], "price": [2, 0]}
    frame = getattr(library, made)(columns)
    hasher = TextHasher(namespaces={"user": ["city", "age"], "item": ["price"]}, **options)
    lines = ["|user city:rome age:34.5 |item price:2 |words free gift", "|user city:bonn age:51 |item"]
    assert (hasher.fit_transform(frame) != hasher.set_params(namespaces=None).transform(lines)).nnz == 0


@pytest.mark.parametrize(
    ("namespaces", "message"),
    [({"user": ["town"]}, "namespaces: there is no column 'town' for 'user'"), (None, None)],
)
def test_namespaces_name_columns(namespaces, message):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pytest.importorskip("polars", reason="polars is not installed").DataFrame({"city": ["rome"]})
    if message is None:
        assert (TextHasher().transform(frame) != TextHasher().transform(["| city:rome"])).nnz == 0
        with pytest.raises(UsageError, match="namespaces: these are of data frames"):
            TextHasher(namespaces={"user": ["city"]}).transform(LINES)
    else:
        with pytest.raises(UsageError) as error:
            TextHasher(namespaces=namespaces).transform(frame)
        assert str(error.value) == message


def test_a_series_of_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert (TextHasher().transform(pandas.Series(LINES, index=[4, 3, 2, 1])) != TextHasher().transform(LINES)).nnz == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["|a x", "no bar"], "row 1, column 0: no '|', expected one between label and features: no bar"),
        (["|a x", 3], "row 1: expected a line of text, not int"),
        (["|a x", {"x": 1}], "row 1: expected a line of text, not dict"),
        ("|a x", "expected an iterable of lines, not a single text"),
    ],
)
def test_what_is_no_line_is_refused(lines, message):
    with pytest.raises(DataError) as error:
        TextHasher().transform(lines)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bits": 33}, "-b takes 1 to 32 bits, not 33"),
        ({"hash": "digits"}, "--hash: 'digits' is not one of strings, all"),
        ({"skips": ["1"]}, "--skips needs --ngram"),
        ({"quadratic": ["abc"]}, "-q takes 2 namespaces, not 3: 'abc'"),
    ],
)
def test_parameters_are_checked_in_fit_as_the_options_are(parameters, message):
    hasher = TextHasher(**parameters)
    with pytest.raises(UsageError) as error:
        hasher.fit(LINES)
    assert str(error.value) == message


def test_a_pipeline_learns_from_text():
    lines, labels = ["|w good fine", "|w bad poor", "|w fine", "|w poor"] * 5, ["yes", "no", "yes", "no"] * 5
    model = clone(make_pipeline(TextHasher(bits=12), LogisticRegression())).fit(lines, labels)
    assert model.predict(["|w good", "|w poor bad"]).tolist() == ["yes", "no"]


def test_tokens_are_those_of_the_count_vectorizer():
    """``--columns body:tokens``, of which docs/formats.md says so."""
    from oracle.lower_words import lower_words
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["The END\u2019s near, DON'T: A b C3 x_y!", "\u00c9t\u00e9 \u00c0 la CARTE", "", "1 22"]
    texts.append("\u0416\u0401\u0422 a1 \u201cquoted\u201d")
    tokens = CountVectorizer().build_analyzer()
    assert [lower_words(text) for text in texts] == [tokens(text) for text in texts]


def test_a_frame_with_texts_is_cross_validated_behind_a_hasher():
    """By the area under the curve, with labels that are names; without a hasher the message names it."""
    library = pytest.importorskip("polars", reason="polars is not installed")
    frame = library.DataFrame({"age": [20, 30, 40] * 20, "city": ["rome", "oslo"] * 30})
    labels = np.array(["yes", "no"] * 30)
    areas = cross_val_score(make_pipeline(TextHasher(), VWClassifier()), frame, labels, scoring="roc_auc", cv=3)
    assert areas.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match=r"TextHasher\(\) before the estimator"):
        cross_val_score(VWClassifier(), frame, labels, scoring="roc_auc", cv=3)
