"""Divides data into what is learned and what is held out, measures weights on that, and decides which pass is better.

The log loss of a sequence grows with every wrong label that the model is too confident of, and may begin to rise while
the share of right labels still grows. So passes are compared by the F1 or accuracy of named labels.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.phrases import evaluate, rule_for
from vwlite.options import read_decimal
from vwlite.solvers.loglinear.config import HeldOutConfig, L1Config
from vwlite.solvers.loglinear.examples import LINE, Lines, sequences_of, tree_of
from vwlite.solvers.loglinear.frank_wolfe import Structured, of_loss
from vwlite.solvers.loglinear.problems import (
    Chains,
    Examples,
    FeatureLabelIndex,
    Pairs,
    Problem,
    chains_of,
    examples_of,
    family,
    find,
    in_order,
    merge_pairs,
    tokens_before,
)
from vwlite.storage import ordered_pool

BLOCKS = 8  # of rows, at most, whose gradients threads compute
MEASURES = ("f1", "accuracy", "log_loss")
TITLES = {"f1": "phrase F1", "accuracy": "accuracy", "log_loss": "log loss"}


@dataclass(slots=True)
class Part:
    """Some examples of a problem: ``rows`` int64[n], whose gradients so many ``threads`` compute."""

    problem: Problem
    rows: np.ndarray
    threads: int = 1

    def value(self, weights: np.ndarray) -> float:
        """The objective without penalties, which is maximised: the sum of log p or of minus the losses, times
        importance."""
        return self.problem.value(weights, self.rows)

    def gradient(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of log p and its gradient, float64[weights]: sums of blocks of rows, whose number the data decide,
        added in their order. Raises Interrupted, MemoryError.
        """

        def sums(rows: np.ndarray) -> tuple[float, np.ndarray]:
            gradient = np.zeros_like(weights)
            return self.problem.likelihood(weights, rows, gradient), gradient

        blocks = np.array_split(self.rows, min(self.problem.size // (2 * len(weights) + 1), BLOCKS) or 1)
        value, gradient = 0.0, np.zeros_like(weights)
        for one, slope in ordered_pool.in_order(iter(blocks), sums, min(self.threads, len(blocks)) - 1, 1):
            value += one
            gradient += slope
        return value, gradient

    @property
    def total_weight(self) -> float:
        """Importance in all."""
        return float(self.problem.weight[self.rows].sum())  # type: ignore[attr-defined]


class HeldOut:
    """Measures weights on ``part``. Entries of the history have its ``figures``."""

    def __init__(self, part: Part, measure: str | None = None, scheme: str | None = None) -> None:
        """``measure`` None: F1 where labels mark phrases, accuracy of other names, else log loss. ``scheme``: of these.

        Raises UsageError for a measure that does not go with the labels.
        """
        self.part = part
        problem = part.problem
        self.chains = problem.only(part.rows) if isinstance(problem, Chains) else None
        along = self.chains is not None and self.chains.pairs.transitions
        self.rule = rule_for(self.chains.pairs.names, scheme) if along else None
        fitting = MEASURES if self.rule else MEASURES[1:] if self.chains else MEASURES[2:]
        if isinstance(problem, Structured):
            fitting = fitting[:-1]
        self.measure = measure or fitting[0]
        if self.measure not in fitting:
            raise UsageError(f"--holdout-metric {measure} does not go with these labels: it is {' or '.join(fitting)}")
        if scheme not in (None, "none") and self.measure != "f1":
            raise UsageError(f"--scheme {scheme} counts phrases, and passes are compared by {TITLES[self.measure]}")
        self.title = TITLES[self.measure]
        if self.measure == "f1":
            phrases = evaluate(self.labels(self.chains.label, self.chains.label), self.rule)
            self.title += f" ({phrases['scheme']}, {phrases['counting']})"
        self.columns = ["held-out", *([] if self.measure == "log_loss" else [self.measure])]

    def figures(self, weights: np.ndarray) -> dict[str, float]:
        """``held_out``, the mean loss, and the measure. Raises MemoryError, Diverged."""
        log_loss = {"held_out": -self.part.value(weights) / self.part.total_weight}
        if self.measure == "log_loss":
            return log_loss
        true, (best, _) = self.chains.label, self.chains.decode(weights)
        if self.measure == "f1":
            return log_loss | {"f1": evaluate(self.labels(true, best), self.rule)["f1"]}
        weight = np.repeat(self.chains.weight, np.diff(self.chains.sequence))
        return log_loss | {"accuracy": float(weight[true == best].sum() / weight.sum())}

    def labels(self, true: np.ndarray, best: np.ndarray) -> Iterable[tuple[str, str] | None]:
        """Pairs of names, None after each sequence."""
        names, ends = self.chains.pairs.names, set(self.chains.sequence.tolist())
        for place, (one, other) in enumerate(zip(true.tolist(), best.tolist(), strict=True), 1):
            yield names[one], names[other]
            if place in ends:
                yield None

    def cells(self, entry: JsonObject) -> list[str]:
        """The cells of the table."""
        formats = {"f1": "{:10.2f}", "accuracy": "{:10.4f}"}
        more = [] if self.measure == "log_loss" else [formats[self.measure].format(entry[self.measure])]
        return [f"{entry['held_out']:10.5f}", *more]

    def better(self, one: JsonObject, other: JsonObject) -> bool:
        """Whether ``one`` is better; of equals the one with the lower log loss."""
        return self.rank(one) < self.rank(other)

    def rank(self, entry: JsonObject) -> tuple[float, float]:
        return -entry.get(self.measure, 0.0), entry["held_out"]


@dataclass(frozen=True, slots=True)
class Holdout:
    """Every ``period``-th example, or the lines of a file; neither: none. Others: as ``HeldOut``'s."""

    period: int = 0
    path: str | None = None
    measure: str | None = None
    scheme: str | None = None


def read_holdout(config: HeldOutConfig) -> Holdout:
    """``--holdout``: a share below 1, a period from 2 on, or a file. Raises UsageError."""
    text, how = config.holdout, {"measure": config.measure, "scheme": config.scheme}
    if text is None:
        return Holdout()
    try:
        number = read_decimal(text)
    except ValueError:
        return Holdout(path=text, **how)
    period = round(1 / number) if 0 < number < 1 else int(number)
    if period < 2 or (number >= 1 and number != period):
        raise UsageError(f"--holdout takes a share below 1, a whole number from 2 on, or a file, not {text}")
    return Holdout(period, **how)


def split(rows: np.ndarray, period: int) -> tuple[np.ndarray, np.ndarray]:
    """``(train, held)``."""
    held = np.zeros(len(rows), bool)
    if period:
        held[period - 1 :: period] = True
    return rows[~held], rows[held]


def binary_parts(lines: Lines, held: Lines | None, period: int, known: np.ndarray) -> tuple[Part, Part | None]:
    """Features of the training part, and ``known`` ones (uint32[n]), have weights."""
    lines = lines.select(usable(lines))
    train, out = split(np.arange(len(lines), dtype=np.int64), period)
    slots = in_order(lines.state.take(train).indices)
    features = np.concatenate((known, slots[find(known, slots) < 0])).astype(np.uint32)
    problem = examples_of(lines, features)
    other = examples_of(held.select(usable(held)), features) if held is not None else None
    return parts(problem, train, out, other)


def usable(lines: Lines) -> np.ndarray:
    return np.flatnonzero((lines.kind == LINE) & ~np.isnan(lines.label) & (lines.weight > 0))


def parts(
    problem: Examples | Chains, train: np.ndarray, out: np.ndarray, other: Examples | Chains | None
) -> tuple[Part, Part | None]:
    if other is None:
        return Part(problem, train), Part(problem, out) if len(out) else None
    rows = np.arange(other.examples, dtype=np.int64)
    if isinstance(other, Chains):
        rows = rows[other.labelled & (other.weight > 0)]
    if not len(rows):
        raise DataError("no example of the held-out file has a label that training knows")
    return Part(problem, train), Part(other, rows)


def chain_parts(
    config: L1Config, lines: Lines, held: Lines | None, period: int, names: list[str], known: Pairs | None
) -> tuple[Part, Part | None]:
    """Pairs that the training part shows, and those of ``known``, have weights."""
    tokens = lines.select(np.flatnonzero(lines.kind == LINE))
    sequence = sequences_of(lines.kind) if config.sequences else np.arange(len(tokens) + 1, dtype=np.int64)
    tree = tree_of(tokens.node.tolist(), sequence) if tokens.node is not None else None
    if len(tokens) and names:
        good = np.minimum.reduceat(tokens.label, sequence[:-1]) >= 0
        good &= tokens.weight[sequence[:-1]] > 0
        train, out = split(np.flatnonzero(good), period)
    else:
        train = out = np.zeros(0, np.int64)
    mine = np.zeros(len(sequence), bool)
    mine[train] = True
    label = np.where(np.repeat(mine[:-1], np.diff(sequence)), tokens.label, -1).astype(np.int64)
    state = family(tokens.state, label, len(names), config.dense_pairs)
    way = ways_of(label, len(names), tokens_before(sequence, tree))
    histories = np.unique(way[way >= 0]).astype(np.uint32) if config.order == 2 else np.zeros(0, np.uint32)
    pairs = Pairs(names, state, edges_of(config, tokens, way, len(names)), config.sequences, histories)
    if known:
        pairs = merge_pairs(known, pairs)
    problem = of_loss(chains_of(lines, pairs, tree), config)
    return parts(problem, train, out, of_loss(chains_of(held, pairs), config) if held is not None else None)


def ways_of(label: np.ndarray, labels: int, token_before: np.ndarray) -> np.ndarray:
    """int64[tokens]: the transition into each token, -1 where there is none."""
    before = np.where(token_before >= 0, label[token_before], -1)
    return np.where((before >= 0) & (label >= 0), before * labels + label, -1)


def edges_of(config: L1Config, tokens: Lines, way: np.ndarray, labels: int) -> FeatureLabelIndex:
    if tokens.edge is None:
        return FeatureLabelIndex(np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.uint32))
    return family(tokens.edge, way, labels**2, config.dense_pairs)
