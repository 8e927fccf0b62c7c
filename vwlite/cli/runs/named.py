"""What ``predict``, ``evaluate`` and ``inspect`` do with a model: by a module of its own, or by changed options."""

import importlib
import os
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from vwlite.cli import build
from vwlite.errors import UsageError
from vwlite.learners.configs.base import shown_kind
from vwlite.memory_limit import GIB, check_memory
from vwlite.storage.model_file import learner_name_of
from vwlite.training.model_header import stored

MODULES = {  # by learner
    **{"l1": "tagging", "aso": "classes", "aso-tasks": "tasks"},
    **{"pca": "pca", "cluster": "cluster", "lm": "lm"},
}
UNNAMED = {
    "aso-tasks": "a model of tasks",
    "pca": "a model of principal components",
    "cluster": "a model of clusters",
    "lm": "a language model",
}
OF_RANKINGS = ("qid", "gain", "discount", "bootstrap", "against")
WITHOUT = (
    "confidence", "raw", "answer", "levels", "jsonl", "examples", "audit",
    "readable_model", "invert_hash", "factors", "out", "most", "by_class",
    "dot_unseen", "min_updates", "scheme", "value", "cost_range",
)


def module_for(path: str, max_memory: float | None = None) -> ModuleType | None:
    """The one with ``predict``, ``evaluate`` and ``inspect`` for this model; None: its labels are numbers.

    Raises UsageError for a model of more than ``max_memory`` GiB, and as ``vwlite.storage.model_file.load`` does.
    """
    name = MODULES.get(learner_name_of(path))
    if name and max_memory is not None:  # such a model is read whole, and is not compressed
        check_memory(os.path.getsize(path), max_memory * GIB, path, "a model of fewer weights needs less")
    return importlib.import_module(f"vwlite.cli.runs.{name}") if name else None


def described(path: str) -> str:
    """What a model of ``module_for`` is, in messages."""
    return UNNAMED.get(learner_name_of(path), "a model of named labels")


def refuse(*more: str, of: str = "a model of named labels", taken: tuple[str, ...] = ()) -> None:
    """Raises UsageError for the first typed option that such models cannot take, or that is among ``more``.

    Of those that some such models cannot take, these take ``taken``.
    """
    for name in (*WITHOUT, *OF_RANKINGS, *more):
        if name in build.typed() and name not in taken:
            raise UsageError(f"{build.spelled(name)} does not go with {of}")


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
    return {name: value for name, value in build.typed().items() if name in OF_VECTORS}
