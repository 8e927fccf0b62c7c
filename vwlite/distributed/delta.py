"""What a shard has taught: the slots of the table that changed, and what the model says of itself."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from vwlite.config_check import require
from vwlite.errors import ModelError
from vwlite.storage.archive_reader import Archive
from vwlite.storage.archive_writer import FileFormat, write
from vwlite.storage.model_file import source_of
from vwlite.storage.table_codec import ascend_below, set_rows
from vwlite.training.model_header import Header
from vwlite.version import __version__

DELTA = FileFormat("vwlite-delta", "delta", version=1)
SLOTS = "slots"
COLUMN = "column_"  # begins the names of the others
END = 64  # bytes of an archive among which its format is named


class Task(NamedTuple):
    """Which shard a delta is of, and what was read of it. ``base``: the digest of the model that the shard was learned
    from.
    """

    number: int
    of: int
    base: str
    writer: str = __version__
    lines: int = 0
    bad: int = 0
    shown: tuple[str, ...] = ()  # sentences on the first malformed lines
    seconds: float = 0.0


class Delta(NamedTuple):
    """``slots`` uint32[n] ascending; ``values`` float32[n, columns], as they are in the end; ``header`` of the model
    that the shard has made of the base.
    """

    task: Task
    header: dict[str, Any]
    slots: np.ndarray
    values: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.slots.nbytes + self.values.nbytes


class Snapshot:
    """The rows of a table, float32[slots, stride], that have a bit set in the first ``columns`` columns."""

    def __init__(self, table: np.ndarray, columns: int) -> None:
        self.slots, self.columns = set_rows(table, columns), columns
        self.values = table[self.slots, :columns]

    def changes(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slots of ``table`` that are other than these, and their values."""
        if not len(self.slots):
            slots = set_rows(table, self.columns)
            return slots, table[slots, : self.columns]
        slots = united(self.slots, set_rows(table, self.columns))
        before = np.zeros((len(slots), self.columns), np.float32)
        before[places(slots, self.slots)] = self.values
        now = table[slots, : self.columns]
        changed = (now.view(np.uint32) != before.view(np.uint32)).any(axis=1)
        return slots[changed], now[changed]


def united(*lists: np.ndarray) -> np.ndarray:
    """uint32[n] ascending: the slots of any of the lists. Those of a mask, as sorting many takes long."""
    known = np.zeros(max((int(slots[-1]) + 1 for slots in lists if len(slots)), default=0), bool)
    for slots in lists:
        known[slots] = True
    return np.flatnonzero(known).astype(np.uint32)


def places(slots: np.ndarray, some: np.ndarray) -> Any:
    """Where ``some`` of the slots are among them."""
    return slice(None) if len(some) == len(slots) else np.searchsorted(slots, some)


def save(path: str | os.PathLike[str], delta: Delta) -> None:
    """Raises OutputError."""
    arrays = {SLOTS: delta.slots, **{f"{COLUMN}{i}": column for i, column in enumerate(delta.values.T)}}
    head = {"delta": {**delta.task._asdict(), "seconds": 0.0}, "model": delta.header}
    write(os.fspath(path), DELTA, head, [source_of(name, array) for name, array in arrays.items()])


def load(path: str | os.PathLike[str]) -> Delta:
    """Raises InputMissing, ModelError for a file that is damaged or no delta."""
    with Archive(path, DELTA) as archive:
        try:
            header = archive.header["model"]
            require(header, Header, "header")
            told = archive.header["delta"]
            task = Task(**{**told, "shown": tuple(told["shown"])})
            if not 1 <= task.number <= task.of or not isinstance(task.base, str):
                raise ValueError("the number of the shard")
            columns = [archive.read(f"{COLUMN}{i}") for i in range(len(archive.specs) - 1)]
            slots = archive.read(SLOTS)
            values = np.stack(columns, axis=1)
        except ModelError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{archive.path} is no delta of this version's learners ({error})") from error
        fits = values.dtype == np.float32 and slots.dtype == np.uint32 and slots.shape == values.shape[:1]
        if not fits or not ascend_below(slots, 1 << int(header["features"]["bits"])):
            raise archive.damaged("its slots")
        return Delta(task, header, slots, values)


def is_delta(path: str) -> bool:
    """Whether a file seems to be a delta, after its end."""
    with suppress(OSError), open(path, "rb") as file:
        file.seek(-min(END, os.fstat(file.fileno()).st_size), os.SEEK_END)
        return DELTA.name.encode() in file.read()
    return False
