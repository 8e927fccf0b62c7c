"""The bytes of an uncompressed zip file around its members' data, from names, sizes and checksums alone.

All records are zip64 (PKWARE APPNOTE 4.3 and 4.5.3), so that members above 4 GiB need no other layout.
They hold no times, hosts or users. Data begin at multiples of 64 bytes, so that arrays can be mapped.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

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
