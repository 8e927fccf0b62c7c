"""Parsed batches in input order, parsed in as many threads as asked for, and batches as bytes for the cache.

The cache has the arrays ``STORED``, each compressed by a codec, and tags. Rows with the same namespaces and numbers of
features have the same shape. Each shape is stored once as its list of parts (a part is a segment without its features);
see ``cython_ext/storage/batch_rows.pyx``. The codecs are in ``cython_ext/storage/cache_codec.pyx``.
"""

from __future__ import annotations

import queue
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from vwlite._native.batch_rows import copy_segments, expand_shapes, find_shapes, segment_offsets
from vwlite._native.cache_codec import join_pieces, pack, pack_bytes, pack_offsets, unpack, unpack_bytes, unpack_offsets
from vwlite.data.batch import COLUMNS, FIRST, ROWS, STARTS, Batch, Column
from vwlite.data.blocks import SLACK, Block, Buffers, blocks
from vwlite.data.config import BLOCK_SIZE, EVENTS, TABLES
from vwlite.data.text_format import FULL, Code, TextFormat, Workspace, parser_of
from vwlite.storage.ordered_pool import in_order

WORDS, BYTES, OFFSETS = unpack, unpack_bytes, unpack_offsets  # codecs; of offsets the differences are stored
STORED = (
    (COLUMNS["label"], WORDS),
    (COLUMNS["importance"], WORDS),
    (COLUMNS["initial_prediction"], WORDS),
    (Column("shape", np.uint32, ROWS), WORDS),
    (Column("part_start", np.uint32, "shapes", STARTS), OFFSETS),
    (Column("part_hash", np.uint32, "parts"), WORDS),
    (Column("part_size", np.uint32, "parts"), WORDS),
    (COLUMNS["feature_hash"], WORDS),
    (COLUMNS["value"], WORDS),
    (Column("tags", np.uint32, ROWS, STARTS), OFFSETS),
    (COLUMNS["flags"], BYTES),
    (Column("part_char", np.uint8, "parts"), BYTES),
)
COUNTS = ("rows", "segments", "features", "text", "shapes", "parts")
TOTALS = {"part_start": "parts", "tags": "text"}  # the count that is the last of these offsets
# Columns that are computed from those stored. In memory the one of single bytes comes last: the others are aligned.
COMPUTED = [COLUMNS[name] for name in ("line", "row_namespace", "namespace_hash", "namespace_start", "namespace_char")]


class Packed(NamedTuple):
    """A batch as bytes; ``counts`` has how many of ``COUNTS`` are in it, ``crc`` is the CRC-32 of ``data``."""

    counts: dict[str, int]
    data: bytes
    crc: int


def pack_batch(batch: Batch) -> Packed:
    """A batch without its names and line numbers.

    Once the compressed size is well below that of the text, faster codecs are preferred to smaller results.
    """
    rows = len(batch)
    segments, tags = int(batch.row_namespace[rows]), np.zeros(rows + 1, np.uint32)
    text = join_pieces(batch.text, batch.tag_start, batch.tag_end, tags)
    arrays = {column.name: getattr(batch, column.name) for column, _ in STORED if column.name in COLUMNS}
    arrays |= {"tags": tags, **_shapes(batch, rows)}
    counts = {"rows": rows, "segments": segments, "features": int(batch.namespace_start[segments]), "text": len(text)}
    counts |= {"shapes": len(arrays["part_start"]) - 1, "parts": len(arrays["part_hash"])}
    parts: list[bytes] = []
    budget = max(0, len(batch.text) - len(text)) * 7 // 8  # bytes that may still be used; tags are not compressed
    for column, codec in STORED:
        array = arrays[column.name][: column.length(counts)]
        if codec is WORDS:
            parts.append(pack(array.view(np.uint32), True, budget))
        else:
            parts.append((pack_offsets if codec is OFFSETS else pack_bytes)(array, budget))
        budget = max(0, budget - len(parts[-1]))
    data = b"".join([*parts, text])
    return Packed(counts, data, zlib.crc32(data))


def unpacked_size(counts: dict[str, int]) -> int:
    """Bytes that the arrays of an unpacked batch take, rounded up to a multiple of 8."""
    columns = [*COMPUTED, *(column for column, _ in STORED)]
    size = sum(column.length(counts) * np.dtype(column.dtype).itemsize for column in columns)
    return (size + 7) // 8 * 8


def unpack_batch(data: bytes, counts: dict[str, int], buffer: np.ndarray) -> Batch:
    """A batch from its bytes. Its arrays are views of ``buffer``, uint8[unpacked_size(counts) or more].

    Raises ValueError for damaged data.
    """
    arrays: dict[str, np.ndarray] = {}
    position = offset = 0  # in the buffer; in the data
    for column in COMPUTED[:-1]:
        arrays[column.name] = np.frombuffer(buffer, column.dtype, column.length(counts), position)
        position += arrays[column.name].nbytes
    for column, codec in STORED:
        array = np.frombuffer(buffer, column.dtype, column.length(counts), position)
        arrays[column.name] = array
        position += array.nbytes
        words = array.view(np.uint32) if codec is WORDS else array
        offset = codec(data, offset, words, *((counts[TOTALS[column.name]],) if codec is OFFSETS else ()))
    if len(data) - offset != counts["text"]:
        raise ValueError("a batch has another length")
    arrays["line"][:] = np.arange(counts["rows"])
    arrays["namespace_char"] = buffer[position : position + counts["segments"]]
    parts = [arrays.pop(name) for name in ("part_start", "part_hash", "part_size", "part_char")]
    segments = [arrays[column.name] for column in COMPUTED[1:]]
    expand_shapes(parts, arrays.pop("shape"), segments, counts["features"])
    tags = arrays.pop("tags")
    return Batch(**arrays, tag_start=tags[:-1], tag_end=tags[1:], text=memoryview(data)[offset:])


def _shapes(batch: Batch, rows: int) -> dict[str, np.ndarray]:
    """The number of each row's shape, and each shape's parts: the segments of the first row that has it."""
    shape, first = np.zeros((2, rows), np.uint32)
    first = first[: find_shapes(batch, shape, first)]
    start = np.zeros(len(first) + 1, np.uint32)
    parts = segment_offsets(batch.row_namespace, first, start)
    columns = {"part_start": start, "part_hash": np.zeros(parts, np.uint32), "part_size": np.zeros(parts, np.uint32)}
    columns["part_char"] = np.zeros(parts, np.uint8)
    copy_segments(batch, first, list(columns.values()))
    return {"shape": shape, **columns}


# Bytes of a block below which another thread costs more than it takes over: a line that came alone through a pipe.
SMALL = 4096
LONGEST_LINE = 1 << 28  # bytes; bounds the memory for files without newlines; offsets in a block have 32 bits


class ParseIssue(NamedTuple):
    """A problem that the parser found in a line; offsets count from the block's first byte."""

    line: int  # number of the line within its block, from 0
    code: int  # of base/status.pxd
    at: int  # offset of the problem
    bar: int  # offset of the line's first bar
    row: int  # of the batch: the line's row or, if it was left out, the row that follows


@dataclass(slots=True, eq=False, repr=False)
class Parsed:
    """One block of text and the batch it holds."""

    batch: Batch
    block: Block
    first_line: int  # number of the block's first line within its file, from 0
    lines: int
    issues: list[ParseIssue]
    packed: Packed | None = None  # the batch as a cache stores it, if a parser's thread has packed it
    gaps: tuple[int, ...] | None = None  # rows before which a line was left out; None: the issues' rows


class OpenedInputs:
    """Inputs whose first blocks are read before the text format is chosen; the blocks are parsed later."""

    def __init__(self, paths: Sequence[str], block_size: int, marks: bool, groups: bool = False) -> None:
        self.buffers = Buffers(block_size)
        self.source = blocks(paths, block_size, LONGEST_LINE, self.buffers, marks, groups)

    def head(self, size: int, lines: int = 0, of_file: int = 0) -> bytes:
        """The whole lines among the first ``size`` bytes, or the first line; ``lines``, unless 0, are enough.

        With ``of_file`` they are those of one file, the first that has as many, and no fewer. All are parsed later.
        """
        first, text = [], bytearray()
        while (len(text) < size or text.count(b"\n") < of_file) and (block := next(self.source, None)):
            first.append(block)
            if of_file and block.offset == 0:
                if text.count(b"\n") >= of_file:
                    break
                text.clear()
            text += memoryview(block.data)[: block.size]
            if 0 < lines <= text.count(b"\n"):
                break
        self.source = chain(first, self.source)
        least = -1
        for _ in range(max(of_file, 1)):
            least = max(least, text.find(b"\n", least + 1))
        return bytes(text[: max(text.rfind(b"\n", 0, size), least) + 1])


class Parser:
    """Parses blocks, each into its own workspace. Releasing the batch returns workspace and text for reuse."""

    def __init__(
        self,
        format: TextFormat,
        kind: str,
        buffers: Buffers | None = None,
        packs: bool = False,
        touch: Callable[[np.ndarray], None] | None = None,
    ) -> None:
        self.format, self.native, self.buffers = format, parser_of(kind), buffers
        self.packs, self.touch = packs, touch
        self.free: queue.SimpleQueue[Workspace] = queue.SimpleQueue()
        # Largest numbers of rows, segments and features of a usual block so far. Workspaces of this size seldom have to
        # grow, which makes their block be parsed again.
        self.largest = (0, 0, 0)

    def workspace(self, size: int) -> Workspace:
        try:
            return self.free.get_nowait()
        except queue.Empty:
            return Workspace(size, self.format.names, self.largest)

    def __call__(self, block: Block) -> Parsed:
        workspace = self.workspace(block.size)
        while True:
            arguments = block.layout.arguments(block) if block.layout else ()
            status, *counts = self.native(block.data, block.size, self.format, workspace, *arguments)
            if status != FULL:
                break
            workspace.grow(counts[-1])
        if status:
            raise MemoryError("not enough memory to parse a line")
        rows, segments, features, lines, issues = counts
        if not self.buffers or block.size <= self.buffers.size:
            self.largest = tuple(map(max, self.largest, counts[:3]))
        batch = workspace.batch(rows, segments, features, workspace.whole_text(block.data, block.size))
        batch.release = lambda: self.release(block, workspace)
        packed = pack_batch(batch) if self.packs else None
        if self.touch:
            self.touch(batch.feature_hash)
        return Parsed(batch, block, 0, lines, _issues(workspace, batch, issues), packed)

    def release(self, block: Block, workspace: Workspace) -> None:
        self.free.put(workspace)
        if self.buffers:
            self.buffers.give(block.data)


class EventParser(Parser):
    """Parses blocks of decisions as JSON, which are rewritten as text. Rows have the number of their line of JSON."""

    def __init__(self, format: TextFormat, kind: str, *state: Any) -> None:
        super().__init__(format, kind, *state)
        self.within = kind == "dsjson"

    def __call__(self, block: Block) -> Parsed:
        from vwlite.data.json_events import EventLayout, rewrite_block  # which other runs need not

        whole = rewrite_block(block, self.within, not self.format.skip_malformed)
        part = super().__call__(Block(bytearray(whole.text) + SLACK, len(whole.text), block.path, block.offset))
        batch, release = part.batch, part.batch.release
        of_text = batch.line.copy()
        batch.importance = batch.importance * whole.weight[of_text]
        batch.line = whole.line[of_text]
        batch.release = lambda: (release(), self.buffers and self.buffers.give(block.data))
        rows = np.searchsorted(of_text, [line for *_, line in whole.wrong]).tolist()
        issues = [
            ParseIssue(number, Code.BAD_EVENT, at, start, row)
            for (number, at, start, _), row in zip(whole.wrong, rows, strict=True)
        ]
        block.layout = EventLayout(self.within)  # type: ignore[assignment]
        return Parsed(batch, block, 0, bytes(block.data[: block.size]).count(b"\n"), issues)


def make_parser(format: TextFormat, kind: str, *state: Any) -> Parser:
    """The parser of a format of text or tables; ``state``: the other arguments of ``Parser``."""
    return (EventParser if kind in EVENTS else Parser)(format, kind, *state)


def _issues(workspace: Workspace, batch: Batch, count: int) -> list[ParseIssue]:
    if not count:
        return []
    lines = workspace.bad_line[:count]
    columns = (lines, workspace.bad_code, workspace.bad_at, workspace.bad_from, np.searchsorted(batch.line, lines))
    return [ParseIssue(*map(int, entry)) for entry in islice(zip(*columns, strict=False), count)]


def number_lines(parsed: Iterator[Parsed], marks_files: bool = False) -> Iterator[Parsed]:
    """The parts with the numbers of their lines; with ``marks_files`` the first row of each file is marked, too."""
    line, begins = 0, False
    for part in parsed:
        if part.block.offset == 0:
            line, begins = 0, marks_files
        part.first_line = line
        line += part.lines
        if begins and len(part.batch):
            part.batch.flags[0] |= FIRST
            part.packed, begins = None, False
        yield part


def read(
    paths: Sequence[str],
    format: TextFormat,
    kind: str = "vw",
    *,
    threads: int = 1,
    block_size: int = BLOCK_SIZE,
    packs: bool = False,
    touch: Callable[[np.ndarray], None] | None = None,
    marks: bool = False,
    begun: OpenedInputs | None = None,
    columns: str = "",
) -> Iterator[Parsed]:
    """The inputs' batches in order; the same ones for any number of threads.

    With ``packs`` batches are also packed for a cache, with ``marks`` the texts are digested. ``begun``: the same
    inputs with the same block size, the first blocks of which were read already. ``touch`` is called with the hashes
    of each batch, uint32[features], by the thread that parsed it. ``columns`` of tables: with types.

    Call ``release`` of each batch when it is no longer used: its arrays are filled again. At most ``threads + 4``
    blocks are in memory at a time. Raises as ``blocks.blocks`` does, DataError for lines beyond ``LONGEST_LINE``.
    """
    begun = begun or OpenedInputs(paths, block_size, marks, format.groups and kind not in EVENTS)
    parser = make_parser(format, kind, begun.buffers, packs, touch)
    source = begun.source
    if kind in TABLES:
        from vwlite.data.columns import read_columns
        from vwlite.data.table_formats import lay_out

        source = lay_out(source, kind, read_columns(columns), format)
    marks_files = format.words and not format.lists and kind not in EVENTS
    return number_lines(parse_ahead(source, parser, threads - 1), marks_files)


def parse_ahead(source: Iterator[Block], parser: Callable[[Block], Parsed], threads: int) -> Iterator[Parsed]:
    """``in_order``, by the caller's thread alone until the first block of ``SMALL`` bytes or more."""
    for block in source:
        if block.size >= SMALL:
            yield from in_order(chain((block,), source), parser, threads)
            return
        yield parser(block)
