"""A model on labelled data, as a report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vwlite.data.config import BadLinesConfig
from vwlite.errors import DataError
from vwlite.evaluation import metrics
from vwlite.evaluation.evaluate import evaluate
from vwlite.evaluation.inspect_model import inspect
from vwlite.evaluation.measure import NO_LABELS, average, comparable, measure
from vwlite.evaluation.metric_report import finite
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.model_loader import Restored

STRONGEST = 20


@dataclass(frozen=True)
class Tested:
    """``figures`` as ``vwlite evaluate`` has them. ``sample``: None for a model of classes."""

    figures: dict[str, Any]
    strongest: list[tuple[str, float]]  # features and their weights
    sample: metrics.Sample | None = None
    shares: bool = False  # predictions are probabilities

    @property
    def two_sides(self) -> bool:
        """Whether labels are positive or negative, and both occur."""
        sample = self.sample
        return sample is not None and metrics.are_binary(sample.label) and 0 < sample.positive.sum() < len(sample.label)


def tested(config: RunConfig, model: Restored, path: str, bad_lines: BadLinesConfig, display: Display) -> Tested:
    """The model of the file ``path`` on the data of ``config``. Raises as ``vwlite.evaluation.measure.measure``."""
    strongest = strongest_of(path)
    if not model.learner.simple_labels:
        return Tested(finite(measure(config, model, bad_lines, display=display)), strongest)
    counters, outcomes = evaluate(config, model, bad_lines, display=display)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    columns, kind = comparable(config, outcomes)
    figures = finite(metrics.evaluate(*columns, **kind, loss=average(counters)))
    return Tested(figures, strongest, metrics.sample(*columns, **kind), kind["output"] == "probability")


def strongest_of(path: str) -> list[tuple[str, float]]:
    """The largest weights, by name, or by slot where the model holds no names; of classes with these behind it."""
    return [(display_name(one), one["weight"]) for one in inspect(path).top(STRONGEST)]


def display_name(weight: dict[str, Any]) -> str:
    name = weight["name"] or f"slot {weight['slot']}"
    return f"{name} ({weight['class']})" if "class" in weight else name
