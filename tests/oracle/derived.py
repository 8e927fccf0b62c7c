"""Features made from the letters of other features: --affix and --spelling."""

import re

from .example import Segment
from .hashing import MASK32, hash_name
from .namespaces import AFFIX, ANONYMOUS, SPELLING
from .options import Options

AFFIX_PRIME, NGRAM_PRIME = 13903957, 27942141
SHAPES = ((rb"[0-9]", b"0"), (rb"[a-z]", b"a"), (rb"[A-Z]", b"A"), (rb"[^0aA.]", b"#"))


def affix_specs(options: Options) -> dict[int, list[int]]:
    """Per namespace byte its packed affixes, ``2 * length + is_prefix``, last typed first."""
    specs: dict[int, list[int]] = {}
    for spec in filter(None, options.affix.encode().split(b",")):
        body = spec.lstrip(b"+-")
        char = body[1] if len(body) > 1 else ANONYMOUS
        specs.setdefault(char, []).insert(0, int(body[:1]) * 2 + (spec[:1] != b"-"))
    return specs


def shape_of(name: bytes) -> bytes:
    for pattern, letter in SHAPES:
        name = re.sub(pattern, letter, name, flags=re.DOTALL)
    return name


def affixes(name: bytes, char: int, ns_hash: int, options: Options):
    """``(index, audit name)`` of each affix of a feature; features without a name have none."""
    shown = b"" if char == ANONYMOUS else bytes([char])
    for packed in affix_specs(options).get(char, ()) if name else ():
        length, prefix = packed >> 1, packed & 1
        text = name[:length] if prefix else name[-length:]
        index = hash_name(text, ns_hash, options.hash) * (AFFIX_PRIME + packed * NGRAM_PRIME)
        yield index & MASK32, shown + b"-+"[prefix : prefix + 1] + b"%d=" % length + text


def spellings(name: bytes, char: int, ns_hash: int, options: Options):
    """``(index, audit name)`` of the spelling feature, if the namespace has one."""
    if char in options.spelling:
        shape = shape_of(name)
        shown = b"" if char == ANONYMOUS else bytes([char]) + b"_"
        yield hash_name(shape, ns_hash), shown + shape


def derive(block: Segment, char: int, feature: int, made: dict[int, Segment], options: Options):
    """Add what feature number ``feature`` of ``block`` gives to the segments in ``made``."""
    name, value = block.names[feature][0], block.features[feature][1]
    for target, ns_name, maker in (
        (AFFIX, b"affix", affixes),
        (SPELLING, b"spelling", spellings),
    ):
        for index, shown in maker(name, char, block.ns_hash, options):
            segment = made.setdefault(target, Segment(target, 0, [], ns_name, []))
            segment.features.append((index, value))
            segment.names.append((shown, b""))
