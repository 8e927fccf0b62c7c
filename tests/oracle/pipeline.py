"""From a parsed example to the terms of its prediction, in prediction order."""

from typing import NamedTuple

import numpy as np

from .example import Example
from .interactions import canonical, combine
from .namespaces import CONSTANT, is_dropped, redefinition
from .ngrams import for_namespace, with_ngrams
from .options import Options

F32 = np.float32
CONSTANT_INDEX = 11650396
Term = tuple[int, np.float32, bytes]  # index, value, audit name


class Expanded(NamedTuple):
    """``terms`` are ``(index modulo 2**bits, value, audit name)``, without --ignore_linear's."""

    terms: list[Term]
    count: int  # of features, --ignore_linear's too
    squares: np.float32  # sum of squared values, --ignore_linear's too, namespace by namespace


def expand(example: Example, options: Options, seen: set[int], audit: bool = False) -> Expanded:
    """The terms of an example; ``seen`` holds the namespace bytes met so far and is added to.

    An ``audit`` also shows the terms of --ignore_linear.
    """
    spaces = namespaces(example, options, seen)
    terms = [term for char, members in spaces.items() if audit or char not in options.ignore_linear for term in members]
    count = sum(map(len, spaces.values()))
    squares = sum((sum_of_squares(members) for members in spaces.values()), F32(0))
    for letters in canonical(options, seen):
        crossed = combine(letters, spaces, options.permutations)
        terms += crossed
        count += len(crossed)
        squares = squares + sum_of_squares(crossed)
    masked = [(index % 2**options.bits, value, name) for index, value, name in terms]
    return Expanded(masked, count, squares)


def sum_of_squares(terms: list[Term]) -> np.float32:
    with np.errstate(all="ignore"):
        return sum((value * value for _, value, _ in terms), F32(0))


def namespaces(example: Example, options: Options, seen: set[int]) -> dict[int, list[Term]]:
    """Terms by namespace byte, in the order the namespaces came; the constant is last."""
    filed_under = redefinition(options)
    spaces: dict[int, list] = {}
    for segment in example.segments:
        written = segment.ns_name[:1] == bytes([segment.char])  # not anonymous, not derived
        char = filed_under[segment.char] if written else segment.char
        for (index, value), (name, text) in zip(segment.features, segment.names, strict=True):
            spaces.setdefault(char, []).append((index, value, segment.ns_name, name, text))
    seen.update(spaces)
    kept = {char: terms for char, terms in spaces.items() if not is_dropped(char, options)}
    named = {
        char: [(term[0], term[1], audit_name(*term[2:])) for term in with_ngrams(char, terms, options)]
        for char, terms in kept.items()
    }
    if not options.noconstant:
        named.setdefault(CONSTANT, []).append((CONSTANT_INDEX, F32(1), b"Constant"))
    return {char: limited(char, terms, options) for char, terms in named.items()}


def audit_name(ns_name: bytes, name: bytes, text: bytes) -> bytes:
    return (ns_name + b"^" if ns_name else b"") + name + (b"^" + text if text else b"")


def limited(char: int, terms: list[Term], options: Options) -> list[Term]:
    """The first distinct indices, when --feature_limit has something to cut."""
    limit = for_namespace(options.feature_limit, char)
    if not limit or len(terms) <= limit:
        return terms
    kept: dict[int, Term] = {}
    for term in sorted(terms, key=lambda term: (term[0] % 2**options.bits, term[1])):
        kept.setdefault(term[0] % 2**options.bits, term)
    return list(kept.values())[:limit]
