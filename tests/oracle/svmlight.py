"""SVMlight and LIBSVM text, line by line."""

import re

import numpy as np

from .example import Example, Segment
from .hashing import hash_name, murmur3
from .numbers import parse_number

HEXADECIMAL = rb"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+"
NUMBER = rb"([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|" + HEXADECIMAL + rb"))"
LABEL = re.compile(NUMBER)
QUERY = re.compile(rb"qid:(.+)", re.DOTALL)
FEATURE = re.compile(rb"(\d+):" + NUMBER)


def number(word: bytes) -> np.float32:
    """Raises ValueError where single precision has no finite number."""
    value, taken = parse_number(word, 0, len(word))
    if not np.isfinite(value):
        raise ValueError("not finite")
    assert taken == len(word)
    return value


def parse_line(line: bytes, hash_mode: str = "strings", hash_seed: int = 0) -> Example | None:
    """The example in ``line``, None for a mere comment. Raises ValueError for a malformed line."""
    line = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")
    data, comment, _ = line.partition(b"#")
    words = [word for word in re.split(rb"[ \t]", data) if word]
    if not words:
        return None if comment else Example(blank=True)
    if not LABEL.fullmatch(words[0]):
        raise ValueError("label")
    example = Example(label=number(words.pop(0)))
    if words and words[0].startswith(b"qid:"):
        result = QUERY.fullmatch(words.pop(0))
        if not result:
            raise ValueError("query")
        example.tag = result[1]
    seed = murmur3(b"", hash_seed)
    block = Segment(32, seed, [], b"", [])
    for word in words:
        result = FEATURE.fullmatch(word)
        if not result:
            raise ValueError("feature")
        if value := number(result[2]):
            block.features.append((hash_name(result[1], seed, hash_mode), value))
            block.names.append((result[1], b""))
    if block.features:
        example.segments.append(block)
    return example
