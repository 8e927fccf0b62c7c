"""Alternating least squares for what was chosen, with whole matrices: every pair of ids has a weight and a target."""

import numpy as np


def matrices(examples, unobserved):
    """float64[people, items]: weight and target of every pair; ``examples`` are (person, item, weight, label)."""
    people, items = (1 + max(one[side] for one in examples) for side in range(2))
    weight, sums = np.full((people, items), unobserved), np.zeros((people, items))
    for person, item, importance, label in examples:
        weight[person, item] += importance
        sums[person, item] += importance * label
    return weight, sums / weight


def objective(examples, vectors, ridges, unobserved):
    """``ridges``: for both sides float64[ids]."""
    predicted = vectors[0] @ vectors[1].T
    people, items, weight, label = map(np.array, zip(*examples, strict=True))
    total = np.sum(weight * (label - predicted[people, items]) ** 2) + unobserved * np.sum(predicted**2)
    return total + sum(ridge @ np.sum(one**2, axis=1) for ridge, one in zip(ridges, vectors, strict=True))


def best_vectors(weight, target, other, ridge):
    """float64[ids, rank] of the side whose ids are the rows of ``weight``: the least squares for ``other``."""
    return np.stack([
        np.linalg.solve((other.T * c) @ other + r * np.eye(other.shape[1]), (other.T * c) @ t)
        for c, t, r in zip(weight, target, ridge, strict=True)
    ])


def conjugate_gradients(matrix, right, x, steps):
    """``steps`` from ``x`` towards the solution of ``matrix @ x = right`` (Hestenes and Stiefel, 1952)."""
    left = right - matrix @ x
    way = left
    for _ in range(steps):
        if left @ left < 1e-30:
            break
        step = left @ left / (way @ matrix @ way)
        before, x, left = left, x + step * way, left - step * (matrix @ way)
        way = left + left @ left / (before @ before) * way
    return x
