"""Labels that are names: every distinct text a label may be gets a number, in order of appearance."""

from dataclasses import replace

import numpy as np

from vwlite.source import Block

SLACK = bytes(64)


class LabelBook:
    """Rewrites blocks so that labels are the numbers of their texts; ``texts[number]`` tells what they were.

    A line's label is its first word, unless that is a tag (it begins with ``'`` or touches the bar).
    """

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    @property
    def texts(self) -> list[str]:
        return [text.decode("utf-8", "surrogateescape") for text in self.numbers]

    def __call__(self, block: Block) -> Block:
        lines = bytes(block.data[: block.size]).split(b"\n")
        data = b"\n".join(map(self.numbered, lines))
        return replace(block, data=bytearray(data + SLACK), size=len(data))

    def numbered(self, line: bytes) -> bytes:
        bar = line.find(b"|")
        head = line[:bar] if bar >= 0 else line
        words = head.split(None, 1)
        if not words or words[0].startswith(b"'") or (bar >= 0 and head.endswith(words[0])):
            return line
        number = self.numbers.setdefault(words[0], len(self.numbers))
        at = head.index(words[0])
        return b"%s%d%s" % (line[:at], number, line[at + len(words[0]) :])


class Classes:
    """Names of classes, sorted; with ``several`` a label lists any number of them, separated by commas."""

    def __init__(self, names: list[str], several: bool = False) -> None:
        self.names, self.several = names, several
        self.place = {name: place for place, name in enumerate(names)}

    @classmethod
    def of(cls, texts: list[str], several: bool = False) -> "Classes":
        """Those that label texts name; numbers are in numeric order where all are numbers."""
        names = {name for text in texts for name in split(text, several)}
        numeric = all(name.isdigit() and len(name) < 16 for name in names)
        return cls(sorted(names, key=(lambda name: (int(name), name)) if numeric else None), several)

    def members(self, texts: list[str]) -> list[np.ndarray]:
        """Per label text its classes, int32 ascending; names that are no class are left out."""
        known = ([self.place[name] for name in split(text, self.several) if name in self.place] for text in texts)
        return [np.array(sorted(set(places)), np.int32) for places in known]


def split(text: str, several: bool) -> list[str]:
    return [name for name in text.split(",") if name] if several else [text]
