"""What is given beside the features of rows: labels, importance, initial predictions and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.data.batch import TAGGED, Batch, Names, offsets
from vwlite.data.text_format import EMPTY_SET, SENTENCES, Code, TextFormat
from vwlite.data.text_writer import number_texts
from vwlite.errors import DataError, UsageError

MAX_ROWS, MAX_FEATURES = 1 << 16, 1 << 22  # of a batch; the second is about
ANONYMOUS_CHAR = 32
SLACK = bytes(64)  # that kernels may read behind a batch's text


@dataclass(slots=True)
class Part:
    """The features of one namespace: row ``i`` has those of ``indptr[i]:indptr[i + 1]``."""

    namespace: bytes  # its name, empty where it is anonymous
    namespace_hash: int
    indptr: np.ndarray  # int32 or int64[rows + 1], from 0
    hashes: np.ndarray  # uint32[features]
    values: np.ndarray  # float32[features], none of them 0
    names: tuple[bytes, np.ndarray, np.ndarray] | None = None  # text, and int64[features]: begin and end of each name
    joins: bool = False  # its features are of the same namespace as those of the part before, and follow them

    @property
    def char(self) -> int:
        return self.namespace[0] if self.namespace else ANONYMOUS_CHAR


def batch_of(parts: Sequence[Part], rows: Mapping[str, Any]) -> Batch:
    """The batch of these namespaces, a row's in this order; ``rows`` are its other columns, and its text.

    Raises DataError for more features than a batch can have.
    """
    size = sum(len(part.hashes) for part in parts)
    if size >= 2**32:
        raise DataError(f"{len(rows['label'])} rows have {size} features: too many")
    text = bytearray(rows["text"])
    names = [name_offsets(part, text) for part in parts]
    columns, order = arrays_of_part(parts[0]) if len(parts) == 1 else interleave_parts(parts)
    numbers = columns.pop("numbers")
    chars = np.array([part.char for part in parts], np.uint8)
    hashes = np.array([part.namespace_hash for part in parts], np.uint32)
    return Batch(
        **{**rows, "text": memoryview(text + SLACK)},
        **columns,
        namespace_char=chars[numbers],
        namespace_hash=hashes[numbers],
        line=np.arange(len(rows["label"]), dtype=np.uint32),
        names=None if parts[0].names is None else joined_names(names, numbers, order),
    )


def arrays_of_part(part: Part) -> tuple[dict[str, np.ndarray], None]:
    """The arrays of one namespace, without copying features."""
    filled = part.indptr[1:] != part.indptr[:-1]
    start = part.indptr if filled.all() else np.append(part.indptr[:-1][filled], part.indptr[-1])
    columns = {
        "row_namespace": offsets(filled).astype(np.uint32),
        "namespace_start": start.view(np.uint32) if start.dtype == np.int32 else start.astype(np.uint32),
        "feature_hash": part.hashes,
        "value": part.values,
        "numbers": np.zeros(len(start) - 1, np.intp),
    }
    return columns, None


def interleave_parts(parts: Sequence[Part]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of several namespaces; and where each feature of the parts, one behind the other, stands in them."""
    sizes = np.stack([np.diff(part.indptr.astype(np.int64)) for part in parts], axis=1)
    starts = offsets(sizes.ravel())
    begins = starts[:-1].reshape(sizes.shape)
    order = np.concatenate([
        np.arange(len(part.hashes)) + np.repeat(begins[:, number] - part.indptr[:-1], sizes[:, number])
        for number, part in enumerate(parts)
    ])
    heads = [number for number, part in enumerate(parts) if not part.joins]
    filled = np.add.reduceat(sizes, heads, axis=1) > 0
    columns = {
        "row_namespace": offsets(filled.sum(axis=1)).astype(np.uint32),
        "namespace_start": np.append(begins[:, heads][filled], starts[-1]).astype(np.uint32),
        "feature_hash": reorder([part.hashes for part in parts], order),
        "value": reorder([part.values for part in parts], order),
        "numbers": np.array(heads)[np.nonzero(filled)[1]],
    }
    return columns, order


def reorder(arrays: Sequence[np.ndarray], order: np.ndarray | None) -> np.ndarray:
    """The arrays' entries, one behind the other, at their places; all where they are without ``order``."""
    together = np.concatenate(arrays)
    if order is None:
        return together
    out = np.empty_like(together)
    out[order] = together
    return out


def name_offsets(part: Part, text: bytearray) -> tuple[int, int, np.ndarray, np.ndarray] | None:
    """Append the names to the text; where in it the namespace's name is, and where each feature's, uint32[features]."""
    if part.names is None:
        return None
    at = len(text)
    text += part.namespace
    begin = len(text)
    words, starts, ends = part.names
    text += words
    return at, begin, (starts + begin).astype(np.uint32), (ends + begin).astype(np.uint32)


def joined_names(names: Sequence[Any], numbers: np.ndarray, order: np.ndarray | None) -> Names:
    begin, end = (np.array([name[place] for name in names], np.uint32)[numbers] for place in (0, 1))
    start = reorder([name[2] for name in names], order)
    empty = np.zeros(len(start), np.uint32)
    kind = np.zeros(len(start), np.uint8)
    return Names(start, reorder([name[3] for name in names], order), kind, kind, empty, empty, begin, end)


BLANKS = " \t\n\r"
SPLITS = frozenset(BLANKS + "|")  # what ends a word
AS_ONE_WORD = str.maketrans(dict.fromkeys(SPLITS, "_"))


class RowColumns:
    """Columns of rows, each None or an array of n, cut to batches by ``take``.

    ``y``: numbers, NaN or None where a row is unlabelled. Where the format reads names, texts or whole numbers; where
    it reads lists, also lists of classes, or dicts of class and cost; where it reads numbers, a list of them for a row.
    """

    def __init__(self, format: TextFormat, y: Any, weight: Any, base: Any, tags: Any, first: int = 0) -> None:
        """``first`` is the number of the first row in messages.

        Raises DataError for what is no label, number or tag; UsageError for columns that such labels do not have.
        """
        check_columns(format, weight, base)
        self.sizes = {
            name: size_of(name, values)
            for name, values in (("y", y), ("weight", weight), ("base", base), ("tags", tags))
            if values is not None
        }
        self.label = self.words = None
        if y is not None and format.words:
            self.words = number_words(y, first) if format.numbers else label_words(y, format.lists, first)
        elif y is not None:
            self.label = numbers("label", y, first, missing=True)
        self.importance = None if weight is None else numbers("weight", weight, first)
        if self.importance is not None and (self.importance < 0).any():
            row = int(np.argmax(self.importance < 0))
            raise DataError(f"row {first + row}: {SENTENCES[Code.BAD_IMPORTANCE]}: {self.importance[row]:g}")
        self.base = None if base is None else numbers("base", base, first)
        self.tags = None if tags is None else tag_words(tags, first)

    def check(self, rows: int) -> None:
        """Raises DataError unless all columns have as many entries as there are rows."""
        for name, size in self.sizes.items():
            if size != rows:
                raise DataError(f"{name} has {size} entries, the data have {rows} rows")

    def check_reaches(self, rows: int) -> None:
        """Raises DataError where a column ends before this many rows, of which there may be more."""
        for name, size in self.sizes.items():
            if size < rows:
                raise DataError(f"{name} has {size} entries, the data have more rows")

    def take(self, begin: int, end: int) -> dict[str, object]:
        """The columns of a batch of these rows, and its text."""
        rows = end - begin
        label = slice_column(self.label, begin, end, rows, np.nan)
        words = None if self.words is None else self.words[begin:end]
        if words is not None:
            label = np.array([np.float32(np.nan) if word is None else 1 for word in words], np.float32)
        tags = None if self.tags is None else self.tags[begin:end]
        spans = spans_of(words, tags)
        starts = np.zeros(rows + 1, np.int64) if spans is None else offsets([len(span) for span in spans])
        tagged = np.zeros(rows, np.uint8) if tags is None else np.array([TAGGED * bool(tag) for tag in tags], np.uint8)
        return {
            "label": label,
            "importance": slice_column(self.importance, begin, end, rows, 1),
            "initial_prediction": slice_column(self.base, begin, end, rows, 0),
            "flags": tagged,
            "tag_start": starts[:-1].astype(np.uint32),
            "tag_end": starts[1:].astype(np.uint32),
            "text": b"" if spans is None else b"".join(spans),
        }


def check_columns(format: TextFormat, weight: Any, base: Any) -> None:
    """Raises UsageError for columns that the labels of a format do not have."""
    if format.groups:
        raise UsageError("groups of lines are read from text only")
    if base is not None and format.words:
        raise UsageError("base: labels that are names or lists have no initial prediction")
    if weight is not None and format.lists:
        raise UsageError("weight: labels that are lists have no importance")


def slice_column(column: np.ndarray | None, begin: int, end: int, rows: int, default: float) -> np.ndarray:
    """A copy: learners and class weights change these columns."""
    return np.full(rows, default, np.float32) if column is None else column[begin:end].copy()


def spans_of(words: list[bytes | None] | None, tags: list[bytes] | None) -> list[bytes] | None:
    """Per row what the span of its tag holds: the label's words, then the tag."""
    if words is None:
        return tags
    if tags is None:
        return [word or b"" for word in words]
    return [b" '".join(filter(None, pair)) for pair in zip(words, tags, strict=True)]


def size_of(name: str, column: Any) -> int:
    if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
        raise UsageError(f"{name}: expected an array with an entry for each row, not {type(column).__name__}")
    return len(column)


def numbers(name: str, column: Any, first: int, missing: bool = False) -> np.ndarray:
    """float32[n]; NaN where an entry is ``missing``, if that is allowed. Raises DataError."""
    array = np.asarray(column)
    if array.ndim != 1:
        raise DataError(f"{name}: expected one number for each row, not an array of shape {array.shape}")
    if array.dtype.kind not in "biuf":
        entries = enumerate(array.tolist() if hasattr(column, "dtype") else column, first)
        array = np.array([number_of(name, row, value, missing) for row, value in entries], np.float64)
    with np.errstate(over="ignore"):
        values = array.astype(np.float32)
    wrong = np.isinf(values) if missing else ~np.isfinite(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"row {first + row}: {name} is {array[row]}: {SENTENCES[Code.NOT_FINITE]}")
    return values


def number_of(name: str, row: int, entry: Any, missing: bool) -> float:
    if entry is None and missing:
        return np.nan
    if not isinstance(entry, int | float | np.number):
        raise DataError(f"row {row}: {name} {entry!r} is not a number")
    return float(entry)


def is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and entry != entry)


def label_words(column: Any, lists: bool, first: int) -> list[bytes | None]:
    """Per row the label as text has it, None where there is none. Raises DataError."""
    known: dict[Any, bytes] = {}
    words: list[bytes | None] = []
    for row, entry in enumerate(column.tolist() if hasattr(column, "tolist") else column, first):
        if is_missing(entry):
            words.append(None)
        elif not isinstance(entry, str | int | float):
            words.append(list_words(row, entry) if lists else label_word(row, entry))
        else:
            if entry not in known:
                known[entry] = label_word(row, entry) if lists or not isinstance(entry, str) else class_word(row, entry)
            words.append(known[entry])
    return words


def class_word(row: int, text: str) -> bytes:
    """The class of a table's cell: without blanks around it, and with ``_`` for those in it. Raises DataError."""
    return label_word(row, text.strip(BLANKS).translate(AS_ONE_WORD) if SPLITS.intersection(text) else text)


def list_words(row: int, entry: Any) -> bytes | None:
    """``class:cost class:cost`` of a dict, None of an empty one; ``class,class`` of other collections."""
    if not isinstance(entry, Iterable):
        return label_word(row, entry)
    if isinstance(entry, Mapping):
        return b" ".join(label_word(row, label) + b":%r" % cost_of(row, cost) for label, cost in entry.items()) or None
    return b",".join(label_word(row, label) for label in entry) or EMPTY_SET.encode()


def cost_of(row: int, cost: Any) -> float:
    if not isinstance(cost, int | float | np.number):
        raise DataError(f"row {row}: cost {cost!r} is not a number")
    return float(np.float32(cost))


def label_word(row: int, entry: Any) -> bytes:
    """Raises DataError for what the label of a line cannot be."""
    if isinstance(entry, float | np.floating) and entry.is_integer():
        entry = int(entry)
    if not isinstance(entry, str | int | np.integer):
        raise DataError(f"row {row}: label {entry!r} is neither a text nor a whole number")
    word = str(int(entry) if isinstance(entry, bool) else entry)
    if not word or word[0] == "'" or SPLITS.intersection(word):
        raise DataError(f"row {row}: label {word!r} is not one word, as a label in text must be")
    return word.encode("utf-8", "surrogateescape")


def tag_words(column: Any, first: int) -> list[bytes]:
    """Per row the tag, empty where there is none. Raises DataError."""
    words = []
    for row, entry in enumerate(column.tolist() if hasattr(column, "tolist") else column, first):
        text = entry.decode("utf-8", "surrogateescape") if isinstance(entry, bytes) else str(entry)
        word = "" if is_missing(entry) else text
        if SPLITS.intersection(word):
            raise DataError(f"row {row}: tag {word!r} is not one word, as a tag in text must be")
        words.append(word.encode("utf-8", "surrogateescape"))
    return words


def number_words(column: Any, first: int) -> list[bytes | None]:
    """Per row its numbers, of which NaN and None are missing; None where all are. A text stands for itself.

    ``first`` is the number of the first row in messages. Raises DataError for rows that are no numbers.
    """
    rows = [numbers_of(row, entry) for row, entry in enumerate(column, first)]
    texts = iter(number_texts(np.concatenate([np.zeros(0, np.float32), *rows])))
    lists = [",".join([next(texts) for _ in row]).encode() for row in rows]
    pairs = zip(column, lists, strict=True)
    words = (label.encode("utf-8", "surrogateescape") if isinstance(label, str) else text for label, text in pairs)
    return [word if word.strip(b",") else None for word in words]


def numbers_of(row: int, entry: Any) -> np.ndarray:
    """float32[n], NaN for what is missing; empty for a text or a row without any."""
    if entry is None or isinstance(entry, str):
        return np.zeros(0, np.float32)
    try:
        values = np.atleast_1d(np.array(entry, np.float64))
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim != 1:
        raise DataError(f"row {row}: label {entry!r} is not a list of numbers")
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    if np.isinf(numbers).any():
        raise DataError(f"row {row}: label {entry!r} has a number beyond single precision")
    return numbers


def are_number_lists(y: Any) -> bool:
    """Whether labels, an array or a list of rows, are lists of numbers; lists of classes have whole numbers alone."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
        return y.ndim == 2
    first = next((value for value in y if value is not None), None) if isinstance(y, list | tuple) else None
    if isinstance(first, np.ndarray):
        return first.dtype.kind == "f"
    return isinstance(first, list | tuple) and any(isinstance(value, float | np.floating) for value in first)
