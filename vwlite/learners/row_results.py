"""The results of a kernel for each row of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from vwlite.features.feature_names import GroupTerms


class WeightedSum(NamedTuple):
    """A sum of weights times values that a row's answer was made from."""

    weight_set: int  # from 0; of learners with one set of weights, 0
    name: str  # of the class, or of what else the sum is the score of; empty where there is but one
    value: float  # before it is clipped and linked


class CrossedTerms(NamedTuple):
    """Terms of a row whose weights are products of what was learned, and stand in no slot."""

    name: Callable[[int], str]  # of the n-th term
    values: np.ndarray  # float64[terms]
    weights: np.ndarray  # float64[terms]


def all_pairs(left: GroupTerms, right: GroupTerms, weights: np.ndarray) -> CrossedTerms:
    """A product of each two features for each of ``weights``, float64[features on the left, features on the right]."""

    def name(place: int) -> str:
        i, j = divmod(place, len(right.names))
        return "*".join(filter(None, (left.names[i], right.names[j])))

    return CrossedTerms(name, np.outer(left.values.astype(float), right.values).ravel(), weights.ravel())


def alone(side: GroupTerms, weights: np.ndarray) -> CrossedTerms:
    """The features of a side with what is added to the other side's vector (``--dot-offset``)."""
    return CrossedTerms(lambda place: f"{side.names[place]}*Offset", side.values.astype(float), weights)


def one_term(side: GroupTerms, place: int) -> GroupTerms:
    return side._make(part[place : place + 1] for part in side)


def has_length(side: GroupTerms) -> bool:
    """Whether the values, those of the same slot added up, are finite and not all 0."""
    slots, place = np.unique(side.slots, return_inverse=True)
    with np.errstate(all="ignore"):
        values = np.zeros(len(slots), np.float32)
        np.add.at(values, place, side.values)
        return bool(0 < np.square(values, dtype=float).sum() < np.inf)


class Results:
    """Arrays with one entry per row of a batch, used again for the next batch."""

    __slots__ = ("features", "flip_importance", "holdout_mask", "loss", "prediction", "raw")

    def __init__(self) -> None:
        self.flip_importance: np.ndarray | None = None  # float32[n]; None: not computed
        self.holdout_mask: np.ndarray | None = None  # uint8[n], 1 where a row is held out; None: none is
        self.reserve(0)

    def reserve(self, rows: int) -> None:
        """Have at least ``rows`` entries. What they hold is undefined until a kernel has filled them."""
        self.prediction = np.zeros(rows, np.float32)  # clipped, linked
        self.raw = np.zeros(rows, np.float32)
        self.loss = np.zeros(rows, np.float32)  # times importance, 0 where unlabelled
        self.features = np.zeros(rows, np.uint32)  # constant and interactions included
        if self.flip_importance is not None:
            self.flip_importance = np.zeros(rows, np.float32)

    def hold_out(self, rows: np.ndarray) -> None:
        """Have these rows predicted, not learned."""
        self.holdout_mask = np.zeros(len(self), np.uint8)
        self.holdout_mask[rows] = 1

    def want_flip_importance(self) -> None:
        """Have the kernel fill ``flip_importance`` as well."""
        self.flip_importance = np.zeros(len(self), np.float32)

    def importances(self) -> np.ndarray:
        """``flip_importance``, which was wanted."""
        assert self.flip_importance is not None
        return self.flip_importance

    def __len__(self) -> int:
        return len(self.prediction)


def value_text(value: float) -> str:
    """A real label or prediction as the progress table shows it; NaN, an absent label, is ``unknown``."""
    return "unknown" if value != value else f"{float(value):.4f}"


def named_values(names: Sequence[str], values: np.ndarray, top: int | None = None) -> list[str]:
    """``class:value`` of float[n, classes], in the order of ``names``; of ``top`` the largest, the largest first."""
    orders = np.argsort(-values, axis=1, kind="stable")[:, :top].tolist() if top else [range(len(names))] * len(values)
    return [
        " ".join(f"{names[place]}:{row[place]:.6g}" for place in order)
        for row, order in zip(values.tolist(), orders, strict=True)
    ]
