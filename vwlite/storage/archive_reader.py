"""Reads the container that ``archive_writer.write`` writes, and refuses every other file.

Sizes are checked against the size of the file before memory is allocated; data are checked against
digests before the caller may rely on them.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

import numpy as np

from vwlite.errors import InputDamaged, InputMissing, ModelError
from vwlite.storage import archive_writer
from vwlite.storage.archive_writer import (
    DELTA,
    DTYPES,
    HEADER,
    HEADER_LIMIT,
    FileFormat,
    Hasher,
    Spec,
    comment,
    members,
)

PIECE = 1 << 20  # bytes read at once
END = 64  # bytes of an archive among which its format is named
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}", re.ASCII)
FOREIGN = (
    (rb"[\x04-\x10]\0\0\0\d+\.\d+\.|Version \d", "is a Vowpal Wabbit model: train a vwlite model"),
    (rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd", "is compressed: decompress it first"),
    (rb"PK\x03\x04|PK\x05\x06", "is a zip archive of something else: give a vwlite {noun}"),
)


class Archive:
    """An open archive, a context manager: ``header`` is header.json, ``specs`` the members by name.

    Opening checks the header and the zip records; the data are checked as they are read. Raises
    InputMissing, ModelError for a file that is damaged, not of vwlite or of a newer format, and
    InputDamaged when the disk fails.
    """

    def __init__(self, path, format: FileFormat):
        self.path, self.format = os.fspath(path), format
        self._file, self.size = _open(self.path, format)
        try:
            header = self._header_bytes()
            self.header = self._parse(header)
            specs = self._specs()
            offsets = self._check_frame(header, specs)
        except BaseException:
            self._file.close()
            raise
        self.specs = {spec.name: spec for spec in specs}
        self._unverified = set(self.specs)
        self._starts = dict(zip(self.specs, offsets[1:], strict=True))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def damaged(self, why: str) -> ModelError:
        return ModelError(
            f"{self.path} is damaged ({why}): restore this {self.format.noun} from a copy or make it again"
        )

    def pieces(self, name: str) -> Iterator[memoryview]:
        """The member's data as bytes, piece by piece. No number is split between two pieces.

        A piece is valid until the next one is read. Raises ModelError after the last piece when the data are damaged.
        """
        spec, offset = self.specs[name], self._starts[name]
        preamble = self._at(offset, len(spec.preamble))
        if preamble != spec.preamble:
            raise self.damaged(f"the start of {name}.npy")
        hashed, offset = Hasher(preamble), offset + len(preamble)
        buffer = memoryview(bytearray(min(PIECE, spec.nbytes)))
        for begin in range(0, spec.nbytes, PIECE):
            part = buffer[: spec.nbytes - begin]
            self._fill(part, offset + begin)
            hashed.update(part)
            yield part
        if hashed.digest().hex() != spec.digest:
            raise self.damaged(f"the data of {name}.npy")
        self._unverified.discard(name)

    def verify(self, name: str) -> None:
        for _ in self.pieces(name):
            pass

    def verify_rest(self) -> None:
        """Verify every member that was not read yet."""
        for name in sorted(self._unverified):
            self.verify(name)

    def read(self, name: str) -> np.ndarray:
        """The member as an array of its own."""
        spec = self.specs[name]
        array = np.empty(spec.shape, spec.dtype)
        flat, begin = array.reshape(-1), 0
        for piece in self.pieces(name):
            numbers = np.frombuffer(piece, spec.dtype)
            flat[begin : begin + len(numbers)] = numbers
            begin += len(numbers)
        return array

    def map(self, name: str) -> np.ndarray:
        """The member as a read-only view of the file, after one pass to verify it."""
        spec, offset = self.specs[name], self._starts[name]
        self.verify(name)
        pages = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.ndarray(spec.shape, spec.dtype, pages, offset + len(spec.preamble))

    def _fill(self, view: memoryview, offset: int) -> None:
        try:
            self._file.seek(offset)
            filled = self._file.readinto(view)
        except OSError as error:
            raise InputDamaged(f"reading {self.path} failed: {error.strerror}") from error
        if filled != len(view):
            raise self.damaged("it ends too early")

    def _at(self, offset: int, size: int) -> bytes:
        data = bytearray(size)
        self._fill(memoryview(data), offset)
        return bytes(data)

    def _header_bytes(self) -> bytes:
        start = self._at(0, min(self.size, 256))
        first = archive_writer.first_member(start)
        if first is None or first[0] != HEADER.encode():
            raise self._foreign(start)
        _, size, offset = first
        if size > HEADER_LIMIT or offset + size > self.size:
            raise self.damaged("the size of its header")
        header = self._at(offset, size)
        expected = comment(self.format, header)
        end = self._at(self.size - len(expected), len(expected))
        if end == expected:
            return header
        if end == comment(DELTA, header):
            raise ModelError(
                f"{self.path} is a delta, what one shard has changed of its base, and no {self.format.noun}: "
                "'vwlite merge' makes a model of all deltas of a round"
            )
        raise self.damaged("its header or its end")

    def _foreign(self, start: bytes) -> ModelError:
        if not start:
            return ModelError(f"{self.path} is empty: give a vwlite {self.format.noun}")
        for pattern, what in FOREIGN:
            if re.match(pattern, start):
                return ModelError(f"{self.path} {what.format(noun=self.format.noun)}")
        noun = self.format.noun
        return ModelError(f"{self.path} is not a vwlite {noun}: give one that vwlite wrote")

    def _parse(self, data: bytes) -> dict:
        try:
            header = json.loads(data, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError) as error:
            raise self.damaged("its header is not JSON") from error
        if not isinstance(header, dict) or header.get("kind") != self.format.name:
            raise self.damaged("its header is of another kind")
        number, newest = header.get("format"), self.format.version
        if type(number) is not int or number < 1:
            raise self.damaged("its format number")
        if number > newest:
            raise ModelError(
                f"{self.path} was written by a newer vwlite ({ascii(header.get('writer'))[:20]}): "
                "upgrade vwlite to read it"
            )
        return header

    def _specs(self) -> list[Spec]:
        try:
            specs = [_spec(item) for item in self.header["arrays"]]
        except (KeyError, TypeError, ValueError) as error:
            raise self.damaged("the list of its arrays") from error
        names = [spec.name for spec in specs]
        if names != sorted(set(names)):
            raise self.damaged("the order of its arrays")
        if sum(spec.nbytes for spec in specs) > self.size:
            raise self.damaged("the sizes of its arrays")
        return specs

    def _check_frame(self, header: bytes, specs: list[Spec]) -> list[int]:
        """Compare all bytes outside the members' data with what they must be. Returns the offsets of the data."""
        frame = archive_writer.frame(members(header, specs), comment(self.format, header))
        offset, record = frame[-1]
        if offset + len(record) != self.size:
            raise self.damaged("its size")
        for offset, record in frame:
            if self._at(offset, len(record)) != record:
                raise self.damaged("its zip records")
        return [offset + len(record) for offset, record in frame[:-1]]


def is_delta(path: str) -> bool:
    """Whether a file seems to be a delta, after its end."""
    if not os.path.isfile(path):  # opening a pipe would wait for its writer
        return False
    with suppress(OSError), open(path, "rb") as file:
        file.seek(-min(END, os.fstat(file.fileno()).st_size), os.SEEK_END)
        return DELTA.name.encode() in file.read()
    return False


def _whole(text: str) -> int:
    if len(text) > 21 or not -(2**63) <= (number := int(text)) < 2**64:
        raise ValueError("a number of more than 64 bits")
    return number


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("a number that is not finite")
    return number


def _open(path: str, format: FileFormat) -> tuple[BinaryIO, int]:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            problem = "is a directory" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
            raise ModelError(f"{path} {problem}: give the file of a vwlite {format.noun}")
        file = open(path, "rb")  # noqa: SIM115 (the archive closes it)
        return file, os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputMissing(f"cannot open the {format.noun} {path}: {error.strerror}") from error


def _spec(item: dict) -> Spec:
    """The checked description of a member. Raises ValueError, TypeError or KeyError when it is malformed."""
    spec = Spec(**{**item, "shape": tuple(item["shape"])})
    texts = (spec.name, spec.dtype, spec.crc32, spec.digest)
    if not all(isinstance(text, str) for text in texts) or spec.dtype not in DTYPES:
        raise ValueError(spec)
    if not (NAME.fullmatch(spec.name) and re.fullmatch("[0-9a-f]{8}", spec.crc32, re.ASCII)):
        raise ValueError(spec.name)
    if len(spec.shape) > 8 or any(type(n) is not int or n < 0 for n in spec.shape):
        raise ValueError(spec.name)
    if math.prod(max(n, 1) for n in spec.shape) > 1 << 48:
        raise ValueError(spec.name)
    return spec
