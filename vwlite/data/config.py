"""Options of what is read, what is held out of it or learned apart, and what becomes of malformed lines: plain data,
without NumPy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import Config, Option, config, fields_of, option
from vwlite.storage.named_files import cache_of

EVENTS = ("dsjson", "json")  # formats of logged decisions
DELIMITERS = {"csv": ",", "tsv": "\t"}
COLUMNAR = ("arrow", "parquet")  # files that are no text
TABLES = (*DELIMITERS, "jsonl", *COLUMNAR)
TEXTS = ("vw", "svmlight", *EVENTS)  # formats of lines that have no columns
SUFFIXES = {
    "vw": (".vw",),
    "svmlight": (".svmlight", ".svm", ".libsvm"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "arrow": (".arrow", ".feather"),
    "parquet": (".parquet",),
    "dsjson": (".dsjson",),
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
BLOCK_SIZE = 1 << 19
DEFAULT_SHARDS, DEFAULT_ROUNDS = 16, 3
FEW_SHARDS = 4  # whose averages are as good as one pass after a single round
CACHE_BESIDE = Option(
    "Keep the parsed data in FILE.cache for later passes and runs.", section="Cache", spelled=("-c", "--cache"),
    key="cache", name="cache", type="bool", default=False,
)


@config
class InputConfig(Config):
    """The input, and how it is read. ``cache`` is the cache file, None for none."""

    paths: tuple[str, ...] = ("-",)
    kind: str = option(
        "vw", "Format of the data.", section="Input", spelled=("--format",), key="kind",
        choices=("vw", "svmlight", "csv", "tsv", "jsonl", "arrow", "parquet", *EVENTS),
        shown="by the file's name, the model's, or vw",
    )
    columns: str = option(
        "", "The columns of tables: roles and namespaces, as 'label=click user=age,city:text'.", section="Input",
        metavar="COLUMNS", shown="as numbers or text, or the model's",
    )
    threads: int = option(
        1, "Threads that parse; the result does not depend on it.", section="Input", low=1, shown="all cores"
    )
    block_size: int = option(
        BLOCK_SIZE, "Bytes parsed at a time.", section="Input", spelled=("--block-size",), low=1, hidden=True
    )
    cache: str | None = option(
        None, "Write the cache to FILE.", section="Cache", spelled=("--cache_file",), key="cache_file", writes="cache"
    )
    kill_cache: bool = option(
        False, "Write the cache again even if it is up to date.", section="Cache", spelled=("-k", "--kill_cache"),
        needs=("cache", "cache_file"),
    )
    examples: int = option(0, "Read N examples at most, 0 for all.", section="Input", low=0)
    shuffle: bool = option(
        False, "Shuffle later passes.", section="Passes", spelled=("--shuffle/--no-shuffle",),
        shown="with --dotproduct",
    )
    shuffle_first: bool = option(
        False, "Read all data first, then learn in random order in every pass, as sorted data need.", section="Passes",
        spelled=("--shuffle-first",),
    )
    seed: int = 0  # of these orders
    types: str = ""  # columns of the model that is gone on from, which tell the types where ``columns`` do not
    class_weights: tuple[tuple[float, float], ...] = option(
        (), "Label L weighs W times as much.", section="Classes", spelled=("--classweight",), key="classweight",
        metavar="L:W,...", read_as="class_weights",
    )

    @property
    def kept(self) -> dict[str, str]:
        """The options on reading data that a model keeps."""
        return {"kind": self.kind, **({"columns": self.columns} if self.columns else {})}

    def like(self, kept: Mapping[str, Any], typed: Collection[str]) -> InputConfig:
        """Data read as those of a model, which has ``kept`` this, but for what is typed or the files' names say."""
        is_given = "kind" in typed or self.kind != "vw" or named_kind(self.paths)
        kind = self.kind if is_given else kept["kind"]
        of_table = kind not in TEXTS
        known = kept.get("columns", "") if of_table else ""
        return replace(self, kind=kind, columns=self.columns if "columns" in typed else known, types=known)


def input_config(values: Mapping[str, Any], **more: Any) -> InputConfig:
    """Make the configuration of where the data come from; ``values`` of all options of a command by their keys,
    ``more``: other fields.
    """
    paths = tuple(values.get("files", ())) or ("-",)  # with files of -d, in the order typed
    return InputConfig(
        **{
            "paths": paths,
            "kind": kind_by_name(paths),
            "threads": available_cores(),
            **fields_of(InputConfig, values),
            "cache": cache_of(values),
            # only the text shows malformed lines
            "kill_cache": bool(values.get("kill_cache") or values.get("bad_lines")),
            "seed": values.get("random_seed") or 0,
            **more,
        }
    )


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def has_words(kind: str) -> bool:
    """Whether labels of this format may be words."""
    return kind != "svmlight"


def kind_by_name(paths: Iterable[str]) -> str:
    """The format that the names of all these files end with; otherwise text."""
    return named_kind(paths) or "vw"


def named_kind(paths: Iterable[str]) -> str:
    """The format that the names of all these files end with, also before a compression's ending; otherwise empty."""
    kinds = {_kind_of(path.lower()) for path in paths}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind_of(path: str) -> str:
    for ending in COMPRESSED:
        path = path.removesuffix(ending)
    return next((kind for kind, endings in SUFFIXES.items() if path.endswith(endings)), "")


@config
class HoldoutConfig(Config):
    """Examples are held out with several passes, with ``after`` and of the file ``path``, unless ``off``."""

    off: bool = option(
        False, "Learn from every example, also with several passes.", section="Passes", spelled=("--holdout_off",),
        key="holdout_off",
    )
    period: int = option(
        10, "Hold out every Nth line.", section="Passes", spelled=("--holdout_period",), key="holdout_period", low=1,
        needs=("passes",),
    )
    after: int = option(
        0, "Hold out all lines after the Nth.", section="Passes", spelled=("--holdout_after",), key="holdout_after",
        low=0, shown="",
    )
    early_terminate: int = option(
        3, "Stop after N passes without gain.", section="Passes", low=1, needs=("passes", "holdout_after")
    )
    path: str | None = option(
        None, "Measure every pass, or round of --workers, on this file, and keep the model of the best one.",
        section="Passes", spelled=("--holdout", "--validation"), key="holdout", reads="held-out data",
    )

    def active(self, passes: int) -> bool:
        return bool(self.path) or (not self.off and (passes > 1 or self.after > 0))


@config
class FoldConfig(Config):
    """Cross-validation beside training. ``folds`` None: there is none."""

    folds: int | None = option(
        None,
        "Also measure by K folds, with models of all but one; what they predict of it goes to -p.",
        section="Passes", low=2, metavar="K",
    )


@config
class ShardConfig(Config):
    """Which parts of the data are learned apart."""

    shard: str | None = option(
        None, "Learn only part K of S, and write its changes to the model of -i to -f, for 'vwlite merge'.",
        section="Shards",
        metavar="K/S", needs=("model",),
    )

    workers: int | None = option(
        None, "Learn in N processes, in rounds over shards; N changes the time only.", section="Shards", low=1,
        high=1024,
    )
    scheduler: str | None = option(
        None, "Learn on the workers of a Dask scheduler: its address, or the JSON that it wrote (extra 'dask').",
        section="Shards", metavar="ADDRESS", read_as="scheduler",
    )
    shards: int | None = option(
        None, "Parts of the data that are learned apart in each round and merged.", section="Shards", low=1, high=4096,
        needs=("workers", "scheduler"), shown="16, or --workers if larger",
    )
    rounds: int | None = option(
        None, "Passes over all data.", section="Shards", low=1, needs=("workers", "scheduler"),
        shown="3, or 1 of up to 4 shards",
    )
    then_bfgs: int | None = option(
        None,
        "After the rounds, make this number of passes of L-BFGS with gradients summed over shards; --l2 is then for "
        "these only, on the mean loss.", section="Shards", low=2, needs=("workers", "scheduler"), metavar="PASSES",
        spelled=("--then-bfgs",),
    )

    def __post_init__(self) -> None:
        if self.part != (1, 1) and (self.workers or self.scheduler):
            raise UsageError("--shard learns one shard, --workers and --scheduler all of them: drop one")
        if self.workers and self.scheduler:
            raise UsageError("--workers are processes of this machine, --scheduler has its own: drop one")
        if self.workers and self.shards and self.shards < self.workers:
            raise UsageError(f"--shards {self.shards} is too few for --workers {self.workers}, one of which would wait")

    @property
    def count(self) -> int:
        """The number of shards."""
        return self.shards or max(DEFAULT_SHARDS, self.workers or 1)

    @property
    def passes(self) -> int:
        """The number of rounds."""
        return self.rounds or (1 if self.count <= FEW_SHARDS else DEFAULT_ROUNDS)

    @property
    def part(self) -> tuple[int, int]:
        """The number of the shard, from 1, and of how many it is one; all of one where none is named."""
        if self.shard is None:
            return 1, 1
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", self.shard, re.ASCII)
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of:
            raise UsageError(f"--shard takes a part and the number of parts, as 3/16, not {self.shard!r}")
        return number, of


@config
class BadLinesConfig(Config):
    """The policy for malformed lines; see ``vwlite.data.malformed_lines.BadLines``."""

    max_ratio: float = option(
        0.01, "Fail when a larger share of lines is malformed.", section="Malformed lines",
        spelled=("--max-bad-ratio",), key="max_bad_ratio", low=0, high=1,
    )
    strict: bool = option(False, "Fail at the first malformed line.", section="Malformed lines")
    keep: str | None = option(
        None, "Write malformed lines to this file.", section="Malformed lines", spelled=("--bad-lines",),
        key="bad_lines",
        writes="malformed lines",
    )
