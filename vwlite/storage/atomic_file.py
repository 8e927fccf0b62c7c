"""Output files that appear whole or not at all; and files in memory, with which code that reads or writes paths works
on bytes, so that both give the same content.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any, BinaryIO

from vwlite.errors import OutputError, VwliteError

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_LEFTOVER = re.compile(r"\d+-[0-9a-f]{8}\.vwlite")  # what a temporary file has behind the name of its target
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
OpenOutput = Callable[[str], contextlib.AbstractContextManager[IO[Any]]]  # ``atomic_output`` or a function like it
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # file systems that cannot lock


def output_error(path: str, error: OSError | ValueError) -> OutputError:
    """Make one sentence on why ``path`` cannot be written."""
    folder = os.path.dirname(os.path.realpath(path)) if "\0" not in path else ""
    reasons = {
        errno.ENOENT: f"there is no folder {folder}; create it first",
        errno.ENOTDIR: f"{folder} is not a folder",
        errno.EISDIR: "it is a directory",
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: f"no permission to write there ({folder})",
    }
    text = getattr(error, "strerror", None) or str(error)
    return OutputError(f"cannot write {path}: {reasons.get(getattr(error, 'errno', None), text)}")


def descriptor_of(path: str) -> int | None:
    """The number of the open file that ``path`` is a name of, such as 1 for /dev/stdout."""
    if match := _DESCRIPTOR.fullmatch(path):
        return int(match[1])
    return _STANDARD.get(path)


def _status(path: str) -> os.stat_result | None:
    """The status of ``path``, None where there is none. Raises OutputError for one that must not be replaced."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if path:
            return None
        raise OutputError("cannot write to a file without a name") from None
    except (OSError, ValueError) as error:
        raise output_error(path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"cannot write {path}: it is a directory")
    if not os.access(path, os.W_OK):
        frozen = os.statvfs(path).f_flag & os.ST_RDONLY
        reason = "the file system is read-only" if frozen else "it is write-protected"
        raise OutputError(f"cannot write {path}: {reason}")
    return status


def is_replaceable(path: str) -> bool:
    """Whether ``path`` is, or would be, a regular file: no device, pipe or open descriptor."""
    if descriptor_of(path) is not None:
        return False
    status = _status(path)
    return status is None or stat.S_ISREG(status.st_mode)


def check_writable(path: str) -> None:
    """Raise OutputError now if ``path`` cannot be written later. Creates a file beside it and removes that file."""
    if is_replaceable(path):
        PendingFile(path, cleans=False).drop()  # writing will clean up


@contextlib.contextmanager
def atomic_output(path: str, mode: str = "wb") -> Iterator[IO[Any]]:
    """A file that gets the name ``path`` when the block ends without an exception.

    It is written beside the target (where a symbolic link points), flushed to the disk and renamed,
    with the permission bits of the file it replaces. After an exception nothing has changed.
    Devices, pipes and /dev/stdout are written directly. ``mode`` is "wb" or, for UTF-8, "w". Raises
    OutputError; a BrokenPipeError passes through.
    """
    if is_replaceable(path):
        with _written_beside(PendingFile(path), mode) as file:
            yield file
    else:
        with _explained(path), _open_direct(path, mode) as file:
            yield file


@contextlib.contextmanager
def written_anywhere(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """The file; where it only takes one byte after the other, a temporary one, whose bytes it gets when the block ends.

    Pipes do, and what is open behind other data, as standard output may be. Raises OutputError.
    """
    if file.seekable() and not file.tell() and not fcntl.fcntl(file.fileno(), fcntl.F_GETFL) & os.O_APPEND:
        yield file
        return
    import shutil  # what most runs need not import
    import tempfile

    try:
        temporary = tempfile.TemporaryFile()  # noqa: SIM115 (only its own errors are caught)
    except OSError as error:
        raise OutputError(f"cannot write a temporary file: {error.strerror}") from None
    with temporary:
        yield temporary
        temporary.seek(0)
        shutil.copyfileobj(temporary, file, 1 << 20)


@contextlib.contextmanager
def beside_output(path: str, mode: str = "wb", *, like: str) -> Iterator[IO[Any]]:
    """Write as ``atomic_output``, for a regular file whose name is derived from that of the file ``like``.

    It gets the permission bits of that file. A symbolic link of its name is replaced, not followed: an attacker who can
    guess the name could otherwise choose which file is overwritten.
    """
    with _written_beside(PendingFile(path, like), mode) as file:
        yield file


@contextlib.contextmanager
def temporary_file(path: str) -> Iterator[IO[bytes]]:
    """A temporary file, which need not outlast the machine. Raises OutputError."""
    with _explained(path), open(path, "wb") as file:
        yield file


@contextlib.contextmanager
def _written_beside(pending: PendingFile, mode: str) -> Iterator[IO[Any]]:
    """The pending file, which replaces its target when the block ends and is removed after an exception."""
    try:
        with pending.open(mode) as file:
            yield file
        pending.take_name()
    finally:
        pending.drop()


class PendingFile:
    """A new file beside its target ``path``. ``take_name`` lets it replace the target; always call ``drop``.

    It is dropped too when nothing knows it any more, as where a signal comes before anybody can call ``drop``.
    """

    descriptor, process = -1, 0

    def __init__(self, path: str, like: str | None = None, cleans: bool = True) -> None:
        """``like``: as ``beside_output`` has it. ``cleans``: remove what killed processes left. Raises OutputError."""
        self.path, self.process = path, os.getpid()
        self.target = os.path.realpath(path) if like is None else real_path_of_entry(path)
        # kept open because the lock on it keeps _remove_stale of other processes from deleting the file
        self.descriptor, self.temporary = _create(path, self.target, path if like is None else like, cleans)

    @contextlib.contextmanager
    def open(self, mode: str = "wb") -> Iterator[IO[Any]]:
        """The open file; it is flushed to the disk when the block ends. Raises OutputError."""
        with _explained(self.path), open(self.descriptor, mode, closefd=False, **_text(mode)) as file:
            yield file
            file.close()
            os.fsync(self.descriptor)

    def take_name(self, name: str | None = None) -> None:
        """Replace the target, or the file ``name`` of the same folder. Raises OutputError."""
        rename(self.temporary, name or self.target)
        self._close()

    def drop(self) -> None:
        """Remove the file if it has not taken a name."""
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)
            self._close()

    def __del__(self) -> None:
        if self.process == os.getpid():  # a fork's copy is not the owner
            self.drop()

    def _close(self) -> None:
        os.close(self.descriptor)
        self.descriptor = -1


def _text(mode: str) -> dict[str, str]:
    return {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}


def _open_direct(path: str, mode: str) -> IO[Any]:
    try:
        number = descriptor_of(path)
        # A copy of the descriptor shares its position with the shell's redirection; a new opening would start at 0.
        return open(path if number is None else os.dup(number), mode, **_text(mode))
    except OSError as error:
        raise output_error(path, error) from None


@contextlib.contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except VwliteError:
        raise
    except OSError as error:
        # An error with a file name comes from opening another file; errors of writing to this one have no name.
        if isinstance(error, BrokenPipeError) or error.filename is not None:
            raise
        raise output_error(path, error) from error


def rename(old: str, new: str) -> None:
    """Rename ``old`` to ``new``, which may be a file or a link, and flush the folder. Raises OutputError."""
    try:
        os.replace(old, new)
    except OSError as error:
        raise output_error(new, error) from None
    with contextlib.suppress(OSError):  # folders that cannot be read or synced
        folder = os.open(os.path.dirname(new), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def real_path_of_entry(path: str) -> str:
    """The real path of the entry ``path`` itself: links among its folders are followed, one of its own name is not."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def _create(path: str, target: str, like: str, cleans: bool) -> tuple[int, str]:
    """A locked new file beside ``target``, with the permission bits of ``like``: descriptor and name."""
    folder, name = os.path.split(target)
    stem = os.path.join(folder, f".{name[:50]}.")
    status = _status(like)
    mode = 0o666 if status is None else stat.S_IMODE(status.st_mode)
    try:
        if cleans:
            _remove_stale(folder, os.path.basename(stem))
        while True:
            temporary = f"{stem}{os.getpid()}-{os.urandom(4).hex()}.vwlite"
            if (descriptor := _create_locked(temporary, mode)) is not None:
                break
    except OSError as error:
        raise output_error(path, error) from None
    if status is not None:
        with contextlib.suppress(OSError):  # file systems without permission bits
            os.fchmod(descriptor, mode)
    return descriptor, temporary


def _create_locked(name: str, mode: int) -> int | None:
    """A new locked file; None when another process removed it as stale before it was locked.

    Raises OSError, and leaves no file then or when a signal comes.
    """
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        if claim(descriptor, name, fcntl.LOCK_EX):
            return descriptor
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def claim(descriptor: int, path: str, operation: int) -> bool:
    """Lock an open file. False if ``path`` no longer names it.

    Raises BlockingIOError when another process has locked it and ``operation`` says not to wait. On
    a file system without locks the file counts as locked.
    """
    try:
        fcntl.flock(descriptor, operation)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _remove_stale(folder: str, stem: str) -> None:
    """Remove the temporary files of killed processes, which have no lock: a running process keeps its own locked."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if not (name.startswith(stem) and _LEFTOVER.fullmatch(name, len(stem))):
            continue
        stale = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            descriptor = os.open(stale, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(stale)
            finally:
                os.close(descriptor)


def atomic_copy(source: str, path: str) -> None:
    """Copy a file. Raises OSError when ``source`` cannot be read and OutputError when ``path`` cannot be written."""
    import shutil  # imported here because it is slow to import and seldom needed

    with open(source, "rb") as file, atomic_output(path) as copy:
        shutil.copyfileobj(file, copy)


FLUSH_BYTES = 1 << 25  # written before the next flush begins
CANNOT_SYNC = (errno.EINVAL, errno.EROFS, errno.ENOTSUP)  # errors of fsync for pipes and devices


class Flusher:
    """Flushes in a thread of its own. Call ``finish`` before the file is closed, after an exception too."""

    def __init__(self, file: BinaryIO) -> None:
        self.descriptor, self.unflushed = file.fileno(), 0
        self.thread: threading.Thread | None = None
        self.error: OSError | None = None

    def wrote(self, size: int) -> None:
        """Call after ``size`` more bytes were written. Raises the OSError of an earlier flush."""
        self.unflushed += size
        if self.unflushed < FLUSH_BYTES or (self.thread and self.thread.is_alive()):
            return
        self.finish()
        self.unflushed = 0
        thread = threading.Thread(target=self.flush, name="flush")
        with contextlib.suppress(RuntimeError):  # the system gives no more threads: the last flush writes everything
            thread.start()
            self.thread = thread

    def flush(self) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as error:
            if error.errno not in CANNOT_SYNC:
                self.error = error

    def finish(self) -> None:
        """Wait for the flush that runs, if any. Raises its OSError: the system reports an error to one fsync only."""
        if self.thread:
            self.thread.join()
            self.thread = None
        if self.error:
            raise self.error


def open_memory_file() -> BinaryIO:
    """An open binary file without a name, to read and write: in memory where the system has memfd, else on disk."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("vwlite"), "w+b")
    import tempfile  # which few systems need

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
