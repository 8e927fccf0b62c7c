"""One writer per model: an advisory lock on the file ``MODEL.lock``, released when the process ends."""

import contextlib
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator

from vwlite.errors import Locked, OutputError
from vwlite.storage.atomic_file import claim, is_replaceable, output_error
from vwlite.storage.output_checks import LOCK

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
