"""Malformed lines are left out, counted and shown (outside of ``vwlite vw``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.block_parser import Parsed, ParseIssue
from vwlite.data.parse_errors import SENTENCES, excerpt, hint
from vwlite.errors import DataError
from vwlite.storage.atomic_file import atomic_output

SHOWN = 10  # malformed lines shown in full
GRACE = 1000  # lines before the ratio is looked at


class Labels(Protocol):
    """What a learner's labels must be: ``vwlite.learners.label_check.LabelCheck`` or one of ``class_labels``."""

    hints: dict[int, str]  # by the code of a remark: what may be meant where a label cannot be read

    def check(self, batch: Batch) -> np.ndarray: ...


class BadLines:
    """Shows the first malformed lines, keeps them all in ``keep``, and ends the run when they are too many.

    ``say`` prints a line to the user; None: only what ends the run is said, with the first malformed line.
    ``max_ratio`` is the share of malformed lines that is put up with, checked from the thousandth line on and at the
    end. With ``strict`` the first one ends the run. With ``to_the_end`` a larger share does not, it is said: the caller
    calls ``check_ratio`` when everything is written. ``labels`` None: labels do not matter.
    """

    def __init__(
        self,
        labels: Labels | None,
        say: Callable[[str], None] | None,
        *,
        max_ratio: float = 0.01,
        strict: bool = False,
        to_the_end: bool = False,
        class_weights: tuple[tuple[float, float], ...] = (),
    ) -> None:
        self.labels, self.class_weights = labels, class_weights
        self.quiet = say is None
        self.say: Callable[[str], None] = say or (lambda line: None)
        self.max_ratio, self.strict, self.to_the_end = max_ratio, strict, to_the_end
        self.warned = False
        self.keep: BinaryIO | None = None
        self.lines = self.bad = 0
        self.first = ""  # what is wrong with the first malformed line, and where

    @contextmanager
    def keeping(self, path: str | None) -> Iterator[None]:
        """Within, malformed lines go to a file that appears at the end; None keeps none. Raises OutputError."""
        if path is None:
            yield
            return
        with atomic_output(path) as self.keep:
            yield

    def examine(self, part: Parsed) -> Batch:
        """The part's batch, its labels checked. Raises DataError."""
        for remark in part.remarks:
            self.add(part, remark)
            self.watch_ratio(self.lines + remark.line + 1)
        self.lines += part.lines
        batch = part.batch
        batch.gaps = tuple(remark.row for remark in part.remarks) if part.gaps is None else part.gaps
        batch.path, batch.first_line = part.block.path, part.first_line
        return self.relabel(batch)

    def relabel(self, batch: Batch) -> Batch:
        """A batch with its labels as the learner wants them. A tag is never a command: data write no files."""
        if batch.any_flags & SAVE:
            batch.flags = batch.flags & np.uint8(~SAVE & 0xFF)
        batch.weigh(self.class_weights)
        if self.labels:
            batch.label = self.labels.check(batch)
        return batch

    def recall(self, lines: int, bad: int) -> None:
        """What was found when the cache now read was made counts as if it were found again. Raises DataError."""
        self.lines, self.bad = lines, bad
        if bad and self.strict:
            raise DataError(f"{bad} of {lines} lines were malformed when the cache was made (--strict); -k shows them")

    def add(self, part: Parsed, remark: ParseIssue) -> None:
        start, end = line_at(part, remark.at)
        line = bytes(part.block.data[start:end])
        column = remark.at - start
        place = f"{part.block.path}:{part.first_line + remark.line + 1}:{column + 1}"
        advice = hint(remark.code, line) or (self.labels.hints.get(remark.code, "") if self.labels else "")
        self.note(f"{place}: {SENTENCES[remark.code]}{advice}: {excerpt(line, column)}", line)

    def leave_out(self, batch: Batch, wrong: dict[int, str]) -> None:
        """Rows whose labels were found wrong become blank ones, and their lines malformed ones. Raises DataError."""
        text = bytes(batch.text) if wrong else b""
        flags = np.array(batch.flags)
        for row, sentence in wrong.items():
            at = int(batch.tag_start[row])
            line = text[text.rfind(b"\n", 0, at) + 1 : text.find(b"\n", at)]
            flags[row] |= BLANK
            self.note(f"{batch.location(row)}: {sentence}: {excerpt(line, 0)}", line)
        batch.flags = flags
        if wrong:
            self.watch_ratio(self.lines)

    def note(self, message: str, line: bytes) -> None:
        """A malformed line and what is wrong with it. Raises DataError."""
        self.bad += 1
        self.first = self.first or message
        if self.keep:
            self.keep.write(line + b"\n")
        if self.strict:
            raise DataError(f"{message} (--strict)")
        if self.bad <= SHOWN:
            self.say(f"bad line {message}")
        if self.bad == SHOWN:
            self.say("further bad lines are counted, not shown (--bad-lines FILE keeps them all)")

    def watch_ratio(self, lines: int) -> None:
        """After every malformed line. Raises DataError unless the run goes ``to_the_end``."""
        if lines < GRACE or self.warned:
            return
        if not self.to_the_end:
            self.check_ratio(lines)
        elif warning := self.warning(lines):
            self.say(f"{warning}; the run goes on, and its exit status will be 65")
            self.warned = True

    def check_ratio(self, lines: int) -> None:
        """Raises DataError when too many of so many lines are malformed."""
        if warning := self.warning(lines):
            first = f"; the first: {self.first}" if self.first and self.quiet else ""
            raise DataError(warning + first)

    def warning(self, lines: int) -> str:
        if self.bad <= self.max_ratio * lines:
            return ""
        return f"{self.bad} of {lines} lines are malformed, more than --max-bad-ratio {self.max_ratio:g} allows"

    def finish(self) -> None:
        """Raises DataError when too many lines were malformed, unless the run goes ``to_the_end``."""
        if not self.to_the_end:
            self.check_ratio(self.lines)
        if self.bad and not self.warning(self.lines):
            self.say(f"{self.bad} of {self.lines} lines were malformed and left out")


def line_at(part: Parsed, position: int) -> tuple[int, int]:
    """Where the line that holds the byte ``position`` of a block begins and ends."""
    data = part.block.data
    start = data.rfind(b"\n", 0, position) + 1
    end = data.find(b"\n", position, part.block.size)
    return start, end if end >= 0 else part.block.size
