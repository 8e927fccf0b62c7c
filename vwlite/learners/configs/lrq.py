"""Options of low-rank quadratic interactions (``--lrq``)."""

from __future__ import annotations

import re
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.shared import random_seed
from vwlite.options import config, option

SECTION = "Low-rank quadratic interactions"


@config
class LrqConfig(GdConfig):
    """As ``GdConfig``; every one of ``lrq`` is two letters of namespaces and a rank, as ``ui4``."""

    lrq: tuple[str, ...] = option(
        (), "Cross namespaces A and B by factors of rank N, learned in turns.", section=SECTION, metavar="ABN",
        letters=True,
    )
    lrqdropout: bool = option(False, "Leave half of the factors out of each step, by chance.", section=SECTION)
    random_seed: int = random_seed()  # which

    learner: ClassVar[str] = "lrq"
    asked_by: ClassVar[tuple[str, ...]] = ("lrq",)
    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "lrq", tuple(self.lrq))
        read_pairs(self.lrq)
        if self.ftrl:
            raise UsageError("--lrq does not go with --ftrl: factors are learned by gradient descent, drop one")


def read_pairs(values: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Two letters and a rank each, once, in the order of the bytes. Raises UsageError."""
    from vwlite.features.interactions import decode_letters  # imports a hash, which --help does without

    pairs = {}
    for value in values:
        letters = decode_letters(value)
        match = re.fullmatch(rb"(.)(.)([1-9][0-9]{0,3})", letters, re.S)
        if not match:
            raise UsageError(f"--lrq takes two letters and a rank up to 9999, like ui4, not {value!r}")
        pairs[letters] = match[1][0], match[2][0], int(match[3])
    return [pairs[letters] for letters in sorted(pairs)]
