"""Batches back to text: lines that are parsed to the same batches, to the last bit of every number; SVMlight."""

from __future__ import annotations

import re

import numpy as np

from vwlite.data.batch import BLANK, SAVE, SHARED, TAGGED, Batch, Csr
from vwlite.data.text_format import EMPTY_SET, TextFormat, parse_text
from vwlite.errors import DataError

NAMED, TEXT_VALUE = 0, 2  # of Names.kind: what can be written
KEPT = 1 << 18  # numbers whose text is remembered


class TextWriter:
    """Writes the lines of batches that have names; ``format`` says what their labels are."""

    def __init__(self, format: TextFormat) -> None:
        self.format = format
        self.known: dict[int, str] = {}  # texts of numbers, by their bits

    def lines(self, batch: Batch) -> bytes:
        """The text of all rows, an empty line for an empty one.

        Raises DataError for what a line cannot hold, ValueError for a batch without names.
        """
        if batch.names is None or batch.any_flags & (SAVE | SHARED):
            raise ValueError("a batch with names, and no groups")
        heads = self.heads(batch)
        return b"".join(head + body + b"\n" for head, body in zip(heads, self.bodies(batch), strict=True))

    def bodies(self, batch: Batch) -> list[bytes]:
        """The text of each row from its first bar on, empty for an empty one. Raises DataError as ``lines``."""
        spaces, values = self.spaces(batch), self.texts(batch.value)
        names, text, starts = batch.names, bytes(batch.text), batch.namespace_start.tolist()
        features = zip(
            names.start.tolist(), names.end.tolist(), names.kind.tolist(),
            names.value_start.tolist(), names.value_end.tolist(), values,
            strict=True,
        )
        words = [self.word(text, *feature) for feature in features]
        edges, texts_of_rows = batch.row_namespace.tolist(), []
        for row in range(len(batch)):
            blocks = range(edges[row], edges[row + 1])
            joined = b" |".join(b" ".join([spaces[i], *words[starts[i] : starts[i + 1]]]) for i in blocks)
            texts_of_rows.append(b"" if batch.flags[row] & BLANK else b"|" + joined)
        return texts_of_rows

    def spaces(self, batch: Batch) -> list[bytes]:
        edges = zip(batch.names.namespace_start.tolist(), batch.names.namespace_end.tolist(), strict=True)
        text = bytes(batch.text)
        return [text[start:end] for start, end in edges]

    @staticmethod
    def word(text: bytes, start: int, end: int, kind: int, value_start: int, value_end: int, value: str) -> bytes:
        """A feature as a line has it."""
        if kind == TEXT_VALUE:
            return text[start:end] + b":" + text[value_start:value_end]
        if kind != NAMED or start == end:
            raise DataError("only features that have a name of their own can be written as text")
        return text[start:end] if value == "1" else b"%b:%b" % (text[start:end], value.encode())

    def heads(self, batch: Batch) -> list[bytes]:
        """The text before the first bar of each row."""
        columns = (batch.label, batch.importance, batch.initial_prediction)
        labels, weights, bases = (self.texts(column) for column in columns)
        some_weights, some_bases = any(weight != "1" for weight in weights), any(base != "0" for base in bases)
        empty = np.diff(batch.row_namespace.astype(np.int64)) == 0
        if (some_weights and self.format.lists) or (some_bases and self.format.words):
            raise DataError("labels that are names have no initial prediction, and lists no importance")
        texts_of_rows = []
        for row, (number, weight, base) in enumerate(zip(labels, weights, bases, strict=True)):
            label, tag = number.encode(), batch.tag(row)
            if self.format.words and label:
                label, tag = self.split(tag, bool(batch.flags[row] & TAGGED))
                label = label or EMPTY_SET.encode()
            if not label and (weight != "1" or base != "0"):
                raise DataError(f"row {batch.first_line + row}: text has no importance and no base without a label")
            if empty[row] and tag.startswith(b"save"):
                raise DataError(f"row {batch.first_line + row}: the tag of a line without features begins with 'save'")
            words = [label, weight.encode() * (some_weights or some_bases), base.encode() * some_bases] if label else []
            texts_of_rows.append(b" ".join([*filter(None, words), b"'" + tag if tag else b""]))
        return texts_of_rows

    def split(self, span: bytes, tagged: bool) -> tuple[bytes, bytes]:
        """The label's words, without an importance, and the tag; they stand in a row's text one behind the other."""
        words, _, tag = span.rpartition(b" ") if tagged else (span, b"", b"")
        return words.strip() if self.format.lists else words.partition(b" ")[0], tag.removeprefix(b"'")

    def texts(self, values: np.ndarray) -> list[str]:
        """The text of each of float32[n], empty where it is NaN."""
        distinct, places = np.unique(values.view(np.uint32), return_inverse=True)
        if len(self.known) > KEPT:
            self.known = {}
        bits = distinct.tolist()
        if new := [bit for bit in bits if bit not in self.known]:
            self.known.update(zip(new, number_texts(np.array(new, np.uint32).view(np.float32)), strict=True))
        texts = [self.known[bit] for bit in bits]
        return [texts[place] for place in places.tolist()]


def number_texts(values: np.ndarray) -> list[str]:
    """Decimals of float32[n], short ones first, that are read back to the same bits, else hexadecimal numbers.

    Empty for NaN. Raises DataError for infinity.
    """
    if np.isinf(values).any():
        raise DataError("text has no infinite numbers")
    exact = ["" if value != value else str(value).removesuffix(".0") for value in values]
    shortest = [text and min(f"{value:.6g}", text, key=len) for text, value in zip(exact, values, strict=True)]
    for row in find_misread(shortest, values):
        shortest[row] = exact[row]
    for digits in (7, 8, 9, 12, 0):
        for row in find_misread(shortest, values):
            value = float(values[row])
            shortest[row] = f"{value:.{digits}g}" if digits else hexadecimal(value)
    return shortest


def find_misread(texts: list[str], values: np.ndarray) -> list[int]:
    """Tell which of these texts, but for empty ones, are read as other numbers than float32[n]."""
    back = parse_text("\n".join(f"{text} |" for text in texts).encode(), TextFormat()).label
    wrong = (back.view(np.uint32) != values.view(np.uint32)) & (np.array(texts) != "")
    return np.flatnonzero(wrong).tolist()  # type: ignore[no-any-return]


def hexadecimal(value: float) -> str:
    """Write a number as C's ``%a`` does: no zeros at the end."""
    return re.sub(r"\.?0*p", "p", value.hex())


class SvmlightWriter:
    """Formats batches with numeric labels. ``unlabelled`` counts examples without a label, which get the label 0."""

    def __init__(self) -> None:
        self.unlabelled = 0

    def lines(self, batch: Batch, terms: Csr) -> bytes:
        """The lines of the examples that are not blank; each index occurs once, in ascending order.

        ``terms`` has a row for each example. A tag that consists of digits becomes ``qid:``, any other tag a comment.
        Raises DataError for importance weights and initial predictions, which SVMlight cannot represent.
        """
        labels = np.nan_to_num(batch.label.copy(), nan=0)
        heads, lines = format_floats(labels), []
        for row, head in enumerate(heads):
            if batch.flags[row] & BLANK:
                continue
            if batch.importance[row] != 1 or batch.initial_prediction[row] != 0:
                raise DataError(f"{batch.location(row)}: SVMlight has no importance and no initial prediction")
            self.unlabelled += bool(np.isnan(batch.label[row]))
            tag = batch.tag(row)
            words = [head, b"qid:" + tag] if tag.isdigit() else [head]
            begin, end = int(terms.indptr[row]), int(terms.indptr[row + 1])
            words += format_features(terms.indices[begin:end], terms.values[begin:end])
            words += [b"#", tag] if tag and not tag.isdigit() else []
            lines.append(b" ".join(words) + b"\n")
        return b"".join(lines)


def format_features(slots: np.ndarray, values: np.ndarray) -> list[bytes]:
    """``index:value`` for each distinct slot, with the sum of its values, as float32."""
    index, place = np.unique(slots, return_inverse=True)
    sums = np.bincount(place, values, len(index)).astype(np.float32)
    return [b"%d:%b" % (slot, value) for slot, value in zip(index.tolist(), format_floats(sums), strict=True)]


def format_floats(values: np.ndarray) -> list[bytes]:
    """The shortest decimal of each of float32[n] that reads back as the same number."""
    return [str(value).removesuffix(".0").encode() for value in values]
