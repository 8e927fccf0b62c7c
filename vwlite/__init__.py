"""Online learning from Vowpal Wabbit text: models with the options and the bytes of the command ``vwlite``.

``Model`` learns from text, files and rows in memory; see docs/python.md.
"""

from __future__ import annotations

from vwlite.version import __version__

TYPE_CHECKING = False  # as type checkers know it; the module of this name takes longer to import than this one
if TYPE_CHECKING:
    from typing import Any

    from vwlite.api.functions import evaluate, load, merge, predict, train, write_text
    from vwlite.api.memory_run import LearnResult
    from vwlite.api.model import Model
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
    from vwlite.evaluation.policy_value import policy_value

ON_DEMAND = {  # imported when they are first asked for: NumPy takes its time, and a signal may come meanwhile
    "DataError": "errors",
    "Diverged": "errors",
    "ExtraMissing": "errors",
    "InputDamaged": "errors",
    "InputMissing": "errors",
    "LearnResult": "api.memory_run",
    "Locked": "errors",
    "Model": "api.model",
    "ModelError": "errors",
    "NotBuilt": "errors",
    "OutOfMemory": "errors",
    "OutputError": "errors",
    "UsageError": "errors",
    "VwliteError": "errors",
    "evaluate": "api.functions",
    "load": "api.functions",
    "merge": "api.functions",
    "policy_value": "evaluation.policy_value",
    "predict": "api.functions",
    "train": "api.functions",
    "write_text": "api.functions",
}
__all__ = [
    "DataError",
    "Diverged",
    "ExtraMissing",
    "InputDamaged",
    "InputMissing",
    "LearnResult",
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
    "merge",
    "policy_value",
    "predict",
    "train",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"vwlite.{ON_DEMAND[name]}"), name)


def __dir__() -> list[str]:
    return __all__
