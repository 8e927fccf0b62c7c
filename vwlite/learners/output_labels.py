"""Labels that are lists of numbers, one for each output: ``3.5,-1,2``, or ``3.5,,2`` where one is missing.

The text span of a row's tag in a batch begins with the label (as in ``vwlite/data/label_vocabulary.py``); the numbers
that were read are in ``Batch.lists``.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from vwlite._native.number_lists import read_number_lists
from vwlite.data.batch import BLANK, Batch
from vwlite.data.class_labels import LogFunction, read_cost, text_of
from vwlite.data.csr import Csr, offsets
from vwlite.learners.losses import LossConfig


class OutputLabels:
    """Checks and reads the labels of batches. A line is malformed whose list has another length than ``outputs``, an
    element that is no number, or one that the loss is not made for.

    ``malformed`` has, by row of the batch checked last, what is wrong, which is also logged, if there is a ``log``.
    """

    negative = None
    hints: ClassVar[dict[int, str]] = {}

    def __init__(self, loss: LossConfig, outputs: int, log: LogFunction | None = None) -> None:
        self.loss, self.outputs, self.log = loss, outputs, log
        self.malformed: dict[int, str] = {}

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists`` with the numbers by output.

        The labels, float32[n], are 1, NaN where all elements are missing or the line is malformed.
        """
        wanted = ~np.isnan(batch.label) & (batch.flags & BLANK == 0)
        room = int((batch.tag_end - batch.tag_start)[wanted].sum(dtype=np.int64)) // 2 + len(batch)
        number, value = np.empty(room, np.uint32), np.empty(room, np.float32)
        sizes = np.empty(len(batch), np.int64)
        read_number_lists(batch, wanted.view(np.uint8), self.outputs, sizes, number, value)
        self.malformed = {row: self.fault(text_of(batch, row)) for row in np.flatnonzero(sizes < 0).tolist()}
        start = offsets(np.maximum(sizes, 0))
        lists = Csr(start, number[: start[-1]].copy(), value[: start[-1]].copy())
        fits = self.loss.accepts(lists.values)
        if not fits.all():
            owner = lists.owner
            for at in np.flatnonzero(~fits)[::-1].tolist():  # of several in a row the first is told
                self.malformed[int(owner[at])] = self.refusal(float(lists.values[at]))
        batch.lists = lists
        known = wanted & (sizes > 0)
        known[list(self.malformed)] = False
        for row, sentence in sorted(self.malformed.items()) if self.log else ():
            self.log(f"[warning] {batch.location(row)}: {sentence}")
        return np.where(known, np.float32(1), np.float32(np.nan))

    def fault(self, text: str) -> str:
        """What is wrong with a label that is no list of so many numbers."""
        elements = text.partition(" ")[0].split(",")
        if len(elements) != self.outputs:
            return f"{self.outputs} outputs expected, {len(elements)} found"
        bad = next((one for one in elements if one and not is_number(one)), "")
        return f"element {bad!r} of the label is no number"

    def refusal(self, value: float) -> str:
        return f"label {value:g} does not fit --loss_function {self.loss.name}: labels must be {self.loss.label_rule}"


def is_number(text: str) -> bool:
    try:
        return math.isfinite(read_cost(text))
    except ValueError:
        return False
