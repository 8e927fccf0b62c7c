"""Labels that turn out to be names where numbers are learned: the options that learn them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from vwlite.escapes import escaped
from vwlite.numerals import DECIMAL

WORDS = re.compile(rb"""\"?([^\s|",]+(?: +(?!'|[^\s|",]*\|)[^\s|",]+)*)""")  # up to a tag
NUMBERS_BEHIND = re.compile(f"( (?:{DECIMAL}))+$")  # importance and initial prediction
NAME = re.compile(f"(?!(?:{DECIMAL})$)[^:]+")  # neither a number nor a class with its cost
MAX_SHOWN = 10  # names in a message
MAX_NAMES = 1000  # that are remembered


class NamesAsLabels:
    """The labels of lines that are malformed because their label is no number."""

    def __init__(self) -> None:
        self.lines = 0
        self.names: dict[str, None] = {}

    def add(self, line: bytes, column: int) -> None:
        """``column``, from 0: where the label begins."""
        found = WORDS.match(line, column)
        words = " ".join(found[1].decode("utf-8", "surrogateescape").split()) if found else ""
        name = NUMBERS_BEHIND.sub("", words)
        if NAME.fullmatch(name):
            self.lines += 1
            if len(self.names) < MAX_NAMES:
                self.names.setdefault(name)

    def advice(self, bad: int) -> str:
        """What ends a message about ``bad`` malformed lines; empty where most are malformed for another reason."""
        if 2 * self.lines <= bad:
            return ""
        if blanks := [name for name in self.names if " " in name]:
            return f"; a label is one word: {blanks[0].replace(' ', '_')!r} in place of {blanks[0]!r}"
        few = len(self.names) <= MAX_SHOWN
        some = ", ".join(escaped(name) for name in list(self.names)[:MAX_SHOWN]) + ", ..." * (not few)
        options = f"--oaa {len(self.names)} {named_labels(self.names)}" if few else "--oaa and --named_labels"
        return (
            f"; labels that are names ({some}) need {options}, or vwlite l1: 'vwlite check' prints the options for all "
            "of the data"
        )


def named_labels(names: Iterable[str]) -> str:
    """The option as a shell takes it."""
    return f"--named_labels {shlex.quote(escaped(','.join(names)))}"
