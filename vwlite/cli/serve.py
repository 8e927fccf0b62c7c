"""``vwlite serve``."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.errors import OutputError, UsageError
from vwlite.options import OptionValues
from vwlite.serving.config import ServeConfig

if TYPE_CHECKING:
    from vwlite.serving.lines import Model


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

    With --lines PORT it answers lines of text over TCP as vw's daemon does, so that clients of vw work unchanged; with
    --learn it learns those that have a label, and saves the model at its end and where a line says save.
    """
    return run(arguments)


def run(arguments: OptionValues) -> int:
    """Serve until SIGINT or SIGTERM, which is how it ends: the status is 0."""
    from vwlite.cli.build import describe_model, module_for
    from vwlite.cli.output import say
    from vwlite.options import fields_of

    config = ServeConfig(**fields_of(ServeConfig, arguments))
    if module_for(arguments["initial"]):
        raise UsageError(f"{describe_model(arguments['initial'])} is not served")
    tell = (lambda line: None) if arguments["quiet"] else say
    if config.lines is None:
        return serve_http(config, arguments["initial"], arguments["memory"], tell)
    return serve_lines(config, arguments["initial"], arguments["memory"], tell)


def serve_http(config: ServeConfig, path: str, memory: float | None, tell: Callable[[str], None]) -> int:
    from vwlite.interrupts import Interrupted
    from vwlite.serving.model_source import ModelSource
    from vwlite.serving.server import Server

    source = ModelSource(path, tell, memory)
    try:
        server = Server(config, source, tell)
    except OSError as error:
        raise OutputError(f"cannot listen on {config.host}:{config.port}: {error.strerror or error}") from error
    tell(f"serving {path} on {server.url}")
    try:
        server.run()
    except (KeyboardInterrupt, Interrupted):
        tell(f"stopped after {server.requests} requests")
    return 0


def serve_lines(config: ServeConfig, path: str, memory: float | None, tell: Callable[[str], None]) -> int:
    from vwlite.data.config import InputConfig
    from vwlite.serving.lines import FollowedModel, OwnModel
    from vwlite.serving.model_source import ModelSource
    from vwlite.storage.output_checks import lock
    from vwlite.training.config import RunConfig
    from vwlite.training.model_loader import start

    if not config.learn:
        return serve(FollowedModel(ModelSource(path, tell, memory), config.reload_every), config, path, tell)
    with lock(path):
        run = RunConfig(input=InputConfig(("-",), threads=1), max_memory=memory)
        run, restored = start(run, path, {}, say=tell)
        assert restored is not None
        run = replace(run, input=run.input.like(restored.header, ()))
        model = OwnModel(run, restored.learner, restored.plan, restored, path, every=config.save_every or 0.0)
        serve(model, config, path, tell)
        model.finish()
    return 0


def serve(model: "Model", config: ServeConfig, path: str, tell: Callable[[str], None]) -> int:
    """Answer lines until SIGINT or SIGTERM."""
    from vwlite.cli.signals import signals_call
    from vwlite.serving.lines import listen

    server = listen(config.host, config.lines or 0, model, tell, config.max_request)
    tell("serving lines with {} on {}:{}".format(path, *server.address))
    with signals_call(server.stop):
        server.run()
    tell(f"stopped after {server.lines} lines")
    return 0
