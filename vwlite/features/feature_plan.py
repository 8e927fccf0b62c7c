"""The plan by which kernels expand an example's features into terms, as plain arrays made from the options."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import accumulate, chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, covers, sides_of_pair
from vwlite.features.interactions import (
    LETTERS,
    FullNames,
    canonical,
    decode_letters,
    has_wildcard,
    read_interaction,
    resolve,
)
from vwlite.interrupts import STOP

if TYPE_CHECKING:
    from vwlite.features.landmarks import LandmarkMap
    from vwlite.features.random_features import RandomMap
    from vwlite.features.theta import FeatureMap


PARTS = LATENT, LINEAR, CONSTANT = "latent", "linear", "Constant"


class Frozen:
    """As kernels read it; of a namespace both its linear weights and its latent vectors stand.

    ``groups``: numbers of the namespaces; ``sides``: for each pair, whether the vectors of its sides stand.
    """

    def __init__(self, words: Sequence[str], dotproduct: Sequence[str], names: FullNames) -> None:
        """Raises UsageError for a part of what one side is."""
        spaces = [word for word in words if word not in PARTS]
        self.linear, self.constant = LINEAR in words, CONSTANT in words
        self.groups = [raw[0] if len(raw) == 1 else names.number(raw) for raw in map(decode_letters, spaces)]
        pairs = list(map(sides_of_pair, dotproduct))
        for name in spaces:
            for side in (side for pair in pairs for side in pair):
                if name != side and covers(side, name):
                    raise UsageError(f"--freeze {name}: its vectors are those of the letter {side!r}, name that")
        self.sides = [
            [LATENT in words or any(covers(name, side) for name in spaces) for side in pair] for pair in pairs
        ]

    @property
    def stands(self) -> bool:
        """Whether anything does."""
        return bool(self.linear or self.constant or self.groups or self.fixes_side)

    @property
    def fixes_side(self) -> bool:
        return any(any(pair) for pair in self.sides)


ANONYMOUS = 32
MADE = (132, 133)  # namespaces of affix and spelling features
NAMELESS = (ANONYMOUS, *MADE)  # with the hash 0, which is that of the name "0" too


def text_format(config: FeatureConfig, *, skip_malformed: bool, names: bool = False) -> TextFormat:
    """The text format for the parser by these options."""
    return TextFormat(
        hash_all=config.hash == "all",
        hash_seed=config.hash_seed,
        skip_malformed=skip_malformed,
        names=names,
        affix=read_affixes(config.affix),
        spelling=read_spelling(config.spelling),
        redefine=read_redefine(config.redefine),
    )


def letter_table(values: Iterable[str], absent: bool = False) -> np.ndarray:
    """uint8[256], 1 at every letter of the option's values or, with ``absent``, at all others."""
    letters = {letter for value in values for letter in decode_letters(value)}
    return np.array([(letter in letters) != absent for letter in range(256)], np.uint8)


def read_spelling(values: Iterable[str]) -> np.ndarray:
    """uint8[256], 1 at the first byte of every value; ``_`` stands for the anonymous namespace."""
    table = np.zeros(256, np.uint8)
    for value in filter(None, values):
        first = decode_letters(value)[0]
        table[ANONYMOUS if first == ord("_") else first] = 1
    return table


def numbered_table(values: Iterable[str], option: str, dtype: type[np.integer], largest: int) -> np.ndarray:
    """``n`` for all namespaces or ``an`` for namespace ``a``: an array of 256 numbers."""
    table = np.zeros(256, dtype)
    for value in values:
        match = re.fullmatch(rb"([^0-9]?)([0-9]+)", decode_letters(value), re.S)
        if not match or int(match.group(2)) > largest:
            raise UsageError(f"{option} takes a number up to {largest}, or a namespace letter and a number: {value!r}")
        for letter in match.group(1) or range(256):
            table[letter] = int(match.group(2))
    return table


def read_redefine(values: Iterable[str]) -> np.ndarray:
    """uint8[256]: the character that replaces each namespace's. That of anonymous and generated namespaces stays."""
    table = np.arange(256, dtype=np.uint8)
    for value in values:
        raw = decode_letters(value)
        target, operator, letters = raw.partition(b":=")
        if not operator:
            raise UsageError(f"--redefine takes N:=S, :=S or N:=, not {value!r}")
        filed = target[0] if target else ANONYMOUS
        for letter in letters:
            if letter == ord(":"):
                table = np.full(256, filed, np.uint8)
                break
            table[letter] = filed
    for letter in (ANONYMOUS, *MADE):
        table[letter] = letter
    return table


def read_affixes(text: str) -> np.ndarray:
    """uint64[256] of packed specifications: four bits each, ``2 * length + is_prefix``, later ones lower."""
    table = [0] * 256
    for spec in filter(None, text.split(",")):
        match = re.fullmatch(rb"([+-]?)([1-7])(.?)", decode_letters(spec), re.S)
        if not match:
            raise UsageError(f"--affix takes specifications like +2a or -3, lengths 1 to 7: {spec!r}")
        letter = match.group(3)[0] if match.group(3) else ANONYMOUS
        packed = 2 * int(match.group(2)) + (match.group(1) != b"-")
        if table[letter] >> 60:
            raise UsageError("--affix: more than 16 specifications for one namespace")
        table[letter] = table[letter] << 4 | packed
    return np.array(table, np.uint64)


def read_interactions(config: FeatureConfig, names: FullNames) -> list[tuple[int, ...]]:
    """All interactions asked for, wildcards still in them, in canonical order."""
    typed = [
        read_interaction(value, option, order, names)
        for option, order, values in (
            ("-q", 2, config.quadratic),
            ("--cubic", 3, config.cubic),
            ("--interactions", None, config.interactions),
        )
        for value in values
    ]
    return canonical(typed, config.leave_duplicate_interactions)


class Plan:
    """The arrays by which a kernel expands examples (shapes in ``cython_ext/features/plan.pxd``).

    Wildcards stand for the namespaces met so far; ``see`` adds new ones to the plan.
    """

    weights: Any = None  # ``vwlite.features.term_weights.TermWeights``, where terms have values of their own
    centring: Any = None  # ``vwlite.features.group_columns.Centring``, where features are centred
    theta: FeatureMap | None = None  # what makes features of batches before they are expanded
    stop = STOP  # kernels read it between two examples

    def __init__(self, config: FeatureConfig, seen: Iterable[int] = (), drop_pairs: bool = False) -> None:
        """``drop_pairs``: the namespaces of dot products have no linear terms."""
        self.config = config
        self.bits = config.bits
        self.constant = not config.noconstant
        self.permutations = config.permutations
        self.redefine = read_redefine(config.redefine)
        self.ignore = letter_table(config.ignore) if not config.keep else letter_table(config.keep, absent=True)
        self.nonlinear = letter_table(config.ignore_linear)
        self.ngram = numbered_table(config.ngram, "--ngram", np.uint8, 64)
        self.skips = numbered_table(config.skips, "--skips", np.uint8, 64)
        self.limit = numbered_table(config.feature_limit, "--feature_limit", np.int32, 2**31 - 1)
        self.sort = config.sort_features
        names = FullNames(config.hash_seed, config.hash == "all")
        self.typed = read_interactions(config, names)
        self.pairs = [read_interaction(value, "--dotproduct", 2, names) for value in config.dotproduct]
        self.frozen = Frozen(config.freeze, config.dotproduct, names)
        dropped = sorted({group for pair in self.pairs for group in pair}) if drop_pairs else []
        self.dropped = [group for group in dropped if group >= LETTERS]  # by full name: the learner leaves them out
        self.name_hash = np.array(names.hashes, np.uint32)
        self.random = map_of(config)
        self.wild = has_wildcard(self.typed)
        self.unchanged = not (
            self.sort
            or self.ignore.any()
            or self.ngram.max() > 1
            or self.limit.any()
            or (self.redefine != range(256)).any()
        )
        self.plain = self.unchanged and not names.hashes
        self.seen: set[int] = set(seen)
        self.interactions: list[tuple[int, ...]] = []
        self.matched = np.zeros(0, np.uint8)
        self.nonlinear[[group for group in dropped if group < LETTERS]] = 1
        self.set_interactions()

    def change_values(self, weights: Any, centring: Any) -> None:
        """Give terms other values by ``weights``, and features by ``centring``; None for neither."""
        self.weights, self.centring = weights, centring

    def apart(self) -> Plan:
        """The same, for which wildcards meet namespaces of their own from now on."""
        other = copy(self)
        other.seen, other.matched = set(self.seen), self.matched.copy()
        return other

    def without_pairs(self) -> Plan:
        """The same terms: dot products make none, and where no interaction has a full name, nothing looks for these."""
        other = copy(self)
        other.pairs = []
        if not any(group >= LETTERS for letters in self.typed for group in letters):
            other.name_hash, other.plain = np.zeros(0, np.uint32), self.unchanged
        other.set_flat()
        return other

    def set_interactions(self) -> None:
        before = set(self.matching())
        self.interactions = resolve(self.typed, self.seen, self.config.leave_duplicate_interactions)
        sizes = [len(one) for one in self.interactions]
        self.first_letter = np.array(list(accumulate(sizes, initial=0)), np.int32)
        self.letters = np.array(list(chain.from_iterable(self.interactions)), np.int32)
        self.pair_run = np.array(_pair_runs(self.interactions), np.int32)
        known = [self.ignore[filed] or filed in self.seen for filed in self.redefine.tolist()]
        self.known = bytes(compress(range(256), known))  # characters in the text for which ``see`` changes nothing
        self.matched = np.array([one in before for one in self.interactions], np.uint8)
        self.set_flat()

    def set_flat(self) -> None:
        """Find whether an example's terms are its features, unchanged."""
        self.flat = self.plain and not self.interactions and not self.pairs and not self.nonlinear.any()
        self.flat = self.flat and not (self.random and self.random.chosen)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of term weights, random features and Theta that a model contains."""
        parts = [part.arrays() for part in (self.weights, self.random, self.centring) if part]
        return {name: array for part in (*parts, self.kept_theta[1]) for name, array in part.items()}

    @property
    def header(self) -> JsonObject:
        """The header entry of Theta in a model, as JSON data."""
        return self.kept_theta[0]

    @property
    def kept_theta(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        return self.theta.content() if self.theta else ({}, {})

    def load(self, arrays: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> None:
        """Take over a model's. Raises ModelError, ValueError, KeyError for arrays that are none of these."""
        for part in filter(None, (self.weights, self.random, self.centring)):
            part.load(arrays)
        if self.config.theta:
            from vwlite.features.theta import FeatureMap  # which other runs need not

            self.theta = FeatureMap.of(header or {}, arrays)

    def read_theta(self) -> None:
        """Read the Theta of the options, where they name one. Raises as ``FeatureMap.read``."""
        if self.config.theta:
            from vwlite.features.theta import FeatureMap

            self.theta = FeatureMap.read(self.config.theta, self.config.of_theta)

    def extend(self, batch: Batch, learning: bool = False) -> Batch:
        """The batch with Theta's features. Raises DataError for text of which Theta knows nothing, to learn from."""
        if self.theta is None:
            return batch
        return self.theta.extend(batch, learning and not self.theta.loaded)

    def matching(self) -> list[tuple[int, ...]]:
        """The interactions all of whose namespaces some row had."""
        return list(compress(self.interactions, self.matched.tolist()))

    def see(self, characters: Iterable[int]) -> None:
        """Add namespaces that have features, by their characters after ``redefine``."""
        new = set(characters) - self.seen
        if new:
            self.seen |= new
            self.set_interactions()


def map_of(config: FeatureConfig) -> RandomMap | LandmarkMap | None:
    """The map that adds features of kernels, imported only if there is one."""
    if config.landmarks:
        from vwlite.features.landmarks import LandmarkMap

        return LandmarkMap(config)
    if config.random_features:
        from vwlite.features.random_features import RandomMap

        return RandomMap(config)
    return None


def _pair_runs(interactions: list[tuple[int, ...]]) -> list[int]:
    """For each interaction, how many pairs from it on have the same first letter; 0 for one that is not a pair."""
    runs: list[int] = []
    for one, following in zip(reversed(interactions), [None, *reversed(interactions)], strict=False):
        more = runs[-1] if runs and following and following[0] == one[0] else 0
        runs.append(more + 1 if len(one) == 2 else 0)
    return runs[::-1]


def new_namespaces(batch: Batch, plan: Plan) -> dict[int, list[int]]:
    """For each row with new namespaces, those that no earlier row had, by their characters after ``redefine``."""
    met = batch.namespace_char[: batch.row_namespace[-1]].tobytes()
    firsts: dict[int, int] = {}  # first segment of each, by its character after ``redefine``
    for character in set(met.translate(None, plan.known)):
        filed = int(plan.redefine[character])
        firsts[filed] = min(met.find(character), firsts.get(filed, len(met)))
    news: dict[int, list[int]] = {}
    for filed, segment in sorted(firsts.items()):
        news.setdefault(bisect_right(batch.row_namespace, segment) - 1, []).append(filed)
    return news
