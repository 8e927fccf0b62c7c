"""What ``vwlite convert`` does."""

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import IO, Any

from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.cli import build
from vwlite.cli.console import say
from vwlite.data import block_parser
from vwlite.data.batch import Batch
from vwlite.data.blocks import blocks, check_inputs
from vwlite.data.dataset import Inputs
from vwlite.data.input_stream import display_name, whole_input
from vwlite.data.label_forms import FORMS, NUMBERS, form_of_inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.plain_text import decoded
from vwlite.data.svmlight_writer import SvmlightWriter
from vwlite.data.text_writer import TextWriter
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.term_weights import terms_of
from vwlite.options import fields_of, options_of
from vwlite.solvers.loglinear.columns import ColumnsConfig
from vwlite.solvers.loglinear.crfpp_templates import READY, Template, convert, read_templates, usual
from vwlite.storage.atomic_file import atomic_output

OF_CONLL = ("template", *options_of(ColumnsConfig))
ANYWHERE = ("format", "files", "out", "config_file")


def run(arguments: dict[str, Any]) -> int:
    format, typed = arguments["format"], build.typed()
    conll = format == "conll"
    for name in typed:
        if name not in ANYWHERE and (name in OF_CONLL) != conll:
            raise UsageError(f"{build.spelled(name)} does not go with {format}")
    if "bits" in typed and arguments["to"] != "svmlight":
        raise UsageError("-b does nothing without --to svmlight")
    writer = ConllWriter(arguments) if conll else RowWriter(arguments)
    if arguments["out"] == "-":
        writer.write(sys.stdout.buffer)
    else:
        with atomic_output(arguments["out"]) as file:
            writer.write(file)
    return 0


class RowWriter:
    """Writes rows of any format but CoNLL's, a line each."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        """Raises UsageError for labels that the output does not have, DataError, InputMissing."""
        self.tolerance = bad_lines_config(arguments)
        plain = text_format(FeatureConfig(), skip_malformed=True, names=True)
        self.inputs = Inputs(input_config({**arguments, "kind": arguments["format"]}), plain)
        form = form_of_inputs(self.inputs, plain)
        self.inputs.parse_as(FORMS[form].format(plain))
        self.text = TextWriter(self.inputs.format) if arguments["to"] == "text" else None
        self.svmlight = SvmlightWriter()
        if not self.text and form != NUMBERS:
            raise UsageError(f"--to svmlight takes labels that are numbers, and these are {form}")
        self.plan = Plan(FeatureConfig(bits=arguments["bits"], noconstant=True))

    def write(self, file: IO[bytes]) -> None:
        """Raises DataError for malformed lines, and what the output cannot say."""
        policy = BadLines(None, say, self.tolerance)
        if self.inputs.read_as:
            say(self.inputs.read_as)
        with ExitStack() as held:
            held.enter_context(policy.keeping())
            for part in held.enter_context(closing(self.inputs.texts())):
                batch = policy.examine(part)
                file.write(self.lines(batch))
                if batch.release:
                    batch.release()
        policy.finish()
        if self.svmlight.unlabelled:
            say(f"note: {self.svmlight.unlabelled} examples have no label: SVMlight has 0 there")

    def lines(self, batch: Batch) -> bytes:
        return self.text.lines(batch) if self.text else self.svmlight.lines(batch, terms_of(batch, self.plan))


class ConllWriter:
    """Writes CoNLL columns as lines with features by a template."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.paths = tuple(arguments["files"]) or ("-",)
        check_inputs(self.paths)
        self.how = ColumnsConfig(**fields_of(ColumnsConfig, arguments))
        self.templates = templates_of(arguments["template"]) if arguments["template"] else None

    def choose(self, columns: int) -> list[Template]:
        """Those asked for, or the usual ones of the first file."""
        if self.templates is None:
            self.templates = read_templates(usual(columns))
        return self.templates

    def write(self, file: IO[bytes]) -> None:
        """Raises DataError for input without a sentence, and malformed lines."""
        written = False
        for path in self.paths:
            for text in convert(lines_of(path), display_name(path), self.choose, self.how):
                file.write(text.encode("utf-8", "surrogateescape"))
                written = True
        if not written:
            raise DataError("there is no sentence in the input")


def lines_of(path: str) -> Iterator[bytes]:
    """Raises DataError for one without end."""
    for block in blocks((path,), max_line=block_parser.LONGEST_LINE):
        yield from io.BytesIO(memoryview(block.data)[: block.size])


def templates_of(name: str) -> list[Template]:
    """Of a file, or ready-made ones. Raises UsageError, InputMissing."""
    if name in READY:
        return read_templates(READY[name])
    check_inputs((name,))
    return read_templates(decoded(whole_input(name)))
