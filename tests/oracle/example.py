"""Example, one parsed line."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

UNLABELED, NO_BASE, UNIT = np.float32(np.nan), np.float32(0), np.float32(1)


class Segment(NamedTuple):
    """Features of one namespace block; ``names[k]`` is the name and text value of feature k."""

    char: int  # first byte as written, before any --redefine
    ns_hash: int  # uint32 hash of the whole name, 0 for affixes and spellings
    features: list[tuple[int, np.float32]]  # hash modulo 2**32, value
    ns_name: bytes
    names: list[tuple[bytes, bytes]]


@dataclass
class Example:
    """``label`` is NaN without a label; ``segments`` has the non-empty blocks in order."""

    label: np.float32 = UNLABELED
    importance: np.float32 = UNIT
    base: np.float32 = NO_BASE
    tag: bytes = b""
    blank: bool = False
    segments: list[Segment] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_save(self) -> bool:
        return not self.segments and self.tag.startswith(b"save")
