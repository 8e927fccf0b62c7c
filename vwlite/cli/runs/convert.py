"""What ``vwlite convert`` does."""

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import IO

from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.output import say
from vwlite.data import block_parser
from vwlite.data.batch import Batch
from vwlite.data.blocks import blocks, check_inputs
from vwlite.data.dataset import Inputs
from vwlite.data.input_stream import display_name, whole_input
from vwlite.data.label_forms import FORMS, NUMBERS, form_of_inputs
from vwlite.data.plain_text import as_name, decode, names_of_sets, text_of_crfsuite, text_of_fasttext, text_of_libffm
from vwlite.data.text_writer import SvmlightWriter, TextWriter
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.term_weights import terms_of
from vwlite.options import OptionValues, fields_of, options_of
from vwlite.solvers.loglinear.crfpp_templates import READY, ColumnsConfig, Template, convert, read_templates, usual
from vwlite.storage.atomic_file import atomic_output

OF_FORMATS = {
    "conll": ("template", *options_of(ColumnsConfig)),
    "fasttext": ("named_labels",),
    "libffm": (),
    "crfsuite": (),
}
ANYWHERE = ("format", "files", "out", "config_file")


def run(arguments: OptionValues) -> int:
    format, typed = arguments["format"], build.typed_options()
    elsewhere = {option for known in OF_FORMATS.values() for option in known}
    for name in typed:
        goes = name in OF_FORMATS[format] if format in OF_FORMATS else name not in elsewhere
        if name not in ANYWHERE and not goes:
            raise UsageError(f"{build.spelling_of(name)} does not go with {format}")
    if "bits" in typed and arguments["to"] != "svmlight":
        raise UsageError("-b does nothing without --to svmlight")
    writer = LineWriter(arguments) if format in OF_FORMATS else RowWriter(arguments)
    if arguments["out"] == "-":
        writer.write(sys.stdout.buffer)
    else:
        with atomic_output(arguments["out"]) as file:
            writer.write(file)
    return 0


class RowWriter:
    """Writes rows of the formats that vwlite reads, a line each."""

    def __init__(self, arguments: OptionValues) -> None:
        """Raises UsageError for labels that the output does not have, DataError, InputMissing."""
        self.policy = build.bad_lines_policy(arguments, say)
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
        policy = self.policy
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


class LineWriter:
    """Writes CoNLL columns, with features by a template, or lines of fastText, libffm or CRFsuite."""

    def __init__(self, arguments: OptionValues) -> None:
        """Raises UsageError, InputMissing."""
        self.format = arguments["format"]
        self.paths = tuple(arguments["files"]) or ("-",)
        check_inputs(self.paths)
        self.how = ColumnsConfig(**fields_of(ColumnsConfig, arguments))
        self.templates = templates_of(arguments["template"]) if arguments["template"] else None
        self.names = [as_name(name) for name in arguments["named_labels"] or ()]

    def choose(self, columns: int) -> list[Template]:
        """The templates of --template, or the default ones for the first file."""
        if self.templates is None:
            self.templates = read_templates(usual(columns))
        return self.templates

    def texts(self, path: str) -> Iterator[str]:
        """The converted lines of a file. Raises DataError."""
        lines, name = lines_of(path), display_name(path)
        if self.format == "conll":
            return convert(lines, name, self.choose, self.how)
        if self.format == "fasttext":
            return text_of_fasttext(lines, name, self.names)
        return (text_of_libffm if self.format == "libffm" else text_of_crfsuite)(lines, name)

    def write(self, file: IO[bytes]) -> None:
        """Raises DataError for input without a sentence or an example, and malformed lines."""
        if self.format == "fasttext" and not self.names and "-" not in self.paths:
            self.names = names_of_sets(map(lines_of, self.paths))
            if self.names:
                learn, names = f"--multilabel_oaa {len(self.names)}", ",".join(self.names)
                say(f"note: lines have several labels ({learn}), numbered from 0 as by --named_labels {names}")
        written = False
        for path in self.paths:
            for text in self.texts(path):
                file.write(text.encode("utf-8", "surrogateescape"))
                written = True
        if not written:
            raise DataError(f"there is no {'sentence' if self.format == 'conll' else 'example'} in the input")


def lines_of(path: str) -> Iterator[bytes]:
    """Raises DataError for one without end."""
    for block in blocks((path,), max_line=block_parser.LONGEST_LINE):
        yield from io.BytesIO(memoryview(block.data)[: block.size])


def templates_of(name: str) -> list[Template]:
    """The templates of a file, or built-in ones. Raises UsageError, InputMissing."""
    if name in READY:
        return read_templates(READY[name])
    check_inputs((name,))
    return read_templates(decode(whole_input(name)))
