"""What ``vwlite predict`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.training import predict, start


def run(arguments: dict[str, Any]) -> int:
    changes = {"link": "identity"} if arguments["raw"] else {}
    config, model = start(build.test_config(arguments), arguments["initial"], changes)
    quiet, active = arguments["quiet"], arguments["active"]
    session = predict(config, model, build.bad_lines_config(arguments), quiet=quiet, active=active)
    return 141 if session.broken else 0
