"""Sums of a pass of batch optimisation over several predictions of each example, by matrices; plain and in float64."""

from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """``gradient``, ``diagonal`` (of the Hessian) float64[inputs, outputs]; ``curvature``: along the direction."""

    loss: float
    weight: float
    gradient: np.ndarray
    diagonal: np.ndarray
    curvature: float


def entropy(y):
    return np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0)


class Twin:
    """The loss that matches a transfer. Labels are float64[rows, outputs], NaN where one is missing."""

    def __init__(self, transfer):
        self.transfer = transfer

    def losses(self, z, y):
        """Of each row and output: the loss, its slope and its curvature in z, all 0 where the label is missing."""
        if self.transfer == "identity":
            result = (z - y) ** 2, 2 * (z - y), np.full(z.shape, 2.0)
        elif self.transfer == "exp":
            result = np.exp(z) - y - y * z + entropy(y), np.exp(z) - y, np.exp(z)
        elif self.transfer == "softmax":
            top = z.max(axis=1, keepdims=True)
            log_p = z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))
            p = np.exp(log_p)
            result = entropy(y) - y * log_p, p - y, p * (1 - p)
        else:
            share, p = (y + 1) / 2 if self.transfer == "tanh" else y, 1 / (1 + np.exp(-z))
            result = np.logaddexp(0, z) - share * z, p - share, p * (1 - p)
        return [np.where(np.isnan(y), 0, one) for one in result]

    def curvatures(self, z, y):
        """What the preconditioner and steps take: but for softmax at least those of parabolas whose minimum is 0."""
        value, slope, curvature = self.losses(z, y)
        if self.transfer == "softmax":
            return curvature
        return np.maximum(curvature, np.where(value > 0, slope**2 / np.where(value > 0, 2 * value, 1), 0))

    def blocks(self, z, curvature):
        """float64[rows, outputs, outputs]: second derivatives of a row's loss in its predictions."""
        if self.transfer != "softmax":
            return curvature[:, :, None] * np.eye(z.shape[1])
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p[:, :, None] * np.eye(z.shape[1]) - p[:, :, None] * p[:, None, :]

    def hessian(self, x, y, weight, w):
        """float64[inputs * outputs, inputs * outputs]"""
        z = x @ w
        blocks = self.blocks(z, self.losses(z, y)[2]) * weight[:, None, None]
        return np.einsum("ni,nj,nab->iajb", x, x, blocks).reshape(w.size, w.size)

    def sums(self, x, y, weight, held, w, along):
        """At the weights ``w``; rows that are ``held`` out do not count."""
        y, z, a, weight = np.asarray(y, float), x @ w, x @ along, np.array(weight, float)
        if held is not None:
            weight = np.where(held, 0, weight)
        known = ~np.isnan(y).all(axis=1)
        (value, slope, _), curvature = self.losses(z, y), self.curvatures(z, y)
        return Sums(
            float(weight @ value.sum(axis=1)),
            float(weight[known].sum()),
            x.T @ (weight[:, None] * slope),
            (x**2).T @ (weight[:, None] * curvature),
            float(np.einsum("n,na,nb,nab->", weight, a, a, self.blocks(z, curvature))),
        )
