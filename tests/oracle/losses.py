"""Loss functions: value, importance-aware and plain steps, slopes; and links.

All arithmetic is float32, rounded after each operation, but for the Lambert W of the logistic
loss. ``u`` is the scale of the step (rate times importance), ``k`` the squared length of the
example in the learner's metric: a step of 1 moves the prediction by ``k``.
"""

import numpy as np

from .libm import expf

F32 = np.float32
ONE, TWO = F32(1), F32(2)


class Loss:
    def learns(self, p, y):
        """Whether there is an update."""
        return self.value(p, y) > 0


class Squared(Loss):
    """(p - y)**2, linear outside the label range ``low..high``."""

    def __init__(self, low=-np.inf, high=np.inf):
        self.low, self.high = F32(low), F32(high)

    def value(self, p, y):
        if p < self.low:
            gap, beyond = y - self.low, self.low - p
        elif p > self.high:
            gap, beyond = self.high - y, p - self.high
        else:
            return (p - y) * (p - y)
        return gap * gap + TWO * gap * beyond

    def update(self, p, y, u, k):
        if u * k < F32(1e-6):
            return TWO * (y - p) * u
        return (y - p) * (ONE - expf(-TWO * u * k)) / k

    def unsafe_update(self, p, y, u):
        return TWO * (y - p) * u

    def square_grad(self, p, y):
        return F32(4) * (p - y) * (p - y)

    def dl(self, p, y):
        return TWO * (min(max(p, self.low), self.high) - y)

    def second(self, p, y):
        return TWO if self.low <= p <= self.high else F32(0)


class Classic(Squared):
    """(p - y)**2 everywhere, with plain gradient steps."""

    def value(self, p, y):
        return (p - y) * (p - y)

    def update(self, p, y, u, k):
        return self.unsafe_update(p, y, u)

    def dl(self, p, y):
        return TWO * (p - y)

    def second(self, p, y):
        return TWO


class SlopeSquared(Loss):
    """Losses whose squared gradient is the square of ``dl``."""

    def square_grad(self, p, y):
        return self.dl(p, y) * self.dl(p, y)


class Hinge(SlopeSquared):
    def value(self, p, y):
        return max(F32(0), ONE - y * p)

    def update(self, p, y, u, k):
        if y * p >= ONE:
            return F32(0)
        error = ONE - y * p
        return y * (u if u * k < error else error / k)

    def unsafe_update(self, p, y, u):
        return F32(0) if y * p >= ONE else y * u

    def dl(self, p, y):
        return F32(0) if y * p >= ONE else -y

    def second(self, p, y):
        return F32(0)


class Perceptron(SlopeSquared):
    """max(0, -py) with plain steps; a prediction of 0 is a mistake."""

    def value(self, p, y):
        return max(F32(0), -y * p)

    def learns(self, p, y):
        return y * p <= 0

    def update(self, p, y, u, k):
        return self.unsafe_update(p, y, u)

    def unsafe_update(self, p, y, u):
        return y * u if y * p <= 0 else F32(0)

    def dl(self, p, y):
        return -y if y * p <= 0 else F32(0)

    def second(self, p, y):
        return F32(0)


class Quantile(SlopeSquared):
    def __init__(self, tau=0.5):
        self.tau = F32(tau)

    def value(self, p, y):
        e = y - p
        return self.tau * e if e > 0 else -(ONE - self.tau) * e

    def update(self, p, y, u, k):
        e = y - p
        if e == 0:
            return F32(0)
        plain = self.unsafe_update(p, y, u)
        reaches = plain * k < e if e > 0 else plain * k > e
        return plain if reaches else e / k

    def unsafe_update(self, p, y, u):
        e = y - p
        return F32(0) if e == 0 else self.tau * u if e > 0 else -(ONE - self.tau) * u

    def dl(self, p, y):
        e = y - p
        return F32(0) if e == 0 else -self.tau if e > 0 else ONE - self.tau

    def second(self, p, y):
        return F32(0)


class Expectile(Squared):
    """Squared loss times ``q`` for predictions above the label and ``1 - q`` below it."""

    def __init__(self, q, low=-np.inf, high=np.inf):
        super().__init__(low, high)
        self.q = F32(q)

    def factor(self, p, y):
        return self.q if y - p < 0 else ONE - self.q

    def value(self, p, y):
        return super().value(p, y) * self.factor(p, y)

    def update(self, p, y, u, k):
        return super().update(p, y, u * self.factor(p, y), k)

    def unsafe_update(self, p, y, u):
        return super().unsafe_update(p, y, u * self.factor(p, y))

    def square_grad(self, p, y):
        c = self.factor(p, y)
        return c * c * super().square_grad(p, y)

    def dl(self, p, y):
        return super().dl(p, y) * self.factor(p, y)

    def second(self, p, y):
        return super().second(p, y) * self.factor(p, y)
