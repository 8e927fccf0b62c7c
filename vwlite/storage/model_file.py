"""The model file: a learner's header, its arrays and its weight tables in one verified archive; checks of arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from vwlite.errors import ModelError
from vwlite.storage import table_codec
from vwlite.storage.archive_reader import Archive
from vwlite.storage.archive_writer import DTYPES, MODEL, Source, Spec, write
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.table_codec import Layout
from vwlite.storage.weight_table import Table


def matrix(rows: Any, name: str, shape: tuple[int, int]) -> np.ndarray:
    """float64[shape] of finite numbers from JSON data. Raises ValueError."""
    try:
        found = np.array(rows, np.float64)
    except TypeError as error:
        raise ValueError(f"{name} are no numbers") from error
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"{name} are damaged")
    return found


def numbers(arrays: dict[str, Any], name: str, like: type, shape: tuple[int, ...]) -> np.ndarray:
    """A C-contiguous array of this type and shape, finite if of floats; -1 stands for any length.

    Raises ValueError, KeyError.
    """
    array = arrays[name]
    if isinstance(array, tuple):
        raise ValueError(f"{name} is a table")
    array = np.ascontiguousarray(array)
    alike = len(array.shape) == len(shape) and all(n in (-1, is_) for n, is_ in zip(shape, array.shape, strict=True))
    if array.dtype != like or not alike or not np.isfinite(array).all():
        raise ValueError(f"the array {name}")
    return array


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)
CHUNK = 1 << 18  # items of an array written at once


class Model(NamedTuple):
    """The learner's ``header``, the arrays by name, and the version of vwlite that wrote them."""

    header: dict
    arrays: dict[str, np.ndarray | Table]
    writer: str


def save(
    path,
    header: dict,
    arrays: Mapping[str, np.ndarray | Table],
    announce: Callable[[str], None] | None = None,
    *,
    check_finite: bool = False,
    open_output: OpenOutput = atomic_output,
) -> None:
    """Write a model; the same content gives the same bytes.

    ``header`` is JSON data, its numbers finite and whole ones of 64 bits; arrays are integers or float32/64 of any
    shape, or Tables. Raises OutputError when the file cannot be written, ValueError for names or data that
    a model cannot hold, NotFinite with ``check_finite`` for tables that hold NaN or infinity. ``open_output`` opens the
    file. ``announce`` is called with the file's digest before the file gets its name.
    """
    path, tables, sources = os.fspath(path), {}, []
    for name, value in arrays.items():
        columns = value.names if isinstance(value, Table) else ()
        for word in (name, *columns):
            if not NAME.fullmatch(word):
                raise ValueError(f"{word!r} is no name for an array")
        if isinstance(value, Table):
            tables[name], members = table_codec.pack(name, value, check_finite)
            sources += members
        else:
            sources.append(source_of(name, value))
    write(path, MODEL, {"model": header, "tables": tables}, sources, announce, open_output)


def read_header(path) -> dict:
    """The learner's header, verified; the arrays are not read. Raises as ``load`` does."""
    with Archive(path, MODEL) as archive:
        return _header(archive)


def learner_name_of(path) -> str:
    """The name of the learner that made the model. Raises as ``load`` does."""
    return str(read_header(path).get("learner"))


def load(path, *, want: Collection[str] | None = None, grows: bool = False) -> Model:
    """Read a model, all of it or the members that ``want`` names; the whole file is verified in either case.

    ``want`` names arrays, tables (returned as writable Tables of the stride they had) and single
    columns such as ``weights.w`` (float32[slots], perhaps a read-only view of the file). ``grows``:
    more rows of the tables are going to be set. Raises
    InputMissing, InputDamaged, and ModelError when the file is damaged, not of vwlite, of a newer
    format, or lacks a wanted member.
    """
    with Archive(path, MODEL) as archive:
        header, tables = _header(archive), _tables(archive)
        owners = {member: layout for layout in tables.values() for member in layout.members}
        names = (archive.specs.keys() - owners.keys()) | tables.keys()
        arrays = {}
        for name in sorted(names if want is None else want):
            if name not in names | owners.keys():
                raise ModelError(
                    f"{archive.path} holds no {name!r}: use the command that fits its learner"
                )
            if name in tables:
                arrays[name] = table_codec.read_table(archive, tables[name], grows)
            elif name in owners:
                arrays[name] = table_codec.read_column(archive, owners[name], name)
            else:
                arrays[name] = archive.read(name)
        archive.verify_rest()
        return Model(header, arrays, str(archive.header.get("writer")))


def source_of(name: str, value: np.ndarray) -> Source:
    """An array as a member of an archive. Raises ValueError for one of another type than archives hold."""
    array = np.asarray(value, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise ValueError(f"array {name} is of {array.dtype}")
    flat = array.reshape(-1)
    pieces = (flat[begin : begin + CHUNK] for begin in range(0, len(flat), CHUNK))
    return Spec(name, array.dtype.str, array.shape), pieces


def _header(archive: Archive) -> dict:
    header = archive.header.get("model")
    if not isinstance(header, dict):
        raise archive.damaged("its header has no learner")
    return header


def _tables(archive: Archive) -> dict[str, Layout]:
    tables = archive.header.get("tables")
    if not isinstance(tables, dict) or not all(NAME.fullmatch(name) for name in tables):
        raise archive.damaged("the list of its tables")
    layouts = {name: table_codec.layout(archive, name, entry) for name, entry in tables.items()}
    members = {member for layout in layouts.values() for member in layout.members}
    if tables.keys() & archive.specs.keys() or members != {n for n in archive.specs if "." in n}:
        raise archive.damaged("the list of its tables")
    return layouts
