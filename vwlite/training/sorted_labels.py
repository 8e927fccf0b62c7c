"""Notes at the end of the first pass that the lines came sorted by label."""

from __future__ import annotations

from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.label_order import LabelOrder
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.listener import Listener

FIRST_LOOK = 10_000  # examples, and twice as many for each further look
MIXED = 0.5  # share of the changes of a random order: with so many at a look, nothing more is counted


class SortedLabels(Listener):
    """Counts while labels seem sorted: where they are mixed, a run pays for its first thousands of examples only."""

    def __init__(self, config: RunConfig, display: Display) -> None:
        self.display = display
        self.order = LabelOrder()
        self.seen, self.look, self.watching = 0, FIRST_LOOK, True

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        """Whether the run learns line after line, in the order of the text."""
        learner, input = config.learner, config.input
        every_order = learner.whole_passes or learner.multiline or input.shuffle_first or config.curriculum.order
        return config.learning and not (every_order or config.vw_compat)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        while self.watching and begin < end:
            stop = min(end, begin + self.look - self.seen)
            self.order.add(batch.label[begin:stop])
            self.seen += stop - begin
            begin = stop
            if self.seen == self.look:
                self.watching = self.order.share_of_changes() < MIXED
                self.look *= 2

    def pass_read(self, number: int) -> None:
        if number == 1 and self.watching and (found := self.order.sorted_by_label()):
            self.display.note(f"{found}; what is learned last counts most: shuffle them, or --shuffle-first")
        self.watching = False

    def state(self) -> dict[str, Any]:
        return {"label_order": [self.order.state(), self.seen, self.look, self.watching]}

    def restore(self, state: dict[str, Any]) -> None:
        counted, self.seen, self.look, self.watching = state["label_order"]
        self.order.restore(counted)
