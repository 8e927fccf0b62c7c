"""Inputs in each format that commands read, and the command lines that read them."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from fuzz import named
from fuzz.seeds import CSV, GROUPS, JSONL, SVMLIGHT, VW
from vwlite.solvers.loglinear.crfpp_templates import READY

AS_TABLE = (
    "",
    "--columns label=y?",
    '--columns "label=y? weight=w? tag=t? =a:words?,b:text? b=*"',
    '--columns "label=y? a=a:tokens?,b? base=w? ignore=*"',
    '--columns "label=a? =d:text?,e? f=f?,*"',
)
TEXT = VW[0] + VW[5] * 3
TRAIN = (
    "train {input} -f out --max-bad-ratio 1",
    "train {input} -f out --passes 3 --cache_file cache -q :: --quiet --max-bad-ratio 1",
    "train {input} -f out --oaa 3 --named_labels B-NP,I-NP,O --names --bad-lines bad",
    "train {input} -i model -f out -p answers --max-bad-ratio 1",
    "train {input} -f out --bfgs --loss_function logistic --passes 3 --max-bad-ratio 1",
    "l1 {input} --model crf -f out --passes 2 --max-bad-ratio 1",
    "crr {input} -f out --quiet --max-bad-ratio 1 --threads 2 --block-size 64",
)
GROUPED = ("train {input} -f out --csoaa_ldf m --max-bad-ratio 1", "vw -d {input} -f out -p answers --csoaa_ldf m")
VW_ALIKE = ("vw -d {input} -f out -p answers", "vw -d {input} -f out --passes 2 -c -k --holdout_off")
CHECK = (
    "check {input}",
    "check {input} --json - --max-bad-ratio 1",
    "check {input} --oaa 3 --max-bad-ratio 1",
    "check {input} --l1 crf",
)
PREDICT = (
    "predict -i model {input}",
    "predict -i model {input} --audit --max-bad-ratio 1",
    "evaluate -i model {input} --json -",
    "explain -i model {input}",
    "predict -i model {input} --jsonl --threads 2 --block-size 64",
)
OF_TEXT = ((*TRAIN, *GROUPED, *VW_ALIKE), CHECK, PREDICT)
OF_TABLES = (
    tuple(f"{line} {how}" for line in TRAIN for how in AS_TABLE),
    tuple(f"{line} {how}" for line in (*CHECK, "convert {format} {input}") for how in AS_TABLE),
    (*PREDICT, *(f"{PREDICT[0]} {how}" for how in AS_TABLE)),
)
OF_CONLL = (
    ("convert conll {input}", "convert conll {input} --iob2 --template ner"),
    ("convert conll {input} --template chunk -o out", "convert conll {input} --template pos"),
    ("convert conll --lines {input}", "convert conll --lines {input} --template ner"),
)
OF_TOOLS = (tuple(f"convert {tool} {{input}}" for tool in ("fasttext", "libffm", "crfsuite")),)
TOOLS = (b"__label__a b:c|d\n__label__a __label__b e\n", b"1 0:1:0.5 2:3:1\n", b"B-NP\tw=a\\:b\tn:0.5\n\nO\tw=c\n")
OF_TEMPLATES = (("convert conll good.conll --template {input}", "convert conll --lines data.vw --template {input}"),)
OF_CACHES = (
    ("train data.vw --cache_file {input} -f out", "train data.vw --cache_file {input} -f out --passes 3 --shuffle"),
    ("vw -d data.vw --cache_file {input} -f out", "train data.vw --cache_file {input} -f out -q :: --bfgs --passes 3"),
    ("crr data.vw --cache_file {input} -f out --steps 20", "train data.vw --cache_file {input} -f out -k"),
)


class Format(NamedTuple):
    """``seeds`` gives good inputs, in a folder where ``data.vw`` is. A command of each tuple of ``commands`` is run."""

    ending: str
    seeds: Callable[[], list[bytes]]
    commands: tuple[tuple[str, ...], ...]


def tables() -> Iterator[object]:
    """Tables of Arrow with columns of all types that are read."""
    import pyarrow as pa

    texts = pa.array(["red", None, "a b", "", "the end"] * 4)
    table = pa.table(
        {
            "y": pa.array([1, -1, None, 1, -1] * 4, pa.int8()),
            "w": pa.array([1.0, 0.5, 2.0, 1.0, 0.0] * 4, pa.float32()),
            "t": [f"r{row}" for row in range(20)],
            "a": texts,
            "b": texts.dictionary_encode(),
            "c": pa.array([["x", "y"], [], None, ["z", None], ["w"]] * 4, pa.list_(pa.string())),
            "d": pa.array([1, None, 3, 4, 5] * 4, pa.timestamp("us")),
            "e": pa.array([True, None, False, True, True] * 4),
            "f": pa.array([1, None, 3, 4, 5] * 4, pa.int64()).cast(pa.decimal128(38, 2)),
            "g": texts.cast(pa.large_string()),
        }
    )
    yield table
    yield table.select(["y", "a", "d"])
    yield table.slice(0, 0)
    more = {"y": texts, "v": texts.cast(pa.string_view()), "z": pa.nulls(20), "o": pa.array([b"x"] * 20)}
    yield pa.table({**more, "h": pa.array([1, 2] * 10, pa.float16())})


def arrow_files() -> list[bytes]:
    import pyarrow as pa

    result = []
    for table in tables():
        for codec, make in ((None, pa.ipc.new_file), ("lz4", pa.ipc.new_file), (None, pa.ipc.new_stream)):
            out = pa.BufferOutputStream()
            with make(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table, max_chunksize=7)
            result.append(out.getvalue().to_pybytes())
    return result


def parquet_files() -> list[bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    how = ({"compression": "none"}, {"compression": "zstd"}, {"use_dictionary": False, "data_page_version": "2.0"})
    result = []
    for table in tables():
        for options in how:
            out = pa.BufferOutputStream()
            parquet.write_table(table, out, row_group_size=7, **options)
            result.append(out.getvalue().to_pybytes())
    return result


def zstd_files() -> list[bytes]:
    from vwlite.data.input_stream import _zstd_decoder

    _zstd_decoder("")  # raises ExtraMissing
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return streams(zstd.compress)


def streams(compress: Callable[[bytes], bytes]) -> list[bytes]:
    whole = b"".join(VW)
    return [compress(TEXT), compress(whole) + compress(TEXT), compress(whole * 20), compress(b"") + b"\0" * 9]


def caches() -> list[bytes]:
    from vwlite.data.config import InputConfig
    from vwlite.training.config import OutputConfig, RunConfig
    from vwlite.training.train import train

    made = []
    for size in (100, 1 << 19):
        train(RunConfig(InputConfig(("data.vw",), cache="made", block_size=size), output=OutputConfig(quiet=True)))
        made.append(Path("made").read_bytes())
    return made


CONLL = named.COLUMNS.partition(b"\0")[2]


def texts(*some: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(some)


FORMATS: dict[str, Format] = {
    "vw": Format("vw", texts(*VW, GROUPS, named.LINES, named.TREES, *named.COLUMNS.split(b"\0")), OF_TEXT),
    "svmlight": Format("svm", texts(*SVMLIGHT), OF_TEXT),
    "csv": Format("csv", texts(*CSV), OF_TABLES),
    "jsonl": Format("jsonl", texts(*JSONL), OF_TABLES),
    "arrow": Format("arrow", arrow_files, OF_TABLES),
    "parquet": Format("parquet", parquet_files, OF_TABLES),
    "conll": Format("txt", texts(CONLL, *VW[:2], b"a b c\n\nd\n"), OF_CONLL),
    "tools": Format("txt", texts(*TOOLS), OF_TOOLS),
    "template": Format("template", texts(named.TEMPLATE, *map(str.encode, READY.values())), OF_TEMPLATES),
    "gzip": Format("vw.gz", lambda: streams(gzip.compress), OF_TEXT),
    "bzip2": Format("vw.bz2", lambda: streams(bz2.compress), OF_TEXT),
    "xz": Format("vw.xz", lambda: streams(lzma.compress), OF_TEXT),
    "zstd": Format("vw.zst", zstd_files, OF_TEXT),
    "cache": Format("cache", caches, OF_CACHES),
}
