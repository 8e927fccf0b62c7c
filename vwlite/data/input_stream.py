"""One opened input: a file, a URL, a pipe or standard input, decompressed when its bytes say so."""

import contextlib
import fcntl
import io
import os
import select
import stat
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from vwlite.errors import DataError, ExtraMissing, InputDamaged, InputMissing
from vwlite.storage.output_checks import is_url

# First bytes of a file: RFC 1952; bzip2's header with the number of its first block (pi, or the
# square root of pi when the stream is empty); the .xz file format 1.1.0; RFC 8878, whose skippable
# frames pzstd puts first.
MAGIC = {
    "gzip": (b"\x1f\x8b\x08",),
    "bzip2": tuple(
        b"BZh%d" % level + block
        for level in range(1, 10)
        for block in (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")
    ),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + low,)) + b"\x2a\x4d\x18" for low in range(16))),
}
SUFFIX = {"gzip": (".gz", ".tgz"), "bzip2": (".bz2",), "xz": (".xz",), "zstd": (".zst", ".zstd")}
LONGEST_MAGIC = 10
CHUNK = 1 << 18


def identify(head: bytes) -> str | None:
    """The format whose files begin with ``head``, or None for plain text."""
    return next((codec for codec, magics in MAGIC.items() if head.startswith(magics)), None)


UTF_16 = b"\xff\xfe", b"\xfe\xff"  # byte order marks, which spreadsheets and PowerShell write


def check_encoding(path: str, start: bytes) -> None:
    """Raises DataError for text in UTF-16: in front of its first character, if that is ASCII, one of two bytes is 0."""
    if start.startswith(UTF_16) and 0 in start[2:4]:
        raise DataError(f"{path} is in UTF-16, not UTF-8: 'iconv -f UTF-16 -t UTF-8' converts it")


def is_undecided(head: bytes) -> bool:
    """Whether ``head`` is too short to tell plain text from the start of a compressed file."""
    return len(head) < LONGEST_MAGIC and any(_is_start(head, magics) for magics in MAGIC.values())


def truncated_codec(head: bytes, path: str) -> str | None:
    """The format of a file that ends within its magic bytes, judged with the help of its name.

    Printable bytes such as ``BZ`` are text unless the name claims otherwise, as that of an empty
    ``x.gz`` does.
    """
    for codec, magics in MAGIC.items():
        if _is_start(head, magics) and (
            path.endswith(SUFFIX[codec]) or not (head.isascii() and head.decode().isprintable())
        ):
            return codec
    return None


def _is_start(head: bytes, magics: tuple[bytes, ...]) -> bool:
    return any(len(head) < len(magic) and magic.startswith(head) for magic in magics)


def truncated_error(path: str, codec: str) -> InputDamaged:
    """The error for compressed data that ends before its own end mark."""
    return InputDamaged(f"{path}: the {codec} data ends too early; the file is truncated")


class _Inflate:
    """zlib's gzip decoder with the interface that bz2, lzma and zstd decoders share."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)

    eof = property(lambda self: self._inner.eof)
    unused_data = property(lambda self: self._inner.unused_data)
    needs_input = property(lambda self: not self._inner.unconsumed_tail and not self._inner.eof)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _gzip_decoder() -> tuple[Callable[[], Any], type[Exception]]:
    try:
        from isal import igzip_lib
    except ImportError:
        import zlib

        return _Inflate, zlib.error
    return partial(igzip_lib.IgzipDecompressor, flag=igzip_lib.DECOMP_GZIP), igzip_lib.error


def _zstd_decoder(path: str) -> tuple[Callable[[], Any], type[Exception]]:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise ExtraMissing(
                f"{path} is zstd data; to read it: pip install 'vwlite[io]'"
            ) from None
    return zstd.ZstdDecompressor, zstd.ZstdError


def _decoder(codec: str, path: str) -> tuple[Callable[[], Any], type[Exception]]:
    """A factory of decoders for one gzip member, stream or frame, and the exception that they raise."""
    if codec == "gzip":
        return _gzip_decoder()
    if codec == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, OSError
    if codec == "xz":
        import lzma

        return partial(lzma.LZMADecompressor, lzma.FORMAT_XZ), lzma.LZMAError
    return _zstd_decoder(path)


class Decompressed(io.RawIOBase):
    """The decoded bytes of ``stream``, which must offer ``read(n)``, ``ready()`` and ``close()``.

    Any number of members may follow each other, with zero bytes between and behind them as tapes
    leave them. Data that ends inside a member, fails its checksum, or goes on with something else
    raises InputDamaged; ExtraMissing when zstd is not installed. Memory is bounded by the reader's
    buffer, whatever the ratio of compression.
    """

    def __init__(self, stream: Any, codec: str, path: str) -> None:
        self._new_decoder, self._error = _decoder(codec, path)
        self._stream, self._codec, self._path = stream, codec, path
        self._decoder = self._new_decoder()
        self._pending = b""  # read, not yet given to the decoder

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()

    def ready(self) -> bool:
        """Whether ``readinto`` may go on without waiting for a slow writer."""
        decoder = self._decoder
        if self._pending or not (decoder.needs_input or decoder.eof):
            return True
        return bool(decoder.eof and decoder.unused_data) or self._stream.ready()

    def readinto(self, buffer: Any) -> int:
        """Fill the start of ``buffer``; 0 at the end of the last member."""
        if not len(buffer):
            return 0
        while not self._decoder.eof or self._next_member():
            if self._decoder.needs_input and not self._pending and not self._pull():
                raise truncated_error(self._path, self._codec)
            data, self._pending = self._pending, b""
            try:
                text = self._decoder.decompress(data, len(buffer))
            except self._error as error:
                raise InputDamaged(f"{self._path}: damaged {self._codec} data ({error})") from None
            if text:
                buffer[: len(text)] = text
                return len(text)
        return 0

    def _pull(self) -> bool:
        more = self._stream.read(CHUNK)
        self._pending += more
        return bool(more)

    def _next_member(self) -> bool:
        self._pending = self._decoder.unused_data.lstrip(b"\0")
        while not self._pending or _is_start(self._pending, MAGIC[self._codec]):
            if not self._pull():
                if self._pending:
                    raise truncated_error(self._path, self._codec)
                return False
            self._pending = self._pending.lstrip(b"\0")
        if identify(self._pending) != self._codec:
            raise InputDamaged(f"{self._path}: bytes that are not {self._codec} data follow it")
        self._decoder = self._new_decoder()
        return True


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
        while is_undecided(head) and (more := self.read(LONGEST_MAGIC - len(head))):
            head += more
        self._head = head
        if is_undecided(head) and (codec := truncated_codec(head, self._path)):
            raise truncated_error(self._path, codec)
        return identify(head)


def display_name(path: str) -> str:
    """The name of an input in messages."""
    return "<stdin>" if path == "-" else path


def missing_message(path: str, error: OSError | ValueError) -> InputMissing:
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
    if not is_url(path):
        return _file(path)
    from vwlite.data.remote_input import open_url

    return open_url(path)


def _file(path: str) -> io.FileIO:
    try:
        return io.FileIO(path)
    except (OSError, ValueError) as error:
        raise missing_message(display_name(path), error) from None


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
    """Read all that ``open_input`` reads. Raises as it does and as its reads do, DataError for more than fits."""
    with io.BufferedReader(open_input(path)) as file:  # type: ignore[type-var]
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise DataError(f"{display_name(path)} has more than {LARGEST} bytes, which are read at once")
    return data
