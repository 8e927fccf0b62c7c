"""``--json FILE``: the report, and what every one says of its run: command, options, data, time, memory (schema 1)."""

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

import click

from vwlite.cli.settings import path_of
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.options import OptionValues
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.listener import FileRead
from vwlite.version import __version__

SCHEMA = 1
KEY = "vwlite.run"  # of the context's meta
NOT_OPTIONS = ("files", "data", "models", "json_path", "force", "config_file")
INPUTS = ("files", "data")


class RunRecord:
    """Begun when the command line is read."""

    def __init__(self, typed: Iterable[str]) -> None:
        self.typed = tuple(typed)
        self.started, self.clock, self.cpu = time.time(), time.monotonic(), cpu_seconds()
        self.files: tuple[FileRead, ...] = ()


def begin(context: click.Context, typed: Iterable[str]) -> None:
    context.meta[KEY] = RunRecord(typed)


def note_files(files: Iterable[FileRead]) -> None:
    """What the current command has read."""
    context = click.get_current_context(silent=True)
    if context and KEY in context.meta:
        context.meta[KEY].files = tuple(files)


def head(options: Mapping[str, Any] | None, history: list[JsonObject] | None) -> JsonObject:
    """What stands before the results; ``options``: those in effect, None where the command line has them all."""
    import datetime

    context = click.get_current_context()
    run: RunRecord = context.meta[KEY]
    return {
        "vwlite": __version__,
        "schema": SCHEMA,
        "command": ["vwlite", *path_of(context), *run.typed],
        "options": plain({**given(context, defaults=options is None), **(options or {})}),
        "data": [described(one) for one in run.files or named(context)],
        "started": datetime.datetime.fromtimestamp(run.started, datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - run.clock, 6),
        "cpu_seconds": round(cpu_seconds() - run.cpu, 6),
        "peak_mib": peak_mib(),
        "history": history or [],
    }


def given(context: click.Context, defaults: bool) -> OptionValues:
    """The command's options by name, but for its data; with ``defaults`` those that were not given, too."""
    found = {}
    for param in context.command.params:
        name = str(param.name)
        unset = context.get_parameter_source(name) == click.core.ParameterSource.DEFAULT
        if name in NOT_OPTIONS or getattr(param, "hidden", False) or (unset and not defaults):
            continue
        value, declared = context.params.get(name), getattr(param, "declared", None)
        found[name] = declared.default if value is None and declared and declared.shown is None else value
    return found


def named(context: click.Context) -> list[FileRead]:
    """The inputs of a command that does not count what it reads."""
    values = [context.params.get(name) or () for name in INPUTS]
    return [FileRead(path) for several in values for path in several]


def described(file: FileRead) -> JsonObject:
    size = os.path.getsize(file.path) if os.path.isfile(file.path) else None
    return {"path": file.path, "size": size, "lines": file.lines, "bad": file.bad, "digest": file.digest}


def plain(value: Any) -> Any:
    """As JSON data; a number of single precision has its digits, one that is not finite, which JSON does not have, is
    null.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return digits(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def digits(value: float) -> float:
    """0.1 for the number of single precision that is nearest to it."""
    import numpy as np

    with np.errstate(over="ignore"):
        single = np.float32(value)
    return float(str(single)) if float(single) == value else value


def cpu_seconds() -> float:
    """Of this process and of those it has waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def peak_mib() -> float:
    import resource
    import sys

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(largest / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


# All reports but those of metrics have one of these; "vwlite" since there is a schema.
OF_REPORTS = frozenset({"vwlite", "examples", "lines", "bad_lines", "trials", "topics", "top", "lists", "people"})
EMPTY_REPORT = {"examples": 0, "lines": 0, "bad_lines": 0}  # all inputs were learned before


def write_json(
    path: str,
    report: JsonObject,
    options: Mapping[str, Any] | None = None,
    history: list[JsonObject] | None = None,
) -> None:
    """Write a run's report to a file or, where ``path`` is ``-``, to standard output. Raises OutputError.

    ``options`` and ``history`` as ``vwlite.cli.jsonfile.head`` has them. The report stands under ``result``, and at
    the top too, where it stood before there was a schema; there its names win. A number that is not finite is null.
    """
    from vwlite.evaluation.metric_table import as_json

    text = as_json({**head(options, history), **report, "result": report}) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with atomic_output(path, "w") as file:
        file.write(text)


@contextmanager
def json_lines(file: TextIO, name: str) -> Iterator[Callable[[Any], None]]:
    """A run's report that is one list of this ``name``; gives the function that writes an entry of it, a line each."""
    from vwlite.evaluation.metric_table import finite

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
