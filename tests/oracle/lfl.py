"""Latent feature log-linear models in float64: a score for each label, moved along the exact gradient flow.

``Lfl.learn`` integrates one number for each label and uses the closed form of the rest; ``full_flow`` integrates all
parameters and knows nothing of it.
"""

from dataclasses import dataclass, field

import numpy as np

from .dyadic import Row, merged
from .dyadic_flow import Term


@dataclass
class Lfl:
    """``values``: the labels as numbers. ``base``: the label whose score is 0, -1 without one."""

    values: np.ndarray
    rank: int
    rate: float
    l2: float = 0.0
    linear_l2: float = 0.0
    base: int = -1
    mean: bool = False  # the loss: squared error of the expected label
    w: dict = field(default_factory=dict)  # slot -> float64[labels]
    latent: dict = field(default_factory=dict)  # (pair, side, slot) -> float64[labels, k]

    def terms(self, row: Row) -> list[list[Term]]:
        """Of every dot product, that of each label."""
        result = []
        for pair, sides in enumerate(row.pairs if self.rank else ()):
            left, right = map(merged, sides)
            if not (left and right):
                continue
            xa, xb = np.array([*left.values()]), np.array([*right.values()])
            alpha, beta = (
                np.array([self.latent[pair, side, slot] for slot in one]) for side, one in enumerate((left, right))
            )
            result.append([Term(alpha[:, y], xa, beta[:, y], xb) for y in range(len(self.values))])
        return result

    def linear(self, row: Row) -> tuple[np.ndarray, float]:
        x = merged(row.linear)
        zero = np.zeros(len(self.values))
        return sum((self.w[slot] * value for slot, value in x.items()), zero), sum(v * v for v in x.values())

    def scores(self, row: Row) -> np.ndarray:
        result = self.linear(row)[0] + row.base + sum(np.array([t.dot(0) for t in one]) for one in self.terms(row))
        return self.with_base(result)

    def with_base(self, z: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(z)) == self.base, 0.0, z)

    def gradient(self, z: np.ndarray, true: int) -> np.ndarray:
        """Of the loss by the scores."""
        p = softmax(self.with_base(z))
        if self.mean:
            expected = float(p @ self.values)
            p *= 2 * (expected - self.values[true]) * (self.values - expected)
        else:
            p[true] = -p[np.arange(len(p)) != true].sum()
        return np.where(np.arange(len(p)) == self.base, 0.0, p)

    def loss(self, row: Row, true: int) -> float:
        z = self.scores(row)
        if self.mean:
            return float(softmax(z) @ self.values - self.values[true]) ** 2
        return float(np.log(np.exp(z - z[true]).sum()))

    def learn(self, row: Row, true: int, h: float = 1.0) -> np.ndarray:
        """Moves the parameters; returns the scores made before."""
        before, terms, (linear, x2) = self.scores(row), self.terms(row), self.linear(row)
        size, mu = len(self.values), self.rate * self.linear_l2

        def speed(state, t):
            s, u = state[:size], state[size:]
            fade = np.exp(-2 * self.rate * self.l2 * t)
            z = np.exp(-mu * t) * linear + row.base - u * x2
            for one in terms:
                z = z + fade * np.array([term.dot(s[y]) for y, term in enumerate(one)])
            move = self.rate * self.gradient(z, true)
            return np.concatenate([move, move - mu * u])

        state = integrate(speed, np.zeros(2 * size), h)
        s, u, damping = state[:size], state[size:], np.exp(-self.rate * self.l2 * h)
        for slot, x in merged(row.linear).items():
            moved = np.exp(-mu * h) * self.w[slot] - u * x
            self.w[slot] = np.where(np.arange(size) == self.base, self.w[slot], moved)
        number = 0
        for pair, sides in enumerate(row.pairs if self.rank else ()):
            left, right = map(merged, sides)
            if not (left and right):
                continue
            moved = [term.moved(s[y], damping) for y, term in enumerate(terms[number])]
            for side, one in enumerate((left, right)):
                for place, slot in enumerate(one):
                    self.latent[pair, side, slot] = np.array([moved[y][side][place] for y in range(size)])
            number += 1
        return before


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max())
    return e / e.sum()


def integrate(speed, state: np.ndarray, h: float, tolerance: float = 1e-11) -> np.ndarray:
    """The state at ``h``, by steps of Runge and Kutta's method, each compared with two of half its length."""
    t, step = 0.0, h
    for _ in range(20000):
        if t >= h:
            return state
        step = min(step, h - t)
        whole = classical(speed, state, t, step)
        half = classical(speed, classical(speed, state, t, step / 2), t + step / 2, step / 2)
        error = np.abs(half - whole).max() / (tolerance * (1e-3 + np.abs(half).max()))
        if error <= 1:
            state, t = half + (half - whole) / 15, t + step
        step *= min(4.0, max(0.1, 0.9 * error**-0.2)) if error > 0 else 4.0
    raise ArithmeticError("the flow needs too many steps")


def classical(speed, state: np.ndarray, t: float, dt: float) -> np.ndarray:
    k1 = speed(state, t)
    k2 = speed(state + dt / 2 * k1, t + dt / 2)
    k3 = speed(state + dt / 2 * k2, t + dt / 2)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + speed(state + dt * k3, t + dt))


def full_flow(twin: Lfl, row: Row, true: int, h: float, steps: int, l2=None, free=lambda pair, side: True) -> Lfl:
    """A copy of ``twin`` that has learned by small steps along the gradient of all its parameters.

    ``l2(pair, side)`` in place of ``twin.l2``; linear weights stand where ``free(None, slot)`` says so, vectors of a
    side where ``free(pair, side)`` does.
    """
    l2 = l2 or (lambda *_: twin.l2)
    slots, size = merged(row.linear), len(twin.values)
    sides = [(pair, side, merged(one)) for pair, both in enumerate(row.pairs) for side, one in enumerate(both)]
    keys = [(pair, side, slot) for pair, side, one in sides for slot in one]
    start = np.concatenate([*(twin.w[slot] for slot in slots), *(twin.latent[key].ravel() for key in keys)])
    edge = len(slots) * size

    def placed(state):
        w = dict(zip(slots, state[:edge].reshape(len(slots), size), strict=True))
        vectors = state[edge:].reshape(len(keys), size, twin.rank)
        return Lfl(
            twin.values,
            twin.rank,
            twin.rate,
            twin.l2,
            twin.linear_l2,
            twin.base,
            twin.mean,
            w,
            dict(zip(keys, vectors, strict=True)),
        )

    def speed(state, _):
        now = placed(state)
        g = now.gradient(now.scores(row), true)
        sums = {}
        for pair, side, one in sides:
            sums[pair, side] = sum(x * now.latent[pair, side, slot] for slot, x in one.items())
        parts = [-(g * x + twin.linear_l2 * now.w[slot]) * free(None, slot) for slot, x in slots.items()]
        for pair, side, one in sides:
            for slot, x in one.items():
                slope = g[:, None] * sums[pair, 1 - side] * x + l2(pair, side) * now.latent[pair, side, slot]
                parts.append(-slope.ravel() * free(pair, side))
        return twin.rate * np.concatenate(parts)

    for _ in range(steps):
        start = classical(speed, start, 0.0, h / steps)
    return placed(start)
