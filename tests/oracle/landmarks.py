"""Landmark features in plain Python, of examples as dictionaries from slots to values."""

import math

import numpy as np


def kernel(name, one, other, gamma=None):
    dot = sum(value * other.get(slot, 0.0) for slot, value in one.items())
    squares = [sum(value * value for value in each.values()) for each in (one, other)]
    if name == "rbf":
        return math.exp(-gamma * max(sum(squares) - 2 * dot, 0))
    if name == "cosine":
        return dot / math.sqrt(squares[0] * squares[1]) if all(squares) else 0.0
    return dot if name == "linear" else (1 + dot) ** int(name[-1])


def features(name, example, landmarks, gamma=None, nearest=0, whiten=False):
    similar = np.array([kernel(name, example, one, gamma) for one in landmarks])
    if nearest:
        best = sorted(range(len(similar)), key=lambda place: (-np.float32(similar[place]), place))[:nearest]
        similar = np.isin(np.arange(len(similar)), best).astype(float)
    if whiten:
        kernels = np.array([[kernel(name, one, other, gamma) for other in landmarks] for one in landmarks])
        values, vectors = np.linalg.eigh(kernels + 1e-6 * np.eye(len(landmarks)))
        largest = np.array([max(vector, key=abs) for vector in vectors.T])
        similar = ((vectors.T @ similar) * np.sign(largest) / np.sqrt(values))[::-1]
    return similar
