"""Options of active learning (``--active``) and confidences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig


@dataclass(frozen=True, slots=True)
class ActiveConfig(GdConfig):
    """As ``GdConfig``, with ``active`` or ``confidence``."""

    active: bool = False  # beside predictions without a label: the importance with which to ask for it
    simulation: bool = False  # of active: ask for the labels there are, and learn no others
    mellowness: float = 8.0  # of active: more asks for more labels
    confidence: bool = False  # beside predictions: the importance that would flip their sign
    confidence_after_training: bool = False  # the same for the weights after the example's update
    random_seed: int = 0  # of the choice of labels

    learner: ClassVar[str] = "active"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.active and self.confidence:
            raise UsageError("--active and --confidence do not go together")
        if self.confidence_after_training and not self.confidence:
            raise UsageError("--confidence_after_training needs --confidence")
        if self.simulation and not self.active:
            raise UsageError("--simulation needs --active")
        if not 0 <= self.mellowness < float("inf"):
            raise UsageError(f"--mellowness takes a number of 0 or more, not {self.mellowness:g}")
        if self.ftrl:
            raise UsageError("--active and --confidence do not go with --ftrl")
