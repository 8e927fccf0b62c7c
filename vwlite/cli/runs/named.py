"""Models whose labels are names: which module does what ``predict``, ``evaluate`` and ``inspect`` do with them."""

import importlib
import os
from types import ModuleType

from vwlite.cli import build
from vwlite.errors import UsageError
from vwlite.memory_limit import GIB, check_memory
from vwlite.storage.model_file import learner_name_of

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
    *("confidence", "raw", "answer", "levels", "jsonl", "examples", "audit"),
    *("readable_model", "invert_hash", "factors", "out", "most", "by_class"),
    *("dot_unseen", "min_updates", "scheme"),
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
