"""Logistic and Poisson losses, links, and the table of all losses."""

import math

import numpy as np

from . import exponentials
from .libm import expf, expm1f, log1pf, logf
from .losses import F32, ONE, TWO, Classic, Expectile, Hinge, Perceptron, Quantile, SlopeSquared, Squared
from .options import Options


def lambert_rest(x: np.float32) -> np.float32:
    """W(e**x) - x in float64, by one step from a rough start (Karampatziakis & Langford, 2011)."""
    x = float(x)
    w = 0.86 * x + 0.01 if x >= 1 else exponentials.exp(0.8 * x - 0.65)
    r = x - exponentials.log(w) - w if x >= 1 else 0.2 * x + 0.65 - w
    t = 1 + w
    v = 2 * t * (t + 2 * r / 3)
    return F32(w * (1 + r / t * (v - r) / (v - 2 * r)) - x)


def flow_end(p, share, time):
    """Where ``p``, which follows p' = share - 1 / (1 + exp(-p)), is after the time; by bisection of its inverse."""
    end = math.log(share / (1 - share))

    def age(x):  # up to a constant: the integral of dx / p'
        above = x > end
        s, d = (share, x - end) if above else (1 - share, end - x)
        return (-s * d - math.log(-math.expm1(-d))) / (share * (1 - share))

    near, far = end, p
    for _ in range(200):
        x = (near + far) / 2
        if x == end or age(x) - age(p) > time:
            near = x
        else:
            far = x
    return far


class Logistic(SlopeSquared):
    """ln(1 + exp(-yp)); labels between ``bottom`` and ``top`` mix the two classes, and for ``vw`` their updates."""

    def __init__(self, bottom=-1, top=1, vw=False):
        self.bottom, self.top, self.vw = F32(bottom), F32(top), vw

    def mixed(self, f, y):
        share = (y - self.bottom) / (self.top - self.bottom)
        return share * f(ONE) + (ONE - share) * f(-ONE)

    def value(self, p, y):
        return self.mixed(lambda s: F32(exponentials.log(float(ONE + exponentials.expf(-s * p)))), y)

    def update(self, p, y, u, k):
        share = float((y - self.bottom) / (self.top - self.bottom))
        if self.vw or not 0 < share < 1 or k == 0:
            return self.mixed(lambda s: self.step(p, s, u, k), y)
        return F32((flow_end(float(p), share, float(u) * float(k)) - float(p)) / float(k))

    def step(self, p, s, u, k):
        d = exponentials.expf(s * p)
        move = min(u * k, F32(1e9))
        if move < F32(1e-6):
            return s * u / (ONE + d)
        if d >= F32(2**24):  # where the other side of a label between the two has a loss
            return s * log1pf(move / d) / k
        return -(s * lambert_rest(move + s * p + d) + p) / k

    def unsafe_update(self, p, y, u):
        return self.mixed(lambda s: s * u / (ONE + exponentials.expf(s * p)), y)

    def dl(self, p, y):
        return self.mixed(lambda s: -s / (ONE + exponentials.expf(s * p)), y)

    def second(self, p, y):
        def curvature(s):
            q = ONE / (ONE + exponentials.expf(s * p))
            return q * (ONE - q)

        return self.mixed(curvature, y)


class Poisson(SlopeSquared):
    """Twice the Poisson deviance of the rate exp(p)."""

    @staticmethod
    def clamp(p):
        return min(max(p, F32(-44)), F32(44))

    def value(self, p, y):
        c = self.clamp(p)
        return TWO * (y * (logf(y + F32(1e-6)) - c) - (y - expf(c)))

    def update(self, p, y, u, k):
        c = self.clamp(p)
        if y > 0:
            a = y * u * k
            if a > F32(44):
                return -(c - logf(y)) / k
            return y * u - log1pf(expf(c) * expm1f(a) / y) / k
        z = expf(c) * u * k
        return -log1pf(z) / k if np.isfinite(z) else -(c + logf(u * k)) / k

    def unsafe_update(self, p, y, u):
        return (y - expf(self.clamp(p))) * u

    def dl(self, p, y):
        return expf(self.clamp(p)) - y

    def second(self, p, y):
        return expf(self.clamp(p))


LOSSES = {
    "squared": lambda options: Squared(),
    "classic": lambda options: Classic(),
    "hinge": lambda options: Hinge(),
    "logistic": lambda options: Logistic(options.logistic_min, options.logistic_max, vw=not options.own),
    "quantile": lambda options: Quantile(options.quantile_tau),
    "expectile": lambda options: Expectile(options.expectile_q),
    "poisson": lambda options: Poisson(),
    "perceptron": lambda options: Perceptron(),
}


def loss_of(options: Options):
    return LOSSES[options.loss](options)


LINKS = {
    "identity": lambda p: p,
    "logistic": lambda p: ONE / (ONE + expf(-p)),
    "glf1": lambda p: TWO / (ONE + expf(-p)) - ONE,
    "poisson": expf,
}
