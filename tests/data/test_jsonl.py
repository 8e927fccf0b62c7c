"""Lines of JSON, against Python's reader of them and the batches of dicts."""

import json
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle.lower_words import lower_words
from tabletext import assert_same, column_names, formats

from vwlite.data.batch import BLANK, TAGGED
from vwlite.data.blocks import Block
from vwlite.data.columns import read_columns
from vwlite.data.json_table import JsonTable
from vwlite.data.tables import table_batches
from vwlite.data.text_format import FULL, Code, TextFormat, Workspace, parser_of
from vwlite.errors import DataError, UsageError


def parse(text, format, columns=""):
    """``(batch, issues)``; an issue is ``(line, code, column)``."""
    text += b"\n" * (text[-1:] not in (b"", b"\n"))
    table = JsonTable(read_columns(columns), format)
    data, workspace = bytearray(text) + bytes(64), Workspace(0, format.names)
    while True:
        arguments = table.arguments(Block(data, len(text), "", 0))
        status, rows, segments, features, lines, bad = parser_of("jsonl")(
            data, len(text), format, workspace, *arguments
        )
        if status != FULL:
            break
        workspace.grow(bad)
    assert status == 0
    assert lines == text.count(b"\n")
    result = zip(*(getattr(workspace, f"bad_{name}")[:bad].tolist() for name in ("line", "code", "at")), strict=True)
    issues = [(number, code, at - (text.rfind(b"\n", 0, at) + 1)) for number, code, at in result]
    return workspace.batch(rows, segments, features, workspace.whole_text(data, len(text))), issues


def columns_met(rows, columns):
    """Those that a parser meets in these rows."""
    text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    table, format, workspace = JsonTable(read_columns(columns), TextFormat()), TextFormat(), Workspace(len(text))
    block = Block(bytearray(text) + bytes(64), len(text), "", 0, layout=table)
    while parser_of("jsonl")(block.data, block.size, format, workspace, *table.arguments(block))[0] == FULL:
        workspace.grow()
    return table.columns_of(block), bool(block.met[-1])


odd_texts = ["red", "12", "", "-", "e", "1e5", "nano", "inf", "a:b", "a b|c", "é", "\U0001f600", 'a "b"', "a\\b",
             "x\ny", "\x01", "exactly16letters", "x" * 300]  # fmt: skip
texts = st.one_of(st.sampled_from(odd_texts), st.text())
numbers = st.one_of(
    st.sampled_from([0, 1, -3, 0.5, 0.7, 1e-45, 10**30, None, True, False]), st.floats(width=32, allow_infinity=False)
)
scalars = st.one_of(numbers, texts)
words = st.lists(texts, max_size=4)
members = st.dictionaries(column_names, st.one_of(scalars, words), max_size=4)
row = st.dictionaries(column_names, st.one_of(scalars, scalars, words, members), max_size=6)


@given(st.lists(row, min_size=1, max_size=5), formats, st.booleans())
@example([{"": {"": ["", "é"]}}], TextFormat(names=True), True)
def test_rows_are_those_of_dicts(rows, format, ascii):
    lines = [json.dumps(row, ensure_ascii=ascii) for row in rows]
    text = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    actual, issues = parse(text, format)
    assert not issues
    (expected,) = table_batches(rows, text_format=format)
    assert_same(actual, expected)


@given(st.lists(st.one_of(texts, words), min_size=1, max_size=5), formats, st.booleans())
@example(["The END\u2019s a \U0001f600\u00c9T\u00c9", ["Big NEWS", "x"]], TextFormat(names=True), True)
def test_words_in_lower_case_are_those_of_the_twin(given_texts, format, ascii):
    """They are made small in a text, and in each text of a list."""
    lines = [json.dumps({"b": text}, ensure_ascii=ascii) for text in given_texts]
    actual, issues = parse("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n", format, "w=b:tokens")
    assert not issues
    parted = [[text] if isinstance(text, str) else text for text in given_texts]
    rows = [{"w": [word for text in some for word in lower_words(text)]} for some in parted]
    (expected,) = table_batches(rows, text_format=format)
    assert_same(actual, expected)


def python_reads(line):
    """The dict of a line where a row can be made of it, else None."""
    try:
        row = json.loads(line, strict=False)
        (batch,) = table_batches([row], text_format=TextFormat())
        str(row).encode()
    except (ValueError, DataError, RecursionError, UsageError, UnicodeEncodeError):
        return None
    return (row, batch) if isinstance(row, dict) else None


pieces = st.sampled_from(
    ['{', '}', '[', ']', ':', ',', '"a"', '"b"', '"', "\\", "1", "-1.5e3", "01", "1.", ".5", "-", "true", "nul", "null",
     "NaN", "Infinity", "-Infinity", "1e999", " ", "\t", "\r", '{"a":1}', '{"a":{"b":{"c":1}}}', '"\\u00e9"',
     '"\\ud83d\\ude00"',
     '"\\ud83d"', '"\\x"', '"\\u12"', '["x","y"]', "[1]", "[]", "{}", "é", "\x01", "x"]
)  # fmt: skip


@given(st.lists(pieces, max_size=12).map("".join))
@example('{"a":1}x')
@example('{"a":1,}')
@example('{"a":["b",]}')
@example('{"a":{"b":[{"c":1}]}}')
@example('{"a":"\\ud83d\\u0041"}')
def test_lines_that_python_does_not_read_are_malformed(line):
    rows, issues = parse(line.encode() + b"\n", TextFormat())
    expected = python_reads(line)
    if not line.strip(" \t\r"):
        assert rows.flags.tolist() == [BLANK]
    elif expected is None:
        assert [issue[0] for issue in issues] == [0]
    elif len(json.loads(line, object_pairs_hook=list, strict=False)) == len(expected[0]):  # no key is named twice
        assert not issues and len(rows) == 1


@given(st.binary(max_size=40))
def test_any_bytes_are_a_row_or_malformed(data):
    rows, issues = parse(b'{"a":1}\n' + data + b"\n", TextFormat(names=True), "label=y tag=t a=b:tokens")
    assert len(rows) + len(issues) == 2 + data.count(b"\n")


def test_roles_and_namespaces():
    text = b"""{"y": 1, "w": 2.5, "t": "r\\u00e9", "age": 3, "city": "Rome", "body": "a b", "o": 0.25, "skip": [1]}
{"y": null, "t": 7, "profile": {"x": 1, "likes": ["u", "v"]}, "zip": 12, "price": "7.5"}

{"y": "-1", "w": null, "more": {"z": 2}, "age": true}
"""
    columns = "label=y weight=w base=o tag=t user=age,city,profile words=body:words =zip:text,price:number ignore=skip"
    actual, issues = parse(text, TextFormat(names=True), columns)
    assert not issues
    assert np.array_equal(actual.label, np.array([1, np.nan, np.nan, -1], np.float32), equal_nan=True)
    assert (actual.importance.tolist(), actual.initial_prediction.tolist()) == ([2.5, 1, 1, 1], [0.25, 0, 0, 0])
    assert actual.flags.tolist() == [TAGGED, TAGGED, BLANK, 0]
    assert [actual.tag(number) for number in range(4)] == ["ré".encode(), b"7", b"", b""]
    rows = [
        {"user": {"age": 3, "city": "Rome"}, "words": ["a", "b"]},
        {"zip": "12", "price": 7.5, "user": {"x": 1, "likes": ["u", "v"]}},
        {},
        {"user": {"age": 1}, "more": {"z": 2}},
    ]
    (expected,) = table_batches(rows, text_format=TextFormat(names=True))
    for name in ("label", "importance", "initial_prediction", "flags", "line", "tag_start", "tag_end"):
        setattr(expected, name, getattr(actual, name))
    actual.names, expected.names, expected.text = None, None, actual.text
    assert_same(actual, expected)


def test_labels_that_are_names():
    format = TextFormat().of_words()
    text = b'{"y": "spam", "t": "r"}\n{"y": 3}\n{"t": "r"}\n{"y": "\'b"}\n{"y": []}\n{"y": " a |b"}\n'
    rows, issues = parse(text, format, "label=y tag=t")
    assert [rows.tag(number) for number in range(4)] == [b"spam 'r", b"3", b"r", b"a__b"]
    assert np.array_equal(rows.label, [1, 1, np.nan, 1], equal_nan=True)
    assert [issue[:2] for issue in issues] == [(3, Code.BAD_LABEL_NAME), (4, Code.BAD_LABEL_NAME)]


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        (b"1", Code.BAD_JSON, 0),
        (b'{"y": 1 "a": 2}', Code.BAD_JSON, 8),
        (b'{"y": 1, "a": {"b": {"c": 1}}}', Code.BAD_NESTING, 20),
        (b'{"y": 1, "a": [1]}', Code.BAD_NESTING, 15),
        (b'{"y": "one"}', Code.BAD_LABEL_NUMBER, 6),
        (b'{"w": -1}', Code.BAD_IMPORTANCE, 6),
        (b'{"a": 1e39}', Code.NOT_FINITE, 6),
        (b'{"n": "x"}', Code.BAD_CELL, 6),
        (b'{"t": "a b"}', Code.BAD_TAG, 6),
    ],
)
def test_malformed_lines_are_told_by_code_and_column(line, code, column):
    _, issues = parse(line, TextFormat(), "label=y weight=w tag=t =n:number")
    ((_, actual, place),) = issues
    assert actual == code and place in (column, column + 1)


def test_groups_and_parts_of_names_are_refused():
    affix = np.zeros(256, np.uint64)
    affix[97] = 5
    for format in (TextFormat(affix=affix), TextFormat().of_words(True, groups=True)):
        with pytest.raises(UsageError):
            JsonTable(read_columns(""), format)


members = st.dictionaries(st.sampled_from(["y", "a", "b", "é\n", "c", "d", "A"]), st.sampled_from([None, 0, 1.5]))


@given(st.lists(members, min_size=1, max_size=9))
@example([{"a": 1, "c": 1}, {"c": 1, "a": 1}, {"y": 1, "b": None}])
@example([{}])
def test_the_columns_that_lines_have_are_met(rows):
    """Whatever their order, also where a line has other members at the place of those of the line before."""
    known, there = ["y", "a", "b", "é\n", "c"], set().union(*rows)
    met, others = columns_met(rows, 'label=y s=a,b,"é\n":text ignore=c')
    assert sorted(met) == sorted(name for name in known if name in there)
    assert others == bool(there - {*known})


def test_any_number_of_columns_is_looked_up_by_name():
    """Names that are beginnings of others, of one length, written with escapes and beyond ASCII among them."""
    names = [*map(str, range(-300, 300)), "é", "ä", "ab", "a\U0001f600", *("x" * size for size in range(1, 40))]
    columns = " ".join(f'space{number % 7}="{name}"' for number, name in enumerate(names))
    values = {name: number + 1 for number, name in enumerate(names)}
    lines = [dict(random.Random(turn).sample(list(values.items()), len(values))) for turn in range(3)]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    batch, issues = parse(text, TextFormat(), f"{columns} ignore=*")
    assert not issues
    assert len(batch.value) == 3 * len(names)
    for row in range(3):
        first, last = batch.row_namespace[[row, row + 1]]
        spaces = [batch.value[slice(*batch.namespace_start[[index, index + 1]])] for index in range(first, last)]
        assert [sorted(space) for space in spaces] == [[*range(first, len(names) + 1, 7)] for first in range(1, 8)]
    met, other = columns_met([{name: 1} for name in names[::2]] + [{"no": 1}], f"{columns} ignore=*")
    assert set(met) == set(names[::2]) and other
