"""Messages about malformed lines: vwlite's own and Vowpal Wabbit's log lines."""

import re
from enum import IntEnum

from vwlite.escapes import escape


class Code(IntEnum):
    """Why a line is malformed, numbered as in ``cython_ext/base/status.pxd``."""

    BAD_LABEL_WORDS = 1
    BAD_LABEL_NUMBER = 2
    BAD_IMPORTANCE = 3
    NO_BAR = 4
    BAD_NAMESPACE_START = 5
    BAD_NAMESPACE_VALUE = 6
    NAN_NAMESPACE_VALUE = 7
    AFTER_FEATURE = 8
    AFTER_NAMESPACES = 9
    NAN_FEATURE_VALUE = 10
    NOT_FINITE = 11
    BAD_FEATURE = 12
    BAD_INDEX = 13
    EXPECTED_COLON = 14
    BAD_VALUE = 15
    BAD_FIELDS = 16
    OPEN_QUOTE = 17
    AFTER_QUOTE = 18
    BAD_CELL = 19
    BAD_TAG = 20
    BAD_LABEL_NAME = 21
    BAD_JSON = 22
    BAD_NESTING = 23
    BAD_EVENT = 24


SENTENCES: dict[int, str] = {
    Code.BAD_LABEL_WORDS: "too many label words, expected at most label, importance and base",
    Code.BAD_LABEL_NUMBER: "bad label, expected a number",
    Code.BAD_IMPORTANCE: "negative importance, expected 0 or more",
    Code.NO_BAR: "no '|', expected one between label and features",
    Code.BAD_NAMESPACE_START: "':' without a namespace, expected a name or a space after '|'",
    Code.BAD_NAMESPACE_VALUE: "bad namespace value, expected a number after ':'",
    Code.NAN_NAMESPACE_VALUE: "namespace value is NaN, expected a finite number",
    Code.AFTER_FEATURE: "unexpected text, expected a space, '|' or the line's end",
    Code.AFTER_NAMESPACES: "unexpected text, expected '|' or the line's end",
    Code.NAN_FEATURE_VALUE: "feature value is NaN, expected a finite number",
    Code.NOT_FINITE: "number out of range, expected a finite one",
    Code.BAD_FEATURE: "'|' inside a feature, expected a space before it",
    Code.BAD_INDEX: "bad feature index, expected digits before ':'",
    Code.EXPECTED_COLON: "feature without ':', expected index:value",
    Code.BAD_VALUE: "bad or missing value, expected a number after ':'",
    Code.BAD_FIELDS: "wrong number of fields, expected as many as the first line has",
    Code.OPEN_QUOTE: "no closing quote, expected it on the line where the field begins",
    Code.AFTER_QUOTE: "unexpected text behind a quote, expected the field's end",
    Code.BAD_CELL: "bad number, expected one in a column of numbers",
    Code.BAD_TAG: "bad tag, expected one word, as in text",
    Code.BAD_LABEL_NAME: "bad label, expected one word, such as New_York",
    Code.BAD_JSON: "bad JSON, expected an object on each line",
    Code.BAD_NESTING: "bad value, expected a text here, or a number in an object",
    Code.BAD_EVENT: "bad decision, expected an event of a JSON log",
}

EXPECTED = {
    Code.BAD_NAMESPACE_START: "'|',String,space, or EOL",
    Code.BAD_NAMESPACE_VALUE: "Float",
    Code.AFTER_FEATURE: "'|',space, or EOL",
    Code.AFTER_NAMESPACES: "'|' or EOL",
}
REPLACED = {
    Code.NAN_NAMESPACE_VALUE: ("namespace", 1),
    Code.NAN_FEATURE_VALUE: ("feature", 0),
}
# What Vowpal Wabbit takes for a number: anything its own reader ends in, or that strtof begins with.
NUMBER = rb"(?i:-?\d*(?:\.\d*)?([eE]-?\d*)?\Z|[+-]?(\d|\.\d|inf))"


# Lines of other formats: patterns, which few runs need to be compiled.
SVMLIGHT = rb"(?s:\s*\S+(\s+qid:\S+)?(\s+\d+:[^\s,:]+)+\s*(#.*)?)"
LIBFFM = rb"\s*\S+(\s+\d+:\d+:[^\s,:]+)+\s*"
CRFSUITE = rb"\S+(\t[^\t|\s=]+=[^\t|]*|\t__[BE]OS__)+\s*"
FASTTEXT = rb"\s*__label__\S+\s+[^|\s]"
TOKEN = rb"\S+(?:[ \t]\S+)*[ \t](?:O|[BIESLU]-\S+)\s*"  # its last column marks phrases

MAX_GUESSED_BYTES = 1 << 16  # the format of longer lines is not guessed


def hint(code: int, line: bytes) -> str:
    """Advice for a line that looks like one of another format; empty for others."""
    if code == Code.NO_BAR and len(line) <= MAX_GUESSED_BYTES and re.fullmatch(SVMLIGHT, line):
        return " (--format svmlight?)"
    if code in (Code.NO_BAR, Code.BAD_VALUE) and len(line) <= MAX_GUESSED_BYTES and re.fullmatch(LIBFFM, line):
        return " (field:index:value? see 'vwlite convert libffm')"
    if code in (Code.NO_BAR, Code.BAD_LABEL_WORDS, Code.BAD_LABEL_NUMBER) and re.match(FASTTEXT, line):
        return " (fastText? see 'vwlite convert fasttext')"
    if code == Code.NO_BAR and len(line) <= MAX_GUESSED_BYTES and re.fullmatch(CRFSUITE, line):
        return " (attributes of CRFsuite? see 'vwlite convert crfsuite')"
    if code == Code.NO_BAR and line.lstrip().startswith(b"{"):
        return " (--format jsonl?)"
    if code == Code.NO_BAR and b"," in line and b"|" not in line:
        return " (--format csv?)"
    if code == Code.NO_BAR and re.fullmatch(TOKEN, line) and len(line) <= MAX_GUESSED_BYTES:
        return " (a token and its labels in columns? see 'vwlite convert conll')"
    if code in (Code.BAD_INDEX, Code.EXPECTED_COLON) and b"|" in line:
        return " (--format vw?)"
    return ""


def vw_message(code: int, line: bytes, at: int, bar: int, example: int) -> list[str]:
    """The log lines, without newlines, that Vowpal Wabbit prints for one issue of the lenient parser.

    ``at`` and ``bar`` are the issue's offsets into ``line``: of the problem, and of the first bar or, for a label, of
    the label. ``example`` counts rows from 0, blank ones too. Bytes that are not UTF-8 become surrogate escapes. Where
    Vowpal Wabbit prints two messages about one position the parser reports two issues. No lines are returned for an
    issue that Vowpal Wabbit accepts.
    """
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    rest, context = decode(line[bar:]), f'in Example #{example}: "'
    if code == Code.BAD_LABEL_WORDS:
        words = label_words(line, at)
        joined = decode(b" ".join(words))
        return [f"[error] Error: {len(words)} is too many tokens for a simple label: {joined}"]
    if code == Code.BAD_LABEL_NUMBER:
        bad = [decode(word) for word in label_words(line, at) if not re.match(NUMBER, word)]
        return [f"[warning] '{word}' is not a good float, replacing with 0" for word in bad]
    if code in REPLACED:
        subject, number = REPLACED[code]
        read = f'"{decode(line[at:])}" read as NaN. Replacing with {number}.'
        return [f'[warning] Invalid {subject} value:{read}{context}{rest}"']
    if code not in EXPECTED:
        return []
    expected = f'{EXPECTED[code]} expected after : "{decode(line[bar:at])}"'
    return [f'[warning] malformed example! {expected}{context}{rest}"']


def decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def label_words(line: bytes, start: int) -> list[bytes]:
    """The label's words from ``start`` on, the tag not among them."""
    part = line[start:].partition(b"|")[0]
    words = [word for word in part.split(b" ") if word]
    if words and (part.endswith(words[-1]) or words[-1].startswith(b"'")):
        words.pop()
    return words


def excerpt(line: bytes, column: int, width: int = 60) -> str:
    """At most ``width`` printable characters of ``line`` around byte ``column`` (from 0), ``...`` for what is cut off.

    Control characters and bytes that are not UTF-8 come out as Python escapes. ``width`` should be 20 or more.
    """
    line = line.rstrip(b"\r\n")
    column = min(column, len(line))
    before = printable(line[max(0, column - 4 * width) : column])[::-1]
    after = printable(line[column : column + 4 * width])
    before_width = max(width // 3, width - sum(map(len, after)))
    left = fitting(before, before_width)
    right = fitting(after, width - sum(map(len, left)))
    return "".join(left[::-1] + right)


def printable(text: bytes) -> list[str]:
    """One piece per character: itself or its escape."""
    return [c if c.isprintable() else escape(c) for c in decode(text)]


def fitting(pieces: list[str], width: int) -> list[str]:
    """The first pieces that fit into ``width`` characters, closed by ``...`` unless all do."""
    if sum(map(len, pieces)) <= width:
        return pieces
    fitting_words, used = [], 3
    for piece in pieces:
        used += len(piece)
        if used > width:
            break
        fitting_words.append(piece)
    return [*fitting_words, "..."]
