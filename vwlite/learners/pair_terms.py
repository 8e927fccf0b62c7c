"""Terms of products of what was learned for the features of two namespaces."""

from __future__ import annotations

import numpy as np

from vwlite.features.feature_names import GroupTerms
from vwlite.learners.row_results import CrossedTerms


def all_pairs(left: GroupTerms, right: GroupTerms, weights: np.ndarray) -> CrossedTerms:
    """A term for each of ``weights``, float64[features on the left, features on the right]."""

    def name(place: int) -> str:
        i, j = divmod(place, len(right.names))
        return "*".join(filter(None, (left.names[i], right.names[j])))

    return CrossedTerms(name, np.outer(left.values.astype(float), right.values).ravel(), weights.ravel())


def alone(side: GroupTerms, weights: np.ndarray) -> CrossedTerms:
    """The features of a side with what is added to the other side's vector (``--dot-offset``)."""
    return CrossedTerms(lambda place: f"{side.names[place]}*Offset", side.values.astype(float), weights)


def one_term(side: GroupTerms, place: int) -> GroupTerms:
    return GroupTerms(*(part[place : place + 1] for part in side))


def has_length(side: GroupTerms) -> bool:
    """Whether the values, those of the same slot added up, are finite and not all 0."""
    slots, place = np.unique(side.slots, return_inverse=True)
    with np.errstate(all="ignore"):
        values = np.zeros(len(slots), np.float32)
        np.add.at(values, place, side.values)
        return bool(0 < np.square(values, dtype=float).sum() < np.inf)
