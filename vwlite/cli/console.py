"""What commands print: lines on standard error, a progress bar, and audits on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vwlite.cli.jsonfile import note_files
from vwlite.errors import laid_out
from vwlite.training.listener import Display, FileRead, Steps

if TYPE_CHECKING:
    from vwlite.data.block_parser import Parsed


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


def on_a_terminal(stream: Any) -> bool:
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
        wanted = size is not None if self.wanted is None else self.wanted
        if not wanted or not on_a_terminal(sys.stderr):
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
        self.wanted = False if quiet or (to_stdout and on_a_terminal(sys.stdout)) else None
        self.delay = 1.0

    def steps(self, unit: str) -> Steps:
        """What shows the steps of a solver as a bar, a new one where they begin anew."""

        def step(done: int, total: int | None) -> None:
            if self.wanted is False or not on_a_terminal(sys.stderr):
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

        self.bar.start(text_size(self.paths) if self.bar.wanted is None and on_a_terminal(sys.stderr) else None)
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
