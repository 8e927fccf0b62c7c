"""How far a pass has come."""

import zlib

from vwlite.data.batch import Batch
from vwlite.errors import ModelError


class Position:
    """Counts the rows of a pass. A resumed run passes over those it has learned, and knows them by their labels.

    The checksum, CRC-32 of the labels in order, tells whether a pipe brings the same data again.
    """

    def __init__(self, skip: int = 0, expected: int = 0) -> None:
        """``skip`` rows, whose checksum is ``expected``, are to be passed over."""
        self.rows = self.checksum = 0
        self.skip, self.expected = skip, expected

    def learned(self, batch: Batch) -> int:
        """How many of the batch's rows, the next ones, have been learned before."""
        return min(max(self.skip - self.rows, 0), len(batch))

    def advance(self, batch: Batch, end: int | None = None) -> None:
        """The batch's rows, or those before ``end``, are done. Raises ModelError where those passed over are not those
        learned before.
        """
        first = self.learned(batch)
        if first:
            self.add(batch.label[:first])
            if self.rows == self.skip and self.checksum != self.expected:
                raise ModelError("the input is not what the stopped run read: start anew, without --resume")
        self.add(batch.label[first:end])

    def add(self, labels) -> None:
        self.rows += len(labels)
        self.checksum = zlib.crc32(labels.tobytes(), self.checksum)

    @property
    def reached(self) -> bool:
        """Whether all rows to be passed over have been."""
        return self.rows >= self.skip

    def end_pass(self) -> None:
        """Begin to count anew. Raises ModelError when the input ended too early."""
        if not self.reached:
            raise ModelError(
                f"the input has {self.rows} examples, fewer than the stopped run read: start anew, without --resume"
            )
        self.__init__()
