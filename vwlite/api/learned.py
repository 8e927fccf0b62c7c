"""What a call of ``Model.learn`` has come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vwlite.training.prediction_arrays import Answers


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Counts and losses of one call of ``Model.learn``."""

    examples: int  # read, over all passes, held out ones not among them
    weight: float  # their importance, of labelled ones
    average_loss: float | None  # progressive: each example is predicted before it is learned; None without labels
    holdout_loss: float | None  # the best pass's average loss of held out examples; None where none were
    passes: int  # made
    bad_lines: int  # malformed lines of text, which were left out
    predictions: Answers | None  # made before each update of the last pass; None unless kept
