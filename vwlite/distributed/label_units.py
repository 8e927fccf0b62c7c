"""Shards that have learned labels in units of their own spread: the units of their mean, and their weights in these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vwlite.distributed.delta import Delta
from vwlite.learners.gd import LABEL_SUMS, NORMAL_RATIO


def has_units(header: Mapping[str, Any]) -> bool:
    return LABEL_SUMS[0] in header["scalars"]


def sums_of(header: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(header["scalars"][name]) for name in LABEL_SUMS}


def pooled(base: Mapping[str, float], ends: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The sums of all labels, of shards that each went on from ``base``.

    Means are weighted by the importance that a shard has learned. The distances of the shards' means are part of the
    spread, and of the mean deviation as for normal numbers.
    """
    learned = [end["label_weight"] - base["label_weight"] for end in ends]
    total = sum(learned)
    if not total > 0:
        return dict(base)
    shares = [one / total for one in learned]
    mean = sum(share * end["label_mean"] for share, end in zip(shares, ends, strict=True))
    found = {name: base[name] + sum(end[name] - base[name] for end in ends) for name in ("label_weight", "label_count")}
    found |= {"label_mean": mean, **dict.fromkeys(LABEL_SUMS[3:], 0.0)}
    for share, end in zip(shares, ends, strict=True):
        apart = end["label_mean"] - mean
        found["label_variance"] += share * (end["label_variance"] + apart * apart)
        found["label_variance_all"] += share * (end["label_variance_all"] + apart * apart)
        found["label_deviation"] += share * math.hypot(end["label_deviation"], apart / NORMAL_RATIO)
    return found


def spread_of(sums: Mapping[str, float], config: Any) -> float:
    """The unit of weights."""
    if config.loss.label_spread == "deviation":
        return NORMAL_RATIO * sums["label_deviation"]
    return math.sqrt(sums["label_variance"])


def in_units_of_all(base: Mapping[str, Any], deltas: Sequence[Delta], config: Any) -> Sequence[Delta]:
    """The deltas with weights in units of the spread of all labels, so that they average as in label units."""
    if not has_units(base):
        return deltas
    ends = [sums_of(delta.header) for delta in deltas]
    unit = spread_of(pooled(sums_of(base), ends), config)
    if not unit > 0:
        return deltas
    return [in_unit(delta, spread_of(end, config) / unit) for delta, end in zip(deltas, ends, strict=True)]


def in_unit(delta: Delta, factor: float) -> Delta:
    weights, *others = delta.columns
    with np.errstate(over="ignore"):
        return delta._replace(columns=[(weights * np.float64(factor)).astype(np.float32), *others])
