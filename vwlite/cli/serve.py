"""``vwlite serve``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.errors import OutputError, UsageError
from vwlite.serving.config import ServeConfig


@click.command("serve", cls=Command, context_settings=SETTINGS, short_help="Predict over HTTP.")
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@options.options_in(ServeConfig)
@options.usual_memory_option
@options.quiet()
def command(**arguments: Any) -> int:
    """Predict over HTTP, with a model that is loaded anew when its file is replaced.

    \b
    vwlite serve -i model
    curl --data-binary @test.vw http://127.0.0.1:8080/predict
    curl http://127.0.0.1:8080/health

    The answer to lines is what 'vwlite predict' writes. JSON, {"lines": ["|a b", ...]} or {"rows": [{"b": 1}, ...]}, is
    answered by {"predictions": [{"prediction": 0.5}, ...]}. When SIGTERM or SIGINT ends the server, requests that have
    begun are answered. Who can reach the port can ask for predictions: there are no users and no encryption.
    """
    return run(arguments)


def run(arguments: dict[str, Any]) -> int:
    """Until SIGINT or SIGTERM, which is how it ends: the status is 0."""
    from vwlite.cli.console import say
    from vwlite.cli.runs.model_dispatch import module_for
    from vwlite.interrupts import Interrupted
    from vwlite.options import fields_of
    from vwlite.serving.config import ServeConfig
    from vwlite.serving.model_source import ModelSource
    from vwlite.serving.server import Server

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
