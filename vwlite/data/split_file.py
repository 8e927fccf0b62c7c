"""Splits text files into one part to learn and one to measure on, when nobody has set a file aside."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from vwlite.data.columns import read_columns
from vwlite.data.config import COLUMNAR, DELIMITERS
from vwlite.data.input_stream import open_input
from vwlite.errors import DataError, UsageError

EVERY = 5  # units of which one is set aside
LONGEST_GROUP = 200  # lines; where blank lines are rarer on average, each line is an example of its own


def split_files(paths: Sequence[str], kind: str, columns: str, folder: Path) -> tuple[str, str]:
    """Write two files of the format ``kind`` into ``folder``: four in five examples, and each fifth one.

    Groups of lines that a blank line ends, sequences among them, and queries (``qid:``) are not torn apart; the first
    line of a table with a header goes to both. Raises UsageError for tables that are no text, DataError for fewer than
    five examples, InputMissing and InputDamaged.
    """
    if kind in COLUMNAR:
        raise UsageError(f"--test FILE is needed with --format {kind}: only text is split without it")
    headed = kind in DELIMITERS and read_columns(columns).headed is not False
    grouped = kind == "vw" and has_groups(paths)
    names = folder / f"learned.{kind}", folder / f"measured.{kind}"
    count = -1
    with open(names[0], "wb") as learned, open(names[1], "wb") as measured:
        for path in paths:
            begun, query = True, b""
            for number, line in enumerate(lines_of(path)):
                if headed and number == 0:
                    if path == paths[0]:
                        learned.write(line)
                        measured.write(line)
                    continue
                if line.strip():
                    new_query = query_of(line) if kind == "svmlight" else b""
                    if begun or not (grouped or (new_query and new_query == query)):
                        count += 1
                    begun, query = False, new_query
                else:
                    begun = True
                (measured if count % EVERY == EVERY - 1 and count > 0 else learned).write(line)
            if grouped and not begun:
                (measured if count % EVERY == EVERY - 1 else learned).write(b"\n")
    if count + 1 < EVERY:
        raise DataError(f"there are fewer than {EVERY} examples: name other data with --test")
    return str(names[0]), str(names[1])


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file or URL, decompressed, each with its newline."""
    with io.BufferedReader(open_input(path)) as file:  # type: ignore[type-var]
        for line in file:
            yield line if line.endswith(b"\n") else line + b"\n"


def has_groups(paths: Sequence[str]) -> bool:
    """Whether blank lines end groups of lines."""
    lines = gaps = 0
    for path in paths:
        before = True
        for line in lines_of(path):
            blank = not line.strip()
            gaps += blank and not before
            lines, before = lines + 1, blank
    return gaps > 0 and lines <= LONGEST_GROUP * (gaps + 1)


def query_of(line: bytes) -> bytes:
    """The word ``qid:N`` of a line of svmlight; empty where there is none."""
    words = line.split(None, 2)
    return words[1] if len(words) > 1 and words[1].startswith(b"qid:") else b""
