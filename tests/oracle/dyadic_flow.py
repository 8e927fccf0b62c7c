"""The gradient flow of a dyadic model for one example, in float64 and in closed form but for one dimension.

It follows P. Mineiro, "A Dyadic Importance Aware Update" (2011), generalised to feature values and several
features a side.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Loss:
    """A loss of float64 numbers by its name, with the option it needs (tau, q, scale, power, tube)."""

    name: str
    option: float = 0.5

    def value(self, p: float, y: float) -> float:
        if self.name == "hinge":
            return max(0.0, 1 - y * p)
        if self.name == "quantile":
            return self.option * (y - p) if y > p else (1 - self.option) * (p - y)
        if self.name == "logistic":
            share = (y + 1) / 2
            return share * softplus(-p) + (1 - share) * softplus(p)
        if self.name == "poisson":
            c = min(max(p, -44.0), 44.0)
            return 2 * (y * (math.log(y + 1e-6) - c) - (y - math.exp(c)))
        if self.name in OTHERS:
            return OTHERS[self.name][0](y * p if self.name in OF_MARGIN else abs(p - y), self.option)
        return (p - y) ** 2 * self.share(p, y)

    def share(self, p: float, y: float) -> float:
        if self.name != "expectile":
            return 1.0
        return self.option if p > y else 1 - self.option

    def slope(self, p: float, y: float) -> float:
        if self.name == "hinge":
            return -y if y * p < 1 else 0.0
        if self.name == "quantile":
            return 0.0 if p == y else -self.option if y > p else 1 - self.option
        if self.name == "logistic":
            return logistic(p) - (y + 1) / 2
        if self.name == "poisson":
            return math.exp(min(max(p, -44.0), 44.0)) - y
        if self.name in OF_MARGIN:
            return y * OTHERS[self.name][1](y * p, self.option)
        if self.name in OTHERS:
            return math.copysign(OTHERS[self.name][1](abs(p - y), self.option), p - y) if p != y else 0.0
        return 2 * (p - y) * self.share(p, y)

    @property
    def piecewise(self) -> bool:
        """Constant slope up to where the flow stops."""
        return self.name in ("hinge", "quantile", "absolute", "tube")

    @property
    def rests(self) -> bool:
        """Whether nothing moves, nor decays, where the slope is 0."""
        return self.piecewise or self.name in ("modified_huber", "squared_hinge", "truncated")

    def stop(self, p: float, y: float) -> float:
        """The prediction at which a flow of constant slope that begins at ``p`` stops."""
        return y + math.copysign(self.option, p - y) if self.name == "tube" else y

    def rest(self, y: float) -> float | None:
        """The prediction at which the slope is zero, None when no finite one is."""
        if self.name == "poisson":
            return math.log(y) if y > 0 else None
        if self.name == "logistic":
            return math.log((1 + y) / (1 - y)) if abs(y) < 1 else None
        return None if self.name in ("exponential", "tanh", "tube", "truncated") else y


OF_MARGIN = ("exponential", "modified_huber", "squared_hinge", "tanh")
OTHERS = {  # of the margin, or of the size of the residual: value and derivative
    "exponential": (lambda m, _: guarded_exp(-m), lambda m, _: -guarded_exp(-m)),
    "modified_huber": (
        lambda m, _: -4 * m if m < -1 else max(0.0, 1 - m) ** 2,
        lambda m, _: -4.0 if m < -1 else -2 * max(0.0, 1 - m),
    ),
    "squared_hinge": (lambda m, _: max(0.0, 1 - m) ** 2, lambda m, _: -2 * max(0.0, 1 - m)),
    "tanh": (lambda m, _: 1 - math.tanh(m), lambda m, _: -1 / math.cosh(min(abs(m), 350)) ** 2),
    "absolute": (lambda r, _: r, lambda r, _: 1.0),
    "tube": (lambda r, tube: max(0.0, r - tube), lambda r, tube: float(r > tube)),
    "truncated": (lambda r, c: min(1.0, (r / c) ** 2), lambda r, c: 2 * r / c**2 if r < c else 0.0),
    "geman_mcclure": (lambda r, c: r**2 / (c**2 + r**2), lambda r, c: 2 * r * (c / (c**2 + r**2)) ** 2),
    "lp": (lambda r, power: r**power, lambda r, power: power * r ** (power - 1)),
}


def softplus(z: float) -> float:
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


def logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


@dataclass
class Term:
    """One a.b: the two sides as parameter matrices (features, k) and the feature values they go with."""

    alpha: np.ndarray
    xa: np.ndarray
    beta: np.ndarray
    xb: np.ndarray
    offset: float = 0.0

    def __post_init__(self):
        self.a, self.b = self.xa @ self.alpha + self.offset, self.xb @ self.beta + self.offset
        self.a2, self.b2 = float(self.xa @ self.xa), float(self.xb @ self.xb)
        self.omega, self.kappa = math.sqrt(self.a2 * self.b2), math.sqrt(self.a2 / self.b2)
        low, high = self.a / math.sqrt(self.kappa), self.b * math.sqrt(self.kappa)
        self.plus, self.minus = float((low + high) @ (low + high)), float((low - high) @ (low - high))

    def dot(self, s: float) -> float:
        """a(s).b(s) without damping."""
        near, far = guarded_exp(-2 * self.omega * s), guarded_exp(2 * self.omega * s)
        return (self.plus * near - self.minus * far) / 4

    def moved(self, s: float, damping: float) -> tuple[np.ndarray, np.ndarray]:
        """alpha and beta at ``s``, both shrunk by ``damping``."""
        c, t = math.cosh(self.omega * s), math.sinh(self.omega * s)
        a = self.a * c - self.kappa * self.b * t
        b = self.b * c - self.a * t / self.kappa
        shift = (damping - 1) * self.offset  # the sums are what decays, their offset included
        alpha = damping * self.alpha + np.outer(self.xa, (damping * (a - self.a) + shift) / self.a2)
        beta = damping * self.beta + np.outer(self.xb, (damping * (b - self.b) + shift) / self.b2)
        return alpha, beta


def guarded_exp(z: float) -> float:
    return math.exp(min(z, 700.0))


@dataclass
class Flow:
    """One example's path: prediction at (s, h) and the step s it takes for importance h."""

    terms: list[Term]
    linear: float  # w.x and the initial prediction
    x2: float
    rate: float
    l2: float
    loss: Loss
    label: float

    def damping(self, h: float) -> float:
        return math.exp(-self.rate * self.l2 * h)

    def p(self, s: float, h: float = 0.0) -> float:
        return self.damping(h) ** 2 * sum(term.dot(s) for term in self.terms) + self.linear - s * self.x2

    def inverse(self, target: float) -> float:
        """s with p(s) = target, by bisection; +-inf when it lies beyond the exponent's range."""
        sign = 1.0 if self.p(0) > target else -1.0
        far = 1e-12
        while (self.p(sign * far) - target) * sign > 0:
            far *= 2
            if far > 1e30:
                return sign * math.inf
        near = 0.0
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (middle, far) if (self.p(sign * middle) - target) * sign > 0 else (near, middle)
        return sign * far

    def solve(self, h: float) -> tuple[float, float]:
        """(s, the importance used up): less than ``h`` when the flow stopped at the label."""
        slope = self.loss.slope(self.p(0), self.label)
        if self.loss.rests and not slope:
            return 0.0, 0.0
        return self.straight(slope, h) if self.loss.piecewise else (self.curved(h), h)

    def straight(self, slope: float, h: float) -> tuple[float, float]:
        if not self.l2:
            stop = abs(self.inverse(self.loss.stop(self.p(0), self.label)) / (self.rate * slope))
            used = min(h, stop)
            return self.rate * slope * used, used
        goal = self.loss.stop(self.p(0), self.label)
        gap = lambda t: (self.p(self.rate * slope * t, t) - goal) * math.copysign(1, slope)  # noqa: E731
        grid = [h * (i / 4000) ** 3 for i in range(4001)]
        used = next((b for b in grid[1:] if gap(b) <= 0), None)
        if used is None:
            return self.rate * slope * h, h
        before = grid[grid.index(used) - 1]
        for _ in range(100):
            middle = (before + used) / 2
            before, used = (middle, used) if gap(middle) > 0 else (before, middle)
        return self.rate * slope * used, used

    def curved(self, h: float) -> float:
        rest = self.loss.rest(self.label)
        end = None if rest is None or self.l2 else self.inverse(rest)
        slope = lambda s, t: self.rate * self.loss.slope(self.p(s, t), self.label)  # noqa: E731
        return integrate(slope, h, end, self.resolution())

    def resolution(self) -> float:
        """The s that changes the prediction by a few roundings of its parts."""
        size = 1 + abs(self.linear) + sum(term.plus + term.minus for term in self.terms)
        return 1e-13 * size / abs(self.derivative() or 1e-300)

    def derivative(self) -> float:
        """dp/ds at the start."""
        return -self.x2 - sum(t.a2 * float(t.b @ t.b) + t.b2 * float(t.a @ t.a) for t in self.terms)


# Dormand and Prince (1980), order 5 with an error estimate of order 4
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def integrate(slope, h: float, end: float | None, floor: float) -> float:
    """s(h) of s'(t) = slope(s, t), s(0) = 0, to ``floor``; ``end`` is a fixed point where it may stop early."""
    s, t = 0.0, 0.0
    step = h * 1e-3
    first = abs(slope(0.0, 0.0))
    if first:
        step = min(step, 1e-6 / first)
    for _ in range(3000):
        if t >= h or (end is not None and abs(end - s) <= 1e-10 * abs(end) + 10 * floor):
            break
        step = min(step, h - t)
        stages: list[float] = []
        for node, row in zip(NODES, STAGES, strict=True):
            inner = s + step * sum(c * k for c, k in zip(row, stages, strict=True))
            stages.append(slope(inner, t + node * step))
        following = s + step * sum(c * k for c, k in zip((*STAGES[6], 0.0), stages, strict=True))
        error = abs(step * sum(c * k for c, k in zip(ERRORS, stages, strict=True)))
        allowed = 1e-11 * max(abs(following), abs(s)) + floor
        if not math.isfinite(error):
            step *= 0.1
            continue
        if error <= allowed:
            s, t = following, t + step
        step *= min(5.0, max(0.2, 0.9 * (allowed / error) ** 0.2)) if error > 0 else 5.0
    else:
        raise ArithmeticError("the one-dimensional flow needs too many steps")
    return s
