"""What ``vwlite predict`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.runs.named import module_for
from vwlite.errors import UsageError
from vwlite.training import predict


def run(arguments: dict[str, Any]) -> int:
    if named := module_for(arguments["initial"]):
        return named.predict(arguments)
    if arguments["probabilities"]:
        raise UsageError("--probabilities needs a model of named labels (vwlite l1 --model multinomial or crf)")
    changes, confidence = {"link": "identity"} if arguments["raw"] else {}, arguments["confidence"]
    config, model = build.open_model(arguments, changes, confident=confidence)
    bad_lines, quiet = build.bad_lines_config(arguments), arguments["quiet"]
    session = predict(config, model, bad_lines, quiet=quiet, confidence=confidence)
    return 141 if session.broken else 0
