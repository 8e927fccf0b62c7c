"""From lines of text to the problem that is solved: which features have weights, which examples are held out."""

from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.numerals import read_decimal
from vwlite.solvers.loglinear.config import HeldOutConfig, L1Config
from vwlite.solvers.loglinear.examples import LINE, Lines, sequences_of
from vwlite.solvers.loglinear.feature_label_pairs import (
    FeatureLabelIndex,
    Pairs,
    empty_family,
    family,
    find,
    in_order,
    widened,
)
from vwlite.solvers.loglinear.problems import Chains, Examples, Part, chains_of, examples_of, tokens_before
from vwlite.solvers.loglinear.structured import of_loss
from vwlite.solvers.loglinear.trees import tree_of


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
    shown = in_order(lines.state.take(train).indices)
    features = np.concatenate((known, shown[find(known, shown) < 0])).astype(np.uint32)
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
        pairs = widened(known, pairs)
    problem = of_loss(chains_of(lines, pairs, tree), config)
    return parts(problem, train, out, of_loss(chains_of(held, pairs), config) if held is not None else None)


def ways_of(label: np.ndarray, labels: int, token_before: np.ndarray) -> np.ndarray:
    """int64[tokens]: the transition into each token, -1 where there is none."""
    before = np.where(token_before >= 0, label[token_before], -1)
    return np.where((before >= 0) & (label >= 0), before * labels + label, -1)


def edges_of(config: L1Config, tokens: Lines, way: np.ndarray, labels: int) -> FeatureLabelIndex:
    if tokens.edge is None:
        return empty_family()
    return family(tokens.edge, way, labels**2, config.dense_pairs)
