"""The namespace blocks of a line: names, values, hashes, affixes and spellings."""

import re

import numpy as np

from .derived import derive
from .example import Segment
from .hashing import MASK32, hash_name, murmur3
from .namespaces import ANONYMOUS, redefinition
from .numbers import F32, parse_number
from .options import Options

NAME = re.compile(rb"[^ \t:|\r]*")
TEXT_VALUE = re.compile(rb"[ \t\r]*([^ \t\r]*)")


class BlockReader:
    """Cursor over the part of a line that starts with the first bar."""

    def __init__(self, line: bytes, bar: int, options: Options):
        self.line, self.at, self.options = line, bar, options
        self.segments: list[Segment] = []
        self.warnings: list[str] = []
        self.filed_under = redefinition(options)

    def peek(self) -> bytes:
        return self.line[self.at : self.at + 1]

    def read(self) -> None:
        while self.peek() == b"|":
            self.at += 1
            if self.peek() == b":":
                self.warnings.append("namespace name expected")
            else:
                self.read_block()
        if self.peek() not in (b"", b"\r"):
            self.warnings.append("bar or end expected")

    def read_name(self) -> bytes:
        result = NAME.match(self.line, self.at)
        self.at = result.end()
        return result.group()

    def read_number(self) -> tuple[np.float32, bool]:
        value, taken = parse_number(self.line, self.at, len(self.line))
        self.at += taken
        return value, taken > 0

    def read_block(self) -> None:
        name, scale, char, seed = self.read_name(), F32(1), ANONYMOUS, self.options.hash_seed
        ns_hash = murmur3(b"", seed) if seed else 0
        if name:
            char, ns_hash = name[0], hash_name(name, seed, self.options.hash)
        if name and self.peek() == b":":
            self.at += 1
            scale, _ = self.read_number()
            if not self.peek():
                self.warnings.append("namespace value expected")
            if np.isnan(scale):
                self.warnings.append("namespace value is NaN")
                scale = F32(1)
        self.anonymous = 0
        self.block = Segment(char, ns_hash, [], name, [])
        self.made = {}  # affix and spelling segments of this block, in order of birth
        while self.peek() in (b" ", b"\t"):
            self.at += 1
            if self.peek() not in (b"", b" ", b"\t", b"|", b"\r"):
                self.read_feature(scale)
        self.segments += [*self.made.values(), self.block] if self.block.features else []
        if self.peek() not in (b"", b"|", b"\r"):
            self.warnings.append("space or bar expected")

    def read_feature(self, scale: np.float32) -> None:
        name, value, text = self.read_name(), scale, b""
        if self.peek() == b":":
            self.at += 1
            value, is_number = self.read_number() if self.peek() else (F32(0), False)
            if is_number:
                if np.isnan(value):
                    self.warnings.append("feature value is NaN")
                    value = F32(0)
                with np.errstate(all="ignore"):
                    value = value * scale
            else:
                result = TEXT_VALUE.match(self.line, self.at)
                self.at, text, value = result.end(), result.group(1), F32(1)
        ns_hash, mode = self.block.ns_hash, self.options.hash
        if not name and not text:
            index = ns_hash + self.anonymous
            self.anonymous += 1
        else:
            index = hash_name(name, ns_hash, mode)
            index = hash_name(text, index, mode) if text else index
        if value == 0:
            return
        self.block.features.append((index & MASK32, value))
        self.block.names.append((name, text))
        char = self.filed_under[self.block.char] if self.block.ns_name else ANONYMOUS
        derive(self.block, char, len(self.block.features) - 1, self.made, self.options)
