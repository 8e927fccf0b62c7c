"""What ``vwlite predict`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.runs.named import module_for
from vwlite.errors import UsageError
from vwlite.header import stored
from vwlite.training import predict


def without_probabilities(path: str) -> str:
    """Why the model has none to be added."""
    config = stored(path).config
    if getattr(config, "oaa", 0) or getattr(config, "multiclass", 0):
        return f"--probabilities is an option of training here: what was trained with it predicts them ({path})"
    return "--probabilities needs a model of named labels (vwlite l1 --model multinomial or crf)"


def run(arguments: dict[str, Any]) -> int:
    if named := module_for(arguments["initial"]):
        return named.predict(arguments)
    if arguments["probabilities"]:
        raise UsageError(without_probabilities(arguments["initial"]))
    changes, confidence = {"link": "identity"} if arguments["raw"] else {}, arguments["confidence"]
    config, model = build.open_model(arguments, changes, confident=confidence)
    bad_lines, quiet = build.bad_lines_config(arguments), arguments["quiet"]
    session = predict(config, model, bad_lines, quiet=quiet, confidence=confidence)
    return 141 if session.broken else 0
