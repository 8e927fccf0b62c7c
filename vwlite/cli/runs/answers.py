"""What ``vwlite predict`` can show of a model beside its answers, whatever was typed when it was trained."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from vwlite.cli.build import typed
from vwlite.errors import UsageError
from vwlite.learners.configs.base import shown_kind
from vwlite.training.model_header import stored

EMPTY: Mapping[str, Any] = MappingProxyType({})
OF_VECTORS = ("dot_unseen", "min_updates", "confidence_rate")


def changes_for(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The learner's options that show what is asked for, and ``as_raw`` where answers are written as ``-r`` has them.

    Raises UsageError where the model has nothing of the kind, or two kinds are asked for.
    """
    kind, answer = shown_kind(asked), asked["answer"]
    if kind and answer:
        raise UsageError(f"--{kind} and --predict do not go together: each takes the place of the answers")
    levels = levels_in(asked)
    if (kind or answer) and levels:
        raise UsageError(f"--{kind or 'predict'} and --levels do not go together: each takes the place of the answers")
    config = stored(path).config if kind or answer else None
    return config.to_answer(answer) if answer else config.to_show(kind) if kind else levels


def top_of(asked: Mapping[str, Any], kind: str) -> int | None:
    """How many classes are shown, None for all. Raises UsageError beside answers that are not of ``kind``s of them."""
    most: int | None = asked["most"]
    if most is not None and kind not in ("scores", "probabilities"):
        raise UsageError("--top goes with --scores or --probabilities")
    if most is not None and most < 1:
        raise UsageError("--top takes 1 or more")
    return most


def levels_in(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The levels that were typed, such as for a model without any."""
    return {"levels": asked["levels"]} if asked.get("levels") else {}


def to_measure(path: str, asked: Mapping[str, Any] = EMPTY) -> dict[str, Any]:
    """With probabilities where there are any, for their log loss."""
    return {**stored(path).config.shows_probabilities_of_classes, **levels_in(asked)}


def of_vectors() -> dict[str, Any]:
    """What was typed of the latent vectors that count."""
    return {name: value for name, value in typed().items() if name in OF_VECTORS}
