"""``Batch``: a few thousand parsed examples as NumPy arrays. All other modules pass examples on in this form.

``COLUMNS`` and ``NAME_COLUMNS`` describe its arrays; code that handles every array reads these tables. ``Csr`` is for
the terms, or the classes and costs, of many rows.

Labels that are names get numbers in order of appearance (``LabelVocabulary``). Where a text format is ``of_words``, the
text span of a row's tag begins with the label's name, if ``label`` is not NaN. The importance follows, if it was
written, and then the tag, if the row is TAGGED.
"""

# ruff: noqa: RUF009 (column() makes a dataclass field)

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.options import is_count


@dataclass(slots=True)
class Csr:
    """Row ``i`` has the values ``values[indptr[i]:indptr[i + 1]]`` in the columns ``indices[indptr[i]:indptr[i + 1]]``.

    As in ``scipy.sparse.csr_matrix``, whose ``data`` is ``values`` here.
    """

    indptr: np.ndarray  # int64[rows + 1]
    indices: np.ndarray  # uint32[entries]
    values: np.ndarray  # float32[entries]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def sizes(self) -> np.ndarray:
        """int64[rows]: how many entries each row has."""
        return np.diff(self.indptr)

    @property
    def owner(self) -> np.ndarray:
        """int64[entries]: the row of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def row(self, row: int) -> slice:
        """Return where the entries of a row stand."""
        return slice(int(self.indptr[row]), int(self.indptr[row + 1]))

    def part(self, first: int, last: int) -> Csr:
        """The rows from ``first`` to ``last``, excluded, whose entries are not copied."""
        own = slice(int(self.indptr[first]), int(self.indptr[last]))
        return Csr(self.indptr[first : last + 1] - own.start, self.indices[own], self.values[own])

    def take(self, rows: np.ndarray) -> Csr:
        """The rows ``rows``, int64[n], in this order."""
        sizes = self.sizes[rows]
        indptr = offsets(sizes)
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][rows] - indptr[:-1], sizes)
        return Csr(indptr, self.indices[places], self.values[places])

    def keep(self, kept: np.ndarray) -> Csr:
        """The entries where ``kept``, bool[entries], is true; there are as many rows as before."""
        if kept.all():
            return self
        return Csr(np.searchsorted(np.flatnonzero(kept), self.indptr), self.indices[kept], self.values[kept])


def offsets(sizes: Any) -> np.ndarray:
    """int64[n + 1]: where ``n`` parts of these sizes begin that stand one behind the other, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def join_rows(parts: Sequence[Csr]) -> Csr:
    """The rows of all parts in order."""
    return Csr(
        offsets(np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)])),
        np.concatenate([np.zeros(0, np.uint32), *(part.indices for part in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(part.values for part in parts)]),
    )


def ranges(starts: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """int64[n]: ``starts[i]`` to ``starts[i + 1]`` of each ``i`` chosen, one after another."""
    low = starts[chosen].astype(np.int64)
    sizes = starts[chosen + 1].astype(np.int64) - low
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - (ends - sizes), sizes)


# Bits of Batch.flags: a blank line; a line with a tag; a line whose tag is a command of vw to save the model.
BLANK, TAGGED, SAVE = 1, 2, 4
TABLE = "<table>"  # in place of a file
# Of the lines of a group: the shared line, whose features every line of the group has; any line but the group's last.
SHARED, INNER = 8, 16
FIRST = 32  # the first row of a file, where labels are names
ROWS, NAMESPACES, FEATURES = "rows", "segments", "features"  # what a column has an entry for
VALUES, STARTS, TEXT_OFFSETS = "values", "starts", "text offsets"  # what the entries are


class Column(NamedTuple):
    """An array of a batch: an entry of ``dtype`` for each of ``per``.

    ``STARTS`` are offsets into the arrays of the next level and have one entry more, the end of the last item.
    """

    name: str
    dtype: type
    per: str
    entries: str = VALUES

    def length(self, counts: Mapping[str, int]) -> int:
        """Entries of the array in a batch of these numbers of rows, segments and features."""
        return counts[self.per] + (self.entries is STARTS)


def column(dtype: type, per: str, entries: str = VALUES) -> Any:
    """A field of ``Batch`` or ``Names`` that is a column."""
    return field(metadata={"column": (dtype, per, entries)})


def columns_of(owner: type) -> dict[str, Column]:
    """The columns that the fields of a class declare, by name."""
    declared = [member for member in fields(owner) if "column" in member.metadata]
    return {member.name: Column(member.name, *member.metadata["column"]) for member in declared}


@dataclass(slots=True, eq=False, repr=False)
class Names:
    """The positions of the names of a batch's features in its text; kept only on request.

    ``kind`` is 0 for a named feature, 1 for an anonymous one, 2 for one with a text value, 3 for an affix and 4 for a
    spelling feature. ``detail`` of an affix packs its length and side (``2 * length + is_prefix``).
    """

    start: np.ndarray = column(np.uint32, FEATURES, TEXT_OFFSETS)  # first byte of the feature's name in Batch.text
    end: np.ndarray = column(np.uint32, FEATURES, TEXT_OFFSETS)  # one past its last byte
    kind: np.ndarray = column(np.uint8, FEATURES)
    detail: np.ndarray = column(np.uint8, FEATURES)
    value_start: np.ndarray = column(np.uint32, FEATURES, TEXT_OFFSETS)  # text value (kind 2)
    value_end: np.ndarray = column(np.uint32, FEATURES, TEXT_OFFSETS)
    # Name of each segment's namespace; of affixes that of the namespace they are made from.
    namespace_start: np.ndarray = column(np.uint32, NAMESPACES, TEXT_OFFSETS)
    namespace_end: np.ndarray = column(np.uint32, NAMESPACES, TEXT_OFFSETS)


NAME_COLUMNS = columns_of(Names)


@dataclass(slots=True, eq=False, repr=False)
class Batch:
    """``n`` examples in compressed sparse rows. The constant feature is not stored; the kernels add it.

    Row ``i`` has the segments ``row_namespace[i]:row_namespace[i + 1]``, one per non-empty namespace block, in
    order of appearance; segment ``j`` has the features ``namespace_start[j]:namespace_start[j + 1]``.
    """

    label: np.ndarray = column(np.float32, ROWS)  # NaN where unlabelled
    importance: np.ndarray = column(np.float32, ROWS)
    initial_prediction: np.ndarray = column(np.float32, ROWS)
    flags: np.ndarray = column(np.uint8, ROWS)  # BLANK | TAGGED | SAVE | SHARED | INNER | FIRST
    line: np.ndarray = column(np.uint32, ROWS)  # line number within the block, from 0
    tag_start: np.ndarray = column(np.uint32, ROWS, TEXT_OFFSETS)
    tag_end: np.ndarray = column(np.uint32, ROWS, TEXT_OFFSETS)
    row_namespace: np.ndarray = column(np.uint32, ROWS, STARTS)
    namespace_char: np.ndarray = column(np.uint8, NAMESPACES)  # first byte of the namespace's name, 32 when anonymous
    namespace_hash: np.ndarray = column(np.uint32, NAMESPACES)  # hash of the whole name
    namespace_start: np.ndarray = column(np.uint32, NAMESPACES, STARTS)
    feature_hash: np.ndarray = column(np.uint32, FEATURES)  # not masked to a table's size
    value: np.ndarray = column(np.float32, FEATURES)  # already multiplied by the namespace's value
    text: Any = b""  # the bytes that the offsets of tags and names refer to
    names: Names | None = None
    numbers: np.ndarray | None = None  # int64[n], numbers of the lines, from 0, when they are not consecutive
    gaps: tuple[int, ...] = ()  # rows before which a malformed line was left out, ascending
    path: str = ""  # the file of the rows, or TABLE; empty for a cache
    first_line: int = 0  # number of the block's first line within its file, from 0; in a cache, of the first row
    lists: Csr | None = None  # classes and their costs, infinite where unknown, where labels are lists of classes
    probability: np.ndarray | None = None  # float32[n], of the action shown, where labels are logged decisions
    holdout_mask: np.ndarray | None = None  # uint8[n], 1 where a row is held out; None: none is
    release: Any = None  # called when the arrays may be reused

    def __len__(self) -> int:
        return len(self.label)

    @property
    def any_flags(self) -> int:
        """The bits of ``flags`` that are set in any row."""
        if len(self) == 1:  # a line at a time, where a reduction takes longer than the learner
            return int(self.flags[0])
        return int(np.bitwise_or.reduce(self.flags))

    @property
    def is_example(self) -> np.ndarray:
        """bool[n]: false for blank lines and vw's ``save`` commands."""
        return self.flags & (BLANK | SAVE) == 0

    @property
    def is_learnable(self) -> np.ndarray:
        """bool[n]: examples with a label, of some importance."""
        return ~np.isnan(self.label) & (self.importance > 0) & self.is_example

    def example_rows(self, begin: int = 0, end: int | None = None, *, without: int = 0) -> np.ndarray:
        """int64[m] ascending: the examples among the rows ``[begin, end)`` that have no flag of ``without``."""
        return np.flatnonzero(self.flags[begin:end] & (BLANK | SAVE | without) == 0) + begin

    def gaps_of(self, begin: int, end: int) -> list[int]:
        """The ``gaps`` that belong to the rows ``[begin, end)``; those behind the last row, to the batch's end."""
        return [gap for gap in self.gaps if begin <= gap < end or gap == end == len(self)]

    def head(self, rows: int) -> Batch:
        """The first ``rows`` rows; features of later ones stay in the arrays, unreferenced."""
        return self if rows == len(self) else self.part(0, rows)

    def part(self, begin: int, end: int) -> Batch:
        """The rows from ``begin`` to ``end``; features of others stay in the arrays, unreferenced."""
        kept = {ROWS: end - begin}
        columns = [kind for kind in COLUMNS.values() if kind.per == ROWS]
        rows = {kind.name: getattr(self, kind.name)[begin : begin + kind.length(kept)] for kind in columns}
        return replace(self, **rows)

    def columns_from(self, begin: int, end: int) -> tuple[dict[str, np.ndarray], Names | None]:
        """Copies of the columns and names of the rows ``[begin, end)``; offsets into the text stay as they are."""
        first, last = self.row_namespace[[begin, end]].tolist()
        low, high = self.namespace_start[[first, last]].tolist()
        ranges = {ROWS: (begin, end), NAMESPACES: (first, last), FEATURES: (low, high)}

        def copied(owner: Any, kind: Column) -> np.ndarray:
            values, (start, stop) = getattr(owner, kind.name), ranges[kind.per]
            return values[start : stop + 1] - values[start] if kind.entries is STARTS else np.array(values[start:stop])

        names = self.names and Names(**{name: copied(self.names, kind) for name, kind in NAME_COLUMNS.items()})
        return {name: copied(self, kind) for name, kind in COLUMNS.items()}, names

    def copy(self) -> Batch:
        """The columns in arrays of their own, without text and names."""
        return Batch(**{name: np.array(getattr(self, name)) for name in COLUMNS})

    def location(self, row: int) -> str:
        """File and line of ``row``, or its number, for messages; rows of tables are counted from 0."""
        number = self.first_line + row if self.numbers is None else int(self.numbers[row])
        if self.path == TABLE:
            return f"row {number}"
        if self.path:
            return f"{self.path}:{self.first_line + int(self.line[row]) + 1}"
        return f"example {number + 1}"

    def weigh(
        self, class_weights: Iterable[tuple[float, float]], labels: np.ndarray, *, as_vw: bool = False
    ) -> None:
        """Multiply the importance of examples by the weights of ``labels``, given as pairs (label, weight).

        ``as_vw``, a label belongs to the class of its whole part, and what is held out keeps its importance.
        """
        if class_weights:
            factor, classes = np.ones(len(self), np.float32), np.trunc(labels) if as_vw else labels
            for label, weight in class_weights:
                factor[classes == (math.trunc(label) if as_vw else np.float32(label))] = weight
            if as_vw and self.holdout_mask is not None:
                factor[self.holdout_mask != 0] = 1
            self.importance = self.importance * factor

    def tag(self, row: int) -> bytes:
        """The tag of ``row``, empty when it has none."""
        return bytes(self.text[self.tag_start[row] : self.tag_end[row]])


COLUMNS = columns_of(Batch)


def first_of_group(batch: Batch, row: int) -> int:
    """The first row of a row's group of lines; the row itself where it is in none."""
    begin, size = row, 32
    while begin:
        begin = max(row - size, 0)
        ends = np.flatnonzero(batch.flags[begin:row] & INNER == 0)
        if len(ends):
            return begin + int(ends[-1]) + 1
        size *= 8
    return 0


class LabelVocabulary:
    """Names and their numbers: ``texts[number]``."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self.known = {text.encode("utf-8", "surrogateescape"): number for number, text in enumerate(self.texts)}

    def numbers(self, batch: Batch) -> np.ndarray:
        """int32[rows]: the labels' numbers, -1 without a label; new names get the next ones."""
        from vwlite._native.hash_names import word_numbers

        number, first = np.empty(len(batch), np.int32), np.empty(len(batch), np.uint32)
        words = word_numbers(batch, ~np.isnan(batch.label), number, first)
        own = np.full(words + 1, -1, np.int32)  # the last is of a row without a label
        for word, row in enumerate(first[:words].tolist()):
            name = batch.tag(row).partition(b" ")[0]
            if name not in self.known:
                self.known[name] = len(self.known)
                self.texts.append(name.decode("utf-8", "surrogateescape"))
            own[word] = self.known[name]
        return own[number]


def tag_of(batch: Batch, row: int) -> bytes:
    """The tag of a row whose label is a name, empty when it has none."""
    return batch.tag(row).rpartition(b" ")[2].removeprefix(b"'") if batch.flags[row] & TAGGED else b""


class Classes:
    """Names of classes, sorted; with ``several`` a label lists any number of them, separated by commas."""

    def __init__(self, names: list[str], several: bool = False) -> None:
        self.names, self.several = names, several
        self.index = {name: index for index, name in enumerate(names)}

    @classmethod
    def of(cls, texts: list[str], several: bool = False) -> Classes:
        """The classes that these labels name, in numeric order if all names are numbers."""
        names = {name for text in texts for name in split(text, several)}
        numeric = all(is_count(name) and len(name) < 16 for name in names)
        return cls(sorted(names, key=(lambda name: (int(name), name)) if numeric else None), several)

    def members(self, texts: list[str]) -> list[np.ndarray]:
        """Per label text its classes, int32 ascending; names that are no class are left out."""
        known = ([self.index[name] for name in split(text, self.several) if name in self.index] for text in texts)
        return [np.array(sorted(set(indices)), np.int32) for indices in known]


def split(text: str, several: bool) -> list[str]:
    return [name for name in text.split(",") if name] if several else [text]
