"""How well chosen classes agree with true ones."""

import numpy as np


def agreement(
    chosen: np.ndarray, true: np.ndarray, importance: np.ndarray, meant: np.ndarray | None = None
) -> dict[str, float | int]:
    """Of ``chosen`` and ``true`` bool[n, classes]: accuracy; with several classes an example also micro-averages.

    ``meant`` int64[n]: how many classes the labels name, those among them that the model does not know; None: one each.
    """
    weight = importance.astype(np.float64)
    hits = float((weight * (chosen & true).sum(1)).sum())
    count = np.ones(len(weight)) if meant is None else meant
    said, named = float((weight * chosen.sum(1)).sum()), float((weight * count).sum())
    report: dict[str, float | int] = {"examples": len(weight)}
    exact = (chosen == true).all(1) & (true.sum(1) == count)
    report["accuracy"] = float((weight * exact).sum() / weight.sum())
    if meant is not None:
        report["micro_precision"] = hits / said if said else 0.0
        report["micro_recall"] = hits / named if named else 0.0
    report["micro_f1"] = 2 * hits / (said + named) if said + named else 0.0
    if meant is not None:
        report["macro_f1"] = macro_f1(chosen, true, weight)
    return report


def macro_f1(chosen: np.ndarray, true: np.ndarray, weight: np.ndarray) -> float:
    """Mean F of the classes that some example has or is said to have."""
    hits, parts = weight @ (chosen & true), weight @ chosen + weight @ true
    return float(np.mean(2 * hits[parts > 0] / parts[parts > 0])) if parts.any() else 0.0
