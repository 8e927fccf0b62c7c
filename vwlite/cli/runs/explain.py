"""What ``vwlite explain`` does."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.build import describe_model, module_for
from vwlite.cli.output import Bar, json_lines
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError, escaped
from vwlite.evaluation.explain import Explanation, Sum, explain
from vwlite.options import OptionValues
from vwlite.storage.atomic_file import atomic_output

Show = Callable[[Explanation], None]  # writes one explanation


def run(arguments: OptionValues) -> int:
    if arguments["top"] < 0:
        raise UsageError("--top takes 0 or more")
    if arguments["classes"] < 1:
        raise UsageError("--classes takes 1 or more")
    if module := module_for(arguments["initial"], arguments["memory"]):
        if not hasattr(module, "explain"):
            raise UsageError(f"explain does not go with {describe_model(arguments['initial'])}")
        return int(module.explain(arguments, output(arguments["json_path"])))
    config, model = build.open_model(arguments)
    config = replace(config, output=replace(config.output, names=True))
    bad_lines, quiet = bad_lines_config(arguments), arguments["quiet"]
    display = {"quiet": quiet, "display": Bar(quiet, to_stdout=True)}
    most = {"top": arguments["top"], "classes": arguments["classes"]}
    explain(config, model, output(arguments["json_path"]), bad_lines, **most, **display)
    return 0


@contextmanager
def output(path: str | None) -> Iterator[Show]:
    """A writer of explanations: as text to standard output, and as JSON to ``path`` if it is given.

    With the path ``-`` only JSON is written, to standard output. A JSON file is created when it is complete.
    """
    with ExitStack() as closing:
        writers: list[Show] = [] if path == "-" else [text_writer()]
        if path:
            file = sys.stdout if path == "-" else closing.enter_context(atomic_output(path, "w"))
            write = closing.enter_context(json_lines(file, "examples"))
            writers.append(lambda explanation: write(as_json(explanation)))

        def show(explanation: Explanation) -> None:
            for write_one in writers:
                write_one(explanation)

        yield show


def text_writer() -> Show:
    """A function that prints explanations as paragraphs, separated by empty lines."""
    separator = ""

    def show(explanation: Explanation) -> None:
        nonlocal separator
        head = (explanation.location, explanation.tag, f"prediction {number_text(explanation.prediction)}")
        lines = ["  ".join(escaped(part) for part in head if part)]
        for total in explanation.sums:
            lines += sum_lines(total)
        print(separator + "\n".join(lines))
        separator = "\n"

    return show


def sum_lines(total: Sum) -> list[str]:
    """The lines of a sum and of a table of its terms."""
    name = f"{escaped(total.name)}  " if total.name else ""
    lines = [f"  {name}sum {total.value:g}"]
    if total.terms:
        lines.append(f"  {'product':>12} {'weight':>12} {'value':>12}  name")
    for term in total.terms:
        name = escaped(term.name) or f"slot {term.slot}"
        lines.append(f"  {term.product:12.6g} {term.weight:12.6g} {term.value:12.6g}  {name}")
    if total.others:
        lines.append(f"  {total.others_product:12.6g} {'':12} {'':12}  {total.others} more")
    if total.base:
        lines.append(f"  {total.base:12.6g} {'':12} {'':12}  initial prediction")
    return lines


def number_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def as_json(explanation: Explanation) -> JsonObject:
    sums = [
        {**total._asdict(), "terms": [term._asdict() for term in total.terms]}
        for total in explanation.sums
    ]
    return {**explanation._asdict(), "sums": sums}
