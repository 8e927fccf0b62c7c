"""Characters of words and their small letters, as Unicode 3.2 has them: the same in every version of Python."""

from __future__ import annotations

from functools import cache
from unicodedata import ucd_3_2_0

import numpy as np

CHARACTERS = 1 << 16
NONE = np.zeros(CHARACTERS, np.uint16)  # for tables without such words


@cache
def lower_table() -> np.ndarray:
    """uint16[65536]: each letter, digit, mark and ``_`` in lower case, if that takes as many bytes; 0 for all else."""
    return np.array([lower(chr(code)) for code in range(CHARACTERS)], np.uint16)


def lower(character: str) -> int:
    if character != "_" and ucd_3_2_0.category(character)[0] not in "LNM":
        return 0
    small = character.lower()
    known = len(small) == 1 and ucd_3_2_0.category(small) != "Cn"
    return ord(small if known and len(small.encode()) == len(character.encode()) else character)
