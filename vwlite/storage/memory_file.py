"""Files in memory, for what is written to a file and read from one: the same code, and so the same bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any, BinaryIO

from vwlite.errors import VwliteError
from vwlite.storage.atomic_file import OpenOutput


def unnamed_file() -> BinaryIO:
    """An open file without a name, in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("vwlite"), "w+b")
    return tempfile.TemporaryFile()  # type: ignore[return-value]


def written(write: Callable[[OpenOutput], None]) -> bytes:
    """What ``write`` puts into the file that it opens with its argument."""
    with unnamed_file() as file:

        def open_output(path: str) -> AbstractContextManager[IO[Any]]:
            return nullcontext(file)

        write(open_output)
        file.flush()
        file.seek(0)
        return file.read()


@contextmanager
def readable(data: bytes, name: str) -> Iterator[str]:
    """A path under which ``data`` can be read while the block runs, whose errors say ``name`` instead."""
    with unnamed_file() as file:
        file.write(data)
        file.flush()
        path = f"/dev/fd/{file.fileno()}"
        try:
            yield path
        except VwliteError as error:
            raise type(error)(str(error).replace(path, name)) from error
