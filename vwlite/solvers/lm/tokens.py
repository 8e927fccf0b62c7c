"""What a word of plain text is."""

from __future__ import annotations

import re
from unicodedata import ucd_3_2_0

from vwlite.data.lower_case import CHARACTERS as LOWERED
from vwlite.data.lower_case import lower

PUNCTUATION = ".,!?;:"
WORD = re.compile(r"\n|0+(?:[.,]0+)*|[.,!?;:]|[^ \n0.,!?;:]+")
BETWEEN_BLANKS = re.compile(r"[^ \t\r\f\v\n]+|\n")


class Characters(dict[int, str]):
    """Of characters, as ``str.translate`` asks for them: letters in lower case, 0 for digits, blanks for all else."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character == "\n" or character in PUNCTUATION:
            found = character
        elif ucd_3_2_0.category(character)[0] == "N":
            found = "0"
        else:
            found = chr((character != "_" and code < LOWERED and lower(character)) or 32)
        self[code] = found
        return found


CHARACTERS = Characters()


def decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def tokens_of(text: str, kind: str) -> list[str]:
    """The tokens of lines, and their line ends. ``kind``: as ``LmConfig.tokens`` has it."""
    if kind == "blanks":
        return BETWEEN_BLANKS.findall(text)
    return ["0" if token[0] == "0" else token for token in WORD.findall(text.translate(CHARACTERS))]


def word_of(name: str, kind: str) -> str:
    """The token that ``name`` is; "" where it is none, or several."""
    found = tokens_of(name, kind)
    return found[0] if len(found) == 1 else ""
