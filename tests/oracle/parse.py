"""One line of Vowpal Wabbit text to labels and hashed features."""

import numpy as np

from .blocks import BlockReader
from .example import Example
from .numbers import F32, parse_number
from .options import Options


def parse_line(line: bytes, options: Options) -> Example:
    """The example in ``line``; trouble is noted in ``warnings`` and what was read stays."""
    line = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")
    example = Example(blank=not line)
    bar = line.find(b"|")
    parse_label(line if bar < 0 else line[:bar], example)
    if bar >= 0:
        reader = BlockReader(line, bar, options)
        reader.read()
        example.segments = reader.segments
        example.warnings += reader.warnings
    return example


def parse_label(part: bytes, example: Example) -> None:
    """Set label, importance, base and tag from the bytes before the first bar."""
    part = part[part.find(b"\t") + 1 :]
    words = [word for word in part.split(b" ") if word]
    if words and (part.endswith(words[-1]) or words[-1].startswith(b"'")):
        example.tag = words.pop().removeprefix(b"'")
    if len(words) > 3:
        example.warnings.append("too many label words")
        return
    for word, attribute in zip(words, ("label", "importance", "base"), strict=False):
        value, taken = parse_number(word, 0, len(word))
        if taken == 0 or np.isnan(value):
            example.warnings.append("not a float")
            value = F32(0)
        setattr(example, attribute, value)
