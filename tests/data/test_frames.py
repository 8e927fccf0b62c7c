"""Data frames give the batches of the same rows as dicts, which are those of their text."""

import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabletext import PLAIN, assert_same, formats

from vwlite.data import frame_batches, frames
from vwlite.data.tables import is_table, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, ExtraMissing, UsageError

pa = pytest.importorskip("pyarrow")

texts = st.sampled_from(
    ["red", "12", "", "a b|c:d", "é", "x" * 300, "of-17-bytes,1 gap", "a:b", "-", "exactly16letters"]
)
of_kind = {
    "int": (pa.int64(), st.integers(-3, 3)),
    "small": (pa.uint8(), st.integers(0, 3)),
    "double": (pa.float64(), st.sampled_from([0.0, 1.0, 0.5, -2.0, np.nan])),
    "single": (pa.float32(), st.sampled_from([0.0, 0.25])),
    "bool": (pa.bool_(), st.booleans()),
    "null": (pa.null(), st.none()),
    "text": (pa.string(), texts),
    "large": (pa.large_string(), texts),
    "view": (pa.string_view(), texts),
    "codes": (pa.dictionary(pa.int8(), pa.string()), texts),
    "words": (pa.list_(pa.string()), st.lists(texts, max_size=3)),
    "more words": (pa.large_list(pa.dictionary(pa.int32(), pa.string())), st.lists(texts, max_size=3)),
}
SPACES = ["user", "", "a b"]


@st.composite
def tables(draw):
    """A table, the namespaces of its columns, and its rows as dicts of namespace and features."""
    rows = draw(st.integers(1, 6))
    used = draw(st.lists(st.sampled_from(sorted(of_kind)), min_size=1, max_size=6, unique=True))
    columns = {}
    for name in used:
        kind, entries = of_kind[name]
        given_entries = draw(st.lists(st.none() | entries, min_size=rows, max_size=rows))
        columns[name] = pa.array(given_entries, kind)
    owner = {name: draw(st.sampled_from([None, None, *SPACES])) for name in used}
    namespaces = {space: [name for name in used if owner[name] == space] for space in SPACES}
    table = pa.table(columns).slice(draw(st.integers(0, rows - 1)))
    return table, namespaces, [as_dict(row, namespaces) for row in table.to_pylist()]


def as_dict(row, namespaces):
    """The features of one value first, then lists; anonymous ones, then namespaces, then lists without one."""
    owner = {name: space for space, members in namespaces.items() for name in members}
    spaces = {"": {}, **{space: {} for space in namespaces if space}}
    singles = {name: value for name, value in row.items() if "words" not in name}
    lists = {name: value or [] for name, value in row.items() if "words" in name}
    for name, value in {**singles, **lists}.items():
        if name in lists and name not in owner:
            spaces[name] = value
        else:
            spaces[owner.get(name) or ""][name] = value
    return spaces


@given(tables(), formats)
def test_frames_give_what_dicts_give(made, format):
    table, namespaces, rows = made
    (batch,) = table_batches(table, namespaces=namespaces, text_format=format)
    (expected,) = table_batches(rows, text_format=format)
    assert_same(batch, expected)


def test_null_words_are_absent():
    table = pa.table({"words": pa.array([["a", None, "b"], None, [None]])})
    for format in (PLAIN, TextFormat(names=True)):
        (batch,) = table_batches(table, text_format=format)
        (expected,) = table_batches([{"words": ["a", "b"]}, {}, {}], text_format=format)
        assert_same(batch, expected)


def test_dictionaries_with_nulls_and_without_entries():
    codes = pa.array([0, 1, None, 2], pa.int8())
    nulls = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None, "c"]))
    empty = pa.DictionaryArray.from_arrays(pa.array([None] * 4, pa.int8()), pa.array([], pa.string()))
    (batch,) = table_batches(pa.table({"x": nulls, "y": empty}), text_format=PLAIN)
    (expected,) = table_batches([{"x": "a"}, {}, {}, {"x": "c"}], text_format=PLAIN)
    assert_same(batch, expected)


def test_a_dictionary_may_change_from_batch_to_batch():
    parts = [pa.record_batch({"x": pa.array(words).dictionary_encode()}) for words in (["a", "b"], ["c", "a"], ["b"])]
    actual = list(table_batches(pa.Table.from_batches(parts), text_format=PLAIN))
    expected = [list(table_batches([{"x": word} for word in words], text_format=PLAIN)) for words in ("ab", "ca", "b")]
    for mine, (theirs,) in zip(actual, expected, strict=True):
        assert_same(mine, theirs)


def test_numbers_of_dictionaries_and_decimals_are_numbers():
    table = pa.table(
        {
            "d": pa.array([3, 4, 3]).dictionary_encode(),
            "e": pa.array([Decimal(1), Decimal(0), Decimal(2)]),
            "h": pa.array(np.array([0.5, 1, 2], np.float16)),
        }
    )
    for format in (PLAIN, TextFormat(names=True)):
        (batch,) = table_batches(table, text_format=format)
        rows = [{"d": 3, "e": 1, "h": 0.5}, {"d": 4, "h": 1}, {"d": 3, "e": 2, "h": 2}]
        (expected,) = table_batches(rows, text_format=format)
        assert_same(batch, expected)


def test_columns_beside_the_features(monkeypatch):
    table = pa.table({"y": [1, None, 0], "w": [1.0, 2.0, 0.5], "b": [0, 1, 2], "t": ["a", None, "c"], "x": [1, 2, 3]})
    batches = table_batches(table, "y", weight="w", base="b", tags="t", text_format=PLAIN)
    given_columns = {"weight": [1, 2, 0.5], "base": np.arange(3), "tags": ["a", None, "c"], "text_format": PLAIN}
    mixed = table_batches(table.drop_columns(["w", "b"]), "y", **given_columns | {"tags": "t"})
    arrays = table_batches(table.select(["x"]), [1, None, 0], **given_columns)
    (expected,) = table_batches([{"x": 1}, {"x": 2}, {"x": 3}], [1, None, 0], **given_columns)
    monkeypatch.setattr(frame_batches, "MAX_ROWS", 2)
    for form in (batches, mixed, arrays):
        assert form.replayable
        for _ in range(2):
            actual = list(form)
            assert [batch.first_line for batch in actual] == [0, 2]
            for name in ("label", "importance", "initial_prediction", "flags", "value", "feature_hash"):
                together = np.concatenate([getattr(batch, name) for batch in actual])
                assert np.array_equal(together, getattr(expected, name), equal_nan=together.dtype == np.float32)
            assert [batch.tag(row) for batch in actual for row in range(len(batch))] == [b"a", b"", b"c"]


def test_labels_that_are_names_and_lists():
    table = pa.table({"y": pa.array(["up", None]).dictionary_encode(), "l": [["1", "3"], None], "x": [1, 2]})
    empty = pa.table({"l": pa.array([[], None, ["2", None]], pa.list_(pa.string())), "x": [1, 2, 3]})
    (batch,) = table_batches(empty, "l", text_format=PLAIN.of_words(lists=True))
    assert [batch.tag(row) for row in range(3)] == [b",", b"", b"2"] and np.isnan(batch.label).tolist() == [0, 1, 0]
    (batch,) = table_batches(table, "y", text_format=PLAIN.of_words())
    assert [batch.tag(row) for row in range(2)] == [b"up", b""] and np.isnan(batch.label).tolist() == [False, True]
    (batch,) = table_batches(table, "l", text_format=PLAIN.of_words(lists=True))
    assert [batch.tag(row) for row in range(2)] == [b"1,3", b""] and np.isnan(batch.label).tolist() == [False, True]


def test_a_frame_without_features_has_rows():
    (batch,) = table_batches(pa.table({"y": [1, 2]}), "y", text_format=PLAIN)
    (expected,) = table_batches([{}, {}], [1, 2], text_format=PLAIN)
    assert_same(batch, expected)
    assert list(table_batches(pa.table({"x": pa.array([], pa.int64())}), text_format=PLAIN)) == []


def test_a_stream_serves_one_pass():
    table = pa.table({"x": [1, 2]})
    batches = table_batches(table.to_reader(), [1, 2], text_format=PLAIN)
    assert not batches.replayable and [len(batch) for batch in batches] == [2]


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ({"x": [1, 2]}, {"y": [1]}, "y has 1 entries, the data have 2 rows"),
        ({"x": [1.0, 1e39]}, {}, "row 1, column 'x': number out of range"),
        ({"x": [1, 2], "w": [1, -1]}, {"weight": "w"}, "row 1: negative importance"),
        ({"x": [1, 2], "y": ["a", "b"]}, {"y": "y"}, "row 0: label 'a' is not a number"),
    ],
)
def test_values_that_cannot_be_are_refused(table, more, message, monkeypatch):
    for most in (100, 1):
        monkeypatch.setattr(frame_batches, "MAX_ROWS", most)
        for format in (PLAIN, TextFormat(names=True)):
            with pytest.raises(DataError) as error:
                list(table_batches(pa.table(table), **more, text_format=format))
            assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ({"x": [1]}, {"y": "z"}, "y: there is no column 'z'"),
        ({"x": [1]}, {"namespaces": {"u": ["z"]}}, "namespaces: there is no column 'z' for 'u'"),
        ({"x": [1]}, {"namespaces": {"u": ["x"], "v": ["x"]}}, "namespaces: column 'x' is in 'u' and 'v'"),
        ({"x": [["a"]], "z": [1]}, {"namespaces": {"x": ["z"]}}, "'x' is a namespace and a column of lists"),
        ({"x": [1], "y": [1]}, {"y": "y", "namespaces": {"u": ["y"]}}, "namespaces: there is no column 'y'"),
        ({"x": [1]}, {"names": ["x"]}, "names: a frame's columns have their own"),
        ({"x": [b"a"]}, {}, "column 'x' is of type binary: expected numbers, texts or lists of texts"),
        ({"x": [[1]]}, {}, "column 'x' is of type list<"),
        ({"x": [1]}, {"base": "x", "text_format": PLAIN.of_words()}, "base: labels that are names"),
    ],
)
def test_columns_that_cannot_be_are_refused(table, more, message):
    with pytest.raises(UsageError) as error:
        list(table_batches(pa.table(table), **{"text_format": PLAIN} | more))
    assert str(error.value).startswith(message)


def test_other_frames_are_refused():
    with pytest.raises(UsageError, match="two columns have the name 'x'"):
        list(table_batches(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]), text_format=PLAIN))
    with pytest.raises(UsageError, match="expected a data frame, not ChunkedArray"):
        list(table_batches(pa.chunked_array([[1, 2]]), text_format=PLAIN))


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    table = pa.table({"x": [1]})
    assert is_table(table) and frames.is_frame(table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'vwlite\[arrow\]'"):
        table_batches(table, text_format=PLAIN)


ROWS = [{"f": 0.5, "i": 3, "b": True, "s": "red", "c": "x"}, {"i": 1, "s": "a b"}, {"f": 2.0, "i": 2, "c": "y"}]
COLUMNS = {name: [row.get(name) for row in ROWS] for name in ("f", "i", "b", "s", "c")}


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(COLUMNS | {"w": [["p", "q"], [], None]})
    frame = frame.with_columns(polars.col("c").cast(polars.Categorical))
    (batch,) = table_batches(frame, polars.Series([1, 2, 3]), text_format=PLAIN)
    rows = [{**row, "w": words} for row, words in zip(ROWS, (["p", "q"], [], []), strict=True)]
    (expected,) = table_batches(rows, [1, 2, 3], text_format=PLAIN)
    assert_same(batch, expected)


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS, index=["k", "l", "m"]).astype({"c": "category", "i": "Int64", "b": "boolean"})
    (batch,) = table_batches(frame, pandas.Series([1, 2, 3], index=frame.index), text_format=PLAIN)
    (expected,) = table_batches(ROWS, [1, 2, 3], text_format=PLAIN)
    assert_same(batch, expected)
