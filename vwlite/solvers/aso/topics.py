"""What Theta's rows are about: their strongest features by name (Ando and Zhang 2005, section 7.2.8)."""

from typing import Any

import numpy as np

from vwlite.escapes import escaped
from vwlite.features.theta import Theta
from vwlite.storage.atomic_file import atomic_output

AMONG = 100  # a row shows features from its so many largest positive and negative entries


def topics(theta: Theta, rows: int, count: int) -> list[dict[str, Any]]:
    """Per group, for its first ``rows`` rows, ``count`` features of either sign.

    As in the paper a feature stands where it is largest: in the row where its entry, of all of its entries, has the
    greatest size, taken relative to the row's own largest entry.
    """
    found = []
    for number, values in enumerate(theta.values):
        own = np.flatnonzero(theta.group == number)
        if not len(own):
            continue
        matrix = theta.matrix[own][:, : len(values)]
        sizes = np.abs(matrix)
        home = (sizes / np.maximum(sizes.max(0), 1e-30)).argmax(1) if len(values) else np.zeros(0, int)
        for row in range(min(rows, len(values))):
            entry: dict[str, Any] = {"group": theta.names[number], "row": row + 1, "value": float(values[row])}
            for name, sign in (("positive", 1), ("negative", -1)):
                order = np.argsort(-sign * matrix[:, row], kind="stable")[:AMONG]
                places = [p for p in order.tolist() if sign * matrix[p, row] > 0 and (home[p] == row or row == 0)]
                entry[name] = [theta.words.names[own[place]] for place in places[:count]]
            found.append(entry)
    return found


def as_text(found: list[dict[str, Any]]) -> str:
    lines = []
    for entry in found:
        lines.append(f"{escaped(entry['group'])} row {entry['row']}  singular value {entry['value']:.4g}")
        for name, sign in (("positive", "+"), ("negative", "-")):
            lines.append(f"  {sign}  {' '.join(map(escaped, entry[name]))}")
    return "\n".join(lines)


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
