"""Inputs of a run in Python: distinguishes paths, text and rows, and returns what opens them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from vwlite.api.memory_run import OpenInputs, log
from vwlite.data.block_parser import Parsed
from vwlite.data.columns import read_columns
from vwlite.data.config import TEXTS, InputConfig, named_kind
from vwlite.data.dataset import Inputs
from vwlite.data.frame_batches import type_of
from vwlite.data.frames import is_frame
from vwlite.data.memory import MemoryInputs, TableInputs, parsed_text
from vwlite.data.tables import Table, is_table, of_dicts, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError, first_words
from vwlite.options import DECIMAL

FEW, ROWS = 20, 100  # of dicts: with fewer nothing is said, and no more are looked at
SHOWN = 5  # names in a message
NUMBER = re.compile(DECIMAL).fullmatch
ROW_ARGUMENTS = ("y", "weight", "base", "tags", "names", "namespaces")  # of ``Model.learn``; for rows only


def input_opener(data: Any, columns: Mapping[str, Any]) -> OpenInputs:
    """A function that opens ``data`` as the inputs of a run. ``columns``: the ``ROW_ARGUMENTS`` of the call by name.

    Raises UsageError for row arguments together with text or paths, and for a str that is the name of a file.
    """
    paths = paths_of(data)
    rows = not paths and (is_table(data) or is_array(data))
    if not (rows or paths or is_text(data)) and isinstance(data, Iterable):
        rows, data = of_dicts(data)
    given = [name for name in ROW_ARGUMENTS if columns.get(name) is not None]
    if given and not rows:
        raise UsageError(f"{' and '.join(given)} {'go' if len(given) > 1 else 'goes'} with rows: text has its own")
    if paths:
        return lambda config, *how: Inputs(replace(config, paths=paths), *how)
    check_not_path(data)
    if rows:
        return partial(TableInputs, partial(table_of, data, columns))

    def read(config: InputConfig, format: TextFormat) -> Iterator[Parsed]:
        return parsed_text(data, config, format)

    return partial(MemoryInputs, read)


def table_of(data: Any, given: Mapping[str, Any], config: InputConfig, format: TextFormat) -> Table:
    """The batches of rows. A data frame is read by the column roles of the model, if ``uses_stored_columns``."""
    if uses_stored_columns(data, given, config):
        from vwlite.data.arrow_files import PlacedFrame  # a slow import that only data frames need

        return PlacedFrame(data, given, read_columns(config.columns), format)
    if config.columns and isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
        warn_once("rows that are dicts are read without the columns of the model's table: give a data frame")
    return table_batches(data, **given, text_format=format)


def uses_stored_columns(data: Any, given: Mapping[str, Any], config: InputConfig) -> bool:
    """Whether ``data`` is a data frame whose columns have the roles that the model stores, since none were given."""
    beside = given.get("names"), given.get("namespaces")
    return bool(config.columns) and is_frame(data) and beside == (None, None)


def check_labels(data: Any, given: Mapping[str, Any], config: InputConfig) -> None:
    """Raises DataError for rows to learn from that have no labels; lines of text contain theirs."""
    stored = read_columns(config.columns).roles.get("label") if uses_stored_columns(data, given, config) else None
    if stored and type_of(data, stored.name) is not None:
        return
    if note := numbers_in_texts(data):
        warn_once(note)
    if given.get("y") is None and not paths_of(data) and (is_table(data) or is_array(data)):
        raise DataError("there is no labelled example to learn from: give the labels of the rows as y")


def numbers_in_texts(data: Any) -> str:
    """A note on rows that are dicts, as ``csv.DictReader`` gives them, by the first: numbers are texts."""
    if not (isinstance(data, list | tuple) and len(data) >= FEW and all(isinstance(row, dict) for row in data[:ROWS])):
        return ""
    texts = {name: [row.get(name) for row in data[:ROWS]] for name in data[0]}
    keys = [repr(name) for name, words in texts.items() if set(map(type, words)) == {str} and all(map(NUMBER, words))]
    if not keys:
        return ""
    shown = first_words(keys, SHOWN)
    remedy = "unless they are identifiers, give floats"
    return f"rows: the texts of {shown} are numbers, each a feature of its own: {remedy}"


@cache
def warn_once(note: str) -> None:
    log.warning(note)


def paths_of(data: Any) -> tuple[str, ...]:
    """The paths, if ``data`` is a path or a list of paths; else none."""
    if isinstance(data, os.PathLike):
        return (os.fspath(data),)
    if isinstance(data, list | tuple) and data and all(isinstance(item, os.PathLike) for item in data):
        return tuple(map(os.fspath, data))
    return ()


def data_format(data: Any, kind: str | None, usual: InputConfig, typed: Mapping[str, Any]) -> str | None:
    """The format ``kind`` or, without one, that of the files' extension; None for the ``usual`` one.

    A data frame is a table where the roles of columns were ``typed``.
    """
    if not kind and usual.kind in TEXTS and typed.get("columns") and is_frame(data):
        return "csv"
    return kind or named_kind(paths_of(data)) or None


def is_array(data: Any) -> bool:
    """Whether ``data`` is an array of numbers, of any shape."""
    return getattr(getattr(data, "dtype", None), "kind", "") in ("b", "i", "u", "f", "c")


def is_text(data: Any) -> bool:
    return isinstance(data, str | bytes)


def check_not_path(data: Any) -> None:
    """Raises UsageError for a str without ``|`` and newline that is the name of an existing file."""
    if isinstance(data, str) and "|" not in data and "\n" not in data and data and Path(data).exists():
        raise UsageError(f"{data!r} is text, not a path: did you mean Path({data!r})?")
