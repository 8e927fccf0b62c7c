"""Theta as NumPy arrays, for use elsewhere."""

import numpy as np

from vwlite.features.theta import Theta
from vwlite.storage.atomic_file import atomic_output


def write_arrays(path: str, theta: Theta) -> None:
    """Write ``arrays_of`` to ``path``. Raises OutputError."""
    arrays = arrays_of(theta)
    with atomic_output(path) as file:
        np.savez(file, **arrays)


def arrays_of(theta: Theta) -> dict[str, np.ndarray]:
    """``feature`` and ``namespace`` str[p], ``group`` int32[p], ``matrix`` float32[p, widest h], ``groups`` str[g].

    ``group`` is a place in ``groups``, -1 for none; a group's h columns of the matrix come first, the others are 0.
    ``singular_values`` float64[g, widest h] likewise. With ``idf`` float32[p] its weights, and ``idf_unknown``
    that of features that are not here.
    """
    words = theta.words
    values = np.zeros((len(theta.names), theta.matrix.shape[1]))
    for row, own in zip(values, theta.values, strict=True):
        row[: len(own)] = own
    arrays = {
        "feature": np.array(words.names, np.str_),
        "namespace": np.array([words.spaces[place] for place in words.space.tolist()], np.str_),
        "group": theta.group,
        "matrix": theta.matrix,
        "groups": np.array(theta.names, np.str_),
        "singular_values": values,
    }
    if words.idf is not None:
        arrays |= {"idf": words.idf[:-1], "idf_unknown": words.idf[-1:]}
    return arrays
