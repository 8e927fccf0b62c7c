"""Vowpal Wabbit's policy for malformed lines: log them, go on with what could be read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.class_labels import ClassLabels
from vwlite.data.malformed_lines import line_at
from vwlite.data.parse_errors import vw_message
from vwlite.errors import DataError

LABEL_CODES = (1, 2)  # of base/status.pxd: logged, but no reason to stop with --strict_parse


class VwLog:
    """Logs as ``vw`` does; with ``strict_parse`` the first malformed line ends the run."""

    def __init__(
        self,
        log: Callable[[str], None],
        classes: ClassLabels | None,
        *,
        strict_parse: bool = False,
    ) -> None:
        """``classes`` reads labels that are no simple numbers."""
        self.log, self.classes, self.strict_parse = log, classes, strict_parse
        self.examples = 0

    def examine(self, part: Parsed) -> Batch:
        batch = part.batch
        for issue in part.issues:
            start, end = line_at(part, issue.at)
            start = min(start, issue.bar)
            line = bytes(part.block.data[start:end])
            example = self.examples + issue.row
            for message in vw_message(issue.code, line, issue.at - start, issue.bar - start, example):
                if self.strict_parse and "malformed" in message:
                    raise DataError(message)
                self.log(message)
        for row in np.flatnonzero(batch.importance < 0):
            if not batch.flags[row] & (BLANK | SAVE):
                if self.strict_parse:
                    raise DataError(f"Example has a negative importance weight ({batch.importance[row]:g})")
                self.log(
                    f"[warning] Example has an invalid importance weight ({batch.importance[row]:g}); importance "
                    "weights must be non-negative. Use 0 to hold an example out of training."
                )
        self.examples += len(batch)
        return self.relabel(batch)

    def relabel(self, batch: Batch) -> Batch:
        if self.classes:
            batch.label = self.classes.check(batch)
        return batch

    first_cached = relabel

    def recall(self, lines: int, bad: int) -> None:
        """Do nothing: the lines that a cache lacks were logged when it was made."""
