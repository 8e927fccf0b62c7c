"""Compressed input: recognised by its first bytes, decoded as a stream; truncated and damaged data raise errors."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from vwlite.errors import ExtraMissing, InputDamaged

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


def undecided(head: bytes) -> bool:
    """Whether ``head`` is too short to tell plain text from the start of a compressed file."""
    return any(_is_start(head, magics) for magics in MAGIC.values())


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


def truncated(path: str, codec: str) -> InputDamaged:
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
    """What makes a decoder of one gzip member, stream or frame, and what that decoder raises."""
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
                raise truncated(self._path, self._codec)
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
                    raise truncated(self._path, self._codec)
                return False
            self._pending = self._pending.lstrip(b"\0")
        if identify(self._pending) != self._codec:
            raise InputDamaged(f"{self._path}: bytes that are not {self._codec} data follow it")
        self._decoder = self._new_decoder()
        return True
