"""Predictions of a run that was stopped: kept beside their target until the run goes on."""

import contextlib
import os
import stat
from typing import BinaryIO

from vwlite.errors import ModelError
from vwlite.storage.atomic_file import output_error
from vwlite.storage.output_checks import CHECKPOINT
from vwlite.training.prediction_writer import PredictionWriter

PIECE = 1 << 20  # bytes copied at once


class Partial:
    """``FILE.ckpt``, the first bytes of what ``writer`` writes; nothing for a stream, whose bytes are gone."""

    def __init__(self, writer: PredictionWriter) -> None:
        self.writer, self.path = writer, f"{writer.name}{CHECKPOINT}"
        self.streams = writer.regular_file is None
        self.kept = 0  # bytes that stand in the file

    def save(self) -> int:
        """Keep all that has been written; returns how many bytes that is. Raises OutputError."""
        if self.streams:
            return 0
        file, before = self.writer.regular_file, self.kept
        try:
            file.flush()
            end = os.fstat(file.fileno()).st_size
            with self.open(stat.S_IMODE(os.fstat(file.fileno()).st_mode)) as out:
                out.seek(self.kept)
                while self.kept < end:
                    piece = os.pread(file.fileno(), min(PIECE, end - self.kept), self.kept)
                    out.write(piece)
                    self.kept += len(piece)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            self.kept = before  # what an earlier checkpoint counts on stays
            if not before:
                self.remove()
            raise output_error(self.path, error) from None
        return end

    def open(self, mode: int) -> BinaryIO:
        """The file as it was left, or in place of what has its name a new one with these permission bits."""
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        if not self.kept:
            flags |= os.O_CREAT | os.O_EXCL
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
        return open(os.open(self.path, flags, mode), "wb")

    def restore(self, size: int) -> None:
        """Write the first ``size`` bytes again. Raises ModelError when they are gone."""
        if self.streams:
            return
        left = size
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            while left and (piece := file.read(min(PIECE, left))):
                self.writer.write_bytes(piece)
                left -= len(piece)
        if left:
            raise ModelError(f"{self.path} lacks predictions of the stopped run: start anew, without --resume")
        self.kept = size

    def remove(self) -> None:
        if not self.streams:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
