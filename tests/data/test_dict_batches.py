"""Rows that are dicts give the batches that the parser makes of their text."""

from collections import OrderedDict
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tabletext import PLAIN, assert_same, column_names, formats, line, parsed, spaces

from vwlite.data import frame_batches
from vwlite.data.tables import is_table, of_dicts, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError

odd_texts = ["red", "12", "", "-", "e", "1e5", "3rd", "nano", "inf", "a:b", ":b", "a b|c", "\x0b1", "né", "+x", "0x1p3"]
texts = st.one_of(st.sampled_from(odd_texts), st.text())
numbers = st.sampled_from([0, 1, -3, 0.5, 250, np.nan, None, True, False, np.float32(2), np.int64(7), np.bool_(True)])
scalars = st.one_of(numbers, numbers, texts)
words = st.lists(texts, max_size=4)
members = st.dictionaries(column_names, st.one_of(scalars, scalars, words), max_size=4)
rows_of_dicts = st.lists(
    st.dictionaries(column_names, st.one_of(scalars, scalars, words, members), max_size=6), min_size=1, max_size=5
)


def absent(value):
    return value is None or value is False or (not isinstance(value, str) and value != value)


def features(items):
    """Pairs of name and number, text or None of what is no dict."""
    for name, value in items:
        if isinstance(value, list):
            yield from ((word, None) for word in value)
        elif not absent(value):
            yield name, value


def blocks(row):
    spaces = [(name, value) for name, value in row.items() if isinstance(value, list | dict)]
    yield "", features((name, value) for name, value in row.items() if not isinstance(value, list | dict))
    for name, value in spaces:
        yield name, features(value.items() if isinstance(value, dict) else [(name, value)])


@given(rows_of_dicts, formats)
@example([{"": {"": ["", "é"]}}], TextFormat(names=True))
def test_dicts_give_what_their_text_gives(rows, format):
    (batch,) = table_batches(rows, text_format=format)
    assert_same(batch, parsed([line("", blocks(row)) for row in rows], format))


@given(spaces, st.lists(texts, min_size=1, max_size=3))
def test_words_and_members_are_in_the_namespace_of_their_name(space, listed):
    row = {"x": 1, space: listed, "user": {"tags": listed, "age": 2}} if space != "user" else {"user": listed}
    (batch,) = table_batches([row], text_format=PLAIN)
    assert_same(batch, parsed([line("", blocks(row))], PLAIN))


def test_other_mappings_keys_and_numbers():
    rows = [OrderedDict(a=Decimal("0.5")), {7: 2, "b": ("x", "y")}]
    (batch,) = table_batches(rows, text_format=PLAIN)
    lines = [line("", [("", [("a", 0.5)])]), line("", [("", [("7", 2)]), ("b", [("x", None), ("y", None)])])]
    assert_same(batch, parsed(lines, PLAIN))


def test_an_iterator_serves_one_pass():
    rows = [{"a": 1}, {"b": 2}, {}]
    again, once = (table_batches(data, [1, 2, 3], text_format=PLAIN) for data in (rows, iter(rows)))
    assert again.replayable and not once.replayable
    assert [len(batch) for batch in again] == [len(batch) for batch in again] == [3]
    assert [batch.label.tolist() for batch in once] == [[1, 2, 3]]


def test_rows_are_cut_into_batches(monkeypatch):
    monkeypatch.setattr(frame_batches, "MAX_ROWS", 2)
    rows = [{"a": number, "b": {"c": "d"}} for number in range(5)]
    for format in (PLAIN, TextFormat(names=True)):
        actual = list(table_batches(iter(rows), [9, 8, 7, 6, 5], tags=list("vwxyz"), text_format=format))
        assert [batch.first_line for batch in actual] == [0, 2, 4]
        assert np.concatenate([batch.label for batch in actual]).tolist() == [9, 8, 7, 6, 5]
        lines = [line(f"{9 - number} '{'vwxyz'[number]}", blocks(row)) for number, row in enumerate(rows)]
        for begin, batch in zip((0, 2, 4), actual, strict=True):
            assert_same(batch, parsed(lines[begin : begin + 2], format))
    monkeypatch.setattr(frame_batches, "MAX_FEATURES", 2)
    assert [len(batch) for batch in table_batches(rows, text_format=PLAIN)] == [2, 1, 1, 1]


def test_columns_of_another_length_are_refused(monkeypatch):
    monkeypatch.setattr(frame_batches, "MAX_ROWS", 2)
    rows = [{"a": 1}] * 5
    with pytest.raises(DataError, match="y has 4 entries, the data have 5 rows"):
        table_batches(rows, [1, 2, 3, 4], text_format=PLAIN)
    with pytest.raises(DataError, match="y has 3 entries, the data have more rows"):
        list(table_batches(iter(rows), [1, 2, 3], text_format=PLAIN))
    with pytest.raises(DataError, match="y has 7 entries, the data have 5 rows"):
        list(table_batches(iter(rows), [1] * 7, text_format=PLAIN))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": np.inf}, "row 1, column 'a': number out of range, expected a finite one"),
        ({"a": 10**400}, "row 1, column 'a': number out of range, expected a finite one"),
        ({"u": {"a": 1e39}}, "row 1, column 'a': number out of range, expected a finite one"),
        ({"a": object}, "row 1, column 'a': expected a number, a text, a list of texts or a dict, not type"),
        ({"a": 1j}, "row 1, column 'a': expected a number, a text, a list of texts or a dict, not complex"),
        ({"a": b"x"}, "row 1, column 'a': expected a number, a text, a list of texts or a dict, not bytes"),
        ({"a": {"b": {}}}, "row 1, column 'a': a dict in a dict in a dict has no place in a line"),
        ({"a": ["b", 1]}, "row 1, column 'a': expected a list of texts, not of int"),
        ({None: 1}, "row 1: expected names that are text, not NoneType: None"),
        ({b"a": "x"}, "row 1: expected names that are text, not bytes: b'a'"),
        ([], "row 1: expected a dict of names and values, not list"),
    ],
)
def test_wrong_rows_are_refused(row, message):
    with pytest.raises(DataError) as error:
        list(table_batches([{}, row], text_format=PLAIN))
    assert str(error.value) == message


def test_names_of_surrogates_are_taken_as_their_bytes():
    (batch,) = table_batches([{"\udcff": "\udcfe"}], text_format=PLAIN)
    assert_same(batch, parsed([line("", [("", [("\udcff", "\udcfe")])])], PLAIN))


def test_dicts_are_told_from_lines():
    rows = [{"a": 1}, {"b": 1}]
    lines = ["|a", "|b"]
    assert is_table(rows) and is_table(tuple(rows))
    assert not any(map(is_table, (iter(rows), [], lines)))
    for data, expected in ((rows, True), (iter(rows), True), (iter(lines), False), ([], False), (iter([]), False)):
        assert of_dicts(data)[0] is expected
    assert list(of_dicts(iter(lines))[1]) == lines
    assert list(of_dicts(iter(rows))[1]) == rows and of_dicts(rows)[1] is rows


@pytest.mark.parametrize(
    ("data", "given_names", "message"),
    [
        ([{"a": 1}], ["a"], "names: dicts have their own"),
        ("|a b", None, "not str"),
        (3, None, "not int"),
        (np.ones(3), None, "not ndarray of shape (3,)"),
    ],
)
def test_other_data_are_refused(data, given_names, message):
    with pytest.raises(UsageError) as error:
        table_batches(data, names=given_names, text_format=PLAIN)
    assert message in str(error.value)
