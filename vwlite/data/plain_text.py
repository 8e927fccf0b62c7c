"""The text of files that Python reads, such as columns and templates; what kernels parse is text as they have it."""

import re

BOM = b"\xef\xbb\xbf"  # which some editors put before the text
WORD = re.compile(r"[^ \t\r\n]+")  # other blanks, such as no-break spaces, are characters of words


def decoded(text: bytes) -> str:
    """Without a byte order mark; bytes that are not UTF-8 become surrogates."""
    return text.removeprefix(BOM).decode("utf-8", "surrogateescape")


def words_of(text: str) -> list[str]:
    """What stands between blanks, tabs and line ends."""
    return WORD.findall(text)
