"""What a shard has taught: the slots that changed, what the model says of itself, the units of labels."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from vwlite._native.weight_table import changed_rows, take_column
from vwlite.config_check import Between, Double, JsonObject, require
from vwlite.errors import ModelError
from vwlite.learners.gd import LABEL_SUMS, NORMAL_RATIO
from vwlite.storage.archive_reader import Archive
from vwlite.storage.archive_writer import DELTA, write
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.model_file import CHUNK, ascend_below, set_rows, source_of
from vwlite.storage.weight_table import Arrays, Table, written_chunks, zeros
from vwlite.training.model_header import Natural, check_header
from vwlite.version import __version__

SLOTS = "slots"
MOST = 999_999  # shards
COLUMN = "column_"  # begins the names of the others


class Task(NamedTuple):
    """Which shard a delta is of, and what was read of it. ``base``: the digest of the model that the shard was learned
    from; ``sums`` over its examples, of a pass that learns nothing else.
    """

    number: int
    of: int
    base: str
    writer: str = __version__
    lines: int = 0
    bad: int = 0
    shown: tuple[str, ...] = ()  # sentences on the first malformed lines
    seconds: float = 0.0
    sums: tuple[float | str, ...] = ()


class TaskHeader(TypedDict):
    """A task as a file has it."""

    number: Annotated[int, Between(1, MOST)]
    of: Annotated[int, Between(1, MOST)]
    base: str
    writer: str
    lines: Natural
    bad: Natural
    shown: list[str]
    seconds: Double
    sums: NotRequired[list[Double | str]]


class Delta(NamedTuple):
    """``slots`` uint32[n] ascending; ``columns``, each float32[n], of the table as they are in the end, or float64[n],
    summed over a shard; ``header`` of the model that the shard has made of the base.
    """

    task: Task
    header: JsonObject
    slots: np.ndarray
    columns: Sequence[np.ndarray]

    @property
    def nbytes(self) -> int:
        return self.slots.nbytes + sum(column.nbytes for column in self.columns)


RATES = ("weights", "squares", "scale")  # tables of which weights learn: the first columns of those joined


def columns_in(arrays: Arrays) -> list[tuple[np.ndarray, int, str]]:
    """Each column of the tables among a model's arrays: the table's values, the number of the column and its name.

    First are the weight, its sum of squared gradients and its largest input, as far as the learner has them.
    """
    known = {name: table for name, table in arrays.items() if isinstance(table, Table)}
    order = [*filter(known.__contains__, RATES), *sorted(known.keys() - {*RATES})]
    return [(known[name].values, *column) for name in order for column in enumerate(known[name].names)]


def joined(arrays: Arrays) -> Table:
    """One table of all columns of a learner's, float32[slots, columns]: a single one as it is, else a copy.

    A table with a row for several slots has it at each of them.
    """
    columns = columns_in(arrays)
    names = tuple(name for _, _, name in columns)
    if columns[0][0] is columns[-1][0]:
        return Table(columns[0][0], names)
    values = zeros(len(columns[0][0]), len(columns))
    for place, (table, column, _) in enumerate(columns):
        slots = len(values) // len(table)
        for begin, end, _ in written_chunks(table):
            values[begin * slots : end * slots, place] = np.repeat(table[begin:end, column], slots)
    return Table(values, names)


def part(values: np.ndarray, arrays: Arrays) -> None:
    """Give each column of ``joined`` back to the table that it is of."""
    for place, (table, column, _) in enumerate(columns_in(arrays)):
        if table is values:
            return
        slots = len(values) // len(table)
        for begin, end, _ in written_chunks(values, max(CHUNK, slots)):
            table[begin // slots : end // slots, column] = values[begin:end:slots, place]


class Snapshot:
    """The rows of a table, float32[slots, stride], that have a bit set in the columns that have names.

    Columns that the table lacks are zero.
    """

    def __init__(self, table: Table) -> None:
        columns = len(table.names)
        self.slots = set_rows(table.values, columns)
        self.columns = columns_of_slots(table.values, columns, [self.slots])

    def changes(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slots of ``table`` that are other than these, and their columns, float32[columns, n]."""
        bits, before = table.view(np.uint32), self.columns.view(np.uint32)
        slots, most = [np.zeros(0, np.uint32)], np.zeros(CHUNK, np.uint32)
        for begin, end, pages in written_chunks(table, CHUNK):
            known = slots_between(self.slots, begin, end)
            part = np.ascontiguousarray(before[: table.shape[1], known])
            count = changed_rows(bits[begin:end], self.slots[known], part, begin, most, pages)
            slots.append(most[:count].copy())
        return np.concatenate(slots), columns_of_slots(table, len(before), slots)


def columns_of_slots(table: np.ndarray, columns: int, slots: Sequence[np.ndarray]) -> np.ndarray:
    """float32[columns, n]: of the slots in all of these lists; columns that the table lacks are zero."""
    values, begin = zeros(columns, sum(map(len, slots))), 0  # large arrays: of huge pages
    for part in slots:
        for column in range(min(columns, table.shape[1])):
            take_column(table, column, part, values[column, begin : begin + len(part)])
        begin += len(part)
    return values


def slots_between(slots: np.ndarray, begin: int, end: int) -> slice:
    """The part of uint32[n] ascending from ``begin``, at most 2**32 - 1, to before ``end``."""
    first = np.searchsorted(slots, np.uint32(begin))  # a Python int would have NumPy copy all slots as int64
    return slice(int(first), int(np.searchsorted(slots, np.uint32(end - 1), "right")))


def known_slots(deltas: Sequence[Delta]) -> np.ndarray:
    """uint32[n] ascending: the slots of any of the deltas. Those of a mask, as sorting many takes long."""
    known = np.zeros(max((int(delta.slots[-1]) + 1 for delta in deltas if len(delta.slots)), default=0), bool)
    for delta in deltas:
        known[delta.slots] = True
    return np.flatnonzero(known).astype(np.uint32)


def places_of(slots: np.ndarray, part: np.ndarray) -> Any:
    """Find where the slots ``part`` are among ``slots``, both ascending; all of them where there are as many."""
    return slice(None) if len(part) == len(slots) else np.searchsorted(slots, part)


def save(path: str | os.PathLike[str], delta: Delta, open_output: OpenOutput = atomic_output) -> None:
    """Raises OutputError."""
    arrays = {SLOTS: delta.slots, **{f"{COLUMN}{i}": column for i, column in enumerate(delta.columns)}}
    head = {"delta": {**delta.task._asdict(), "seconds": 0.0}, "model": delta.header}
    sources = [source_of(name, array) for name, array in arrays.items()]
    write(os.fspath(path), DELTA, head, sources, open_output=open_output)


def load(path: str | os.PathLike[str], dtype: type = np.float32) -> Delta:
    """``dtype``: of its columns. Raises InputMissing, ModelError for a file that is damaged or no delta."""
    with Archive(path, DELTA) as archive:
        try:
            header, delta = archive.header["model"], archive.header["delta"]
            require(delta, TaskHeader, "delta")
            features = check_header(archive.path, header).features
            task = Task(**{**delta, "shown": tuple(delta["shown"]), "sums": tuple(delta.get("sums", ()))})
            if task.number > task.of:
                raise ValueError("the number of the shard")
            columns = [archive.map(f"{COLUMN}{i}") for i in range(len(archive.specs) - 1)]
            slots = archive.map(SLOTS)
        except ModelError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{archive.path} is not a delta of this version's learners ({error})") from error
        shapes = [(dtype, slots.shape)] * max(len(columns), 1)
        fits = slots.dtype == np.uint32 and [(column.dtype, column.shape) for column in columns] == shapes
        if not fits or not ascend_below(slots, 1 << features.bits):
            raise archive.damaged("its slots")
        return Delta(task, header, slots, columns)


def has_units(header: Mapping[str, Any]) -> bool:
    return LABEL_SUMS[0] in header["scalars"]


def sums_of(header: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(header["scalars"][name]) for name in LABEL_SUMS}


def pool_label_sums(base: Mapping[str, float], ends: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The sums of all labels, of shards that each went on from ``base``.

    Means are weighted by the importance that a shard has learned. The distances of the shards' means are part of the
    spread, and of the mean deviation as for normal numbers.
    """
    learned = [end["label_weight"] - base["label_weight"] for end in ends]
    total = sum(learned)
    if not total > 0:
        return dict(base)
    shares = [weight / total for weight in learned]
    mean = sum(share * end["label_mean"] for share, end in zip(shares, ends, strict=True))
    sums = {name: base[name] + sum(end[name] - base[name] for end in ends) for name in ("label_weight", "label_count")}
    sums |= {"label_mean": mean, **dict.fromkeys(LABEL_SUMS[3:], 0.0)}
    for share, end in zip(shares, ends, strict=True):
        apart = end["label_mean"] - mean
        sums["label_variance"] += share * (end["label_variance"] + apart * apart)
        sums["label_variance_all"] += share * (end["label_variance_all"] + apart * apart)
        sums["label_deviation"] += share * math.hypot(end["label_deviation"], apart / NORMAL_RATIO)
    return sums


def spread_of(sums: Mapping[str, float], config: Any) -> float:
    """The unit of weights."""
    if config.loss.label_spread == "deviation":
        return NORMAL_RATIO * sums["label_deviation"]
    return math.sqrt(sums["label_variance"])


def in_units_of_all(base: Mapping[str, Any], deltas: Sequence[Delta], config: Any) -> Sequence[Delta]:
    """The deltas with weights in units of the spread of all labels, so that they average as in label units."""
    if not has_units(base):
        return deltas
    ends = [sums_of(delta.header) for delta in deltas]
    unit = spread_of(pool_label_sums(sums_of(base), ends), config)
    if not unit > 0:
        return deltas
    return [in_unit(delta, spread_of(end, config) / unit) for delta, end in zip(deltas, ends, strict=True)]


def in_unit(delta: Delta, factor: float) -> Delta:
    weights, *others = delta.columns
    with np.errstate(over="ignore"):
        return delta._replace(columns=[(weights * np.float64(factor)).astype(np.float32), *others])
