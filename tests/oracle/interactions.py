"""Interactions of namespaces: which ones are made, and their terms."""

from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from .options import Options

FNV_PRIME = 16777619
WILDCARD = ord(":")


def tidy(interactions: list[bytes], leave_duplicates: bool) -> list[bytes]:
    """Shorter first, then bytewise; one of each multiset; letters sorted where some repeat."""
    kept: dict[bytes, bytes] = {}
    ordered = sorted(interactions, key=lambda letters: (len(letters), letters))
    for number, letters in enumerate(ordered):
        same = bytes(sorted(letters))
        kept.setdefault((number, same) if leave_duplicates else same, letters)
    return [bytes(sorted(letters)) if 1 < len(set(letters)) < len(letters) else letters for letters in kept.values()]


def without_wildcards(letters: bytes, seen: list[int], ordered: bool) -> list[bytes]:
    """``letters`` with the wildcards replaced by every choice of the bytes in ``seen``."""
    places = [at for at, letter in enumerate(letters) if letter == WILDCARD]
    if ordered:
        choices = product(seen, repeat=len(places))
    else:
        choices = combinations_with_replacement(seen, len(places))
        if len(places) > 2:
            choices = (choice[::-1] for choice in choices)
    made = []
    for choice in choices:
        filled = bytearray(letters)
        for place, letter in zip(places, choice, strict=True):
            filled[place] = letter
        made.append(bytes(filled))
    return made


def canonical(options: Options, seen: set[int]) -> list[bytes]:
    """The interactions to make, in order, when the namespace bytes ``seen`` have been met."""
    leave = options.leave_duplicate_interactions
    typed = tidy(options.interactions, leave)
    if not any(WILDCARD in letters for letters in typed):
        return typed
    known = sorted(char for char in seen if 32 <= char <= 126)
    return tidy([made for letters in typed for made in without_wildcards(letters, known, leave)], leave)


def combine(letters: bytes, spaces: dict[int, list], permutations: bool) -> list:
    """Terms ``(index, value, name)`` of one interaction; the first letter is the outermost loop.

    Neighbouring equal letters give each unordered choice once, unless ``permutations``.
    """
    if any(not spaces.get(letter) for letter in letters):
        return []
    partial = [(position, *term) for position, term in enumerate(spaces[letters[0]])]
    for before, letter in pairwise(letters):
        with np.errstate(all="ignore"):
            partial = [
                (position, crossed(index, term[0]), value * term[1], name + b"*" + term[2])
                for start, index, value, name in partial
                for position, term in enumerate(spaces[letter])
                if permutations or letter != before or position >= start
            ]
    return [tuple(term[1:]) for term in partial]


def crossed(left: int, right: int) -> int:
    """64-bit hash of a pair of indices (FNV-1 step)."""
    return (FNV_PRIME * left ^ right) % 2**64
