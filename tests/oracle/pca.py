"""Principal components in plain NumPy: the exact decomposition of a dense matrix."""

import numpy as np


def components(x, weight, dim, center=False):
    """Singular values, float64[dim], and components, float64[columns, dim], of rows of these weights."""
    weight = np.asarray(weight, float)[:, None]
    mean = (weight * x).sum(axis=0) / weight.sum() if center else np.zeros(x.shape[1])
    _, values, vectors = np.linalg.svd(np.sqrt(weight) * (x - mean), full_matrices=False)
    vectors = vectors[:dim].T
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dim)])
    return values[:dim], vectors * signs, mean
