"""What ``vwlite report`` does."""

import sys

from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.build import describe_model, evaluation_changes, module_for
from vwlite.cli.output import Bar
from vwlite.cli.runs.evaluate import learned_files
from vwlite.errors import DataError, UsageError, escaped
from vwlite.learners.abilities import LoggedDecisions
from vwlite.options import OptionValues
from vwlite.reporting import charts, curves
from vwlite.reporting.charts import Tested, measure_model
from vwlite.reporting.page import page
from vwlite.reporting.runs import Run, read_runs
from vwlite.storage.atomic_file import atomic_output


def run(arguments: OptionValues) -> int:
    out, tests, initial = (arguments[name] for name in ("out", "tests", "initial"))
    if not arguments["runs"]:
        raise UsageError("report needs RUN.json, which 'vwlite train --json RUN.json' and others write")
    if not out and not arguments["text"]:
        raise UsageError("report needs -o FILE, --text or both")
    if bool(tests) != bool(initial):
        raise UsageError("--test goes with -i MODEL, and -i with --test")
    if tests and not out:
        raise UsageError("--test and -i are for the page: -o FILE writes it")
    runs = read_runs(arguments["runs"])
    if arguments["text"]:
        sys.stdout.write(as_text(runs))
    if out:
        text = page(runs, measure_test(arguments) if tests else None, (initial, *tests))
        write(out, text.encode("utf-8", "replace"))
    return 0


def measure_test(arguments: OptionValues) -> Tested:
    if module_for(arguments["initial"], arguments["memory"]):
        kind = describe_model(arguments["initial"])
        raise UsageError(f"report --test does not go with {kind}: 'vwlite evaluate --json' measures it")
    changes = evaluation_changes(arguments["initial"], arguments)
    config, model = build.open_model({**arguments, "files": arguments["tests"]}, changes)
    display = Bar(arguments["quiet"], to_stdout=False)
    logged = isinstance(model.learner, LoggedDecisions)
    known = learned_files(arguments["initial"], config.input.paths) if logged else []
    return measure_model(config, model, arguments["initial"], bad_lines_config(arguments), display, known)


def write(path: str, page: bytes) -> None:
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        return
    with atomic_output(path) as file:
        file.write(page)


def as_text(runs: list[Run]) -> str:
    """A curve for each run that has one. Raises DataError where none has."""
    parts = []
    for run in runs:
        for name, across in (("loss", "examples"), ("objective", "pass"), *(chart[:2] for chart in charts.OF_ROUNDS)):
            if points := run.curve(name, across):
                lines = curves.draw_curve(points, *axes_of(run, name, across))
                parts.append("\n".join([escaped(f"{run.name}: {name}"), *lines]))
                break
        if points := [(row["examples"], row["value"]) for row in run.series]:
            lines = curves.draw_curve(points, *charts.value_axes([run], ("value",)))
            parts.append("\n".join([escaped(f"{run.name}: value up to a place of the log"), *lines]))
    if not parts:
        raise DataError(
            "no report has the progress of a training, or the cost of a policy: 'vwlite train --json', "
            "'vwlite l1 --json' and 'vwlite evaluate --value --json' write such"
        )
    return "\n\n".join(parts) + "\n"


def axes_of(run: Run, name: str, across: str) -> tuple[charts.Axis, charts.Axis]:
    if across == "examples":
        return charts.loss_axes([run], [name])
    points = run.curve(name, across)
    return charts.axis(across, [x for x, _ in points], whole=True), charts.axis(name, [y for _, y in points])
