"""Checks before a run starts: every output can be written, and none of them overwrites another file of the run.

A model has one writer at a time: ``lock`` is an advisory lock on the file ``MODEL.lock``, released when the process
ends.
"""

import contextlib
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vwlite.errors import Locked, OutputError, UsageError
from vwlite.storage.atomic_file import (
    check_writable,
    claim,
    descriptor_of,
    is_replaceable,
    output_error,
    real_path_of_entry,
)

# Suffixes of files whose name is derived from that of another.
LOCK, CHECKPOINT, BEST, LEDGER, CACHE = ".lock", ".ckpt", ".ckpt.best", ".ledger", ".cache"
UPDATED = ("model", "Theta", "ledger")  # roles of inputs that the output of the same role may overwrite
IN_PLACE = ("lock", "cache")  # roles of files that are opened where they are; others replace a link of their name
STDOUT = frozenset({"-", "stdout", "/dev/stdout"})  # names of standard output for predictions
Identity = tuple[int | str, ...]


class File(NamedTuple):
    """A file of a run: ``role`` says what it holds (model, cache, lock, ...), ``display_name`` names it in messages.

    The path ``-`` is a standard stream. ``beside``: the name is derived from that of another file.
    """

    path: str
    role: str
    display_name: str
    beside: bool = False

    @property
    def replaces_links(self) -> bool:
        return self.beside and self.role not in IN_PLACE

    def identity(self, descriptor: int) -> Identity | None:
        """Equal for all names of one file, through links and folders; None for devices and pipes.

        ``descriptor``: that of the standard stream which the path ``-`` means.
        """
        path = local_path(self.path)
        number = descriptor if path == "-" else descriptor_of(path)
        try:
            status = os.lstat(path) if self.replaces_links else os.stat(path if number is None else number)
            if stat.S_ISLNK(status.st_mode):
                return self.future_identity()
            return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else self.stream(number)
        except FileNotFoundError:
            return self.future_identity()
        except (OSError, ValueError):  # reported where the file is opened
            return None

    @property
    def is_stream(self) -> bool:
        """Whether it is open already."""
        return self.path == "-" or descriptor_of(local_path(self.path)) is not None

    def stream(self, number: int | None) -> Identity | None:
        return None if number is None else ("stream", number)

    def future_identity(self) -> Identity:
        """The identity of a file that does not exist yet: its folder and the name that it will have."""
        path = real_path_of_entry(self.path) if self.replaces_links else os.path.realpath(self.path)
        folder, name = os.path.split(path)
        try:
            status = os.stat(folder)
        except OSError:
            return (path,)
        return status.st_dev, status.st_ino, name


class Printed(UsageError):
    """What is printed would go into another file of the run, be it only this message on standard output."""


STANDARD_INPUT = File("-", "input", "the input")
STANDARD_OUTPUT = File("-", "standard output", "standard output")


def check(reads: Sequence[File], writes: Iterable[File], links: bool = False, prints: bool = False) -> None:
    """Raises OutputError for a file that cannot be written, UsageError for two outputs in one file and for an output
    that would overwrite an input.

    A model and its ledger may be overwritten by the training that continues from them, whatever else they are read for.
    ``links``: derived names may be symbolic links. ``prints``: whatever is written may go to standard output as well.
    """
    targets: dict[Identity, File] = {}
    for file in writes:
        check_target(file, links)
        identity = file.identity(1)
        if identity in targets:
            first = targets[identity]
            raise UsageError(f"two outputs have the same name: {first.display_name} and {file.display_name}")
        if identity is not None:
            targets[identity] = file
    printed = STANDARD_OUTPUT.identity(1) if prints else None
    if printed is not None:
        first = targets.setdefault(printed, STANDARD_OUTPUT)
        if not first.is_stream:
            raise Printed(f"two outputs have the same name: {first.display_name} and standard output")
    clashes = [(file, targets[identity]) for file in reads if (identity := file.identity(0) or ()) in targets]
    updated = [target for file, target in clashes if target.role == file.role and file.role in UPDATED]
    for file, target in clashes:
        if target not in updated:
            kind = Printed if target is targets.get(printed or ()) else UsageError
            raise kind(f"{clash_message(file, target)}: give the output another name")


def clash_message(file: File, target: File) -> str:
    if target.beside:
        return f"{file.path} is {file.display_name} and would be overwritten by {target.display_name}"
    return f"{'standard output' if target.path == '-' else target.path} is {file.display_name} and would be overwritten"


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


SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters or more, then RFC 3986


def is_url(path: str) -> bool:
    """Whether ``path`` begins with ``scheme://``."""
    return SCHEME.match(path) is not None


def local_path(path: str) -> str:
    """The path of a URL ``file://``; others, and paths, as they are."""
    if not path.startswith("file://"):
        return path
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(path).path)


class Url(os.PathLike[str]):
    """A URL among paths: ``pathlib.Path`` would take one of its slashes away."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __fspath__(self) -> str:
        return self.text


MAX_PAUSE = 0.2  # seconds between two attempts to lock
LOCK_CONTENT = re.compile(rb"(\d+\n)?")  # the process id of the holder


@contextlib.contextmanager
def lock(path: str, wait: float = 0.0) -> Iterator[None]:
    """Hold the exclusive lock for writing the model ``path`` while the block runs.

    Waits up to ``wait`` seconds for another process to release it, then raises Locked. A lock file
    left by a killed process is not locked and is taken over. Devices and pipes are not locked, nor
    files on a file system without locks. Raises OutputError when the lock file cannot be created.
    """
    if not is_replaceable(path):
        yield
        return
    name = os.path.realpath(path) + LOCK
    descriptor = _acquire(path, name, wait)
    try:
        yield
    finally:
        # Removed before it is unlocked: a process that waits for this file sees that its name is gone.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(name)):
                os.unlink(name)
        os.close(descriptor)


def _acquire(path: str, name: str, wait: float) -> int:
    deadline = time.monotonic() + wait
    pause = 0.01
    while True:
        if (descriptor := _try(path, name)) is not None:
            return descriptor
        left = deadline - time.monotonic()
        if left <= 0:
            raise Locked(_sentence(path, name, wait))
        time.sleep(min(pause, left))
        pause = min(2 * pause, MAX_PAUSE)


def _try(path: str, name: str) -> int | None:
    """The descriptor of the locked lock file; None while another process holds the lock."""
    while True:
        try:
            descriptor, new = _open(name)
        except FileNotFoundError as error:
            if os.path.isdir(os.path.dirname(name)):
                continue  # its holder has just removed it
            raise output_error(name, error) from None
        except OSError as error:
            raise output_error(name, error) from None
        try:
            check_is_lock(descriptor, name)
            if claim(descriptor, name, fcntl.LOCK_EX | fcntl.LOCK_NB):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, b"%d\n" % os.getpid())
                return descriptor
            os.close(descriptor)
        except BaseException as error:
            if new and not isinstance(error, BlockingIOError):
                with contextlib.suppress(OSError):
                    os.unlink(name)
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return None
            if isinstance(error, OSError):
                raise output_error(name, error) from None
            raise


def _open(name: str) -> tuple[int, bool]:
    """The descriptor of the lock file, and whether this call created it. Raises OSError."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(name, flags), False


def check_is_lock(descriptor: int, name: str) -> None:
    """Raises OutputError where the name is that of, or a link to, a file that is no lock."""
    status = os.fstat(descriptor)
    regular = stat.S_ISREG(status.st_mode) and status.st_nlink < 2
    if not (regular and LOCK_CONTENT.fullmatch(os.pread(descriptor, 64, 0))):
        raise OutputError(f"cannot write {name}: the file exists and is not the lock of a model; give -f another name")


def _sentence(path: str, name: str, wait: float) -> str:
    holder = ""
    with contextlib.suppress(OSError, ValueError), open(name, encoding="ascii") as file:
        holder = f" (process {int(file.read(32))})"
    waited = f" after {wait:g} seconds" if wait else ""
    return f"{path} is{' still' if wait else ''} locked by another training{holder}{waited}" + (
        "" if wait else "; --lock-wait waits for it"
    )
