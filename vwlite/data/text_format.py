"""From blocks of text to batches: text formats and their options, reusable arrays; and messages about malformed lines,
vwlite's own and Vowpal Wabbit's log lines.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import ClassVar

import numpy as np

from vwlite._native.vw_parser import parse
from vwlite.data.batch import COLUMNS, FEATURES, NAMESPACES, ROWS, Batch, Names
from vwlite.data.blocks import SLACK
from vwlite.errors import UsageError, escape

FULL = 100
NONE = {ROWS: 0, NAMESPACES: 0, FEATURES: 0}
FORMATS = {  # and the native modules that parse them
    "vw": "vw_parser", "svmlight": "svmlight", "csv": "csv_parser", "tsv": "csv_parser",
    "jsonl": "json_parser", "json": "vw_parser", "dsjson": "vw_parser",
}
EMPTY_SET = ","  # a label, as text has it


def parser_of(format_name: str) -> Callable:
    """The native ``parse(text, size, format, workspace)`` of a text format, of tables with a layout's arguments, too.

    It returns ``(status, rows, segments, features, lines, issues)``. Raises UsageError for an unknown format.
    """
    if format_name not in FORMATS:
        raise UsageError(f"unknown text format {format_name!r}; there are {', '.join(FORMATS)}")
    return importlib.import_module(f"vwlite._native.{FORMATS[format_name]}").parse


@dataclass(frozen=True, slots=True, eq=False)
class TextFormat:
    """How names become hashes and which lines are refused.

    With ``skip_malformed`` a malformed line is left out whole; without, as under ``vwlite vw``, the part of it that can
    be read is used.
    """

    hash_all: bool = False
    hash_seed: int = 0
    skip_malformed: bool = True
    names: bool = False
    words: bool = False  # labels are names (see vwlite/data/batch.py)
    lists: bool = False  # they are any number of words (see vwlite/data/class_labels.py)
    numbers: bool = False  # a name is a list of numbers (see vwlite/learners/outputs.py)
    groups: bool = False  # blank lines end groups of lines (see vwlite/data/multiline.py)
    bare: bool = False  # lines of groups may have no features
    affix: np.ndarray = field(default_factory=lambda: np.zeros(256, np.uint64))  # uint64[256], packed specifications
    spelling: np.ndarray = field(default_factory=lambda: np.zeros(256, np.uint8))  # uint8[256]
    redefine: np.ndarray = field(default_factory=lambda: np.arange(256, dtype=np.uint8))  # uint8[256]
    opened: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)  # what kernels have made of it

    def of_words(
        self, lists: bool = False, groups: bool = False, numbers: bool = False, bare: bool = False
    ) -> TextFormat:
        """The same for labels that are names or, with ``lists``, several words; for groups of lines.

        With ``numbers`` a name is a list of numbers; with ``bare`` lines of groups may have no features.
        """
        return replace(self, words=True, lists=lists, groups=groups, numbers=numbers, bare=bare)

    @property
    def makes_features(self) -> bool:
        return bool(self.affix.any() or self.spelling.any())


class Workspace:
    """The arrays one block is parsed into, used again and again, growing to what the text needs."""

    ISSUE_COLUMNS: ClassVar = {"bad_line": np.uint32, "bad_at": np.uint32, "bad_from": np.uint32, "bad_code": np.uint8}

    def __init__(self, size: int, names: bool = False, like: tuple[int, int, int] = (0, 0, 0)) -> None:
        """Large enough for ``size`` bytes of usual text, and for the rows, segments and features ``like`` of others."""
        self.names = names
        usual = (size // 64, size // 32, size // 8)
        sizes = (max(count, 9 * known // 8) + 64 for count, known in zip(usual, like, strict=True))
        self.rows, self.segments, self.features = sizes
        self.max_issues = 64
        self.more, self.used = np.zeros(1, np.uint8), 0  # text behind the block's, and how much of it there is
        self.allocate()

    def allocate(self) -> None:
        self.opened: bytes | None = None  # the arrays, as kernels have opened them
        sizes = {ROWS: self.rows, NAMESPACES: self.segments, FEATURES: self.features}
        for name, column in COLUMNS.items():
            setattr(self, name, np.zeros(sizes[column.per], column.dtype))
        counted = tuple(sizes)
        self.columns = [
            (getattr(self, name), counted.index(column.per), column.length(NONE)) for name, column in COLUMNS.items()
        ]
        for name, dtype in self.ISSUE_COLUMNS.items():
            setattr(self, name, np.zeros(self.max_issues, dtype))
        self.namespace_name = self.name = self.kind = None
        if self.names:
            self.namespace_name = np.zeros((self.segments, 2), np.uint32)
            self.name = np.zeros((self.features, 4), np.uint32)
            self.kind = np.zeros((self.features, 2), np.uint8)

    def grow(self, issues: int = 0) -> None:
        """Allocate larger arrays after text did not fit, with the number of issues found in it."""
        if issues > self.max_issues:
            self.max_issues = 2 * issues
        else:
            self.rows, self.segments, self.features = 2 * self.rows, 2 * self.segments, 2 * self.features
        self.allocate()

    def begin_text(self, text: bytes, room: int) -> np.ndarray:
        """The array of the text behind the block's, which begins with ``text`` and has ``room`` behind it."""
        if len(self.more) < len(text) + room:
            self.more = np.empty(len(text) + room, np.uint8)
        self.more[: len(text)] = np.frombuffer(text, np.uint8)
        self.used = len(text)
        return self.more

    def whole_text(self, data: bytearray, size: int) -> bytearray:
        """The text that a batch's offsets refer to: the block's ``data[:size]`` and what was put behind it."""
        return data[:size] + bytes(self.more[: self.used]) + SLACK if self.used else data

    def batch(self, rows: int, segments: int, features: int, text: object) -> Batch:
        names = None
        if self.names:
            name, kind = self.name[:features], self.kind[:features]
            names = Names(
                name[:, 0], name[:, 1], kind[:, 0], kind[:, 1], name[:, 2], name[:, 3],
                self.namespace_name[:segments, 0], self.namespace_name[:segments, 1],
            )
        counts = rows, segments, features
        return Batch(*[array[: counts[per] + more] for array, per, more in self.columns], text, names)


def parse_text(text: bytes, format: TextFormat, parse: Callable = parse) -> Batch:
    """Parse a few lines held in memory (tests, single examples) with a parser of ``parser_of``."""
    if not text.endswith(b"\n"):
        text += b"\n"
    data = bytearray(text) + SLACK
    workspace = Workspace(len(text), format.names)
    while True:
        status, rows, segments, features, _, issues = parse(data, len(text), format, workspace)
        if status != FULL:
            return workspace.batch(rows, segments, features, memoryview(workspace.whole_text(data, len(text))))
        workspace.grow(issues)


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


def hint_of(code: int, line: bytes) -> str:
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
        return " (--format dsjson?)" if b'"_multi"' in line else " (--format jsonl?)"
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
    """Cut out at most ``width`` printable characters of ``line`` around byte ``column`` (from 0), ``...`` for what is
    cut off.

    Control characters and bytes that are not UTF-8 come out as Python escapes. ``width`` should be 20 or more.
    """
    line = line.rstrip(b"\r\n")
    column = min(column, len(line))
    before = printable(line[max(0, column - 4 * width) : column])[::-1]
    after = printable(line[column : column + 4 * width])
    before_width = max(width // 3, width - sum(map(len, after)))
    left = fit_pieces(before, before_width)
    right = fit_pieces(after, width - sum(map(len, left)))
    return "".join(left[::-1] + right)


def printable(text: bytes) -> list[str]:
    """Make one piece per character: itself or its escape."""
    return [c if c.isprintable() else escape(c) for c in decode(text)]


def fit_pieces(pieces: list[str], width: int) -> list[str]:
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
