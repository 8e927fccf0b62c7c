"""What ``vwlite convert`` does."""

import io
import sys
from typing import IO, Any

from vwlite.data.blocks import check_inputs
from vwlite.data.input_stream import display_name, open_input
from vwlite.errors import DataError
from vwlite.solvers.loglinear.crfpp_templates import DEFAULT, Template, convert, read_templates
from vwlite.storage.atomic_file import atomic_output


def run(arguments: dict[str, Any]) -> int:
    paths = arguments["files"] or ("-",)
    check_inputs(paths)
    templates, labels = templates_of(arguments["template"]), not arguments["no_labels"]
    if arguments["out"] == "-":
        write(sys.stdout.buffer, paths, templates, labels)
        return 0
    with atomic_output(arguments["out"]) as file:
        write(file, paths, templates, labels)
    return 0


def templates_of(path: str | None) -> list[Template]:
    if path is None:
        return read_templates(DEFAULT)
    check_inputs((path,))
    with open_input(path) as file:
        return read_templates(file.read().decode("utf-8", "surrogateescape"))


def write(file: IO[bytes], paths: tuple[str, ...], templates: list[Template], labels: bool) -> None:
    written = False
    for path in paths:
        with io.BufferedReader(open_input(path)) as stream:  # type: ignore[type-var]
            for text in convert(stream, display_name(path), templates, labels):
                file.write(text.encode("utf-8", "surrogateescape"))
                written = True
    if not written:
        raise DataError("there is no sentence in the input")
