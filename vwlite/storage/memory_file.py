"""Files in memory: they let code that reads or writes paths work on bytes, so that both give the same content."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any, BinaryIO

from vwlite.errors import VwliteError
from vwlite.storage.atomic_file import OpenOutput


def open_memory_file() -> BinaryIO:
    """An open binary file without a name, to read and write: in memory where the system has memfd, else on disk."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("vwlite"), "w+b")
    return tempfile.TemporaryFile()  # type: ignore[return-value]


def capture_bytes(write: Callable[[OpenOutput], None]) -> bytes:
    """The bytes that ``write`` writes to the file it opens by calling its argument, whatever the path."""
    with open_memory_file() as file:

        def open_output(path: str) -> AbstractContextManager[IO[Any]]:
            return nullcontext(file)

        write(open_output)
        file.flush()
        file.seek(0)
        return file.read()


@contextmanager
def as_path(data: bytes, name: str) -> Iterator[str]:
    """A path from which ``data`` can be read within the block; errors raised there name ``name`` in its place."""
    with open_memory_file() as file:
        file.write(data)
        file.flush()
        path = f"/dev/fd/{file.fileno()}"
        try:
            yield path
        except VwliteError as error:
            raise type(error)(str(error).replace(path, name)) from error
