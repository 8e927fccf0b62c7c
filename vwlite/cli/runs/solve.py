"""The parts shared by commands with a solver, which works on all data at once: see ``vwlite.training.solver_run``."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from vwlite.api.run_configs import check_option_effects, input_config
from vwlite.cli import build
from vwlite.cli.output import EMPTY_REPORT, Screen, say, write_json
from vwlite.cli.signals import Interrupts
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import escaped
from vwlite.options import OptionValues, Request
from vwlite.solvers.row_solver import RowModel, RowSource
from vwlite.training.solver_run import Reader, Solver, run_solver


def solve(arguments: OptionValues, make_solver: Callable[[Request, str | None], Solver]) -> int:
    """Run a solver, and write the ``--json`` report. Returns the exit code."""
    request = build.request()
    check_option_effects(request.given, request.known, continuing=bool(arguments.get("initial")))
    done = run_solver(make_solver, request, Screen(arguments["quiet"]), Interrupts)
    if arguments["json_path"]:
        if done:
            write_json(arguments["json_path"], done.report(), done.solver.options(), done.history)
        else:
            write_json(arguments["json_path"], EMPTY_REPORT)
    return 0


@contextmanager
def open_reader(request: Request) -> Iterator[Reader]:
    """A reader of the inputs of a command that writes no model; progress is shown on the screen."""
    quiet = bool(request.values["quiet"])
    with closing(Screen(quiet)) as screen:
        reader = Reader(request.config(BadLinesConfig), None, screen, quiet)
        with reader.opened():
            yield reader


@contextmanager
def open_model_rows(
    arguments: OptionValues, model: RowModel[Any, Any], predicting: bool, kind: type[RowSource] = RowSource
) -> Iterator[tuple[RowSource, str]]:
    """The files as rows of the model's matrix, and their format: that of the model unless another one was typed.

    ``predicting``: the share of malformed lines is checked at the end, not while reading.
    """
    input = input_config(arguments).like(model.data, build.typed_options())
    policy = build.bad_lines_policy(arguments, say, to_the_end=predicting)
    inputs = Inputs(input, model.format_of(model.features, input.kind))
    source = kind(model.features, inputs, policy, model.seen)
    source.plan.load(model.arrays)
    try:
        with policy.keeping():
            yield source, input.kind
    finally:
        inputs.close()


def feature_values(features: Iterable[Mapping[str, Any]]) -> str:
    """Write what ``RowModel.features_at`` has found as words; features without a name have their slots."""
    named = ((entry["slot"] if entry["name"] is None else entry["name"], entry["value"]) for entry in features)
    return " ".join(f"{escaped(str(name))}:{value:.3g}" for name, value in named)
