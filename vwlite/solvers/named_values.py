"""Values of classes as text."""

from collections.abc import Sequence

import numpy as np


def named_values(names: Sequence[str], values: np.ndarray, top: int | None = None) -> list[str]:
    """``class:value`` of float[n, classes], in the order of ``names``; of ``top`` the largest, the largest first."""
    orders = np.argsort(-values, axis=1, kind="stable")[:, :top].tolist() if top else [range(len(names))] * len(values)
    return [
        " ".join(f"{names[place]}:{row[place]:.6g}" for place in order)
        for row, order in zip(values.tolist(), orders, strict=True)
    ]
