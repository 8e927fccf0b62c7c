"""One opened input: a file, a URL, a pipe or standard input, decompressed when its bytes say so."""

import contextlib
import fcntl
import io
import os
import select
import stat
import sys
from typing import Any

from vwlite.data.compression import LONGEST_MAGIC, Decompressed, identify, truncated, truncated_codec, undecided
from vwlite.data.remote_input import open_url
from vwlite.errors import DataError, InputDamaged, InputMissing
from vwlite.storage.output_checks import is_url

PIPE_SIZE = 1 << 20
LARGEST = 1 << 28  # bytes of a file that is read whole


class Stream(io.RawIOBase):
    """Undecoded bytes of an open file; a read returns the bytes that have arrived rather than wait for more."""

    def __init__(self, raw: Any, path: str) -> None:
        self._raw, self._path = raw, path
        self._head = b""
        self._poll: Any = None
        with contextlib.suppress(OSError):
            self._tune(raw.fileno())

    def _tune(self, descriptor: int) -> None:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLIN)
        if stat.S_ISFIFO(mode) and hasattr(fcntl, "F_SETPIPE_SZ"):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_SIZE)  # fewer switches to the writer
        if stat.S_ISREG(mode) and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()

    def ready(self) -> bool:
        """Whether ``readinto`` would return at once."""
        return bool(self._head) or self._poll is None or bool(self._poll.poll(0))

    def readinto(self, buffer: Any) -> int:
        """Fill the start of ``buffer``; 0 at the end. Raises InputDamaged when the system fails."""
        if self._head:
            got = min(len(buffer), len(self._head))
            buffer[:got], self._head = self._head[:got], self._head[got:]
            return got
        try:
            while (got := self._raw.readinto(buffer)) is None:  # somebody made the pipe non-blocking
                self._poll.poll()
        except OSError as error:
            raise InputDamaged(f"{self._path}: reading failed: {error.strerror}") from None
        return got

    def peek_codec(self) -> str | None:
        """The format of compression, None for plain text; the bytes looked at stay unread."""
        head = b""
        while undecided(head) and (more := self.read(LONGEST_MAGIC - len(head))):
            head += more
        self._head = head
        if undecided(head) and (codec := truncated_codec(head, self._path)):
            raise truncated(self._path, codec)
        return identify(head)


def display_name(path: str) -> str:
    """The name of an input in messages."""
    return "<stdin>" if path == "-" else path


def missing(path: str, error: OSError | ValueError) -> InputMissing:
    """The sentence for an input that cannot be opened, with a hint where one can be given."""
    if isinstance(error, IsADirectoryError):
        return InputMissing(f"{path} is a directory; name one file in it")
    if not isinstance(error, FileNotFoundError):
        return InputMissing(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        near = get_close_matches(name, os.listdir(folder or "."), n=1)
    except OSError:
        return InputMissing(f"no such file: {path} (there is no folder {folder})")
    hint = f"did you mean {os.path.join(folder, near[0])}?" if near else "- is standard input"
    return InputMissing(f"no such file: {path} ({hint})")


def _stdin() -> Any:
    try:
        return io.FileIO(sys.stdin.fileno(), closefd=False)
    except io.UnsupportedOperation:  # replaced by an object in memory, as test runners do
        return io.BytesIO(sys.stdin.buffer.read())
    except (AttributeError, ValueError):
        raise InputMissing("standard input is closed") from None


def _opened(path: str) -> Any:
    if path == "-":
        return _stdin()
    return open_url(path) if is_url(path) else _file(path)


def _file(path: str) -> io.FileIO:
    try:
        return io.FileIO(path)
    except (OSError, ValueError) as error:
        raise missing(display_name(path), error) from None


class Range(io.RawIOBase):
    """The bytes ``[begin, end)`` of an open file."""

    def __init__(self, raw: io.FileIO, begin: int, end: int) -> None:
        self._raw, self._left = raw, end - begin
        raw.seek(begin)

    def fileno(self) -> int:
        return self._raw.fileno()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as whole, whole[: self._left] as part:
            got = self._raw.readinto(part) if len(part) else 0
        self._left -= got
        return got


def open_range(path: str, begin: int, end: int, size: int, mtime_ns: int) -> Stream:
    """A raw reader of the bytes ``[begin, end)`` of a plain file, which had ``size`` and ``mtime_ns`` when these were
    chosen. Raises InputMissing, InputDamaged for a file that has changed.
    """
    raw = _file(path)
    status = os.fstat(raw.fileno())
    if (status.st_size, status.st_mtime_ns) != (size, mtime_ns):
        raw.close()
        raise InputDamaged(f"{path} has changed since its shards were laid out: begin again")
    return Stream(Range(raw, begin, end), path)


def open_input(path: str) -> Stream | Decompressed:
    """A raw reader of ``path`` ("-": standard input; a file, or a URL), decompressed if its first bytes say so.

    Raises InputMissing when it cannot be opened and ExtraMissing for zstd and URLs without their extras; its
    reads raise InputDamaged for I/O errors and for truncated or corrupt compressed data.
    """
    stream = Stream(_opened(path), display_name(path))
    try:
        codec = stream.peek_codec()
        return Decompressed(stream, codec, display_name(path)) if codec else stream
    except BaseException:
        stream.close()
        raise


def whole_input(path: str) -> bytes:
    """All that ``open_input`` reads. Raises as it does and as its reads do, DataError for more than fits."""
    with io.BufferedReader(open_input(path)) as file:  # type: ignore[type-var]
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise DataError(f"{display_name(path)} has more than {LARGEST} bytes, which are read at once")
    return data
