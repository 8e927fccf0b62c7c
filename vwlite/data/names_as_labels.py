"""Labels that turn out to be names where numbers are learned: the options that learn them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from vwlite.escapes import escaped
from vwlite.numerals import DECIMAL

WORD, CELL = re.compile(rb'"?([^\s|",]+)'), re.compile(rb'"?([^\t|",]+)')  # in text, in tables
NAME = re.compile(f"(?!(?:{DECIMAL})$)[^:]+")  # neither a number nor a class with its cost
MAX_SHOWN = 10  # names in a message
MAX_NAMES = 1000  # that are remembered


class NamesAsLabels:
    """The labels of lines that are malformed because their label is no number."""

    def __init__(self) -> None:
        self.lines = 0
        self.names: dict[str, None] = {}

    def add(self, line: bytes, column: int, table: bool = False) -> None:
        """``column``, from 0: where the label begins, in a line of text or of a ``table``."""
        found = (CELL if table else WORD).match(line, column)
        name = found[1].decode("utf-8", "surrogateescape").strip() if found else ""
        if NAME.fullmatch(name):
            self.lines += 1
            if len(self.names) < MAX_NAMES:
                self.names.setdefault(name)

    def advice(self, bad: int) -> str:
        """What ends a message about ``bad`` malformed lines; empty where most are malformed for another reason."""
        if 2 * self.lines <= bad:
            return ""
        few = len(self.names) <= MAX_SHOWN
        some = ", ".join(escaped(name) for name in list(self.names)[:MAX_SHOWN]) + ", ..." * (not few)
        words = ["_".join(name.split()) for name in self.names]
        options = f"--oaa {len(words)} {named_labels(words)}" if few else "--oaa and --named_labels"
        odd = next((word for word, name in zip(words, self.names, strict=True) if word != name), "")
        single = f"must be single words, such as {escaped(odd)}, and " if odd else ""
        return (
            f"; labels that are names ({some}) {single}need {options}, or vwlite l1: 'vwlite check' prints the options "
            "for all of the data"
        )


def named_labels(names: Iterable[str]) -> str:
    """The option as a shell takes it."""
    return f"--named_labels {shlex.quote(escaped(','.join(names)))}"
