"""Which namespaces are crossed: from ``-q``, ``--cubic`` and ``--interactions`` to tuples of group numbers."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from vwlite.errors import UsageError
from vwlite.features.hashing import hash_name

LETTERS = 256  # groups below are namespace characters, from here on full names
MAX_NAMES, MAX_ORDER = 64, 64
MAX_INTERACTIONS = 1 << 18  # that wildcards may stand for
PRINTABLE = range(32, 127)  # the namespaces that wildcards stand for
WILDCARD = ord(":")
Interaction = tuple[int, ...]


def decode_letters(text: str) -> bytes:
    r"""Bytes of an option's value; ``\xHH`` stands for one byte."""
    raw = text.encode("utf-8", "surrogateescape")
    return re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes([int(m.group(1), 16)]), raw)


class FullNames:
    """Numbers for namespaces given by their whole name (``--interactions user,item``)."""

    def __init__(self, hash_seed: int, hash_all: bool) -> None:
        self.hash_seed, self.hash_all = hash_seed, hash_all
        self.hashes: list[int] = []

    def number(self, name: bytes) -> int:
        name_hash = hash_name(name, self.hash_seed, self.hash_all)
        if name_hash not in self.hashes:
            if len(self.hashes) == MAX_NAMES:
                raise UsageError(f"more than {MAX_NAMES} namespaces given by full name in interactions")
            self.hashes.append(name_hash)
        return LETTERS + self.hashes.index(name_hash)


def read_interaction(text: str, option: str, order: int | None, names: FullNames) -> Interaction:
    """One option's value. ``order`` is how many namespaces it must name, None for two or more."""
    if "," in text:
        parts = text.split(",")
        if not all(parts):
            raise UsageError(f"{option} {text}: a namespace name is empty")
        letters = tuple(names.number(decode_letters(part)) for part in parts)
    else:
        letters = tuple(decode_letters(text))
    if order is not None and len(letters) != order:
        raise UsageError(f"{option} takes {order} namespaces, not {len(letters)}: {text!r}")
    if not 2 <= len(letters) <= MAX_ORDER:
        raise UsageError(f"{option} takes 2 to {MAX_ORDER} namespaces, not {len(letters)}: {text!r}")
    return letters


def canonical(interactions: Iterable[Interaction], keep_duplicates: bool) -> list[Interaction]:
    """Sorted, without duplicates (unless kept), letters sorted where one repeats beside another."""
    result, seen = [], set()
    for interaction in sorted(interactions, key=lambda letters: (len(letters), letters)):
        ordered = tuple(sorted(interaction))
        if not keep_duplicates and ordered in seen:
            continue
        seen.add(ordered)
        repeats = len(set(ordered)) < len(ordered)
        result.append(ordered if repeats and len(set(ordered)) > 1 else interaction)
    return result


def fill_wildcards(interaction: Interaction, seen: Sequence[int], keep_duplicates: bool) -> list[Interaction]:
    """Every interaction a wildcard stands for, given the namespaces seen so far (ascending)."""
    positions = [position for position, letter in enumerate(interaction) if letter == WILDCARD]
    if not positions:
        return [interaction]
    if keep_duplicates:
        choices: Iterable[tuple[int, ...]] = itertools.product(seen, repeat=len(positions))
    elif len(positions) == 2:
        choices = itertools.combinations_with_replacement(seen, 2)
    else:
        choices = itertools.combinations_with_replacement(sorted(seen, reverse=True), len(positions))
    filled = []
    for choice in choices:
        letters = list(interaction)
        for position, letter in zip(positions, choice, strict=True):
            letters[position] = letter
        filled.append(tuple(letters))
    return filled


def count_filled(interaction: Interaction, seen: int, keep_duplicates: bool) -> int:
    """The number of interactions that ``fill_wildcards`` makes of ``seen`` namespaces."""
    wild = interaction.count(WILDCARD)
    return seen**wild if keep_duplicates else math.comb(seen + wild - 1, wild) if wild else 1


def matches(interaction: Interaction, filled: Collection[Interaction]) -> bool:
    """Whether one of ``filled`` is the interaction, or what its wildcards stand for, in any order."""
    named = Counter(letter for letter in interaction if letter != WILDCARD)
    for one in filled:
        if len(one) == len(interaction) and not named - Counter(one):
            wild = (Counter(one) - named).keys()
            if all(letter in PRINTABLE for letter in wild):
                return True
    return False


def resolve(interactions: Sequence[Interaction], seen: Collection[int], keep_duplicates: bool) -> list[Interaction]:
    """The interactions in force once the namespaces ``seen`` have been met. Raises UsageError for too many."""
    if not has_wildcard(interactions):
        return list(interactions)
    known = sorted(letter for letter in seen if letter in PRINTABLE)
    count = sum(count_filled(one, len(known), keep_duplicates) for one in interactions)
    if count > MAX_INTERACTIONS:
        raise UsageError(
            f"the wildcards stand for {count:,} interactions of the {len(known)} namespaces seen so far, more than "
            f"{MAX_INTERACTIONS:,}: name the namespaces that are to be crossed"
        )
    filled = itertools.chain.from_iterable(fill_wildcards(one, known, keep_duplicates) for one in interactions)
    return canonical(filled, keep_duplicates)


def has_wildcard(interactions: Iterable[Interaction]) -> bool:
    return any(WILDCARD in interaction for interaction in interactions)
