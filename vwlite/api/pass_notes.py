"""Notes on the passes of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from vwlite.learners.base import Learner
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.listener import Listener

_noted: ContextVar[bool] = ContextVar("passes_noted", default=False)


@contextmanager
def passes_noted(wanted: bool) -> Iterator[None]:
    """Runs that are made meanwhile, in this thread, note every pass, if ``wanted``."""
    token = _noted.set(wanted)
    try:
        yield
    finally:
        _noted.reset(token)


def decay_note(learner: Learner) -> str:
    """That passes so far have let the learning rate fall; empty where they have not."""
    config, rate = learner.config, learner.get("rate")
    if config.decay_learning_rate >= 1 or rate == config.initial_learning_rate:
        return ""
    fallen = f"the learning rate has decayed to {rate:g}, each call of learn being a pass"
    return f"{fallen}: a stream is learned with decay_learning_rate=1"


class PassNotes(Listener):
    """A note at the end of each pass: its average loss, each row predicted before it was learned."""

    def __init__(self, counters: Counters, display: Display) -> None:
        self.counters, self.display, self.noted = counters, display, _noted.get()

    def begin_pass(self, number: int) -> None:
        self.sum, self.weight = self.counters.sum_loss, self.counters.labeled_weight

    def end_pass(self, number: int) -> None:
        if self.noted:
            weight = self.counters.labeled_weight - self.weight
            loss = f"average loss {(self.counters.sum_loss - self.sum) / weight:.6g}" if weight else "nothing learned"
            held_out = self.counters.held_out_loss()
            beside = "" if held_out is None else f", of rows held out {held_out:.6g}"
            self.display.note(f"pass {number}: {loss}{beside}")
