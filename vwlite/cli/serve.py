"""``vwlite serve``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
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
    from vwlite.cli.runs.serve import run

    return run(arguments)
