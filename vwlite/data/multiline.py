"""Groups of lines: a batch holds whole groups only, and its flags say which rows belong together.

A blank line ends a group, and so does the end of a file. The rows of a group that has not ended wait for the next
block. A line without features, tag and known cost is a blank one, too, as in Vowpal Wabbit; not one of an action.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vwlite._native.label_lists import read_words
from vwlite.data.batch import (
    BLANK,
    COLUMNS,
    FEATURES,
    INNER,
    NAME_COLUMNS,
    NAMESPACES,
    ROWS,
    SAVE,
    SHARED,
    STARTS,
    TAGGED,
    TEXT_OFFSETS,
    Batch,
    Column,
    Names,
    first_of_group,
    offsets,
)
from vwlite.data.block_parser import LONGEST_LINE, Parsed
from vwlite.data.class_labels import MAX_CLASS, Classes, ClassLabels, LogFunction, read_cost, text_of, with_others
from vwlite.data.plain_text import words_of
from vwlite.errors import DataError

MAX_GROUP_BYTES = LONGEST_LINE >> 2  # of text; bounds the memory where a file has no blank lines between groups
UNKNOWN_COST = 0  # label of a line whose cost must not be learned though its words are there; otherwise 1
SHARED_WORDS = (b"shared", b"***shared***")


def whole_groups(parts: Iterator[Parsed], skip_malformed: bool, bare: bool = False) -> Iterator[Parsed]:
    """The same rows in batches that hold whole groups only; with ``bare`` lines may have no features. Raises DataError.

    With ``skip_malformed``, a group from which a malformed line was left out loses its costs: nothing is learned from
    it.
    """
    waiting = PendingGroup(skip_malformed, bare)
    before: Parsed | None = None
    for part in parts:
        if before is not None:
            yield waiting.complete(before, ends=part.block.offset == 0)
        before = part
    if before is not None:
        yield waiting.complete(before, ends=True)


class PendingGroup:
    """The rows of a group that has not ended, in pieces, each a batch with arrays of its own."""

    def __init__(self, skip_malformed: bool, bare: bool = False) -> None:
        self.skip_malformed, self.bare = skip_malformed, bare
        self.pieces: list[Batch] = []
        self.gaps: list[int] = []  # rows of the pieces before which a malformed line was left out
        self.bytes = 0

    def complete(self, part: Parsed, ends: bool) -> Parsed:
        """The part, with the pending rows before it and without the rows of its last group, which becomes pending.

        Where the file ``ends``, its last group is complete and stays.
        """
        batch, before = part.batch, sum(map(len, self.pieces))
        batch.line = batch.line.astype(np.int64) + part.first_line
        apart = self.find_ends(batch)
        size = len(batch) if ends else 1 + int(np.max(np.flatnonzero(apart), initial=-1))
        text = memoryview(batch.text)[: part.block.size]
        issues = [issue._replace(row=issue.row + before) for issue in part.issues]
        gaps = [*self.gaps, *(issue.row for issue in issues)]
        tail = [piece_of(batch, size, len(batch), text)] if size < len(batch) else []
        if size and not before:
            whole = batch.head(size)
        else:
            pieces = [*self.pieces, piece_of(batch, 0, size, text)] if ends or size else []
            whole = join_batches(pieces) if pieces else batch.head(0)
            whole.release = batch.release  # messages about malformed lines still quote the block's text
        if not (ends or size):
            self.wait([*self.pieces, *tail], gaps, part)
            return replace(part, batch=whole, issues=issues, gaps=(), packed=None)
        end = before + size
        self.wait(tail, [] if ends else [gap - end for gap in gaps if gap >= end], part)
        gaps = [gap for gap in gaps if ends or gap < end]
        self.mark(whole, gaps)
        whole.line = whole.line - part.first_line
        return replace(part, batch=whole, issues=issues, gaps=tuple(gaps), packed=None)

    def wait(self, pieces: list[Batch], gaps: list[int], part: Parsed) -> None:
        self.pieces, self.gaps = pieces, gaps
        if sum(len(piece.text) for piece in pieces) > MAX_GROUP_BYTES:
            raise DataError(
                f"{part.block.path}:{int(pieces[0].line[0]) + 1}: a group of lines of more than "
                f"{MAX_GROUP_BYTES >> 20} MB begins here: are there no blank lines between groups?"
            )

    def find_ends(self, batch: Batch) -> np.ndarray:
        """bool[rows]: the rows in no group. Lines without features, tag and cost become blank lines."""
        empty = (np.diff(batch.row_namespace.astype(np.int64)) == 0) & (batch.flags & (BLANK | TAGGED | SAVE) == 0)
        for row in () if self.bare else np.flatnonzero(empty).tolist():
            words = batch.tag(row) if batch.label[row] == batch.label[row] else b""
            if b":" not in words and words.strip() not in SHARED_WORDS:
                batch.flags[row], batch.label[row] = BLANK, np.nan
                batch.tag_start[row] = batch.tag_end[row] = 0
        return batch.flags & (BLANK if self.skip_malformed else BLANK | SAVE) != 0

    def mark(self, batch: Batch, gaps: list[int]) -> None:
        """Set the flags of rows within groups; remove the costs of groups with gaps."""
        apart = self.find_ends(batch)
        inner = ~apart & ~np.append(apart[1:], True)
        batch.flags = np.where(inner, batch.flags | INNER, batch.flags & ~np.uint8(INNER))
        first = ~apart & np.insert(apart[:-1], 0, True)[: len(batch)]
        rows = not_numbered(batch, np.flatnonzero(first & (batch.label == batch.label)))
        known = are_shared(batch, rows)
        batch.flags[rows[known]] |= SHARED
        for row in rows[~known].tolist():
            if is_shared(batch.tag(row), bool(batch.flags[row] & TAGGED)):
                batch.flags[row] |= SHARED
        if gaps and self.skip_malformed:
            number = np.cumsum(first)
            beside = [row for gap in gaps for row in (gap - 1, gap) if 0 <= row < len(batch) and not apart[row]]
            batch.label[np.isin(number, number[beside]) & (batch.label == 1)] = UNKNOWN_COST


def not_numbered(batch: Batch, rows: np.ndarray) -> np.ndarray:
    """The rows whose label words may be those of a shared line: long enough, and no number comes first."""
    begin = batch.tag_start[rows]
    long = batch.tag_end[rows] - begin >= min(map(len, SHARED_WORDS))
    rows, begin = rows[long], begin[long]
    first = np.frombuffer(batch.text, np.uint8)[begin] if len(rows) else begin
    return rows[(first < ord("0")) | (first > ord("9"))]


def are_shared(batch: Batch, rows: np.ndarray) -> np.ndarray:
    """bool[rows]: those whose label is the word ``shared``, with a blank behind it, and which have no tag."""
    begin, word = batch.tag_start[rows].astype(np.int64), np.frombuffer(b"shared ", np.uint8)
    shared = (batch.tag_end[rows] - begin == len(word)) & (batch.flags[rows] & TAGGED == 0)
    if shared.any():
        text = np.frombuffer(batch.text, np.uint8)
        shared[shared] = (text[begin[shared, None] + np.arange(len(word))] == word).all(axis=1)
    return shared


def is_shared(span: bytes, tagged: bool) -> bool:
    """Whether label words and tag are those of a shared line."""
    words = span.split()
    return len(words) == 1 + tagged and words[0] in SHARED_WORDS


def piece_of(batch: Batch, begin: int, end: int, text: memoryview) -> Batch:
    """The rows ``[begin, end)`` as a batch with arrays of its own, and the text from the first of them on."""
    blank = begin == end or bool(batch.flags[begin] & BLANK)
    start = 0 if blank else int(batch.tag_start[begin])
    columns, names = batch.columns_from(begin, end)
    piece = Batch(**columns, text=bytes(text[start:]), names=names)
    move_text(piece, -start)
    return piece


def move_text(batch: Batch, distance: int) -> None:
    """Add ``distance`` to all offsets into the text, because the text has moved. Blank rows keep the offset 0."""
    shift, has_text = np.uint32(distance % 2**32), batch.flags & BLANK == 0
    for name in text_offsets(COLUMNS):
        setattr(batch, name, np.where(has_text, getattr(batch, name) + shift, 0).astype(np.uint32))
    if batch.names:
        moved = {name: getattr(batch.names, name) + shift for name in text_offsets(NAME_COLUMNS)}
        batch.names = replace(batch.names, **moved)


def text_offsets(columns: dict[str, Column]) -> list[str]:
    return [name for name, column in columns.items() if column.entries is TEXT_OFFSETS]


def join_batches(pieces: list[Batch]) -> Batch:
    """Join pieces to one batch of all rows. The pieces' offsets into their texts are moved to the joined text."""
    size = 0
    for piece in pieces:
        move_text(piece, size)
        size += len(piece.text)
    columns = {
        name: join_columns([getattr(piece, name) for piece in pieces], column.entries is STARTS)
        for name, column in COLUMNS.items()
    }
    names = pieces[0].names and Names(
        **{name: join_columns([getattr(piece.names, name) for piece in pieces]) for name in NAME_COLUMNS}
    )
    return Batch(**columns, text=b"".join(piece.text for piece in pieces), names=names)


def join_columns(arrays: list[np.ndarray], starts: bool = False) -> np.ndarray:
    """Join arrays one after the other; ``starts`` are counted on from the end of the array before."""
    if not starts:
        return np.concatenate(arrays)
    before = np.cumsum([0, *(array[-1] for array in arrays)], dtype=np.uint32)
    return np.concatenate([*(a[:-1] + b for a, b in zip(arrays, before[:-1], strict=True)), before[-1:]])


def with_shared(batch: Batch, row: int) -> tuple[Batch, int]:
    """A batch, and the row in it, that has the segments of ``row`` and those of its group's shared line, if any."""
    if row == 0 or batch.flags[row] & (BLANK | SAVE | SHARED) or not batch.flags[row - 1] & INNER:
        return batch, row  # it is no example, or the first of its group
    first = first_of_group(batch, row)
    if not batch.flags[first] & SHARED:
        return batch, row
    edges = batch.row_namespace
    own, shared = (np.arange(edges[at], edges[at + 1], dtype=np.int64) for at in (row, first))
    segments = np.concatenate([own, shared])
    start = batch.namespace_start
    starts, ends = start[segments].astype(np.int64), start[segments + 1].astype(np.int64)
    features = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, ends)])
    taken = {ROWS: slice(row, row + 1), NAMESPACES: segments, FEATURES: features}
    copied = {name: column for name, column in COLUMNS.items() if column.entries is not STARTS}
    columns = {name: getattr(batch, name)[taken[column.per]] for name, column in copied.items()}
    columns["row_namespace"] = np.array([0, len(segments)], np.uint32)
    columns["namespace_start"] = offsets(ends - starts).astype(np.uint32)
    names = batch.names and Names(
        **{name: getattr(batch.names, name)[taken[column.per]] for name, column in NAME_COLUMNS.items()}
    )
    return Batch(**columns, text=batch.text, names=names), 0


MIXED = "[warning] ldf example has mix of train/test data; assuming test"


class LineLabels(ClassLabels):
    """Reads the labels of batches of whole groups. Without ``log``, a line that has not one class ends the run.

    With ``by_place``, the lines of a group none of which has a label are of the classes 1, 2 and so on.
    """

    def __init__(self, log: LogFunction | None = None, *, by_place: bool = False) -> None:
        super().__init__(Classes(0), log)
        self.by_place = by_place

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists``, a row's class and cost. Raises DataError.

        The labels, float32[n], are 1 for the rows of groups of which all costs are known, else NaN.
        """
        size, lines = len(batch), batch.flags & (BLANK | SAVE | SHARED) == 0
        number, cost, present = np.zeros(size, np.uint32), np.zeros(size, np.float32), np.zeros(size, np.uint8)
        bare = lines & np.isnan(batch.label)
        read_words(batch, (lines & ~bare).astype(np.uint8), number, cost, None, present)
        if self.by_place and bare.any():
            numbered = number_places(batch, lines, bare)
            present |= numbered > 0
            number, cost = np.where(numbered, numbered, number), np.where(numbered, np.float32(np.inf), cost)
        read = present != 0
        sizes = read.astype(np.int64) - (lines & ~read)
        batch.lists = with_others(sizes, number[read], cost[read], lambda row: self.entries(batch, row))
        return self.known(batch)

    def entries(self, batch: Batch, row: int) -> list[tuple[int, float]]:
        words = words_of(text_of(batch, row)) if batch.label[row] == batch.label[row] else []
        entries = [self.entry(word) for word in words]
        if self.log is None and (len(entries) != 1 or None in entries):
            fault = f"bad label {' '.join(words)!r}" if words else "no label"
            hint = " (what touches the bar is a tag)" if batch.flags[row] & TAGGED and not words else ""
            raise DataError(f"{batch.location(row)}: {fault}: expected one word class:cost, or class{hint}")
        for word, entry in zip(words, entries, strict=True):
            if entry is None:
                self.log(f"[warning] malformed cost specification on '{word}'")
        return [entry for entry in entries if entry]

    def entry(self, word: str) -> tuple[int, float] | None:
        name, colon, price = word.partition(":")
        if not name and self.log is None:
            return None
        number = 0 if name == "label" and colon else self.classes.number(name)
        if not colon and name.encode("utf-8", "surrogateescape") not in SHARED_WORDS:
            return None if number > MAX_CLASS else (number, math.inf)
        try:
            value = read_cost(price)
        except ValueError:
            return None
        return (number, value) if math.isfinite(value) and number <= MAX_CLASS else None

    def known(self, batch: Batch) -> np.ndarray:
        lists, rows = batch.lists, batch.is_example
        single = lists.sizes == 1
        has_cost = single & (batch.label != UNKNOWN_COST)
        has_cost[single] &= np.isfinite(lists.values[lists.indptr[:-1][single]])
        lines = rows & (batch.flags & SHARED == 0)
        ends = rows & (batch.flags & INNER == 0)
        group = np.cumsum(ends) - ends
        groups = 1 + int(ends.sum())
        missing, total = (np.bincount(group[which], minlength=groups) for which in (lines & ~has_cost, lines))
        mixed = (missing > 0) & (missing < total)
        if self.log:
            for _ in range(int(mixed.sum())):
                self.log(MIXED)
        good = (missing == 0) & ((total > 0) | (self.log is not None))
        return np.where(rows & good[group], np.float32(1), np.float32(np.nan)).astype(np.float32)


def number_places(batch: Batch, lines: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """uint32[n]: from 1 the place of a line in its group, where all ``lines`` of this are ``bare``; else 0.

    A line whose tag looks like a label, which touches the bar by mistake, is none of these.
    """
    mistaken = [row for row in np.flatnonzero(bare & (batch.flags & TAGGED != 0)).tolist() if b":" in batch.tag(row)]
    bare = bare & ~np.isin(np.arange(len(bare)), mistaken)
    ends = batch.is_example & (batch.flags & INNER == 0)
    group = np.cumsum(ends) - ends
    total, without = (np.bincount(group[which], minlength=group[-1] + 1) for which in (lines, bare))
    before = np.cumsum(lines) - lines  # lines before a row
    first = np.zeros(group[-1] + 1, np.int64)
    first[group[lines][::-1]] = before[lines][::-1]
    return np.where(bare & (total == without)[group], before - first[group] + 1, 0).astype(np.uint32)
