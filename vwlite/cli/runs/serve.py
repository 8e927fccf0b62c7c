"""What ``vwlite serve`` does."""

from typing import Any

from vwlite.cli.console import say
from vwlite.cli.runs.named import module_for
from vwlite.errors import OutputError, UsageError
from vwlite.interrupts import Interrupted
from vwlite.options import fields_of
from vwlite.serving.config import ServeConfig
from vwlite.serving.model_source import ModelSource
from vwlite.serving.server import Server


def run(arguments: dict[str, Any]) -> int:
    """Until SIGINT or SIGTERM, which is how it ends: the status is 0."""
    config = ServeConfig(**fields_of(ServeConfig, arguments))
    if module_for(arguments["initial"]):
        raise UsageError("models of vwlite l1, aso, pca, cluster and lm are not served")
    tell = (lambda line: None) if arguments["quiet"] else say
    source = ModelSource(arguments["initial"], tell, arguments["memory"])
    try:
        server = Server(config, source, tell)
    except OSError as error:
        raise OutputError(f"cannot listen on {config.host}:{config.port}: {error.strerror or error}") from error
    tell(f"serving {arguments['initial']} on {server.url}")
    try:
        server.run()
    except (KeyboardInterrupt, Interrupted):
        tell(f"stopped after {server.requests} requests")
    return 0
