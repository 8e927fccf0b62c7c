"""Before anything is read or learned: can the outputs be written, and does none replace another file?"""

import fcntl
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from vwlite.errors import OutputError, UsageError
from vwlite.storage.atomic_file import check_writable, descriptor_of, is_replaceable, unfollowed

# What ends the name of a file beside another.
LOCK, CHECKPOINT, BEST, LEDGER, CACHE = ".lock", ".ckpt", ".ckpt.best", ".ledger", ".cache"
REPLACED = ("model", "ledger")  # what goes on from a file may take its place
IN_PLACE = ("lock", "cache")  # kinds that are written where they stand; others replace a link that has their name
STDOUT = frozenset({"-", "stdout", "/dev/stdout"})  # names of standard output for predictions
Identity = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A file of a run: ``kind`` is what it holds, ``called`` what it is in messages.

    ``-`` is a standard stream. ``beside``: nobody named the file, its name follows from that of another.
    """

    path: str
    kind: str
    called: str
    beside: bool = False

    @property
    def replaces_links(self) -> bool:
        return self.beside and self.kind not in IN_PLACE

    def identity(self, descriptor: int) -> Identity | None:
        """What all names of one file have in common, by links and by other folders; None for devices and pipes.

        ``descriptor``: of the standard stream.
        """
        number = descriptor if self.path == "-" else descriptor_of(self.path)
        try:
            status = os.lstat(self.path) if self.replaces_links else os.stat(self.path if number is None else number)
            if stat.S_ISLNK(status.st_mode):
                return self.place()
            return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else self.stream(number)
        except FileNotFoundError:
            return self.place()
        except (OSError, ValueError):  # said by whoever opens it
            return None

    def stream(self, number: int | None) -> Identity | None:
        return None if number is None else ("stream", number)

    def place(self) -> Identity:
        """Of a file that is to be made: its folder, and the name it will have."""
        place = unfollowed(self.path) if self.replaces_links else os.path.realpath(self.path)
        folder, name = os.path.split(place)
        try:
            status = os.stat(folder)
        except OSError:
            return (place,)
        return status.st_dev, status.st_ino, name


def check(reads: Iterable[File], writes: Iterable[File], links: bool = False) -> None:
    """Raises OutputError for a file that cannot be written, UsageError for two outputs in one file and for one in
    the place of an input.

    Only a model, and its ledger, may be replaced by what goes on from it. ``links``: names that nobody typed may lead
    elsewhere.
    """
    targets: dict[Identity, File] = {}
    for file in writes:
        check_target(file, links)
        identity = file.identity(1)
        if identity in targets:
            raise UsageError(f"two outputs have the same name: {targets[identity].called} and {file.called}")
        if identity is not None:
            targets[identity] = file
    for file in reads:
        target = targets.get(file.identity(0) or ())
        if target and (target.kind != file.kind or file.kind not in REPLACED):
            raise UsageError(f"{clash(file, target)}: give the output another name")


def clash(file: File, target: File) -> str:
    if target.beside:
        return f"{file.path} is {file.called} and would be overwritten by {target.called}"
    return f"{'standard output' if target.path == '-' else target.path} is {file.called} and would be overwritten"


def check_target(file: File, links: bool) -> None:
    """Raises OutputError when it cannot be written."""
    if file.path == "-":
        if not can_write(1):
            raise OutputError("standard output is closed")
    elif not file.beside:
        check_writable(file.path)
    elif not os.path.islink(file.path):
        is_replaceable(file.path)
    elif not file.replaces_links and not links:
        raise OutputError(f"cannot write {file.path}: it is a symbolic link, which is not followed here; remove it")


def can_write(descriptor: int) -> bool:
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return False
