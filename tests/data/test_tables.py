"""Tables give the batches that the parser makes of their text."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabletext import PLAIN, assert_same, column_names, csr, formats, line, parsed, spaces

from vwlite.data import tables
from vwlite.data.batch import LabelVocabulary, tag_of
from vwlite.data.class_labels import Classes, ListLabels
from vwlite.data.tables import is_table, table_batches
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import DataError, UsageError

values = st.sampled_from([0, 0, 0, 1, -1, 2, 0.5, 16777217, 250, -0.0])
labels = st.sampled_from([np.nan, 1, -1, 0, 3])


@st.composite
def matrices(draw, rows=None):
    rows = draw(st.integers(1, 5)) if rows is None else rows
    width = draw(st.integers(1, 12))
    return np.array(draw(st.lists(values, min_size=rows * width, max_size=rows * width))).reshape(rows, width)


@st.composite
def spaced_matrices(draw):
    rows = draw(st.integers(1, 5))
    used = draw(st.lists(spaces, min_size=1, max_size=3, unique=True))
    return {space: draw(matrices(rows)) for space in used}


def forms(dense, draw):
    dtype, index = draw(st.sampled_from([np.float32, np.float64])), draw(st.sampled_from([np.int32, np.int64]))
    sparse = [csr(dense, dtype, index, zeros) for zeros in (False, True)]
    return draw(st.sampled_from([dense.astype(dtype), np.asfortranarray(dense), *sparse]))


@given(spaced_matrices(), formats, st.data())
def test_matrices_give_what_their_text_gives(dense, format, data):
    rows = len(next(iter(dense.values())))
    given = {}
    shown = {space: [str(column) for column in range(table.shape[1])] for space, table in dense.items()}
    for space, table in dense.items():
        if data.draw(st.booleans()):
            size = table.shape[1]
            given[space] = data.draw(st.lists(column_names, min_size=size, max_size=size))
            shown[space] = given[space]
    y = data.draw(st.lists(labels, min_size=rows, max_size=rows))
    tags = data.draw(st.lists(st.sampled_from(["", "t", "a-tag"]), min_size=rows, max_size=rows))
    given_tables = {space: forms(table, data.draw) for space, table in dense.items()}
    if list(dense) == [""] and data.draw(st.booleans()):
        given_tables, given = given_tables[""], given.get("")
    (batch,) = table_batches(given_tables, y, tags=tags, names=given, text_format=format)
    lines = [
        line(
            f"{'' if y[row] != y[row] else y[row]} '{tags[row]}",
            [(space, zip(shown[space], table[row], strict=True)) for space, table in dense.items()],
        )
        for row in range(rows)
    ]
    assert_same(batch, parsed(lines, format))


def test_a_float32_csr_is_taken_without_a_copy():
    table = csr([[1, 0, 2], [0, 3, 0]])
    (batch,) = table_batches(table, text_format=PLAIN)
    assert np.shares_memory(batch.value, table.data)
    assert np.shares_memory(batch.feature_hash, table.indices)
    assert np.shares_memory(batch.namespace_start, table.indptr)
    dense = np.ones((3, 4), np.float32)
    (batch,) = table_batches(dense, text_format=PLAIN)
    assert np.shares_memory(batch.value, dense)


def test_data_are_neither_changed_nor_kept():
    table = csr([[1, 0, 2], [0, 3, 0]], zeros=True)
    y = np.array([1, -1], np.float32)
    for array in (table.data, table.indices, table.indptr, y):
        array.setflags(write=False)
    batches = table_batches(table, y, text_format=PLAIN)
    (batch,) = batches
    batch.label[:] = 7
    assert y.tolist() == [1, -1]
    seen = weakref.ref(table.data)
    del table, batch, batches, array
    gc.collect()
    assert seen() is None


def test_rows_are_cut_into_batches_again_in_every_pass(monkeypatch):
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    dense = np.array([[1, 0], [0, 0], [2, 3], [0, 4], [5, 0]])
    y = [1, 2, 3, 4, 5]
    for table in (dense, csr(dense), {"a": csr(dense), "b": dense}):
        batches = table_batches(table, y, tags=list("vwxyz"), text_format=PLAIN)
        assert batches.replayable
        for _ in range(2):
            actual = list(batches)
            assert [len(batch) for batch in actual] == [2, 2, 1]
            assert [batch.first_line for batch in actual] == [0, 2, 4]
            assert np.concatenate([batch.label for batch in actual]).tolist() == y
            assert [batch.tag(row) for batch in actual for row in range(len(batch))] == [b"v", b"w", b"x", b"y", b"z"]
    monkeypatch.setattr(tables, "MAX_FEATURES", 2)
    assert [len(batch) for batch in table_batches(dense, text_format=PLAIN)] == [1] * 5
    assert list(table_batches(np.zeros((0, 3)), text_format=PLAIN)) == []


def test_indices_in_any_order_and_twice_are_kept_as_text_would_have_them():
    table = SimpleNamespace(indptr=np.array([0, 4]), indices=np.array([3, 1, 3, 0]), data=np.arange(4.0), shape=(1, 5))
    (batch,) = table_batches(table, text_format=PLAIN)
    assert_same(batch, parsed([line("", [("", zip([3, 1, 3, 0], range(4), strict=True))])], PLAIN))


def test_importance_base_and_labels():
    (batch,) = table_batches(
        np.eye(3), [1, None, 2], weight=[1, 0.5, 0], base=np.array([0, 1, 2]), tags=["a", None, 5], text_format=PLAIN
    )
    assert np.array_equal(batch.label, np.float32([1, np.nan, 2]), equal_nan=True)
    assert batch.importance.tolist() == [1, 0.5, 0] and batch.initial_prediction.tolist() == [0, 1, 2]
    assert [batch.tag(row) for row in range(3)] == [b"a", b"", b"5"]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["up", "down", None, "up"], ["up", "down", None, "up"]),
        (np.array([3, 1, 2, 3]), ["3", "1", "2", "3"]),
        ([1.0, np.nan, True, 2], ["1", None, "1", "2"]),
        (np.array(["a", "b", "a", "c"]), ["a", "b", "a", "c"]),
    ],
)
@pytest.mark.parametrize("tags", [None, ["t", "", "u", ""]])
def test_labels_that_are_names(y, words, tags):
    format = TextFormat(names=True).of_words()
    (batch,) = table_batches(np.eye(4), y, weight=[1, 1, 2, 1], tags=tags, text_format=format)
    weights = ["2" if row == 2 and word else "" for row, word in enumerate(words)]
    lines = [f"{word or ''} {weights[row]} '{tags[row] if tags else ''}|" for row, word in enumerate(words)]
    text = parse_text("\n".join(lines).encode(), format)
    books = LabelVocabulary(), LabelVocabulary()
    assert books[0].numbers(batch).tolist() == books[1].numbers(text).tolist()
    assert books[0].texts == books[1].texts
    for row in range(4):
        assert tag_of(batch, row) == tag_of(text, row)
        assert batch.importance[row] == (2 if row == 2 else 1)


@pytest.mark.parametrize("sets", [False, True])
def test_labels_that_are_lists(sets):
    costs = [{1: 0.5, 2: 1}, {4: 1e-7, 3: -2.5e30}, "3", None, {}, "1:2", 4]
    y = [[1, 3], (2,), {4}, None, [], "4", 3] if sets else costs
    words = ["1,3", "2", "4", "", ",", "4", "3"] if sets else ["1:0.5 2:1", "4:1e-7 3:-2.5e30", "3", "", "", "1:2", "4"]
    format, tags = TextFormat().of_words(lists=True), list("abcdefg")
    (actual,) = table_batches(np.eye(7), y, tags=tags, text_format=format)
    text = parse_text("\n".join(f"{word} '{tag}|" for word, tag in zip(words, tags, strict=True)).encode(), format)
    for row in range(7):
        assert tag_of(actual, row) == tag_of(text, row)
    checked = [(ListLabels(Classes(5), sets=sets).check(batch), batch.lists) for batch in (actual, text)]
    for mine, theirs in zip(*checked, strict=True):
        for name in ("indptr", "indices", "values") if mine is actual.lists else ():
            assert np.array_equal(getattr(mine, name), getattr(theirs, name))
    assert np.array_equal(checked[0][0], checked[1][0], equal_nan=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [1, 2]}, "y has 2 entries, the data have 3 rows"),
        ({"weight": [1, 2, 3, 4]}, "weight has 4 entries, the data have 3 rows"),
        ({"base": [1]}, "base has 1 entries, the data have 3 rows"),
        ({"tags": []}, "tags has 0 entries, the data have 3 rows"),
        ({"weight": [1, -2, 3]}, "row 1: negative importance, expected 0 or more: -2"),
        ({"weight": [1, np.nan, 3]}, "row 1: weight is nan: number out of range, expected a finite one"),
        ({"weight": [1, None, 3]}, "row 1: weight None is not a number"),
        ({"y": [1, np.inf, 3]}, "row 1: label is inf"),
        ({"y": ["a", "b", "c"]}, "row 0: label 'a' is not a number"),
        ({"y": np.eye(3)}, "label: expected one number for each row, not an array of shape (3, 3)"),
        ({"tags": ["a", "b c", ""]}, "row 1: tag 'b c' is not one word"),
    ],
)
def test_columns_that_cannot_be_are_refused(given, message):
    with pytest.raises(DataError) as error:
        table_batches(np.eye(3), **given, text_format=PLAIN)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["", "b"], "row 0: label '' is not one word"),
        (["'a", "b"], 'row 0: label "\'a" is not one word'),
        ([0.5, 1], "row 0: label 0.5 is neither a text nor a whole number"),
        ([[1], 1], "row 0: label [1] is neither a text nor a whole number"),
    ],
)
def test_names_that_no_line_has_are_refused(y, message):
    """Blanks in names are those of cells: ``_`` stands for them."""
    table_batches(np.eye(2), ["a", "b c"], text_format=PLAIN.of_words())
    with pytest.raises(DataError) as error:
        table_batches(np.eye(2), y, text_format=PLAIN.of_words())
    assert message in str(error.value)


def test_columns_that_such_labels_do_not_have_are_refused():
    for format, columns in (
        (PLAIN.of_words(), {"base": [0, 0]}),
        (PLAIN.of_words(lists=True), {"weight": [1, 1]}),
        (PLAIN.of_words(lists=True, groups=True), {}),
        (PLAIN, {"y": 3}),
        (PLAIN, {"y": "label"}),
    ):
        with pytest.raises(UsageError):
            table_batches(np.eye(2), **columns, text_format=format)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
@pytest.mark.parametrize("form", [np.asarray, lambda dense: csr(dense, np.float64)])
def test_numbers_that_are_none_are_named_by_row_and_column(bad, names, form, monkeypatch):
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    dense = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 1], [1, bad, 2]])
    with pytest.raises(DataError) as error:
        list(table_batches(form(dense), names=names, text_format=PLAIN))
    sentence = "feature value is NaN" if bad != bad else "number out of range"
    assert str(error.value).startswith(f"row 3, column {'1' if names is None else repr('b')}: {sentence}")


@pytest.mark.parametrize(
    "change",
    [
        {"indptr": np.array([0, 2])},
        {"indptr": np.array([1, 2, 3])},
        {"indptr": np.array([0, 3, 2])},
        {"indptr": np.array([0, 2, 9])},
        {"indices": np.array([0, 1, 3])},
        {"indices": np.array([0, -1, 2])},
        {"indices": np.array([0])},
        {"data": np.array([1.0])},
    ],
)
def test_sparse_matrices_that_contradict_themselves_are_refused(change):
    good = {"indptr": np.array([0, 2, 3]), "indices": np.array([0, 2, 1]), "data": np.ones(3), "shape": (2, 3)}
    with pytest.raises(DataError):
        table_batches(SimpleNamespace(**good | change), text_format=PLAIN)


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (np.eye(2), {"names": ["a"]}, "names has 1 entries, the data have 2 columns"),
        (np.eye(2), {"names": ["a", 1]}, "expected names that are text, not int: 1"),
        (np.eye(2), {"namespaces": {"a": [0]}}, "namespaces: of a frame's columns only; matrices"),
        ({"a": np.eye(2)}, {"names": ["a", "b"]}, "expected a dict of namespace and names"),
        ({"a": np.eye(2)}, {"names": {"b": []}}, "the data have no namespace 'b'"),
        ({"a": np.ones(3)}, {}, "not ndarray of shape (3,)"),
        ({"a": [[1]]}, {}, "not list"),
        (np.array([["a"]]), {}, "expected an array of numbers, not of <U1"),
        (SimpleNamespace(indptr=0, indices=0, data=0, shape=(1, 1), format="bsr"), {}, "(CSR), not 'bsr'"),
        (np.eye(2), {"text_format": TextFormat(spelling=np.ones(256, np.uint8))}, "--affix and --spelling read names"),
    ],
)
def test_data_of_another_kind_are_refused(data, given, message):
    with pytest.raises(UsageError) as error:
        table_batches(data, **{"text_format": PLAIN} | given)
    assert message in str(error.value)


def test_namespaces_must_have_as_many_rows():
    with pytest.raises(DataError, match="namespace 'b' has 3 rows, 'a' has 2"):
        table_batches({"a": np.eye(2), "b": np.eye(3)}, text_format=PLAIN)
    with pytest.raises(DataError, match="no namespace"):
        table_batches({}, text_format=PLAIN)


def test_tables_are_told_from_lines():
    assert all(map(is_table, (np.eye(2), csr(np.eye(2)), {"a": np.eye(2)})))
    assert not any(map(is_table, ("a", b"a", np.ones(3), ["1 |a"], iter([]), None)))


def test_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0.5]], np.float32)
    (expected,) = table_batches(dense, text_format=PLAIN)
    for make in ("csr_matrix", "csr_array", "csc_matrix", "coo_array", "bsr_matrix", "dok_matrix"):
        table = getattr(sparse, make)(dense)
        assert is_table(table)
        (batch,) = table_batches(table, text_format=PLAIN)
        assert_same(batch, expected)
