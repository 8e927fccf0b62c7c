"""Auxiliary problems, made from rows without labels (Ando and Zhang 2005, section 6.2)."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.features.hashing import mix64
from vwlite.features.sparse_rows import CHUNK, Rows, Vocabulary
from vwlite.options import is_count
from vwlite.solvers.aso.sgd import Targets, targets

SUPERVISED = ("top-k", "multi-k", "confidence", "range")
LABELLED = (*SUPERVISED, "pivot")  # need labelled examples
NUMBERED = ("freq-k", "top-k", "multi-k", "range", "pivot", "more")  # have a number behind the kind
KINDS = ("freq", "mask", "labels", "confidence", *NUMBERED)
KNOWN = "freq, freq-k:K, mask:NS, more:N, pivot:N, top-k:K, multi-k:K, confidence, range:K or labels"
EDGES = np.array([-0.5, 0.0, 0.5])  # between the ranges of confidence


@dataclass(frozen=True, slots=True)
class Aux:
    """One ``--aux``: ``freq[:NS]``, ``freq-k:K[:NS]``, ``mask:NS``, ``mask:NS+NS``, ``more:N[:NS]``, ``pivot:N[:NS]``,
    ``top-k:K[:NS]``, ``multi-k:K[:NS]``, ``confidence[:NS]``, ``range:K[:NS]``, ``labels``; ``top-2`` is short for
    ``top-k:2``. ``spaces``: namespaces named. ``k`` 0: ``multi-k:auto``. ``joint``: namespaces whose features are
    predicted in combination. ``above``: the N of ``more``. ``text``: as it was typed.
    """

    kind: str
    k: int = 1
    spaces: tuple[str, ...] = ()
    joint: tuple[str, ...] = ()
    above: float = 0.0
    text: str = ""

    @property
    def splits(self) -> bool:
        """Whether two views of the features are made for it, where no namespaces are named."""
        return self.kind.startswith("freq") or (self.kind in (*SUPERVISED, "more") and not self.spaces)


def read_aux(text: str) -> Aux:
    """Raises UsageError."""
    kind, *more = text.split(":")
    for short in ("freq-", "top-", "multi-"):
        if kind.startswith(short) and is_count(kind[len(short) :]):
            kind, more = f"{short}k", [kind[len(short) :], *more]
    if kind not in KINDS:
        raise UsageError(f"--aux is {KNOWN}, not {text!r}")
    k, above = 1, 0.0
    if kind in NUMBERED:
        k, above = number_of(kind, more[0] if more else "")
        more = more[1:]
    if len(more) > 1 or (kind == "mask") > len(more) or (kind == "labels" and more):
        raise UsageError(f"--aux {text!r}: expected {kind}{':NS' if kind != 'labels' else ''}")
    spaces = tuple(filter(None, more[0].split(","))) if more else ()
    joint = tuple(spaces[0].split("+")) if kind == "mask" and "+" in spaces[0] else ()
    if joint and (len(spaces) > 1 or len(joint) != 2 or not all(joint) or joint[0] == joint[1]):
        raise UsageError(f"--aux {text!r}: expected mask:NS+NS, two namespaces")
    return Aux(kind, k, joint or spaces, joint, above, text)


def number_of(kind: str, text: str) -> tuple[int, float]:
    """K and N of a kind. Raises UsageError."""
    if kind == "more":
        try:
            above = float(text)
        except ValueError:
            above = math.nan
        if math.isfinite(above) and above >= 0:
            return 1, above
        raise UsageError(f"--aux {kind} takes a number of 0 or more, like {kind}:1")
    if kind == "multi-k" and text == "auto":
        return 0, 0.0
    if not is_count(text) or int(text) < (2 if kind == "range" else 1):
        raise UsageError(f"--aux {kind} takes a number, like {kind}:2{' or auto' if kind == 'multi-k' else ''}")
    return int(text), 0.0


@dataclass(slots=True)
class View:
    """What is seen and what is predicted: bool[p] each."""

    seen: np.ndarray
    hidden: np.ndarray


def mixed(keys: np.ndarray, seed: int) -> np.ndarray:
    """uint64: a seeded hash of each key (the finaliser of splitmix64)."""
    return mix64(keys.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64))


def in_spaces(words: Vocabulary, spaces: tuple[str, ...]) -> np.ndarray:
    """bool[p]: the features of these namespaces. Raises UsageError for one that nothing is in."""
    for space in spaces:
        if space not in words.spaces:
            raise UsageError(f"no feature of the text is in namespace {space!r} (there are {', '.join(words.spaces)})")
    return np.isin(words.space, [words.spaces.index(space) for space in spaces])


def halves(words: Vocabulary, seed: int, named: Collection[str] = ()) -> np.ndarray:
    """bool[p]: one of two views, at random, or the features of the names in ``named``.

    Raises UsageError where the text has none of these.
    """
    if named:
        wanted = frozenset(named)
        found = np.array([name in wanted for name in words.names], bool)
        if not found.any():
            raise UsageError("--view-words: no feature of the text has one of these names")
        return found
    return (mixed(words.key, seed) & np.uint64(1)).astype(bool)


def views(aux: Aux, words: Vocabulary, seed: int, named: Collection[str] = ()) -> list[View]:
    """The pairs of views of one ``--aux``, in both directions where there are two. ``named`` as in ``halves``."""
    everything = np.ones(len(words), bool)
    if aux.kind == "labels":
        return [View(everything, ~everything)]
    if aux.kind == "mask" or (aux.kind == "more" and aux.spaces):
        hidden = aux.joint or (aux.spaces[:1] if aux.kind == "mask" else aux.spaces)
        return [View(~in_spaces(words, aux.spaces), in_spaces(words, hidden))]
    if aux.kind in SUPERVISED and aux.spaces:
        one = in_spaces(words, aux.spaces)
        return [View(~one, one), View(one, ~one)]
    among = in_spaces(words, aux.spaces) if aux.spaces else everything
    half = halves(words, seed, named)
    return [View(among & ~half, among & half), View(among & half, among & ~half)]


def most_positive(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str], most: int) -> Targets:
    """The ``most`` problems with most positives, earlier ones first among equals; at least 2 positives each."""
    counts = np.bincount(problem, minlength=len(names))
    kept = np.argsort(-counts, kind="stable")[:most]
    kept = np.sort(kept[counts[kept] >= 2])
    number = np.full(len(names), -1)
    number[kept] = np.arange(len(kept))
    own = number[problem]
    made = targets(owner[own >= 0], own[own >= 0], rows, [names[place] for place in kept.tolist()])
    return replace(made, feature=kept)


def most_frequent(rows: Rows, view: View, words: Vocabulary, most: int, k: int = 1) -> Targets:
    """Which ``k`` hidden features have the largest values; among equals those that fewer rows hold."""
    return most_positive(*frequent(rows, view, rows.presence(len(words)), k), len(rows), words.names, most)


def frequent(rows: Rows, view: View, presence: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the features that they are positive for; ``presence``: how many rows hold each feature."""
    owners, indices = [np.zeros(0, np.int64)], [np.zeros(0, np.uint32)]
    for first in range(0, len(rows), CHUNK):
        own = rows.terms.part(first, min(first + CHUNK, len(rows)))
        hidden = own.keep(view.hidden[own.indices])
        owner, index, value = hidden.owner, hidden.indices, hidden.values
        order = np.lexsort((index, presence[index], -value, owner))
        best = order[np.arange(len(order)) - hidden.indptr[owner[order]] < k]
        owners.append(first + owner[best])
        indices.append(index[best])
    return np.concatenate(owners), np.concatenate(indices)


def present(rows: Rows, view: View, words: Vocabulary, most: int, above: float | None = None) -> Targets:
    """Which hidden features there are, with ``above`` those of larger values."""
    return most_positive(*held(rows, view, above), len(rows), words.names, most)


def held(rows: Rows, view: View, above: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their hidden features, with ``above`` those of larger values."""
    kept = view.hidden[rows.terms.indices]
    hidden = rows.terms.keep(kept if above is None else kept & (rows.terms.values > above))
    return hidden.owner, hidden.indices


def combined(rows: Rows, words: Vocabulary, joint: tuple[str, ...], most: int) -> Targets:
    """Which pairs of a feature of each of the two namespaces ``joint`` a row has, named ``one+other``."""
    one, other = (rows.terms.keep(in_spaces(words, (space,))[rows.terms.indices]) for space in joint)
    times = other.sizes[one.owner]  # each feature of the first meets all of the second
    owner, first = np.repeat(one.owner, times), np.repeat(one.indices, times).astype(np.int64)
    ends = np.cumsum(times)
    second = other.indices[np.arange(len(owner)) + np.repeat(other.indptr[:-1][one.owner] - ends + times, times)]
    pairs, codes = np.unique(first * len(words) + second, return_inverse=True)
    names = [f"{words.names[a]}+{words.names[b]}" for a, b in zip(*np.divmod(pairs, len(words)), strict=True)]
    return most_positive(owner, codes.reshape(-1), len(rows), names, most)


def behaviour(aux: Aux, scores: np.ndarray, classes: list[str], most: int) -> Targets:
    """What a classifier makes of the rows: its ``scores`` float[n, classes]. Raises UsageError."""
    n, count = scores.shape
    bands, k = (aux.k, 1) if aux.kind == "range" else (len(EDGES) + 1, aux.k)
    if k > count:
        raise UsageError(f"--aux {aux.kind}:{aux.k}: there are only {count} classes")
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    row = np.arange(n)
    if aux.kind == "multi-k":
        return most_positive(np.repeat(row, k), best.reshape(-1), n, classes, most)
    if aux.kind in ("confidence", "range"):
        top = scores[row, best[:, 0]]
        edges = EDGES if aux.kind == "confidence" else np.quantile(top, np.arange(1, bands) / bands)
        codes = best[:, 0] * bands + np.searchsorted(edges, top)
        names = [f"{name}@{level}" for name in classes for level in range(bands)]
        return most_positive(row, codes, n, names, most)
    kinds, codes = np.unique(best, axis=0, return_inverse=True)
    names = [">".join(classes[place] for place in kind) for kind in kinds.tolist()]
    return most_positive(row, codes.reshape(-1), n, names, most)


def check_problems(made: Targets, aux: Aux) -> None:
    if not made.names:
        raise DataError(f"--aux {aux.text or aux.kind} makes no problem with two positive examples of this text")


def mutual_information(rows: Rows, made: Targets, features: int) -> np.ndarray:
    """float64[p], in nats: of a feature's presence and the class, over all pairs of a row and a class that it has."""
    classes = len(made.names)
    pairs = rows.terms.take(made.positive.owner)  # a row for each of its classes
    label = made.positive.indices.astype(np.int64)
    both = np.bincount(pairs.indices.astype(np.int64) * classes + label[pairs.owner], minlength=features * classes)
    both = both.reshape(features, classes).astype(float)
    total, size = float(len(label)), np.bincount(label, minlength=classes)
    held, information = both.sum(1, keepdims=True), np.zeros(features)
    for joint, of_feature in ((both, held), (size - both, total - held)):
        expected = of_feature * size / total
        information += (joint / total * np.log(np.where(joint > 0, joint, 1) / np.where(joint > 0, expected, 1))).sum(1)
    return information


def pivots(aux: Aux, words: Vocabulary, known: Rows, made: Targets, least: int) -> View:
    """The ``aux.k`` features that say most of the classes of ``known``, hidden, and all others, seen.

    They are those of ``aux.spaces`` (of all namespaces) that ``least`` of the labelled rows hold at least; all
    ``words`` are in as many of the others. Of equal ones the first by key. Raises UsageError where there are fewer.
    """
    among = in_spaces(words, aux.spaces) if aux.spaces else np.ones(len(words), bool)
    among &= known.presence(len(words)) >= least
    if among.sum() < aux.k:
        where = f"namespace {', '.join(aux.spaces)}" if aux.spaces else "all namespaces"
        raise UsageError(
            f"--aux {aux.text}: {where} has {among.sum()} features that {least} examples of both texts hold; "
            "a smaller number or a smaller --min-count is needed"
        )
    information = np.where(among, mutual_information(known, made, len(words)), -np.inf)
    hidden = np.zeros(len(words), bool)
    hidden[np.argsort(-information, kind="stable")[: aux.k]] = True
    return View(~hidden, hidden)
