"""What commands print and write: lines on standard error, a progress bar, audits on standard output; with ``--json
FILE`` the report, and what every one says of its run: command, options, data, time, memory (schema 1).
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from vwlite.cli.settings import path_of
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError, laid_out
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.listener import Display, FileRead, Steps
from vwlite.version import __version__

if TYPE_CHECKING:
    from vwlite.data.block_parser import Parsed


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
    """Record the files that the current command has read."""
    context = click.get_current_context(silent=True)
    if context and KEY in context.meta:
        context.meta[KEY].files = tuple(files)


def report_head(options: Mapping[str, Any] | None, history: list[JsonObject] | None) -> JsonObject:
    """The members before the results; ``options``: those in effect, None where the command line has them all."""
    import datetime

    context = click.get_current_context()
    run: RunRecord = context.meta[KEY]
    return {
        "vwlite": __version__,
        "schema": SCHEMA,
        "command": ["vwlite", *path_of(context), *run.typed],
        "options": to_json_data({**given_options(context, defaults=options is None), **(options or {})}),
        "data": [describe_file(file) for file in run.files or input_files(context)],
        "started": datetime.datetime.fromtimestamp(run.started, datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - run.clock, 6),
        "cpu_seconds": round(cpu_seconds() - run.cpu, 6),
        "peak_mib": peak_mib(),
        "history": history or [],
    }


def given_options(context: click.Context, defaults: bool) -> JsonObject:
    """The command's options by name, but for its data; with ``defaults`` those that were not given, too."""
    options = {}
    for param in context.command.params:
        name = str(param.name)
        unset = context.get_parameter_source(name) == click.core.ParameterSource.DEFAULT
        if name in NOT_OPTIONS or getattr(param, "hidden", False) or (unset and not defaults):
            continue
        value, declared = context.params.get(name), getattr(param, "declared", None)
        options[name] = declared.default if value is None and declared and declared.shown is None else value
    return options


def input_files(context: click.Context) -> list[FileRead]:
    """The inputs of a command that does not count what it reads."""
    values = [context.params.get(name) or () for name in INPUTS]
    return [FileRead(path) for several in values for path in several]


def describe_file(file: FileRead) -> JsonObject:
    size = os.path.getsize(file.path) if os.path.isfile(file.path) else None
    return {"path": file.path, "size": size, "lines": file.lines, "bad": file.bad, "digest": file.digest}


def to_json_data(value: Any) -> Any:
    """Convert a value to JSON data; a number of single precision has its digits, one that is not finite, which JSON
    does not have, is null.
    """
    if isinstance(value, Mapping):
        return {str(key): to_json_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_data(item) for item in value]
    if isinstance(value, float):
        return shortest_decimal(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def shortest_decimal(value: float) -> float:
    """0.1 for the number of single precision that is nearest to it."""
    import numpy as np

    with np.errstate(over="ignore"):
        single = np.float32(value)
    return float(str(single)) if float(single) == value else value


def cpu_seconds() -> float:
    """CPU seconds of this process and of its finished child processes."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def peak_mib() -> float:
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(largest / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


# All reports but those of metrics have one of these; "vwlite" since there is a schema.
OF_REPORTS = frozenset({"vwlite", "examples", "lines", "bad_lines", "trials", "topics", "top", "lists", "people"})
EMPTY_REPORT = {"examples": 0, "lines": 0, "bad_lines": 0}  # all inputs were learned before


def write_json(
    path: str,
    report: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    history: list[JsonObject] | None = None,
) -> None:
    """Write a run's report to a file or, where ``path`` is ``-``, to standard output. Raises OutputError.

    ``options`` and ``history`` as ``report_head`` has them. The report stands under ``result``, and at
    the top too, where it stood before there was a schema; there its names win. A number that is not finite is null.
    """
    from vwlite.evaluation.metric_table import as_json

    text = as_json({**report_head(options, history), **report, "result": report}) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with atomic_output(path, "w") as file:
        file.write(text)


@contextmanager
def json_lines(file: TextIO, name: str) -> Iterator[Callable[[Any], None]]:
    """A run's report that is one list of this ``name``; gives the function that writes an entry of it, a line each."""
    from vwlite.evaluation.metric_table import to_finite

    written = 0

    def write(entry: Any) -> None:
        nonlocal written
        file.write(f"{',' * bool(written)}\n    {json.dumps(to_finite(entry), allow_nan=False)}")
        written += 1

    file.write(f'{{\n  "{name}": [')
    yield write
    file.write("\n  ],\n" + json.dumps(report_head(None, None), indent=2).removeprefix("{\n") + "\n")


def show_report(path: str | None, report: Mapping[str, Any], text: str, refused: Sequence[str] = ()) -> int:
    """Print the text of a report and, where a path is given, write it as JSON; that alone where it is ``-``.

    ``refused``: why metrics that were asked for are not in it. Returns the exit status. Raises OutputError, UsageError.
    """
    from vwlite.evaluation.metric_table import row_of

    if not refused or any(map(row_of, report)):
        if path != "-":
            print(text)
        if path:
            write_json(path, report)
    for sentence in refused[:-1]:
        say(sentence)
    if refused:
        raise UsageError(refused[-1])
    return 0


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


def tell(line: str) -> None:
    """Print ``line`` to standard error. When it is no longer read, work goes on in silence."""
    if sys.stderr is None:
        return
    try:
        print(laid_out(line), file=sys.stderr, flush=True)
    except OSError:
        with suppress(OSError, ValueError):  # what is still buffered goes nowhere, also when Python exits
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stderr.fileno())
            os.close(null)


def say(line: str) -> None:
    """A message for the user, on standard error."""
    tell(f"vwlite: {line}")


def is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


class Console(Display):
    """Shows a run on standard error; with ``to_stdout`` its lines go to standard output, ``quiet`` shows none.

    ``bar`` None: a bar is drawn where the size of the input is known and a terminal shows it, unless ``quiet``.
    """

    def __init__(self, quiet: bool = False, to_stdout: bool = False, bar: bool | None = None) -> None:
        self.quiet, self.to_stdout = quiet, to_stdout
        self.wanted = False if quiet and not bar else bar
        self.bar: Any = None
        self.delay, self.number = 0.0, 1  # seconds before the bar is drawn; the pass that it shows

    def line(self, text: str) -> None:
        if self.quiet:
            return
        if self.to_stdout:
            print(laid_out(text))
        else:
            self.tell(text)

    def message(self, text: str) -> None:
        self.tell(f"vwlite: {text}")

    def tell(self, text: str) -> None:
        """A line on standard error, above the bar if one is drawn."""
        if self.bar is None or self.bar.format_dict["elapsed"] < self.delay:
            tell(text)
        else:
            with suppress(OSError):
                self.bar.write(laid_out(text), file=sys.stderr)

    def start(self, size: int | None) -> None:
        self.close()
        self.bar = None
        wanted = size is not None if self.wanted is None else self.wanted
        if not wanted or not is_terminal(sys.stderr):
            return
        self.draw(total=size, unit="B")

    def draw(self, **more: Any) -> None:
        from tqdm import tqdm

        more = {"unit_scale": True, "leave": False, "file": sys.stderr, "delay": self.delay, **more}
        with suppress(OSError):
            if not os.get_terminal_size(sys.stderr.fileno()).columns:  # the terminal's width is unknown
                more["ncols"] = 79
        self.bar = tqdm(**more)

    def advance(self, size: int) -> None:
        if self.bar is not None:
            self.bar.update(size)

    def advance_rows(self, number: int, rows: int, total: int | None) -> None:
        if self.bar is None:
            return
        if number != self.number or self.bar.unit == "B":
            self.bar.close()
            self.number = number
            self.draw(total=total, unit=" examples", desc=f"pass {number}")
        self.bar.update(rows)

    def audit(self, data: bytes) -> None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def files(self, read: list[FileRead]) -> None:
        note_files(read)

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.close()


MANY = 1000  # steps from which a bar counts in thousands


class Bar(Console):
    """Shows nothing of a run but messages and, from its second second on, a bar, where that disturbs nothing."""

    def __init__(self, quiet: bool, to_stdout: bool) -> None:
        """``to_stdout``: the run writes to standard output as it goes, which may be the same terminal."""
        super().__init__(quiet=True)
        self.wanted = False if quiet or (to_stdout and is_terminal(sys.stdout)) else None
        self.delay = 1.0

    def steps(self, unit: str) -> Steps:
        """A bar for the steps of a solver, which starts again when they do."""

        def step(done: int, total: int | None) -> None:
            if self.wanted is False or not is_terminal(sys.stderr):
                return
            if self.bar is None or (self.bar.total, self.bar.unit) != (total, f" {unit}") or done < self.bar.n:
                self.close()
                self.draw(total=total, unit=f" {unit}", unit_scale=(total or MANY) >= MANY)
            self.bar.update(done - self.bar.n)

        return step

    def step(self, done: int, total: int | None, unit: str) -> None:
        self.steps(unit)(done, total)

    def advance(self, size: int) -> None:
        """Bytes that are read while a bar counts other steps show nothing."""
        if self.bar is not None and self.bar.unit == "B":
            self.bar.update(size)


class Screen(Bar):
    """Shows a solver: lines of its table, messages, a bar. With ``quiet`` only warnings."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, to_stdout=False)
        self.silent = quiet

    def line(self, text: str) -> None:
        if not self.silent:
            self.tell(text)

    def remark(self, text: str) -> None:
        if not self.silent:
            self.message(text)


class Reading:
    """While it is open, a bar over text that is read outside of a run's loop, and counts of each file."""

    def __init__(self, quiet: bool, paths: Sequence[str], to_stdout: bool = False) -> None:
        self.bar, self.paths = Bar(quiet, to_stdout), paths
        self.counts: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Reading:
        from vwlite.data.dataset import text_size  # which other commands need not

        self.bar.start(text_size(self.paths) if self.bar.wanted is None and is_terminal(sys.stderr) else None)
        return self

    def __exit__(self, *error: object) -> None:
        note_files(FileRead(path, lines, bad) for path, (lines, bad) in self.counts.items())
        self.bar.close()

    def say(self, line: str) -> None:
        self.bar.message(line)

    def part(self, part: Parsed) -> None:
        lines, bad = self.counts.get(part.block.path, (0, 0))
        self.counts[part.block.path] = lines + part.lines, bad + len(part.issues)
        self.bar.advance(part.block.size)
