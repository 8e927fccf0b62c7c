"""From blocks of text to batches: text formats and their options, reusable arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from vwlite._native.vw_parser import parse
from vwlite.data.batch import COLUMNS, FEATURES, NAMESPACES, ROWS, Batch, Names
from vwlite.data.blocks import SLACK
from vwlite.errors import UsageError

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
    words: bool = False  # labels are names (see vwlite/data/label_vocabulary.py)
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
        sizes = (max(one, 9 * other // 8) + 64 for one, other in zip(usual, like, strict=True))
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
