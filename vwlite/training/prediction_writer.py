"""Writes predictions to a file, a pipe or standard output."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np

from vwlite._native.format_predictions import format_predictions
from vwlite.data.batch import Batch, tag_of
from vwlite.errors import OutputError
from vwlite.storage.atomic_file import atomic_output
from vwlite.storage.output_checks import STDOUT


class PredictionWriter:
    """Predictions of a run, one line per example.

    ``-``, ``stdout`` and ``/dev/stdout`` mean standard output. A regular file appears under its
    name only on ``close``; devices and named pipes are written directly. As a context manager it
    closes on success and aborts on an exception. When the reader of a pipe goes away, ``broken``
    becomes true and all further output is discarded, so that training can finish. Every other
    failure raises OutputError.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.name = os.fspath(path)
        self.broken = False
        self._closing = ExitStack()
        self._streaming = True
        self._file: BinaryIO | None = self._open()

    def _open(self) -> BinaryIO:
        if self.name in STDOUT:
            if sys.stdout is None:
                raise OutputError("standard output is closed")
            return sys.stdout.buffer
        try:
            if _is_special(self.name):
                return self._closing.enter_context(open(self.name, "ab"))
            self._streaming = False
            return self._closing.enter_context(atomic_output(self.name, "wb"))
        except OSError as error:
            raise self._failure(error) from error

    def write(
        self, batch: Batch, values: np.ndarray, begin: int, end: int, whole: bool = False, small: bool = False
    ) -> None:
        """Write the rows ``begin <= i < end``: ``values`` float32[n], all digits if ``whole``, each with its tag.

        ``small``: all digits of those below 0.001 as well.
        """
        if self.broken:
            return
        text = batch.text if len(batch.text) else None
        tags = batch.tag_start, batch.tag_end, text
        self.write_bytes(format_predictions(values, batch.flags, *tags, begin, end, whole, small))

    def write_beside(
        self, batch: Batch, values: np.ndarray, beside: np.ndarray, begin: int, end: int, small: tuple[bool, bool]
    ) -> None:
        """Like ``write``, with the number ``beside[i]`` between the value and the tag; ``small`` is of each."""
        none, text = np.zeros(len(batch), np.uint32), batch.text if len(batch.text) else None
        alone = format_predictions(values, batch.flags, none, none, None, begin, end, small=small[0])
        tags = (batch.tag_start, batch.tag_end, text)
        tagged = format_predictions(beside, batch.flags, *tags, begin, end, small=small[1])
        alone = alone.replace(b" \n", b"\n")  # of rows with a tag
        pairs = zip(alone.split(b"\n")[:-1], tagged.split(b"\n")[:-1], strict=True)
        if lines := b"\n".join(map(b" ".join, pairs)):
            self.write_bytes(lines + b"\n")

    def write_lines(self, batch: Batch, text: Callable[[int], str], begin: int, end: int, tags: bool = True) -> None:
        """The text of each row and, unless it is in there, its tag; labels may be names."""
        lines = []
        for row in batch.example_rows(begin, end):
            tag = tag_of(batch, row) if tags else b""
            line = text(row).encode("utf-8", "surrogateescape")
            lines.append(line + b" " + tag if tag else line)
        if lines:
            self.write_bytes(b"\n".join(lines) + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Write lines that are formatted already."""
        if self.broken:
            return
        if self._file is None:
            raise ValueError("the predictions are closed")
        try:
            left = memoryview(data)
            while left:  # under python -u standard output has no buffer, and may take a part, as when its reader goes
                left = left[self._file.write(left) :]
            if self._streaming:
                self._file.flush()
        except OSError as error:
            self._survive(error)

    @property
    def regular_file(self) -> BinaryIO | None:
        """The open file whose bytes can be read back, None for streams."""
        return None if self._streaming else self._file

    def close(self) -> None:
        """Complete the output: a regular file gets its name."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            with self._closing:  # which gives up what cannot be completed
                if not self.broken:
                    file.flush()
        except OSError as error:
            self._survive(error)

    def abort(self, error: BaseException | None = None) -> None:
        """Give up: a regular file keeps its earlier contents, if any."""
        if self._file is None:
            return
        self._file = None
        error = error or OutputError(f"writing {self.name} was given up")
        try:
            self._closing.__exit__(type(error), error, error.__traceback__)
        except BaseException as raised:
            if raised is not error and not isinstance(raised, OSError):
                raise

    def __enter__(self) -> PredictionWriter:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.close()
        else:
            self.abort(error)

    def _survive(self, error: OSError) -> None:
        if self.name in STDOUT:
            _silence_stdout()
        if not (self._streaming and error.errno == errno.EPIPE):
            raise self._failure(error) from error
        self.broken = True

    def _failure(self, error: OSError) -> OutputError:
        return OutputError(f"cannot write predictions to {self.name}: {error.strerror or error}")


def _is_special(path: str) -> bool:
    """Does ``path`` name something that must not be replaced, like /dev/null or a named pipe?"""
    if path.startswith(("/dev/", "/proc/")):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _silence_stdout() -> None:
    """Send what is still buffered, and the flush when Python exits, to the null device."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass
