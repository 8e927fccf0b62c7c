"""Digests of the decompressed text of files, computed while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypedDict

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite._native.digest import WORDS, add, begin
from vwlite.data.input_stream import open_input

HEAD = 1 << 16  # bytes at the start of a text; their digest alone tells most files apart
PIECE = 1 << 19  # bytes read together


class TextDigest(TypedDict):
    """A ``Mark`` as JSON data. ``whole``: there is no more of the text."""

    size: int
    digest: str
    head: str
    whole: bool


class Mark(NamedTuple):
    """How much of a text was read, and its digest so far."""

    size: int
    state: bytes
    head: str  # the digest of the first HEAD bytes; empty for less

    def as_json(self, whole: bool) -> TextDigest:
        return {"size": self.size, "digest": mmh3_x64_128(self.state).digest().hex(), "head": self.head, "whole": whole}


class Digest:
    """The running digest of a text."""

    def __init__(self) -> None:
        self.state, self.size, self.head = np.zeros(WORDS, np.uint64), 0, ""
        begin(self.state)

    def add(self, data: bytearray, size: int) -> None:
        """Go on with ``data[:size]``."""
        start = 0
        if self.size < HEAD <= self.size + size:
            start = HEAD - self.size
            add(self.state, data, 0, start)
            self.head = self.hex()
        add(self.state, data, start, size)
        self.size += size

    def mark(self) -> Mark:
        return Mark(self.size, self.state.tobytes(), self.head)

    def hex(self) -> str:
        return mmh3_x64_128(self.state).digest().hex()


NOTHING = Digest().mark()


def prefixes(path: str, sizes: set[int]) -> Iterator[tuple[int, str]]:
    """Size and digest of the text of ``path`` up to each of ``sizes``, from the smallest on, and at last of all of it.

    Raises as ``vwlite.data.input_stream.open_input`` and its reads do.
    """
    digest, buffer, left = Digest(), bytearray(PIECE), sorted(sizes, reverse=True)
    with open_input(path) as stream, memoryview(buffer) as view:
        while True:
            while left and left[-1] <= digest.size:
                yield left.pop(), digest.hex()
            wanted = min(left[-1] - digest.size, PIECE) if left else PIECE
            got = stream.readinto(view[:wanted])
            if not got:
                break
            digest.add(view, got)
    yield digest.size, digest.hex()


def is_unchanged_text(path: str, then: TextDigest) -> bool:
    """Whether the text of ``path`` begins with the text digested then, and if that was whole, has nothing after it."""
    for size, digest in prefixes(path, {then["size"]}):
        if size < then["size"] or (size == then["size"] and digest != then["digest"]):
            return False
        if size == then["size"] and not then["whole"]:
            return True
    return size == then["size"]
