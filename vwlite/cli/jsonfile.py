"""``--json FILE``."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from vwlite.cli.run_record import head
from vwlite.errors import UsageError
from vwlite.storage.atomic_file import atomic_output

# All reports but those of metrics have one of these; "vwlite" since there is a schema.
OF_REPORTS = frozenset({"vwlite", "examples", "lines", "bad_lines", "trials", "topics", "top", "lists", "people"})
EMPTY_REPORT = {"examples": 0, "lines": 0, "bad_lines": 0}  # all inputs were learned before


def write_json(
    path: str,
    report: dict[str, Any],
    options: Mapping[str, Any] | None = None,
    history: list[dict[str, Any]] | None = None,
) -> None:
    """Write a run's report to a file or, where ``path`` is ``-``, to standard output. Raises OutputError.

    ``options`` and ``history`` as ``vwlite.cli.run_record.head`` has them. The report stands under ``result``, and at
    the top too, where it stood before there was a schema; there its names win. A number that is not finite is null.
    """
    from vwlite.evaluation.metric_report import as_json

    text = as_json({**head(options, history), **report, "result": report}) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with atomic_output(path, "w") as file:
        file.write(text)


@contextmanager
def json_lines(file: TextIO, name: str) -> Iterator[Callable[[Any], None]]:
    """A run's report that is one list of this ``name``; gives the function that writes an entry of it, a line each."""
    from vwlite.evaluation.metric_report import finite

    written = 0

    def write(entry: Any) -> None:
        nonlocal written
        file.write(f"{',' * bool(written)}\n    {json.dumps(finite(entry), allow_nan=False)}")
        written += 1

    file.write(f'{{\n  "{name}": [')
    yield write
    file.write("\n  ],\n" + json.dumps(head(None, None), indent=2).removeprefix("{\n") + "\n")


def check_own(path: str) -> None:
    """Raises UsageError for a file that holds something else than a report: to vw, --json says what the input is."""
    try:
        with open(path, "rb") as file:
            own = is_report(file)
    except FileNotFoundError:
        return
    except OSError:
        own = False
    if not own:
        raise UsageError(
            f"--json {path}: vwlite did not write this file; --json is where the report goes, and --force replaces "
            "what is there"
        )


def is_report(lines: Any) -> bool:
    """Whether a file, line by line, is empty or an object laid out as by ``write_json``, with a name of a report's."""
    first, last, names = lines.readline(len(b"{\n")), b"", set()
    if first != b"{\n":
        return not first
    for last in lines:
        if match := re.match(rb'  "([^"]+)": ', last):
            names.add(match[1].decode(errors="replace"))
    return last == b"}\n" and any(map(is_reported, names))


def is_reported(name: str) -> bool:
    from vwlite.evaluation.metric_table import row_of

    return name in OF_REPORTS or row_of(name) is not None
