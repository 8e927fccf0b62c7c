"""The losses of a run as it went on, for its report."""

from __future__ import annotations

from typing import Any

from vwlite.training.counters import Counters

MOST = 512  # entries between two ends of passes


class History:
    """``entries``: at each row of the progress table, and at the end of each pass.

    ``loss`` and ``since_last``, of the examples since the entry before, are those before each example was learned;
    ``holdout`` is that of the examples held out, in this pass; each None where nothing was counted. Of more than MOST
    entries of a pass every second one is kept.
    """

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self.entries: list[dict[str, Any]] = []
        self.first = 0  # of this pass
        self.weight = self.loss = 0.0  # when the last entry was made

    def add(self, number: int) -> None:
        """Pass ``number`` has come so far."""
        counters = self.counters
        weight, loss = counters.labeled_weight, counters.sum_loss
        self.entries.append(
            {
                "pass": number,
                "examples": counters.example_number,
                "loss": ratio(loss, weight),
                "since_last": ratio(loss - self.loss, weight - self.weight),
                "holdout": counters.held_out_loss(),
            }
        )
        self.weight, self.loss = weight, loss
        if len(self.entries) - self.first > MOST:
            del self.entries[self.first :: 2]

    def end_pass(self, number: int) -> None:
        if not self.entries[self.first :] or self.entries[-1]["examples"] < self.counters.example_number:
            self.add(number)
        else:
            self.entries[-1]["holdout"] = self.counters.held_out_loss()
        self.first = len(self.entries)


def ratio(loss: float, weight: float) -> float | None:
    return loss / weight if weight > 0 else None
