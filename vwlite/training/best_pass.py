"""The files of the best pass so far: they wait beside their targets until the run knows which pass is to stay.

A run that is stopped keeps them as ``FILE.ckpt.best`` beside its checkpoint. Resumed from a checkpoint that is older
than they are, it comes by the same passes again and writes them anew before it may need them.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import IO, Any

from mmh3 import mmh3_x64_128

from vwlite.errors import ModelError, UsageError
from vwlite.storage.atomic_file import PendingFile, atomic_output, is_replaceable, rename
from vwlite.storage.output_checks import BEST

PIECE = 1 << 20  # bytes looked at together


class BestPass:
    """The files by their targets: ``waiting`` those of this run, ``kept`` the digests of those of a stopped one."""

    def __init__(self) -> None:
        self.waiting: dict[str, PendingFile | Spooled] = {}
        self.kept: dict[str, str] = {}

    @contextlib.contextmanager
    def output(self, path: str, mode: str = "wb") -> Iterator[IO[Any]]:
        """As ``atomic_output``, but the file waits for its name. Raises OutputError."""
        self.waiting[path] = file = PendingFile(path) if is_replaceable(path) else Spooled(path)
        with file.open(mode) as opened:
            yield opened

    def place(self, path: str) -> str:
        """Where the file for ``path`` is now. Raises ModelError if it was removed."""
        if path in self.waiting:
            return self.waiting[path].temporary
        target = os.path.realpath(path)
        for place in (kept_path(path), target):  # a run that ended while files took their names has named some
            if digest_of(place) == self.kept[path]:
                return place
        raise ModelError(f"{kept_path(path)}, of the best pass, is gone or was changed: start again without --resume")

    def take_names(self) -> None:
        """All of the files. Raises OutputError, ModelError."""
        places = {path: self.place(path) for path in {**self.kept, **self.waiting}}
        for path, place in places.items():
            target = os.path.realpath(path)
            if path in self.waiting:
                self.waiting.pop(path).take_name()
            elif place != target:
                rename(place, target)
        self.kept = {}

    def go_on(self, kept: dict[str, str], targets: list[str]) -> None:
        """Continue with the files that a stopped run kept. Raises UsageError for other targets than that had,
        ModelError for devices."""
        if not kept:
            return
        if set(kept) != set(targets):
            outputs = ", ".join(kept)
            raise UsageError(f"--resume continues the command that was stopped, whose outputs were {outputs}")
        for path, digest in kept.items():
            if not digest:
                raise ModelError(f"what the best pass had for {path} is gone: start again without --resume")
        self.kept = dict(kept)

    def keep(self) -> dict[str, str]:
        """Give the files names that outlast the run; their digests by target. Raises OutputError."""
        for path, file in self.waiting.items():
            self.kept[path] = digest_of(file.temporary)
            file.take_name(kept_path(path))
        self.waiting = {}
        return self.kept

    def drop(self) -> None:
        """Remove the files that are not kept."""
        for file in self.waiting.values():
            file.drop()
        self.waiting = {}


class Spooled:
    """Output to a device or a pipe, held in a file without a name until the end."""

    temporary = ""

    def __init__(self, path: str) -> None:
        from vwlite.data.dataset import temporary_file

        self.path, self.file = path, temporary_file(f"keep the best pass's {path}")

    @contextlib.contextmanager
    def open(self, mode: str = "wb") -> Iterator[IO[Any]]:
        yield self.file

    def take_name(self, name: str | None = None) -> None:
        """Write it out; it cannot be kept. Raises OutputError."""
        import shutil

        if name is None:
            self.file.seek(0)
            with atomic_output(self.path) as out:
                shutil.copyfileobj(self.file, out)
        self.drop()

    def drop(self) -> None:
        self.file.close()


def kept_path(path: str) -> str:
    return os.path.realpath(path) + BEST


def digest_of(path: str) -> str:
    """The digest of a file; empty for anything but a readable regular file, links included."""
    digest = mmh3_x64_128()
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    except OSError:
        return ""
    return digest.digest().hex()


def remove_kept(path: str) -> None:
    """Remove the files that a stopped run kept for ``path``."""
    with contextlib.suppress(OSError):
        os.unlink(kept_path(path))
