"""Online learning from Vowpal Wabbit text: models with the options and the bytes of the command ``vwlite``.

``Model`` learns from text, files and rows in memory; see docs/python.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vwlite.errors import (
    DataError,
    Diverged,
    ExtraMissing,
    InputDamaged,
    InputMissing,
    Locked,
    ModelError,
    NotBuilt,
    OutOfMemory,
    OutputError,
    UsageError,
    VwliteError,
)
from vwlite.version import __version__

if TYPE_CHECKING:
    from vwlite.api.functions import evaluate, load, predict, train
    from vwlite.api.learned import Learned
    from vwlite.api.model import Model
    from vwlite.api.write_text import write_text

ON_DEMAND = {  # imported when they are first asked for: NumPy takes its time
    "Learned": "learned",
    "Model": "model",
    "evaluate": "functions",
    "load": "functions",
    "predict": "functions",
    "train": "functions",
    "write_text": "write_text",
}
__all__ = [
    "DataError",
    "Diverged",
    "ExtraMissing",
    "InputDamaged",
    "InputMissing",
    "Learned",
    "Locked",
    "Model",
    "ModelError",
    "NotBuilt",
    "OutOfMemory",
    "OutputError",
    "UsageError",
    "VwliteError",
    "__version__",
    "evaluate",
    "load",
    "predict",
    "train",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"vwlite.api.{ON_DEMAND[name]}"), name)


def __dir__() -> list[str]:
    return __all__
