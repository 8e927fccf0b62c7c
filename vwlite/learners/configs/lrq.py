"""Options of low-rank quadratic interactions (``--lrq``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.features.interactions import decode_letters
from vwlite.learners.configs.gd import GdConfig


@dataclass(frozen=True, slots=True)
class LrqConfig(GdConfig):
    """As ``GdConfig``; every one of ``lrq`` is two letters of namespaces and a rank, as ``ui4``."""

    lrq: tuple[str, ...] = ()
    lrqdropout: bool = False  # leave half of the factors out of each step
    random_seed: int = 0  # which

    learner: ClassVar[str] = "lrq"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "lrq", tuple(self.lrq))
        read_pairs(self.lrq)
        if self.ftrl or self.binary:
            raise UsageError("--lrq does not go with --ftrl and --binary")


def read_pairs(values: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Two letters and a rank each, once, in the order of the bytes. Raises UsageError."""
    pairs = {}
    for value in values:
        letters = decode_letters(value)
        match = re.fullmatch(rb"(.)(.)([1-9][0-9]{0,3})", letters, re.S)
        if not match:
            raise UsageError(f"--lrq takes two letters and a rank up to 9999, like ui4, not {value!r}")
        pairs[letters] = match[1][0], match[2][0], int(match[3])
    return [pairs[letters] for letters in sorted(pairs)]
