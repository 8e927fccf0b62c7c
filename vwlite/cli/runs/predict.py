"""What ``vwlite predict`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.training import predict


def run(arguments: dict[str, Any]) -> int:
    config, model = build.open_model(arguments, {"link": "identity"} if arguments["raw"] else {})
    quiet, active = arguments["quiet"], arguments["active"]
    session = predict(config, model, build.bad_lines_config(arguments), quiet=quiet, active=active)
    return 141 if session.broken else 0
