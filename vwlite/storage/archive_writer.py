"""The verified container below model files: a stored zip of ``header.json`` and ``.npy`` members.

Every byte of the file is verified: the members' data by digests in the header, the header by a
digest in the zip comment, and all other bytes (zip records, padding, npy headers) because they can
be computed from the header alone. The reader computes them again and compares, so that it notices
every flipped bit, and checks every size against the file before it allocates memory. Later formats
keep ``header.json`` first and the comment last, so that an older reader can say that they are newer.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from mmh3 import mmh3_x64_128

from vwlite.errors import OutputError
from vwlite.storage.atomic_file import Flusher, OpenOutput, atomic_output, written_anywhere
from vwlite.storage.ordered_pool import in_order
from vwlite.version import __version__

ALIGN = 64
LOCAL, CENTRAL, END64, LOCATOR, END = 0x04034B50, 0x02014B50, 0x06064B50, 0x07064B50, 0x06054B50
VERSION = 45  # the first with zip64
DAY = 0x21  # 1 January 1980, the zero of zip dates
IN_EXTRA = 0xFFFFFFFF  # the real number stands in the zip64 field
PADDING_ID = 0xD935  # the alignment field that zipalign writes
LOCAL_FORM, EXTRA_FORM = "<IHHHHHIIIHH", "<HHQQ"


class Member(NamedTuple):
    """One file of the archive: ASCII name, bytes of data, CRC-32 of the data."""

    name: str
    size: int
    crc: int = 0


def frame(members: Sequence[Member], comment: bytes) -> list[tuple[int, bytes]]:
    """The bytes before each member's data and after the last, each with its offset in the file.

    The data of member i begin where frame i ends.
    """
    pieces, directory, position = [], [], 0
    for member in members:
        local = _local(member, position)
        pieces.append((position, local))
        directory.append(_central(member, position))
        position += len(local) + member.size
    pieces.append((position, _tail(directory, position, comment)))
    return pieces


def first_member(start: bytes) -> tuple[bytes, int, int] | None:
    """Name, size and data offset of the member recorded at ``start``; None if it is no record."""
    head, extra = struct.calcsize(LOCAL_FORM), struct.calcsize(EXTRA_FORM)
    if len(start) < head + extra:
        return None
    magic, *_, name_size, extra_size = struct.unpack_from(LOCAL_FORM, start)
    if magic != LOCAL or len(start) < head + name_size + extra:
        return None
    size = struct.unpack_from(EXTRA_FORM, start, head + name_size)[2]
    return start[head : head + name_size], size, head + name_size + extra_size


def _local(member: Member, position: int) -> bytes:
    name = member.name.encode("ascii")
    extra = struct.pack(EXTRA_FORM, 1, 16, member.size, member.size)
    used = position + struct.calcsize(LOCAL_FORM) + len(name) + len(extra) + 6
    extra += struct.pack("<HHH", PADDING_ID, 2 + -used % ALIGN, ALIGN) + bytes(-used % ALIGN)
    sizes = (IN_EXTRA, IN_EXTRA, len(name), len(extra))
    return struct.pack(LOCAL_FORM, LOCAL, VERSION, 0, 0, 0, DAY, member.crc, *sizes) + name + extra


def _central(member: Member, position: int) -> bytes:
    name = member.name.encode("ascii")
    extra = struct.pack("<HHQQQ", 1, 24, member.size, member.size, position)
    made_by = 3 << 8 | VERSION  # 3: the permissions are Unix ones
    permissions = 0o100644 << 16
    fixed = struct.pack("<IHHHHHHI", CENTRAL, made_by, VERSION, 0, 0, 0, DAY, member.crc)
    sizes = (IN_EXTRA, IN_EXTRA, len(name), len(extra), 0, 0, 0, permissions, IN_EXTRA)
    return fixed + struct.pack("<IIHHHHHII", *sizes) + name + extra


def _tail(directory: list[bytes], start: int, comment: bytes) -> bytes:
    size, count = sum(map(len, directory)), len(directory)
    counts = (0, 0, count, count, size, start)
    end64 = struct.pack("<IQHHIIQQQQ", END64, 44, 3 << 8 | VERSION, VERSION, *counts)
    locator = struct.pack("<IIQI", LOCATOR, 0, start + size, 1)
    end = struct.pack("<IHHHHIIH", END, 0, 0, 0xFFFF, 0xFFFF, IN_EXTRA, IN_EXTRA, len(comment))
    return b"".join(directory) + end64 + locator + end + comment


HEADER = "header.json"
THREADED_WRITE_BYTES = 8 << 20  # members of this size or more are written while they are made, by a second thread
HEADER_LIMIT = 16 << 20  # bytes; parsed JSON takes up to 25 times as much
DTYPES = frozenset(["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])


class FileFormat(NamedTuple):
    """A format of files: its name in the header, the word for such a file in messages, its newest version."""

    name: str
    noun: str
    version: int


MODEL = FileFormat("vwlite-model", "model", version=1)
DELTA = FileFormat("vwlite-delta", "delta", version=1)

class Spec(NamedTuple):
    """A member as the header describes it; ``crc32`` and ``digest`` cover its whole npy file."""

    name: str
    dtype: str  # one of DTYPES
    shape: tuple[int, ...]
    crc32: str = "0" * 8
    digest: str = "0" * 32

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype[2:])

    @property
    def preamble(self) -> bytes:
        """The npy header, spelled here because its padding differs between versions of NumPy."""
        text = f"{{'descr': '{self.dtype}', 'fortran_order': False, 'shape': {self.shape}, }}"
        length = -(-(len(text) + 11) // 64) * 64 - 10
        text = text.ljust(length - 1) + "\n"
        return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + text.encode()

    @property
    def member(self) -> Member:
        size = len(self.preamble) + self.nbytes
        return Member(f"{self.name}.npy", size, int(self.crc32, 16))


# A member and its data in C-contiguous pieces. A piece must not change once it is yielded: several are in use at once.
Source = tuple[Spec, Iterable[Any]]
# MurmurHash3 x64 128: the digest detects damage, not forgery. It detects every change within one block of
# 16 bytes, and reads 2.5 GB/s where sha256 reads 1.3 and blake2b 1.0.
Hasher = mmh3_x64_128


def write(
    path,
    format: FileFormat,
    head: dict,
    sources: Iterable[Source],
    announce: Callable[[str], None] | None = None,
    open_output: OpenOutput = atomic_output,
) -> None:
    """Write an archive whose bytes depend only on ``head``, the arrays and the version of vwlite.

    ``head``: JSON data that joins the header. ``sources``: each member's spec with C-contiguous
    array pieces that add up to its data. ``announce`` is called with the header's digest, which the file ends with,
    before the file gets its name. ``open_output`` opens the file. Raises OutputError when the header is too long,
    ValueError when it holds NaN or infinity.
    """
    sources = sorted(sources, key=lambda source: source[0].name)
    specs = [spec for spec, _ in sources]
    blank = _encode(format, head, specs)
    if len(blank) > HEADER_LIMIT:
        raise OutputError(
            f"{os.fspath(path)}: the header takes {len(blank)} bytes, at most {HEADER_LIMIT} fit"
        )
    frames = frame(members(blank, specs), b"")
    with open_output(path) as opened, written_anywhere(opened) as file:
        done, flusher = [], Flusher(file)
        try:
            for (spec, pieces), (offset, record) in zip(sources, frames[1:-1], strict=True):
                file.seek(offset + len(record))
                done.append(_write_member(file, spec, pieces, flusher))
        finally:
            flusher.finish()
        header = _encode(format, head, done)  # of the same length as ``blank``: digests have a fixed width
        for offset, record in frame(members(header, done), comment(format, header)):
            file.seek(offset)
            file.write(record + header if offset == 0 else record)
        if announce:
            announce(Hasher(header).digest().hex())


def _write_member(file: BinaryIO, spec: Spec, pieces: Iterable, flusher: Flusher) -> Spec:
    """Write a member at the file's position. The pieces of a large one are made and written by two threads at once."""
    file.write(spec.preamble)
    file.flush()
    hashed, crc, left, offset = Hasher(spec.preamble), zlib.crc32(spec.preamble), spec.nbytes, file.tell()
    threads = int(spec.nbytes >= THREADED_WRITE_BYTES)
    for piece in in_order(_with_offsets(pieces, offset), partial(_write_at, file.fileno()), threads):
        left -= piece.nbytes
        flusher.wrote(piece.nbytes)
        hashed.update(piece)
        crc = zlib.crc32(piece, crc)
    if left:
        raise ValueError(f"the pieces of {spec.name} do not add up to {spec.shape}")
    return spec._replace(crc32=f"{crc:08x}", digest=hashed.digest().hex())


def _with_offsets(pieces: Iterable[Any], offset: int) -> Iterator[tuple[Any, int]]:
    for piece in pieces:
        yield piece, offset
        offset += piece.nbytes


def _write_at(descriptor: int, piece_and_offset: tuple[Any, int]) -> Any:
    piece, offset = piece_and_offset
    data = memoryview(piece).cast("B")
    while data:
        done = os.pwrite(descriptor, data, offset)
        data, offset = data[done:], offset + done
    return piece


def _encode(format: FileFormat, head: dict, specs: list[Spec]) -> bytes:
    arrays = [spec._asdict() for spec in specs]
    own = {"kind": format.name, "format": format.version, "writer": __version__, "arrays": arrays}
    return json.dumps(own | head, indent=1, sort_keys=True, allow_nan=False).encode() + b"\n"


def members(header: bytes, specs: list[Spec]) -> list[Member]:
    """The zip members in their order: the header, then the arrays."""
    first = Member(HEADER, len(header), zlib.crc32(header))
    return [first, *(spec.member for spec in specs)]


def comment(format: FileFormat, header: bytes) -> bytes:
    """The zip comment: the name of the format and the digest of the header."""
    return f"{format.name} {Hasher(header).digest().hex()}".encode()
