"""What ``vwlite predict`` can show of a model beside its answers, whatever was typed when it was trained."""

from typing import Any

from vwlite.learners.configs.base import shown_kind
from vwlite.training.model_header import stored


def changes_for(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The learner's options that show what is asked for, and ``as_raw`` where answers are written as ``-r`` has them.

    Raises UsageError where the model has nothing of the kind, or two kinds are asked for.
    """
    kind = shown_kind(asked)
    return stored(path).config.to_show(kind) if kind else {}


def to_measure(path: str) -> dict[str, Any]:
    """With probabilities where there are any, for their log loss."""
    return stored(path).config.shows_probabilities_of_classes
