"""Dyadic models in float64: p = w.x + sum over pairs of a.b - k offset^2, moved along the exact gradient flow.

``full_flow`` integrates the joint flow of all parameters and knows nothing of its closed form.
"""

from dataclasses import dataclass, field

import numpy as np

from .dyadic_flow import Flow, Loss, Term


@dataclass
class Row:
    """Slots and values of one example; ``pairs`` holds the two sides of every pair, in the line's order."""

    linear: list[tuple[int, float]]
    pairs: list[tuple[list[tuple[int, float]], list[tuple[int, float]]]] = field(default_factory=list)
    base: float = 0.0


def merged(features) -> dict[int, float]:
    """Values by slot: a parameter that occurs twice has the sum of its values as its gradient."""
    total: dict[int, float] = {}
    for slot, x in features:
        total[slot] = total.get(slot, 0.0) + x
    return {slot: x for slot, x in total.items() if x}


@dataclass
class Dyadic:
    """The model. ``start(pair, side, slot, dimension)`` gives a latent weight's start value."""

    rank: int  # 0: the i-th feature of one side is paired with the i-th of the other
    loss: Loss
    start: object
    rate: float
    l2: float = 0.0
    offset: float = 0.0
    w: dict = field(default_factory=dict)  # slot -> weight
    latent: dict = field(default_factory=dict)  # (pair, side, slot) -> float64[k]

    def vector(self, pair: int, side: int, slot: int) -> np.ndarray:
        known = self.latent.get((pair, side, slot))
        if known is not None:
            return known
        return np.array([self.start(pair, side, slot, j) for j in range(max(self.rank, 1))], float)

    def sides(self, row: Row):
        """(pair, slots and values of A, of B) for each a.b of the row."""
        for pair, (left, right) in enumerate(row.pairs):
            if self.rank == 0:
                if len(left) != len(right):
                    raise ValueError("the two sides have different lengths")
                yield from ((pair, {f: x}, {g: z}) for (f, x), (g, z) in zip(left, right, strict=True))
            elif left and right:
                yield pair, merged(left), merged(right)

    def term(self, pair: int, left: dict, right: dict) -> Term:
        alpha = np.array([self.vector(pair, 0, slot) for slot in left])
        beta = np.array([self.vector(pair, 1, slot) for slot in right])
        return Term(alpha, np.array([*left.values()]), beta, np.array([*right.values()]), self.offset)

    def flow(self, row: Row, label: float) -> Flow:
        x = merged(row.linear)
        linear = row.base + sum(self.w.get(slot, 0.0) * value for slot, value in x.items())
        terms = [self.term(*side) for side in self.sides(row)]
        linear -= len(terms) * max(self.rank, 1) * self.offset**2
        return Flow(terms, linear, sum(v * v for v in x.values()), self.rate, self.l2, self.loss, label)

    def predict(self, row: Row) -> float:
        return self.flow(row, 0.0).p(0.0)

    def learn(self, row: Row, label: float, h: float = 1.0) -> float:
        """Moves the parameters; returns the prediction made before."""
        flow = self.flow(row, label)
        s, used = flow.solve(h)
        for (pair, left, right), term in zip(self.sides(row), flow.terms, strict=True):
            alpha, beta = term.moved(s, flow.damping(used))
            self.latent |= {(pair, 0, slot): v for slot, v in zip(left, alpha, strict=True)}
            self.latent |= {(pair, 1, slot): v for slot, v in zip(right, beta, strict=True)}
        for slot, value in merged(row.linear).items():
            self.w[slot] = self.w.get(slot, 0.0) - s * value
        return flow.p(0.0)


def full_flow(flow: Flow, weights: np.ndarray, x: np.ndarray, h: float, steps: int = 3000, decay=None, free=None):
    """All parameters after importance ``h``, by RK4 with ``steps`` small steps of their joint gradient flow.

    Uses of ``flow`` only its data. ``weights`` and ``x`` are float64[n] and give flow.linear without the
    initial prediction. ``decay`` gives each parameter an L2 of its own, ``free`` is 0 for those that stand.
    Returns the new weights and a list of (alpha, beta). Losses of constant slope stop at the label.
    """
    shapes = [part.shape for term in flow.terms for part in (term.alpha, term.beta)]
    state = np.concatenate([weights, *(part.ravel() for term in flow.terms for part in (term.alpha, term.beta))])
    base = flow.linear - float(weights @ x)

    def split(z):
        parts, at = [], len(x)
        for shape in shapes:
            parts.append(z[at : at + shape[0] * shape[1]].reshape(shape))
            at += shape[0] * shape[1]
        return z[: len(x)], list(zip(parts[::2], parts[1::2], strict=True))

    def gradient(z):
        w, pairs = split(z)
        sums = [
            (t.xa @ alpha + t.offset, t.xb @ beta + t.offset)
            for t, (alpha, beta) in zip(flow.terms, pairs, strict=True)
        ]
        p = base + w @ x + sum(a @ b for a, b in sums)
        parts = [x]
        for t, (a, b) in zip(flow.terms, sums, strict=True):
            parts += [np.outer(t.xa, b).ravel(), np.outer(t.xb, a).ravel()]
        return p, np.concatenate(parts)

    parts = [np.zeros_like(x)]
    for t in flow.terms:
        k = t.alpha.shape[1]
        parts += [np.repeat(t.xa * t.offset / t.a2, k), np.repeat(t.xb * t.offset / t.b2, k)]
    damp = np.concatenate([np.zeros(len(x)), np.full(len(state) - len(x), flow.rate * flow.l2)])
    damp = damp if decay is None else flow.rate * decay
    free = np.ones(len(state)) if free is None else free
    drawn = np.concatenate(parts)  # decay draws the sums, offset included, to zero
    direction = flow.loss.slope(gradient(state)[0], flow.label) if flow.loss.piecewise else None

    def velocity(z):
        p, g = gradient(z)
        slope = direction if direction is not None else flow.loss.slope(p, flow.label)
        return free * (-flow.rate * slope * g - damp * (z + drawn))

    def advance(z, dt):
        k1 = velocity(z)
        k2 = velocity(z + dt / 2 * k1)
        k3 = velocity(z + dt / 2 * k2)
        return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(z + dt * k3))

    dt = h / steps
    start = gradient(state)[0]
    goal = flow.loss.stop(start, flow.label)
    at_rest = flow.loss.rests and not flow.loss.slope(start, flow.label)
    for _ in range(0 if at_rest else steps):
        following = advance(state, dt)
        if direction is not None and (gradient(following)[0] - goal) * direction <= 0:
            low, high = 0.0, dt
            for _ in range(60):
                middle = (low + high) / 2
                inside = (gradient(advance(state, middle))[0] - goal) * direction > 0
                low, high = (middle, high) if inside else (low, middle)
            state = advance(state, low)
            break
        state = following
    return split(state)
