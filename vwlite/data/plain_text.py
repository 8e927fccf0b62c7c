"""The text of files that Python reads, such as columns and templates; what kernels parse is text as they have it."""

from __future__ import annotations

import re
from functools import cache
from unicodedata import ucd_3_2_0

import numpy as np

BOM = b"\xef\xbb\xbf"  # which some editors put before the text
WORD = re.compile(r"[^ \t\r\n]+")  # other blanks, such as no-break spaces, are characters of words


def decoded(text: bytes) -> str:
    """Without a byte order mark; bytes that are not UTF-8 become surrogates."""
    return text.removeprefix(BOM).decode("utf-8", "surrogateescape")


def words_of(text: str) -> list[str]:
    """What stands between blanks, tabs and line ends."""
    return WORD.findall(text)


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
