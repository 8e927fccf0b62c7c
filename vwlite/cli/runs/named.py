"""Models whose labels are names: which module does what ``predict``, ``evaluate`` and ``inspect`` do with them."""

import importlib
from types import ModuleType

from vwlite.cli import build
from vwlite.cli.effects import spelled
from vwlite.errors import UsageError
from vwlite.storage.model_file import learner_name_of

MODULES = {"l1": "tagging", "aso": "classes"}  # by learner
WITHOUT = ("confidence", "raw", "qid", "examples", "audit", "readable_model", "invert_hash", "factors", "out")


def module_for(path: str) -> ModuleType | None:
    """The one with ``predict``, ``evaluate`` and ``inspect`` for this model; None: its labels are numbers.

    Raises as ``vwlite.storage.model_file.load`` does.
    """
    name = MODULES.get(learner_name_of(path))
    return importlib.import_module(f"vwlite.cli.runs.{name}") if name else None


def refuse(*more: str) -> None:
    """Raises UsageError for the first typed option that such models cannot take, or that is among ``more``."""
    for name in (*WITHOUT, *more):
        if name in build.typed():
            raise UsageError(f"{spelled(name)} does not go with a model of named labels")
