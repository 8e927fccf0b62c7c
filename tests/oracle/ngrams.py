"""N-grams and skip-grams of the features of one namespace."""

import numpy as np

from .derived import NGRAM_PRIME
from .options import Options


def for_namespace(specs: list[bytes], char: int) -> int:
    """The number that specs like b"2" (all namespaces) and b"a2" (one) give to ``char``."""
    number = 0
    for spec in specs:
        if spec.isdigit():
            number = int(spec)
        elif spec[0] == char:
            number = int(spec[1:])
    return number


def patterns(offsets: tuple[int, ...], more: int, skips: int, gap: int = 0):
    """Offsets of the members of each n-gram with ``more`` members to come, in order."""
    if more == 0:
        yield offsets
        return
    yield from patterns((*offsets, offsets[-1] + 1 + gap), more - 1, skips)
    if skips > 0:
        yield from patterns(offsets, more, skips - 1, gap + 1)


def with_ngrams(char: int, terms: list, options: Options) -> list:
    """``terms`` and, after them, their n-grams, each of value 1 and named ``a^b``."""
    size, skips = for_namespace(options.ngram, char), for_namespace(options.skips, char)
    grams = []
    for members in range(2, size + 1):
        for offsets in patterns((0,), members - 1, skips):
            for start in range(len(terms) - offsets[-1]):
                chosen = [terms[start + offset] for offset in offsets]
                index = 0
                for term in chosen:
                    index = (index * NGRAM_PRIME + term[0]) % 2**64
                name = b"^".join(term[3] for term in chosen)
                grams.append((index, np.float32(1), chosen[0][2], name, b""))
    return terms + grams
