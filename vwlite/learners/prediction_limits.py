"""``--min_prediction`` and ``--max_prediction``, and the range of labels they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vwlite.errors import UsageError
from vwlite.numerals import FLOAT32_MAX

if TYPE_CHECKING:
    from vwlite.learners.losses import LossConfig


def given_range(low: float | None, high: float | None) -> tuple[float, float] | None:
    """The label range when a bound of it is given; the one not given is 0."""
    return None if low is None and high is None else (low or 0.0, high or 0.0)


def with_free_bound(options: Mapping[str, Any], loss: LossConfig) -> dict[str, Any]:
    """The options with both bounds where one is given. Raises UsageError when the lower is not below the upper.

    Free is what the loss is: its own range of predictions, or all numbers. (Vowpal Wabbit takes 0 for the other bound.)
    """
    low, high = options.get("min_prediction"), options.get("max_prediction")
    if low is None and high is None:
        return dict(options)
    first, last = loss.loss.initial_range
    if first == last:
        first, last = -FLOAT32_MAX, FLOAT32_MAX
    low, high = (first if low is None else low), (last if high is None else high)
    if not low < high:
        raise UsageError(f"--min_prediction must be below --max_prediction, not {low:g} and {high:g}")
    return {**options, "min_prediction": low, "max_prediction": high}
