"""Slow twin of FISTA: plain proximal gradient steps of a fixed size, with norms row by row."""

import numpy as np


def lengths(rows, w):
    """``rows``: lists of places in ``w``, each place in one of them."""
    return [float(np.sqrt(sum(w[i] ** 2 for i in row))) for row in rows]


def shrunk(rows, w, by):
    """Every row is made shorter by as much, down to 0."""
    out = np.array(w)
    for row, length in zip(rows, lengths(rows, w), strict=True):
        for i in row:
            out[i] = w[i] * (1 - by / length) if length > by else 0.0
    return out


def rows_by(numbers):
    """Of the number of each place's row: the places of every row."""
    return [np.flatnonzero(numbers == row).tolist() for row in range(max(numbers, default=-1) + 1)]


def minimise(gradient, start, steepness, steps, prox):
    """``gradient`` of the smooth part, ``prox(v, by)`` of the penalty."""
    w = np.array(start)
    for _ in range(steps):
        w = prox(w - gradient(w) / steepness, 1 / steepness)
    return w
