"""What is said about malformed lines."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.text_format import FULL, SENTENCES, Code, TextFormat, Workspace, excerpt, parser_of, vw_message

STATUS = Path(__file__).resolve().parent.parent.parent / "cython_ext" / "base" / "status.pxd"


def logged(text):
    """Vowpal Wabbit's log of the text, made from the lenient parser's remarks."""
    data, workspace = bytearray(text) + b"\n" + bytes(64), Workspace(len(text))
    result = parser_of("vw")(data, len(text) + 1, TextFormat(skip_malformed=False), workspace)
    assert result[0] != FULL
    lines = text.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    messages = []
    for i in range(result[-1]):
        number = int(workspace.bad_line[i])
        at, bar = (int(column[i]) - starts[number] for column in (workspace.bad_at, workspace.bad_from))
        messages += vw_message(int(workspace.bad_code[i]), lines[number], at, bar, number)
    return messages


def malformed(expected, read, line, example=0):
    return f'[warning] malformed example! {expected} expected after : "{read}"in Example #{example}: "{line}"'


def both_after(read, line, first="'|',space, or EOL", example=0):
    return [malformed(first, read, line, example), malformed("'|' or EOL", read, line, example)]


def not_floats(*words):
    return [f"[warning] '{word}' is not a good float, replacing with 0" for word in words]


def too_many(count, words):
    return [f"[error] Error: {count} is too many tokens for a simple label: {words}"]


def is_nan(kind, value, number, line):
    return [f'[warning] Invalid {kind} value:"{value}" read as NaN. Replacing with {number}.in Example #0: "{line}"']


# The log of vw 9.11.9 for each text.
LOGS = [
    (b"1 |a x:nan w", is_nan("feature", "nan w", 0, "|a x:nan w")),
    (b"1 |a x: nan w", is_nan("feature", " nan w", 0, "|a x: nan w")),
    (b"1 |a:nan y:2", is_nan("namespace", "nan y:2", 1, "|a:nan y:2")),
    (
        b"1 |a x:nan:2 w",
        is_nan("feature", "nan:2 w", 0, "|a x:nan:2 w") + both_after("|a x:nan", "|a x:nan:2 w"),
    ),
    (b"1 |a x:1b y |b z", both_after("|a x:1", "|a x:1b y |b z")),
    (b"1 |:2 x", both_after("|", "|:2 x", "'|',String,space, or EOL")),
    (b"1 |a:x y", both_after("|a:", "|a:x y")),
    (b"1 |a: y", []),
    (b"1 |b x |a:", [malformed("Float", "|b x |a:", "|b x |a:")]),
    (b"1 |a:2\r", [malformed("Float", "|a:", "|a:2")]),
    (b"1 |a:nan", [malformed("Float", "|a:", "|a:nan"), *is_nan("namespace", "nan", 1, "|a:nan")]),
    (b"1 |a x|b y:3:4 |c u", both_after("|a x|b y:3", "|a x|b y:3:4 |c u")),
    (b"1 |a x:1:2\r", both_after("|a x:1", "|a x:1:2")),
    (b"\n1 |a x:1:2 \xff", both_after("|a x:1", "|a x:1:2 \udcff", example=1)),
    (b"\xef\xbb\xbf1 |a:1:", both_after("|a:1", "|a:1:")),
    (b"1 2 3 4 |a x", too_many(4, "1 2 3 4")),
    (b"1\t2 3  4 5 6 |a x", too_many(5, "2 3 4 5 6")),
    (b"1 2 3 4 5|a x", too_many(4, "1 2 3 4")),
    (b"foo 1 2 3 ta", too_many(4, "foo 1 2 3")),
    (b"1 foo 2foo 'foo bar  |a x", too_many(5, "1 foo 2foo 'foo bar")),
    (b"foo |a x", not_floats("foo")),
    (b"foo bar |a x", not_floats("foo", "bar")),
    (b"1 foo 2foo 'tag|a x", not_floats("foo")),
    (b"e5 foo -.e- |a x", not_floats("foo")),
    (b"+nan 1e400 |a x", not_floats("+nan")),
    (b"nan(2) infinity |a x", not_floats("nan(2)")),
    (b"\xef\xbb\xbffoo 'bar|b |a x:1:1", not_floats("foo") + both_after("|b |a x:1", "|b |a x:1:1")),
    (b"- |a x", []),
    (b"no bar", not_floats("no")),
]


@pytest.mark.parametrize(("text", "log"), LOGS)
def test_log_lines_are_vowpal_wabbits(text, log):
    assert logged(text) == log


@pytest.mark.parametrize("code", [Code.NO_BAR, Code.NOT_FINITE, Code.BAD_INDEX, Code.EXPECTED_COLON, Code.BAD_VALUE])
def test_codes_that_vowpal_wabbit_accepts_give_no_line(code):
    assert vw_message(code, b"1 2:3", 2, 0, 0) == []


def test_codes_are_those_of_the_kernels():
    stated = re.findall(r"^    ([A-Z_]+) = (\d+)", STATUS.read_text(), re.MULTILINE)
    assert {(name, int(number)) for name, number in stated if 0 < int(number) < 99} == {
        (code.name, int(code)) for code in Code
    }


def test_every_code_has_one_short_clause():
    assert sorted(SENTENCES) == sorted(Code)
    for sentence in SENTENCES.values():
        assert len(sentence) <= 72
        assert "expected" in sentence
        assert ": " not in sentence


@pytest.mark.parametrize(
    ("line", "column", "width", "shown"),
    [
        (b"1 |a x:1b\r\n", 7, 60, "1 |a x:1b"),
        (b"", 0, 60, ""),
        (b"ab", 99, 60, "ab"),
        (b"a\tb\x00\x1b[31m\xff", 0, 60, "a\\tb\\x00\\x1b[31m\\xff"),
        ("é\u202e\u2028".encode(), 0, 60, "é\\u202e\\u2028"),
        (b"0123456789" * 3, 0, 20, "01234567890123456..."),
        (b"0123456789" * 3, 30, 20, "...34567890123456789"),
        (b"0123456789" * 3, 15, 20, "...23456789012345..."),
    ],
)
def test_an_excerpt_shows_the_place(line, column, width, shown):
    assert excerpt(line, column, width) == shown


@given(st.binary(max_size=300), st.integers(0, 300), st.integers(20, 80))
def test_excerpt_is_short_and_printable_and_holds_the_place(line, column, width):
    text = excerpt(line, column, width)
    assert len(text) <= width
    assert text.isprintable()
    body = line.rstrip(b"\r\n")
    if column < len(body) and 33 <= body[column] < 127:
        assert chr(body[column]) in text


@given(st.text("aé€😀", max_size=300), st.data())
def test_excerpt_cuts_between_characters(text, data):
    column = len(text[: data.draw(st.integers(0, len(text)))].encode())
    assert excerpt(text.encode(), column, 24).replace("...", "") in text
