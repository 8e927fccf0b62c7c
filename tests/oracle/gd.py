"""Online gradient descent as Vowpal Wabbit's default learner does it."""

import numpy as np

from .curved_losses import loss_of
from .libm import powf
from .options import Options

F32 = np.float32
TINY_SQUARE = np.finfo(np.float32).tiny
TINY = np.sqrt(TINY_SQUARE)


class Gd:
    """Weights ``w``, gradient sums ``g``, scales ``n``, rates ``r``: float32, one per slot.

    The caller keeps ``t``, the importance seen so far, and ``idle``, the part of it that was not
    for learning (held out or unlabelled).
    """

    def __init__(self, options: Options):
        self.options, self.loss = options, loss_of(options)
        rules = options.rules or {"adaptive", "normalized", "invariant"}
        self.adaptive, self.normalized = "adaptive" in rules, "normalized" in rules
        self.invariant = "invariant" in rules
        if options.test_only:
            self.adaptive = self.normalized = self.invariant = False
        self.power_t, self.sqrt_mode = F32(options.power_t), options.power_t == 0.5
        slots = 2**options.bits
        self.w = np.full(slots, options.initial_weight, F32)
        self.g, self.n, self.r = (np.zeros(slots, F32) for _ in range(3))
        self.length, self.total = 0.0, 0.0  # sum of normalized squared lengths, of importances
        self.ratio = F32(1)  # what normalization made of them last
        self.gravity, self.contraction = 0.0, 1.0
        self.idle = 0.0
        self.set_rate()
        self.set_range()
        if options.constant:
            self.w[11650396 % slots] = options.constant

    def set_rate(self) -> None:
        options = self.options
        slow = (self.adaptive and self.normalized) or not options.rules
        default = 0.5 if slow else 10
        self.rate = F32(default if options.learning_rate is None else options.learning_rate)
        self.t = float(F32(options.initial_t or 0))
        self.length = self.total = self.t
        if self.adaptive:
            self.g[:] = self.t
        if not self.adaptive and not self.normalized:
            self.t = 1.0 if options.initial_t is None else self.t
            self.rate *= powf(self.t, self.power_t)

    def set_range(self) -> None:
        options = self.options
        typed = (options.min_prediction, options.max_prediction)
        self.frozen = options.test_only or typed != (None, None)
        wide = 0
        if typed == (None, None) and not options.test_only:
            endless = np.finfo(F32).max if options.own else 0
            ranges = {"logistic": 50, "poisson": 50, "hinge": endless, "perceptron": np.finfo(F32).max}
            wide = ranges.get(options.loss, 0)
        self.low = F32(-wide if typed[0] is None else typed[0])
        self.high = F32(wide if typed[1] is None else typed[1])

    def extend_range(self, label: np.float32) -> None:
        if not self.frozen:
            self.low, self.high = min(self.low, label), max(self.high, label)

    def current_loss(self):
        """The loss function, told the label range of this moment."""
        self.loss.low, self.loss.high = self.low, self.high  # only the squared family looks
        return self.loss

    def weight_of(self, slot: int) -> np.float32:
        """The weight before contraction, shrunk by --l1."""
        w, gravity = self.w[slot], F32(self.gravity)
        if not self.options.l1:
            return w
        return w - np.sign(w) * gravity if abs(w) > gravity else F32(0)

    def predict(self, terms: list, base=0.0) -> tuple[np.float32, np.float32]:
        """Raw and clipped prediction for ``(slot, value, ...)`` terms."""
        raw = F32(base)
        with np.errstate(all="ignore"):
            for slot, x, *_ in terms:
                raw = raw + self.weight_of(slot) * x
            raw = raw * F32(self.contraction)
        return raw, F32(0) if np.isnan(raw) else min(max(raw, self.low), self.high)

    def learn(self, terms: list, label, weight, base=0.0, squares=None) -> tuple[np.float32, np.float32]:
        """Learn one example; returns the raw and clipped prediction made before.

        ``squares`` is the sum of squared values when that is not the one of ``terms``.
        """
        self.extend_range(label)
        raw, p = self.predict(terms, base)
        if weight > 0:
            with np.errstate(all="ignore"):
                if squares is None:
                    squares = sum((x * x for _, x, *_ in terms), F32(0))
                self.step(terms, p, label, F32(weight), squares)
        return raw, p

    def step(self, terms: list, p, y, weight, squares) -> None:
        loss, delta = self.current_loss(), F32(0)
        rated = not (self.adaptive or self.normalized)
        if loss.learns(p, y):
            k = squares
            if not rated:
                squared_slope = weight * loss.square_grad(p, y)
                k, rated = self.measure(terms, squared_slope, weight), squared_slope != 0
            u = self.rate * weight
            if not self.adaptive:
                u = u * powf(self.t + float(weight) - self.idle, -self.power_t)
            delta = loss.update(p, y, u, k) if self.invariant else loss.unsafe_update(p, y, u)
            if (self.options.l1 or self.options.l2) and abs(delta) > 1e-8:
                delta = self.shrink(delta, loss.dl(p, y))
        if self.options.sparse_l2:
            delta = delta - F32(self.options.sparse_l2) * p
        if not terms and not np.isfinite(self.ratio):  # the kernel keeps what a model may hold
            self.ratio = F32(1)
        rated = rated or self.options.sparse_l2  # its pull goes by the rates of earlier examples
        if rated and delta != 0 and not np.isnan(delta):
            self.move(terms, delta)
        if self.contraction < 1e-9 or self.gravity > 1e3:
            self.sync()

    def measure(self, terms: list, squared_slope, weight) -> np.float32:
        """Sum of x**2 in the learner's metric, bringing sums, scales and rates up to date."""
        if squared_slope == 0:
            return F32(1)
        k, length = F32(0), F32(0)
        for slot, x, *_ in terms:
            x2 = x * x
            if x2 < TINY_SQUARE:
                x, x2 = (TINY if x > 0 else -TINY), TINY_SQUARE
            if self.adaptive:
                self.g[slot] += squared_slope * x2
            if self.normalized:
                self.rescale(slot, abs(x))
                length += x2 / (self.n[slot] * self.n[slot])
            self.r[slot] = self.rate_of(slot)
            k += x2 * self.r[slot]
        if self.normalized:
            self.length += float(weight) * float(length)
            self.total += float(weight)
            self.ratio = self.normalizer()
            k = k * self.ratio
        return k

    def rescale(self, slot: int, x: np.float32) -> None:
        """Shrink the weight when a slot meets a larger value than ever before."""
        n = self.n[slot]
        if x <= n:
            return
        if n > 0:
            if self.sqrt_mode:
                q = n / x
                self.w[slot] *= q if self.adaptive else q * q
            else:
                q = x / n
                self.w[slot] *= powf(q * q, self.power_t - F32(1))
        self.n[slot] = x

    def rate_of(self, slot: int) -> np.float32:
        g, n, rate = self.g[slot], self.n[slot], F32(1)
        if self.adaptive:
            rate = F32(1) / np.sqrt(g) if self.sqrt_mode else powf(g, -self.power_t)
        if self.normalized and self.sqrt_mode:
            rate = rate * (F32(1) / n if self.adaptive else F32(1) / n * (F32(1) / n))
        elif self.normalized:
            rate = rate * powf(n * n, self.power_t - F32(1))
        return rate

    def normalizer(self) -> np.float32:
        total, length = F32(self.total), F32(self.length)
        if not self.sqrt_mode:
            return powf(length / total, self.power_t - F32(1))
        return np.sqrt(total / length) if self.adaptive else total / length

    def shrink(self, delta, slope) -> np.float32:
        """Note --l1 and --l2 in gravity and contraction instead of in every weight."""
        slope = float(slope)
        moved = -float(delta) / slope if abs(slope) > 1e-8 else 0.0
        self.contraction *= 1 - float(F32(self.options.l2)) * moved
        self.gravity += moved * float(F32(self.options.l1))
        return delta / F32(self.contraction)

    def move(self, terms: list, delta: np.float32) -> None:
        delta = delta * self.ratio if self.normalized else delta
        rated = self.adaptive or self.normalized
        for slot, x, *_ in terms:
            if np.isfinite(x):
                self.w[slot] += delta * (x * self.r[slot] if rated else x)

    def sync(self) -> None:
        """Apply gravity and contraction to every weight."""
        size = np.maximum(np.abs(self.w) - F32(self.gravity), F32(0))
        self.w = (np.sign(self.w) * size * self.contraction).astype(F32)
        self.gravity, self.contraction = 0.0, 1.0
