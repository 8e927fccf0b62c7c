"""Numbers as people write them, in options and in text: ASCII digits with a sign, a point, an exponent.

Python's own ``int`` and ``float`` read other digits, blanks, underscores between digits, ``nan`` and ``inf`` besides.
"""

import re

WHOLE = r"[+-]?[0-9]+"
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
DIGITS = 1000  # longer numbers are refused
FLOAT32_MAX = (2 - 2**-23) * 2.0**127  # the largest finite number of single precision: no option is beyond it
DECIMAL_BYTES = re.compile(DECIMAL.encode())
_WHOLE, _DECIMAL = re.compile(WHOLE), re.compile(DECIMAL)


def read_whole(text: str) -> int:
    """Raises ValueError."""
    if len(text) > DIGITS or not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def read_decimal(text: str) -> float:
    """Infinite beyond what a double holds. Raises ValueError."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_count(text: str) -> bool:
    """Whether it is nothing but digits."""
    return text.isascii() and text.isdigit() and len(text) <= DIGITS
