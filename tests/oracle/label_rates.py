"""Labels with vectors and rates of their own, in float64: one example after the other, every parameter by itself."""

import numpy as np

from .lfl import classical, softmax


class LabelRates:
    """One dot product. Parameters by slot: ``w`` float64[labels], ``latent[side]`` float64[labels, rank]."""

    def __init__(self, labels, rank, rate, l2, linear_l2, power, start):
        """``start(side, slot)`` gives vectors before their first update."""
        self.labels, self.rank, self.rate, self.power, self.start = labels, rank, rate, power, start
        self.l2, self.linear_l2 = l2, linear_l2
        self.w, self.latent, self.seen = {}, [{}, {}], {}

    def meet(self, key, x, values):
        """[N, updates, G] of a parameter; where N grows, ``values`` shrink by as much."""
        result = self.seen.setdefault(key, [0.0, 0, np.zeros(self.labels)])
        result[1] += 1
        if abs(x) > result[0]:
            values *= (result[0] or 1.0) / abs(x)
            result[0] = abs(x)
        return result

    def scores(self, linear, sides):
        a, b = (self.summed(side, one) for side, one in enumerate(sides))
        return (a * b).sum(axis=1) + sum(self.w.get(slot, np.zeros(self.labels)) * x for slot, x in linear.items())

    def summed(self, side, features):
        vectors = self.latent[side]
        return sum(x * (vectors[slot] if slot in vectors else self.start(side, slot)) for slot, x in features.items())

    def learn(self, linear, sides, true, h, steps=200):
        """In parts of an importance of at most 1."""
        for side, one in enumerate(sides):
            for slot, x in one.items():
                self.meet((side, slot), x, self.latent[side].setdefault(slot, self.start(side, slot)))
        for slot, x in linear.items():
            self.meet(slot, x, self.w.setdefault(slot, np.zeros(self.labels)))
        parts = min(max(int(np.ceil(h)), 1), 256)
        for _ in range(parts):
            self.step(linear, sides, true, h / parts, steps)

    def step(self, linear, sides, true, h, steps):
        g = softmax(self.scores(linear, sides))
        g[true] -= 1
        sums = [self.summed(side, one) for side, one in enumerate(sides)]
        rates = {}
        for side, one in enumerate(sides):
            for slot, x in one.items():
                n, _, total = self.seen[side, slot]
                total += h * g**2 * (x / n) ** 2 * (sums[1 - side] ** 2).sum(axis=1)
                rates[side, slot] = 4 / 3 * self.rate / (n * n * np.sqrt(1 + total))
        for slot, x in linear.items():
            n, _, total = self.seen[slot]
            total += h * g**2 * (x / n) ** 2
            rates[slot] = self.rate / (n * n * np.sqrt(total))
        self.flow(linear, sides, true, h, rates, steps)
        for side, one in enumerate(sides):
            for slot in one:
                self.latent[side][slot] *= self.kept((side, slot), rates, self.l2, h)[:, None]
        for slot in linear:
            self.w[slot] *= self.kept(slot, rates, self.linear_l2, h)

    def kept(self, key, rates, decay, h):
        n, updates, _ = self.seen[key]
        return np.exp(-decay * rates[key] * n * n * float(updates) ** -self.power * h)

    def flow(self, linear, sides, true, h, rates, steps):
        """All parameters along their gradients, each at its rate, by small steps."""
        keys = [(side, slot) for side, one in enumerate(sides) for slot in one]
        shapes = [*((self.labels,) for _ in linear), *((self.labels, self.rank) for _ in keys)]
        cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

        def place(state):
            parts = [part.reshape(shape) for part, shape in zip(np.split(state, cuts), shapes, strict=True)]
            self.w |= dict(zip(linear, parts, strict=False))
            for (side, slot), part in zip(keys, parts[len(linear) :], strict=True):
                self.latent[side][slot] = part

        def speed(state, _):
            place(state)
            g = softmax(self.scores(linear, sides))
            g[true] -= 1
            sums = [self.summed(side, one) for side, one in enumerate(sides)]
            parts = [-rates[slot] * g * x for slot, x in linear.items()]
            parts += [-(rates[s, k] * g * sides[s][k])[:, None] * sums[1 - s] for s, k in keys]
            return np.concatenate([part.ravel() for part in parts])

        state = np.concatenate([*(self.w[k] for k in linear), *(self.latent[s][k].ravel() for s, k in keys)])
        for _ in range(steps):
            state = classical(speed, state, 0.0, h / steps)
        place(state.copy())
