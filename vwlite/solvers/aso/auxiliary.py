"""Auxiliary problems, made from rows without labels (Ando and Zhang 2005, section 6.2)."""

from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.numerals import is_count
from vwlite.solvers.aso.corpus import Vocabulary
from vwlite.solvers.aso.rows import Rows, Targets, targets

SUPERVISED = ("top-k", "multi-k", "confidence")
KINDS = ("freq", "freq-k", "mask", "labels", *SUPERVISED)
EDGES = np.array([-0.5, 0.0, 0.5])  # between the ranges of confidence


@dataclass(frozen=True, slots=True)
class Aux:
    """One ``--aux``: ``freq[:NS]``, ``freq-k:K[:NS]``, ``mask:NS``, ``top-k:K[:NS]``, ``multi-k:K[:NS]``,
    ``confidence[:NS]``, ``labels``; ``top-2`` is short for ``top-k:2``. ``spaces``: namespaces named. ``k`` 0:
    ``multi-k:auto``.
    """

    kind: str
    k: int = 1
    spaces: tuple[str, ...] = ()


def read_aux(text: str) -> Aux:
    """Raises UsageError."""
    kind, *more = text.split(":")
    for short in ("freq-", "top-", "multi-"):
        if kind.startswith(short) and is_count(kind[len(short) :]):
            kind, more = f"{short}k", [kind[len(short) :], *more]
    if kind not in KINDS:
        known = "freq, freq-k:K, mask:NS, top-k:K, multi-k:K, confidence or labels"
        raise UsageError(f"--aux is {known}, not {text!r}")
    k = 1
    if kind in ("freq-k", "top-k", "multi-k"):
        auto = kind == "multi-k" and more[:1] == ["auto"]
        if not auto and (not more or not is_count(more[0]) or int(more[0]) < 1):
            raise UsageError(f"--aux {kind} takes a number, like {kind}:2{' or auto' if kind == 'multi-k' else ''}")
        k, more = 0 if auto else int(more[0]), more[1:]
    if len(more) > 1 or (kind == "mask") > len(more) or (kind == "labels" and more):
        raise UsageError(f"--aux {text!r}: expected {kind}{':NS' if kind != 'labels' else ''}")
    return Aux(kind, k, tuple(filter(None, more[0].split(","))) if more else ())


@dataclass(slots=True)
class View:
    """What is seen and what is predicted: bool[p] each."""

    seen: np.ndarray
    hidden: np.ndarray


def mixed(keys: np.ndarray, seed: int) -> np.ndarray:
    """uint64: a seeded hash of each key (the finaliser of splitmix64)."""
    z = keys.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def in_spaces(words: Vocabulary, spaces: tuple[str, ...]) -> np.ndarray:
    """bool[p]: the features of these namespaces. Raises UsageError for one that nothing is in."""
    for space in spaces:
        if space not in words.spaces:
            raise UsageError(f"no feature of the text is in namespace {space!r} (there are {', '.join(words.spaces)})")
    return np.isin(words.space, [words.spaces.index(space) for space in spaces])


def halves(words: Vocabulary, seed: int) -> np.ndarray:
    """bool[p]: one of two views, at random."""
    return (mixed(words.key, seed) & np.uint64(1)).astype(bool)


def views(aux: Aux, words: Vocabulary, seed: int) -> list[View]:
    """The pairs of views of one ``--aux``, in both directions where there are two."""
    everything = np.ones(len(words), bool)
    if aux.kind == "labels":
        return [View(everything, ~everything)]
    if aux.kind == "mask":
        return [View(~in_spaces(words, aux.spaces), in_spaces(words, aux.spaces[:1]))]
    if aux.kind in SUPERVISED and aux.spaces:
        one = in_spaces(words, aux.spaces)
        return [View(~one, one), View(one, ~one)]
    among = in_spaces(words, aux.spaces) if aux.spaces else everything
    half = halves(words, seed)
    return [View(among & ~half, among & half), View(among & half, among & ~half)]


def most_positive(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str], most: int) -> Targets:
    """The ``most`` problems with most positives, earlier ones first among equals; at least 2 positives each."""
    counts = np.bincount(problem, minlength=len(names))
    kept = np.argsort(-counts, kind="stable")[:most]
    kept = np.sort(kept[counts[kept] >= 2])
    number = np.full(len(names), -1)
    number[kept] = np.arange(len(kept))
    own = number[problem]
    return targets(owner[own >= 0], own[own >= 0], rows, [names[place] for place in kept.tolist()])


def most_frequent(rows: Rows, view: View, words: Vocabulary, most: int, k: int = 1) -> Targets:
    """Which ``k`` hidden features have the largest values; among equals those that fewer rows hold."""
    hidden = rows.terms.keep(view.hidden[rows.terms.indices])
    owner, index, value = hidden.owner, hidden.indices, hidden.values
    rarity = rows.presence(len(words))[index]
    order = np.lexsort((index, rarity, -value, owner))
    begin = np.searchsorted(owner[order], np.arange(len(rows)))
    best = order[np.arange(len(order)) - begin[owner[order]] < k]
    return most_positive(owner[best], index[best], len(rows), words.names, most)


def present(rows: Rows, view: View, words: Vocabulary, most: int) -> Targets:
    """Which hidden features there are."""
    hidden = rows.terms.keep(view.hidden[rows.terms.indices])
    return most_positive(hidden.owner, hidden.indices, len(rows), words.names, most)


def behaviour(aux: Aux, scores: np.ndarray, classes: list[str], most: int) -> Targets:
    """What a classifier makes of the rows: its ``scores`` float[n, classes]. Raises UsageError."""
    n, count = scores.shape
    if aux.k > count:
        raise UsageError(f"--aux {aux.kind}:{aux.k}: there are only {count} classes")
    best = np.argsort(-scores, axis=1, kind="stable")[:, : aux.k]
    row = np.arange(n)
    if aux.kind == "multi-k":
        return most_positive(np.repeat(row, aux.k), best.reshape(-1), n, classes, most)
    if aux.kind == "confidence":
        band = np.searchsorted(EDGES, scores[row, best[:, 0]])
        codes, names = best[:, 0] * 4 + band, [f"{name}@{level}" for name in classes for level in range(4)]
        return most_positive(row, codes, n, names, most)
    kinds, codes = np.unique(best, axis=0, return_inverse=True)
    names = [">".join(classes[place] for place in kind) for kind in kinds.tolist()]
    return most_positive(row, codes.reshape(-1), n, names, most)


def check_problems(made: Targets, aux: Aux) -> None:
    if not made.names:
        raise DataError(f"--aux {aux.kind} makes no problem with at least two positive examples of this text")
