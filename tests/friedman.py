"""A function of numbers with noise, as rows and as text."""

import numpy as np

ROWS = 400


def friedman(rows=ROWS, seed=0):
    """float64[rows, 10] and float64[rows], the function of Friedman with noise."""
    random = np.random.default_rng(seed)
    X = random.random((rows, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + random.normal(size=rows)


def lines_of(X, y, weight=None):
    heads = [repr(float(label)) for label in np.asarray(y, np.float32)]
    if weight is not None:
        heads = [f"{head} {one}" for head, one in zip(heads, weight, strict=True)]
    rows = [" ".join(f"x{place}:{value:.6f}" for place, value in enumerate(row)) for row in X]
    return "".join(f"{head} |f {row}\n" for head, row in zip(heads, rows, strict=True))
