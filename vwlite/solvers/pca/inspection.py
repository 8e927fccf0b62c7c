"""What principal components are about."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.solvers.pca.solver import PcaModel


def strongest(model: PcaModel, top: int) -> list[dict[str, Any]]:
    """Of every component its singular value and the ``top`` features of largest size, by name where there are names."""
    names = model.names.names if model.names else {}
    found = []
    for number in range(model.config.dim):
        column = model.found.vectors[:, number]
        order = np.argsort(-np.abs(column), kind="stable")[:top]
        slots = model.found.slots[order].tolist()
        features = [
            {"slot": slot, "name": names.get(slot), "value": float(value)}
            for slot, value in zip(slots, column[order], strict=True)
        ]
        found.append({"singular_value": float(model.found.values[number]), "features": features})
    return found
