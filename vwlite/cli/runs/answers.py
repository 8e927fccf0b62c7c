"""What ``vwlite predict`` can show of a model beside its answers, whatever was typed when it was trained."""

from typing import Any

from vwlite.errors import UsageError
from vwlite.training.model_header import stored

SHOWN = ("probabilities", "scores", "raw")


def changes_for(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The learner's options that show what is asked for, and ``as_raw`` where answers are written as ``-r`` has them.

    Raises UsageError where the model has nothing of the kind, or two kinds are asked for.
    """
    named = [name for name in SHOWN if asked[name]]
    if len(named) > 1:
        raise UsageError(f"--{named[0]} and --{named[1]} do not go together: each takes the place of the answers")
    if not named:
        return {}
    return stored(path).config.to_show(named[0])


def to_measure(path: str) -> dict[str, Any]:
    """With probabilities where there are any, for their log loss."""
    return stored(path).config.shows_probabilities_of_classes
