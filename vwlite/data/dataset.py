"""The batches of each pass, from the text, from a cache of it, or from the text while the cache is written."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.data.block_parser import LONGEST_LINE, OpenedInputs, Parsed, pack_batch, read
from vwlite.data.blocks import NOTHING, Block, Mark, blocks, check_inputs, file_size, open_input
from vwlite.data.config import COLUMNAR, DELIMITERS, TABLES, InputConfig
from vwlite.data.input_stream import Decompressed, check_encoding, display_name, identify
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, InputMissing, OutputError, UsageError, escaped
from vwlite.storage.weight_table import PageToucher

if TYPE_CHECKING:
    from vwlite.data.cache import Cache
    from vwlite.data.json_table import ColumnsMet
    from vwlite.data.shuffle import Rows

ZIP = b"PK\3\4"  # the first bytes of a model
BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow"}
TEMPORARY = "of this run"  # in place of a path: a temporary cache, which has no name


class Inputs:
    """Batches for any number of passes. A cache of these inputs is read instead of the text; another one is replaced.

    ``state`` of the cache is ``"none"``, ``"creating"`` or ``"using"``. With ``several_passes`` a temporary cache is
    made where none is named.
    """

    def __init__(
        self,
        config: InputConfig,
        format: TextFormat,
        several_passes: bool = False,
        digested: bool = False,
        pages: PageToucher | None = None,
    ) -> None:
        """``digested``: texts are digested as they are read, as they are for a cache with a name. ``pages`` of the
        learner's table are told of every batch by the thread that made it.
        """
        self.config, self.format = config, format
        check_inputs(config.paths)
        self.begun: OpenedInputs | None = None
        self.digested = digested or bool(config.cache)
        self.read_as = ""  # the columns of a table, as they were found
        self.column_names: list[str] = []  # of a table
        self.met: ColumnsMet | None = None  # of lines of JSON
        self.unlabelled = ""  # what is wrong with a table without the column of labels
        self.proposed = ""  # options for a table whose column of labels is not named
        self.advised = "", ""  # for one whose column is named: the loss, and passes and the like
        self.left_out: list[str] = []  # columns that such a table is better learned without
        self.remarks: list[str] = []  # on those that may be something else
        if config.kind in TABLES:
            self.look_at_columns()
        elif config.columns:
            way = "add --format csv" if config.kind == "vw" else "drop it"
            raise UsageError(f"--columns goes with tables ({', '.join(TABLES)}), not with {config.kind}: {way}")
        self.path = config.cache or (TEMPORARY if several_passes else None)
        self.cache: Cache | None = None
        self.pages = pages
        self.rows: Rows | None = None
        self.marks: dict[str, Mark] = {}  # of each file, how far it was read
        self.ended: set[str] = set()  # those that were read whole
        self.remade = ""  # why an existing cache was not used
        self.made_from: dict[str, object] = {}
        if self.path:
            from vwlite.data.cache import description

            self.made_from = description(self.config, format)
        if config.cache and not config.kill_cache and os.path.exists(config.cache):
            self.open_cache(config.cache)
        self.state = "using" if self.cache else "creating" if self.path else "none"

    def look_at_columns(self) -> None:
        """Find out what the columns of the first file are; this run and its model keep to it. Raises DataError."""
        from vwlite.data.columns import HEADERS, proposal_text, read_columns
        from vwlite.data.json_table import ColumnsMet  # which runs on text need not
        from vwlite.data.table_formats import HEAD, advise, least_lines, look_at, propose, remark_on_types

        config = self.config
        if not config.paths:
            raise UsageError(f"--format {config.kind} is read from files")
        columns, source = read_columns(config.columns), display_name(config.paths[0])
        known = read_columns(config.types)
        headed = known.headed if columns.headed is None else columns.headed
        columns = replace(columns, types=known.found_types, headed=headed)
        if headed is not None and config.kind not in DELIMITERS and config.columns != config.types:
            item = next(item for item, option in HEADERS.items() if option is headed)
            raise UsageError(f"--columns: {item} goes with --format csv and tsv, not with {config.kind}")
        if config.kind in COLUMNAR:
            from vwlite.data import arrow_files

            detected, kept = arrow_files.look_at(config.paths[0], config.kind, columns)
        else:
            self.begun = OpenedInputs(config.paths, config.block_size, self.digested)
            detected, kept = look_at(config.kind, columns, source, self.begun.head)
            self.remarks = remark_on_types(config.kind, detected, columns, self.begun.head)
            named, first = "label" in detected.roles and config.columns != config.types, not config.columns
            if config.kind in DELIMITERS and (named or (first and "label" not in columns.roles)):
                text = self.begun.head(HEAD, 0, least_lines(detected)), config.kind, detected, self.bytes_of_files()
                if named:
                    self.advised, self.left_out = advise(*text, columns)
                else:
                    self.proposed = "".join(propose(*text))
        self.read_as = f"columns: {detected.shown()}" if detected.shown() else ""
        self.column_names = [*(column.name for column in detected.named), *detected.ignored]
        self.config = replace(config, columns=str(kept))
        label = columns.roles.get("label")
        if config.kind == "jsonl":
            self.met = ColumnsMet(columns, self.description)
        elif label and "label" not in detected.roles:
            self.unlabelled = f"{source} has no column {label.name!r}{proposal_text(label.name, self.column_names)}"

    def check_label(self) -> None:
        """Raises DataError where labels are needed, and the table has no column of them."""
        if self.unlabelled:
            raise DataError(self.unlabelled)

    def check_columns(self, labelled: bool) -> None:
        """Raises DataError where no line of JSON, all of which were read, has any of the columns of features or, where
        labels are needed, that of labels.
        """
        if self.met and (error := self.met.without_features() or (labelled and self.met.without_label())):
            raise DataError(error)

    def missing_columns(self, labelled: bool) -> str:
        """A remark on the others that no line of JSON has; empty where there are none."""
        return self.met.note(*(("weight", "base") if labelled else ())) if self.met else ""

    def open_cache(self, path: str) -> None:
        """Use the cache if it was made from these inputs; under vw's rules any cache stands for standard input."""
        from vwlite.data.cache import Cache

        cache = Cache(path)
        stdin = self.config.paths == ("-",)
        if (stdin and not self.format.skip_malformed) or cache.serves(self.made_from, self.config.examples):
            self.cache = cache
        else:
            cache.close()
            source = "standard input, whose data may be others each time," if stdin else "other data or options"
            self.remade = f"{path} was made from {source} and is made again"

    @property
    def contents(self) -> dict[str, JsonObject]:
        """Digests of what was read of each file, by path, from ``Mark.as_json``; files without a digest are absent."""
        if self.state == "using":
            return self.cache.contents
        known = {**dict.fromkeys(self.ended, NOTHING), **self.marks}
        return {path: mark.as_json(path in self.ended) for path, mark in known.items()}

    @property
    def ready(self) -> bool:
        """Whether passes can be made that do not read the text."""
        return self.cache is not None

    def head(self, size: int) -> bytes:
        """The whole lines among the first ``size`` bytes of text, for choosing the format before the text is parsed."""
        self.begun = self.begun or OpenedInputs(self.config.paths, self.config.block_size, self.digested)
        of_file = 0
        if self.config.kind in DELIMITERS:
            from vwlite.data.columns import read_columns
            from vwlite.data.table_formats import least_lines

            of_file = least_lines(read_columns(self.config.columns))
        return self.begun.head(size, self.config.examples, of_file)

    def parse_as(self, format: TextFormat) -> None:
        """Read the text, of which no more than the head was looked at, in this format."""
        self.format = format

    @property
    def hint(self) -> str:
        """A hint for messages that no example has a label."""
        if self.config.kind not in TABLES:
            return ""
        from vwlite.data.table_formats import label_advice

        return label_advice(self.config.columns, self.column_names)

    @property
    def advice(self) -> str:
        """``hint``, and what the options may be."""
        return f"{self.hint[:-1]}; perhaps {escaped(self.proposed)})" if self.proposed else self.hint

    @property
    def description(self) -> str:
        """The names of the inputs, for messages."""
        first, more = display_name(self.config.paths[0]), len(self.config.paths) - 1
        return f"{first} and {more} more" if more else first

    def size(self) -> int | None:
        """Bytes of text to be read; None when that is unknown, for pipes and compressed files."""
        return None if self.config.kind in COLUMNAR else self.text_size

    def bytes_of_files(self) -> int | None:
        """The size of all inputs, compressed as they are; None if one is a pipe."""
        sizes = [file_size(path) for path in self.config.paths]
        return None if None in sizes else sum(filter(None, sizes))

    @cached_property
    def text_size(self) -> int | None:
        """Found out once: servers are asked for it."""
        return text_size(self.config.paths)

    def texts(self) -> Iterator[Parsed]:
        """The text's batches, while they are also written to the cache."""
        if not self.path:
            yield from self.marked()
            return
        from vwlite.data.cache import Cache, CacheWriter

        with ExitStack() as closing:
            file = temporary_file("make a temporary cache for several passes") if self.path == TEMPORARY else None
            if file:
                closing.callback(file.close)
            writer = CacheWriter(self.path, self.made_from, self.config.examples, file)
            try:
                for part in self.marked():
                    writer.add(part.packed or pack_batch(part.batch))
                    writer.lines += part.lines
                    writer.bad += len(part.issues)
                    yield part
                writer.close(self.contents)
            except BaseException as error:
                writer.abort(error)
                raise
            closing.pop_all()  # the cache keeps the file
            self.cache = Cache(self.path, file)
            self.cache.trust()

    def marked(self) -> Iterator[Parsed]:
        """The text's batches; ``marks`` records how far each file was read."""
        for part in self.parts():
            if part.block.mark:
                self.marks[part.block.path] = part.block.mark
            yield part

    def parts(self) -> Iterator[Parsed]:
        """The text's batches, of whole groups of lines where these belong together."""
        if not self.format.groups:
            yield from self.blocks()
            return
        from vwlite.data.multiline import whole_groups

        with contextlib.closing(self.blocks()) as parts:
            yield from whole_groups(parts, self.format.skip_malformed, self.format.bare)

    def blocks(self) -> Iterator[Parsed]:
        """A batch for every block of text, no more rows than ``--examples`` asks for."""
        config = self.config
        left, size = config.examples or None, self.size()
        if self.pages and config.paths:
            self.pages.expect(size)
        threads = 1 if size is not None and size <= config.block_size else config.threads
        packs = bool(self.path) and not self.format.groups
        options = {"threads": threads, "block_size": config.block_size, "packs": packs, "touch": self.pages}
        options |= {"marks": self.digested, "begun": self.begun, "columns": config.columns}
        self.begun = None
        of_text = config.kind not in COLUMNAR
        source = read(config.paths, self.format, config.kind, **options) if of_text else self.records()
        with contextlib.closing(source) as parts:
            for part in parts:
                if part.block.offset == 0:
                    self.ended.update(self.marks)
                    check_start(part.block.path, bytes(part.block.data[:8]))
                if self.met:
                    self.met.add(part.block)
                if left is not None and len(part.batch) >= left:
                    yield first_rows(part, left)
                    return
                if left is not None:
                    left -= len(part.batch)
                yield part
        if self.digested:
            self.ended.update(path for path in config.paths if path != "-")

    def plain(self) -> Iterator[Block]:
        """The blocks of plain text, whose lines are no examples; ``marks`` as in ``marked``."""
        config = self.config
        for block in blocks(config.paths, config.block_size, LONGEST_LINE, marks=self.digested):
            if block.offset == 0:
                self.ended.update(self.marks)
                check_start(block.path, bytes(block.data[:8]))
            if block.mark:
                self.marks[block.path] = block.mark
            yield block
        if self.digested:
            self.ended.update(path for path in self.config.paths if path != "-")

    def records(self) -> Iterator[Parsed]:
        """The batches of files that are no text."""
        from vwlite.data import arrow_files
        from vwlite.data.columns import read_columns

        config = self.config
        for part in arrow_files.read(
            config.paths, config.kind, read_columns(config.columns), self.format, self.digested
        ):
            if self.pages:
                self.pages(part.batch.feature_hash)
            yield part

    def cached(self) -> Iterator[Batch]:
        """The cache's batches, which the caller releases. Raises ModelError when the cache is damaged."""
        if self.cache is None:
            raise InputMissing("there is no cache to read again")
        if self.pages:
            self.pages.expect(self.cache.size)
        return self.cache.read(self.config.threads, self.pages and self.pages.prefetch)

    def kept(self) -> list[Batch]:
        """Read all batches of the cache at once; they need no release. Raises ModelError when the cache is damaged."""
        if self.cache is None:
            raise InputMissing("there is no cache to read again")
        return self.cache.whole()

    def shuffled(self, number: int) -> Iterator[Batch]:
        """The cache's rows in the order of pass ``number``. Raises ModelError when it is damaged."""
        return self.at_random().shuffled(self.config.seed, number, self.config.threads)

    def at_random(self) -> "Rows":
        """The cache's rows in any order. Raises ModelError when it is damaged."""
        if self.rows is None:
            from vwlite.data.shuffle import Rows

            self.rows = Rows(self.kept(), self.format.words)
        return self.rows

    def close(self) -> None:
        """Close the cache, which deletes a temporary one."""
        if self.cache:
            self.cache.close()
        self.cache = self.rows = None


def check_start(path: str, start: bytes) -> None:
    """Raises DataError for what is no text, and for text in UTF-16."""
    check_encoding(path, start)
    if start.startswith(ZIP):
        raise DataError(f"{path} is a model or another zip file, not data: are -i and the data swapped?")
    if kind := next((kind for magic, kind in BINARY.items() if start.startswith(magic)), None):
        raise DataError(f"{path} is a file of {kind}, not text: --format {kind} reads it")
    if codec := identify(start):
        raise DataError(f"{path}: there is {codec} data inside the compressed data: it was compressed twice")


def first_rows(part: Parsed, rows: int) -> Parsed:
    """The part up to and with its ``rows``-th row."""
    lines = int(part.batch.line[rows - 1]) + 1
    issues = [issue for issue in part.issues if issue.row < rows]
    return replace(part, batch=part.batch.head(rows), lines=lines, issues=issues, packed=None)


def text_size(paths: Iterable[str]) -> int | None:
    """Bytes of text in these files; None when that is unknown, for pipes and compressed files. Raises InputMissing."""
    total = 0
    for path in paths:
        if (size := file_size(path)) is None:
            return None
        with open_input(path) as stream:
            if isinstance(stream, Decompressed):
                return None
        total += size
    return total


def temporary_file(purpose: str) -> BinaryIO:
    """A file without a name: the system deletes it however the process ends. Raises OutputError."""
    import tempfile

    try:
        return tempfile.TemporaryFile(prefix="vwlite-")
    except OSError as error:
        raise OutputError(f"cannot {purpose}: {error.strerror}") from error
