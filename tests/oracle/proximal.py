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


def of_low_rank(matrix, by):
    """Singular values less ``by``, down to 0."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return (left * np.maximum(values - by, 0)) @ right


def softmax(x, label, penalty, steps):
    """float64[columns, labels], the weights W of least sum of -log p(label | x) + penalty * sum of singular values, of
    plain proximal steps, and that sum.
    """
    true = np.eye(label.max() + 1)[label]
    steepness = np.linalg.norm(x, 2) ** 2 / 2

    def shrink(v, by):
        return of_low_rank(v, penalty * by)

    def chances(w):
        z = x @ w
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    start = np.zeros((x.shape[1], true.shape[1]))
    w = minimise(lambda w: x.T @ (chances(w) - true), start, steepness, steps, shrink)
    loss = -float(np.log(chances(w)[np.arange(len(x)), label]).sum())
    return w, loss + penalty * float(np.linalg.svd(w, compute_uv=False).sum())
