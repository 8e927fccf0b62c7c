"""The grammar of docs/formats.md: its lines are read, and all others are told as malformed, where and why."""

import re

import pytest
from ebnf import expression
from hypothesis import assume, given
from hypothesis import strategies as st
from pages import PROJECT
from vwtext import clean_lines, lines

from vwlite.data.block_parser import Parser
from vwlite.data.blocks import SLACK, Block
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import Code, TextFormat

CHAR = r"[^\x00-\x20|\x7f]"
ENDS = r"(?=[ \t]|\Z)"
SPECIALS = {
    "not at the end of the line": r"(?!\Z)",
    "before a blank or the end of the line": ENDS,
    "at the end of the line": r"(?=\Z)",
    "0 to 9": "[0-9]",
    "0 to 9, a to f": "[0-9a-f]",
    'a char other than ":"': r"[^\x00-\x20|\x7f:]",
    'a character other than a blank, "|" or a control character': CHAR,
    "a tab": r"\t",
}
GRAMMAR = re.search(r"^```ebnf\n(.*?)^```$", (PROJECT / "docs" / "formats.md").read_text(), re.M | re.S)[1]
LINE = re.compile(rf"\A{expression(GRAMMAR, 'line', SPECIALS, ENDS)}\Z".encode(), re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
OF_NUMBERS = {Code.BAD_IMPORTANCE, Code.NOT_FINITE, Code.NAN_FEATURE_VALUE, Code.NAN_NAMESPACE_VALUE}
LARGE = re.compile(rb"[0-9]{20}|e-?\+?0*[0-9]{2}", re.IGNORECASE)  # in numbers that may not be finite


def parsed(*some_lines):
    """The lines as they are read of a file ``some.vw``, under the strict manners."""
    text = b"".join(line + b"\n" for line in some_lines)
    return Parser(TextFormat(), "vw")(Block(bytearray(text + SLACK), len(text), "some.vw", 0))


def told(part):
    """What is said of malformed lines."""
    said = []
    BadLines(None, said.append, BadLinesConfig(max_ratio=1)).examine(part)
    return said


def within(line):
    """Whether the grammar speaks of the line, which ends and begins as it is stored."""
    head = line.partition(b"|")[0]
    return not CONTROL.search(line) and head.count(b"\t") < 2


def stripped(line):
    return line.removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")


def check(line):
    """The line is read if it is in the grammar, and told as malformed if not."""
    part = parsed(b"1 |a x", line, b"1 |a x")
    if LINE.match(stripped(line)):
        codes = {issue.code for issue in part.issues}
        assert len(part.batch) == 3 or codes <= OF_NUMBERS or LARGE.search(line), line
        return
    assert len(part.batch) == 2, line
    (message,) = told(part)
    place = re.match(r"bad line some\.vw:2:(\d+): \S", message)
    assert place and 1 <= int(place[1]) <= len(line) + 1, message


@given(st.from_regex(LINE))
def test_lines_of_the_grammar_are_read(line):
    assert LINE.match(line)
    check(line)


@given(clean_lines)
def test_clean_lines_are_in_the_grammar(line):
    assert LINE.match(stripped(line))


@given(lines.filter(lambda line: within(stripped(line))))
def test_lines_are_in_the_grammar_or_malformed(line):
    check(line)


@given(st.text("1.|:ab' \t-+ex0pn", max_size=14).map(str.encode))
def test_short_lines_are_in_the_grammar_or_malformed(line):
    assume(within(line))
    check(line)


@given(st.from_regex(LINE), st.data())
def test_lines_a_byte_away_are_in_the_grammar_or_malformed(line, data):
    at = data.draw(st.integers(0, len(line)))
    piece = data.draw(st.sampled_from([b"", b" ", b"|", b":", b"x", b"1", b".", b"\t", b"-"]))
    line = line[:at] + piece + line[at + 1 :]
    assume(within(line) and not line.startswith(b"\xef\xbb\xbf"))
    check(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x |a b", "1: bad label, expected a number: x |a b"),
        ("1 2 3 4 |a", "1: too many label words, expected at most label, importance and base: 1 2 3 4 |a"),
        ("1 -2 |a", "3: negative importance, expected 0 or more: 1 -2 |a"),
        ("1 a b", "1: no '|', expected one between label and features: 1 a b"),
        ("1 |:2 x", "4: ':' without a namespace, expected a name or a space after '|': 1 |:2 x"),
        ("1 |a:2", "6: bad namespace value, expected a number after ':': 1 |a:2"),
        ("1 |a:b x", "6: bad namespace value, expected a number after ':': 1 |a:b x"),
        ("1 |a x:1:2", "9: unexpected text, expected a space, '|' or the line's end: 1 |a x:1:2"),
        ("1 |a x:e5", "8: bad or missing value, expected a number after ':': 1 |a x:e5"),
        ("1 |a x:t|b", "8: '|' inside a feature, expected a space before it: 1 |a x:t|b"),
        ("1 |a x:0x10", "8: bad or missing value, expected a number after ':': 1 |a x:0x10"),
    ],
)
def test_lines_outside_the_grammar_have_their_messages(line, message):
    assert told(parsed(b"|a", line.encode())) == [f"bad line some.vw:2:{message}"]
