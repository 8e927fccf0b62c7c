"""Data in memory as lines of text, of which the parser makes the very batches that are made of the data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

import numpy as np

from vwlite.data.frame_batches import type_of
from vwlite.data.frames import is_frame, is_text, pyarrow
from vwlite.data.row_columns import are_number_lists
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.data.text_writer import TextWriter
from vwlite.storage.atomic_file import atomic_output


def write_text(
    file: str | os.PathLike[str] | BinaryIO,
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    base: Any = None,
    tags: Any = None,
    names: Any = None,
    namespaces: Any = None,
) -> None:
    """Write ``data`` as text in the format of Vowpal Wabbit, a line for each row.

    ``file``: a path, where the file appears when it is complete, or a file open for writing bytes. ``data`` and what
    stands beside it are as ``Model.learn`` takes them. A number is written as the shortest decimal where this is read
    back to the same bits of single precision, else in hexadecimal; names that a line cannot hold are changed as
    ``learn`` changes them. Labels may be numbers, names, lists of classes, dicts of class and cost, or
    lists of numbers with a point, some of which may be NaN (a matrix is always of these). Namespaces of
    matrices are the keys of a dict of matrices; ``namespaces`` is for the columns of frames, as with ``learn``.

    Raises DataError for numbers that are not finite, for importance or an initial prediction without a label and a row
    without features whose tag begins with ``save``, which text cannot say; UsageError for other data; OutputError.
    """
    format = format_of_column(data, y) if isinstance(y, str) and is_frame(data) else format_of_labels(y)
    columns = {"weight": weight, "base": base, "tags": tags, "names": names, "namespaces": namespaces}
    batches = table_batches(data, y, **columns, text_format=format)
    writer = TextWriter(format)
    with open_output(file) as out:
        for batch in batches:
            out.write(writer.lines(batch))


def format_of_column(data: Any, name: str) -> TextFormat:
    """As ``format_of_labels``, of a frame's column."""
    kind, types = type_of(data, name), pyarrow().types
    if kind is not None and types.is_dictionary(kind):
        kind = kind.value_type
    lists = kind is not None and (types.is_list(kind) or types.is_large_list(kind))
    words = kind is not None and is_text(kind)
    return TextFormat(names=True).of_words(lists=lists) if lists or words else TextFormat(names=True)


def format_of_labels(y: Any) -> TextFormat:
    """How text is read that has these labels: the first one that is not missing tells."""
    format = TextFormat(names=True)
    if are_number_lists(y):
        return format.of_words(numbers=True)
    first = None if y is None or isinstance(y, str) else next(iter(present(y)), None)
    if isinstance(first, str):
        return format.of_words()
    return format.of_words(lists=True) if isinstance(first, Iterable) else format


def present(y: Iterable[Any]) -> Iterator[Any]:
    """The entries that are not missing."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
        return iter(())  # no names
    return (one for one in y if one is not None and not (isinstance(one, float) and one != one))


@contextmanager
def open_output(file: str | os.PathLike[str] | BinaryIO) -> Iterator[IO[bytes]]:
    if isinstance(file, str | os.PathLike):
        with atomic_output(os.fspath(file)) as out:
            yield out
    else:
        yield file
