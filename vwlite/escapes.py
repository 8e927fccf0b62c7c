"""Text of others where people read it: what a terminal would obey, or what would hide what is there, is escaped."""

import re

# Control characters (C0, DEL, C1), bytes that are not UTF-8, ends of lines to some, and what turns text around.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LAYOUT = "\n\t"


def escaped(text: str, kept: str = "") -> str:
    """``text`` with Python's escapes for such characters, but for those that are ``kept``."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in kept else escape(found[0]), text)


def laid_out(text: str) -> str:
    """The same for text of several lines, whose own ends of lines and tabs stay."""
    return escaped(text, LAYOUT)


def escape(character: str) -> str:
    """A byte that is not UTF-8, which is a surrogate, as that byte."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
