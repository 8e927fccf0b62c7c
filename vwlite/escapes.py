"""Escapes text from data before people read it: characters that control a terminal or hide other characters."""

import re

# Control characters (C0, DEL, C1), bytes that are not UTF-8, Unicode line separators, and changes of text direction.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LAYOUT = "\n\t"


def escaped(text: str, kept: str = "") -> str:
    """``text`` with Python's escapes for such characters, except those in ``kept``."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in kept else escape(found[0]), text)


def laid_out(text: str) -> str:
    """As ``escaped``, for text of several lines: newlines and tabs stay."""
    return escaped(text, LAYOUT)


def escape(character: str) -> str:
    """The escape of a character; a surrogate, which stands for a byte that is not UTF-8, becomes that byte's."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
