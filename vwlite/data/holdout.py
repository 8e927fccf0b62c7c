"""Which examples are held out: every tenth line, or all after a number of lines."""

from __future__ import annotations

import numpy as np

from vwlite.data.config import HoldoutConfig


class Holdout:
    """Counts the lines of a pass, blank ones included, and marks those held out."""

    def __init__(self, config: HoldoutConfig, active: bool) -> None:
        self.config, self.active = config, active
        self.lines = 0

    def start_pass(self) -> None:
        self.lines = 0

    def mark(self, rows: int, numbers: np.ndarray | None = None) -> np.ndarray | None:
        """uint8[rows], 1 where a line is held out; None when no lines are held out.

        The lines are the next ``rows`` of the pass, or those of the numbers ``numbers``, int64[rows] from 0.
        """
        if not self.active:
            return None
        before, after, period = self.lines, self.config.after, self.config.period
        self.lines += rows
        if numbers is not None:
            return (numbers >= after if after else (numbers + 1) % period == 0).astype(np.uint8)
        marks = np.zeros(rows, np.uint8)
        held_out = slice(max(after - before, 0), None) if after else slice(-(before + 1) % period, None, period)
        marks[held_out] = 1
        return marks
