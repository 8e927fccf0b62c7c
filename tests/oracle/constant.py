"""The best constant prediction in hindsight, as the summary reports it."""

import numpy as np

from .counters import Counters
from .gd import Gd

F32 = np.float32


def best_constant(counters: Counters, gd: Gd) -> tuple[np.float32 | None, np.float32 | None]:
    """The constant and its average loss, each None when the summary leaves it out."""
    name, labels = gd.options.loss, counters.first_labels
    if not labels or labels == [0] or counters.labeled <= 0:
        return None, None
    mean = F32(counters.weighted_labels / counters.labeled)
    if len(labels) > 2:
        return (mean if name in ("squared", "classic") else None), None
    low, high = sorted([*labels, F32(0)][:2])
    low_weight = F32(counters.weighted_labels - float(high) * counters.labeled) / (low - high)
    high_weight = F32(counters.labeled) - low_weight
    if low_weight + high_weight <= 0:
        return None, None
    if name == "logistic":
        low, high = F32(-1), F32(1)
    best = two_label_constant(gd, mean, (low, low_weight), (high, high_weight))
    if best is None:
        return None, None
    total = F32(0)
    with np.errstate(all="ignore"):
        for label, weight in ((low, low_weight), (high, high_weight)):
            if weight > 0:
                total += weight * gd.current_loss().value(best, label)
    return best, total / (low_weight + high_weight)


def two_label_constant(gd: Gd, mean, low, high) -> np.float32 | None:
    """``low`` and ``high`` are pairs of label and weight; ``mean`` is the mean label."""
    name = gd.options.loss
    if name in ("squared", "classic"):
        return mean
    if name == "hinge":
        return F32(-1 if high[1] <= low[1] else 1)
    if name == "quantile":
        tau = F32(gd.options.quantile_tau)
        return high[0] if tau * (low[1] + high[1]) < high[1] else low[0]
    if name == "logistic":
        if low[1] <= 0:
            return F32(1)
        return F32(-1) if high[1] <= 0 else np.log(high[1] / low[1])
    return None
