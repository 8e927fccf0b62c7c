"""Checkpoints of text that is learned as it comes, so that a stopped run can go on to the bytes of one that was not.

``THETA.ckpt`` is a Theta that keeps its weights, of the examples so far, and says of which text they were.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import require
from vwlite.data.blocks import same_file
from vwlite.errors import ModelError
from vwlite.features.theta_file import THETA, opened, save_theta
from vwlite.interrupts import Interrupted
from vwlite.solvers.aso import online_file
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.online import Stream
from vwlite.storage.atomic_file import beside_output
from vwlite.storage.output_checks import CHECKPOINT
from vwlite.training.checkpoint import check_same


class RunHeader(TypedDict):
    """``before``: examples that were learned before the text; ``inputs``: its files, and that of -i, None for pipes."""

    told: dict
    inputs: list[dict | None]
    before: online_file.Natural


@dataclass(slots=True)
class Checkpoints:
    """Of a run that writes Theta to ``model``. ``every``: examples from one to the next, None: no checkpoints.

    ``options`` are those that ``online_file.content`` keeps, ``told`` all that decide what is learned.
    """

    model: str
    every: int | None
    options: dict[str, Any]
    told: dict[str, Any]
    inputs: list[dict[str, Any] | None]
    say: Callable[[str], None]
    before: int = 0
    last: int = 0  # examples learned when the last one was written
    written: bool = False

    def __post_init__(self) -> None:
        self.told = json.loads(json.dumps(self.told))

    @property
    def path(self) -> str:
        return self.model + CHECKPOINT

    def load(self, config: LearnConfig, most: int) -> Stream | None:
        """What to go on from, None where there is no checkpoint.

        Raises ModelError where it is damaged or the text has changed, UsageError where options have.
        """
        if not os.path.exists(self.path):
            self.say(f"there is no {self.path} to go on from: learning begins at the start")
            return None
        run = opened(self.path, THETA, "made by vwlite aso learn --save-every", [])[0].get("run")
        if run is None:
            raise ModelError(f"{self.path} is a Theta, not a checkpoint")
        try:
            require(run, RunHeader, "run")
        except ValueError as error:
            raise online_file.damaged(self.path, error) from error
        check_same(self.path, run["told"], self.told)
        if not unchanged(run["inputs"], self.inputs):
            raise ModelError(f"the input has changed since {self.path} was written: start anew, without --resume")
        stream = online_file.load(self.path, config, most)
        if stream.examples < run["before"]:
            raise online_file.damaged(self.path, ValueError("its examples"))
        self.before, self.last, self.written = run["before"], stream.examples, True
        self.say(f"going on after {stream.examples - self.before} examples")
        return stream

    def begin(self, examples: int) -> None:
        """So many were learned before the text."""
        self.before = self.last = examples

    def reach(self, stream: Stream) -> None:
        """Write the checkpoint if it is time to."""
        if self.every is None or stream.examples - self.last < self.every:
            return
        theta, run = stream.theta(lambda line: None), {"told": self.told, "inputs": self.inputs, "before": self.before}
        header, arrays = online_file.content(stream, self.options)
        save_theta(
            self.path, theta, stream.facts(theta), lambda path: beside_output(path, like=self.model),
            ({**header, "run": run}, arrays),
        )  # fmt: skip
        self.last, self.written = stream.examples, True

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Within, what stops the run says whether it can go on; afterwards nothing is left to go on from."""
        try:
            yield
        except Interrupted as signal:
            kept = f"; {self.path} keeps what was learned, --resume goes on with it" if self.written else ""
            raise Interrupted(signal.number, kept) from signal
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def unchanged(then: list[dict[str, Any] | None], now: list[dict[str, Any] | None]) -> bool:
    pairs = zip(then, now, strict=False)
    return len(then) == len(now) and all(
        one is other if one is None or other is None else same_file(one, other) for one, other in pairs
    )


def skipped(corpora: Iterable[Corpus], examples: int) -> Iterator[Corpus]:
    """What comes after so many examples. Raises ModelError where there are not so many."""
    left = examples
    for corpus in corpora:
        count = len(corpus.label)
        if left < count:
            yield corpus.subset(np.arange(count) >= left) if left else corpus
        left = max(left - count, 0)
    if left:
        raise ModelError("the text is shorter than what was learned of it: start anew, without --resume")
