"""The verified container below model files: a stored zip of ``header.json`` and ``.npy`` members.

Every byte is settled: the members' data by digests in the header, the header by a digest in the zip
comment, and all bytes between (zip records, padding, npy headers) because they follow from the
header alone. The reader builds those anew and compares, so no flipped bit goes unseen, and holds
every size against the file before it allocates. Later formats keep ``header.json`` first and the
comment last, so that an older reader can name them.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from mmh3 import mmh3_x64_128

from vwlite.errors import OutputError
from vwlite.storage import zip_layout
from vwlite.storage.atomic_file import Opened, atomic_output
from vwlite.storage.flushing import Flusher
from vwlite.storage.ordered_pool import in_order
from vwlite.version import __version__

HEADER = "header.json"
LARGE = 8 << 20  # bytes of a member that is worth threads
HEADER_LIMIT = 16 << 20  # bytes; parsed JSON takes up to 25 times as much
DTYPES = frozenset(["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])


class Kind(NamedTuple):
    """What files of one kind call themselves, what people call them, and their newest format."""

    name: str
    noun: str
    format: int


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
    def member(self) -> zip_layout.Member:
        size = len(self.preamble) + self.nbytes
        return zip_layout.Member(f"{self.name}.npy", size, int(self.crc32, 16))


# A member and its data in C-contiguous pieces; once given out they must not change: several are under way.
Source = tuple[Spec, Iterable[Any]]
# MurmurHash3 x64 128: the enemy is damage, not malice. Any change within one block of 16 bytes
# shows for certain, and it reads 2.5 GB/s where sha256 reads 1.3 and blake2b 1.0.
Hasher = mmh3_x64_128


def write(
    path,
    kind: Kind,
    head: dict,
    sources: Iterable[Source],
    announce: Callable[[str], None] | None = None,
    opened: Opened = atomic_output,
) -> None:
    """Write an archive whose bytes depend only on ``head``, the arrays and the version of vwlite.

    ``head``: JSON data that joins the header. ``sources``: each member's spec with C-contiguous
    array pieces that add up to its data. ``announce`` is told the header's digest, which the file ends with, before the
    file gets its name. Raises OutputError when the header is too long, ValueError
    when it holds NaN or infinity.
    """
    sources = sorted(sources, key=lambda source: source[0].name)
    specs = [spec for spec, _ in sources]
    blank = _encode(kind, head, specs)
    if len(blank) > HEADER_LIMIT:
        raise OutputError(
            f"{os.fspath(path)}: the header takes {len(blank)} bytes, at most {HEADER_LIMIT} fit"
        )
    places = zip_layout.frame(members(blank, specs), b"")
    with opened(path) as file:
        done, flusher = [], Flusher(file)
        try:
            for (spec, pieces), (offset, record) in zip(sources, places[1:-1], strict=True):
                file.seek(offset + len(record))
                done.append(_write_member(file, spec, pieces, flusher))
        finally:
            flusher.finish()
        header = _encode(kind, head, done)  # as long as the blank one: digests have a fixed width
        for offset, record in zip_layout.frame(members(header, done), comment(kind, header)):
            file.seek(offset)
            file.write(record + header if offset == 0 else record)
        if announce:
            announce(Hasher(header).digest().hex())


def _write_member(file: BinaryIO, spec: Spec, pieces: Iterable, flusher: Flusher) -> Spec:
    """Where ``file`` stands. The pieces of a large one are made, written and summed at the same time."""
    file.write(spec.preamble)
    file.flush()
    hashed, crc, left, place = Hasher(spec.preamble), zlib.crc32(spec.preamble), spec.nbytes, file.tell()
    for piece in in_order(_placed(pieces, place), partial(_put, file.fileno()), spec.nbytes >= LARGE):
        left -= piece.nbytes
        flusher.wrote(piece.nbytes)
        hashed.update(piece)
        crc = zlib.crc32(piece, crc)
    if left:
        raise ValueError(f"the pieces of {spec.name} do not add up to {spec.shape}")
    return spec._replace(crc32=f"{crc:08x}", digest=hashed.digest().hex())


def _placed(pieces: Iterable[Any], place: int) -> Iterator[tuple[Any, int]]:
    for piece in pieces:
        yield piece, place
        place += piece.nbytes


def _put(descriptor: int, given: tuple[Any, int]) -> Any:
    piece, place = given
    data = memoryview(piece).cast("B")
    while data:
        done = os.pwrite(descriptor, data, place)
        data, place = data[done:], place + done
    return piece


def _encode(kind: Kind, head: dict, specs: list[Spec]) -> bytes:
    arrays = [spec._asdict() for spec in specs]
    own = {"kind": kind.name, "format": kind.format, "writer": __version__, "arrays": arrays}
    return json.dumps(own | head, indent=1, sort_keys=True, allow_nan=False).encode() + b"\n"


def members(header: bytes, specs: list[Spec]) -> list[zip_layout.Member]:
    """The zip members in their order: the header, then the arrays."""
    first = zip_layout.Member(HEADER, len(header), zlib.crc32(header))
    return [first, *(spec.member for spec in specs)]


def comment(kind: Kind, header: bytes) -> bytes:
    """The zip comment, which vouches for the header."""
    return f"{kind.name} {Hasher(header).digest().hex()}".encode()
