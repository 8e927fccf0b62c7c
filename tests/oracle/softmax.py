"""Classes in vwlite's own layout, in double precision: softmax, one against all, the hinge of Crammer and Singer."""

import math

import numpy as np

MAX_STEPS, MAX_RIVALS = 64, 16
STRIDE = 6


class Multiclass:
    """``rows`` features at most; terms are (row, value). ``price``: of the length of a row; ``w``: sums of steps."""

    def __init__(self, loss: str, classes: int, rows: int, rate: float = 0.5, price: float = 0.0):
        self.loss, self.classes, self.rate, self.price = loss, classes, rate, price
        self.penalty = self.squares = self.rows = 0.0  # with a price
        self.w, self.g = np.zeros((2, rows, classes))
        self.scale = np.zeros(rows)
        self.norm_sum = self.norm_weight = 0.0
        self.on_edge = False  # roundings decide how many steps an example takes
        self.edge = 1e-3  # how near to another number of steps that is

    def scores(self, terms, base=0.0) -> np.ndarray:
        return base + sum((x * self.left(row) for row, x in terms), np.zeros(self.classes))

    def left(self, row: int) -> np.ndarray:
        """The weights: what the penalty leaves of the sum of steps."""
        length, penalty = np.linalg.norm(self.w[row]), self.penalty
        self.on_edge |= penalty > 0 and abs(length - penalty) < 1e-4 * length
        return self.w[row] * max(0.0, 1 - penalty / length) if penalty > 0 and length else self.w[row]

    def slopes(self, s: np.ndarray, true: int) -> np.ndarray:
        if self.loss == "multinomial":
            p = np.exp(s - s.max())
            p /= p.sum()
        else:
            p = 1 / (1 + np.exp(-s))
        return p - self.target(true)

    def target(self, true) -> np.ndarray:
        """The label's share of each class: of a class alone, or as it is given."""
        return np.eye(self.classes)[true] if isinstance(true, int) else true

    def value(self, s: np.ndarray, true: int) -> float:
        if self.loss == "multinomial":
            normalizer, share = s.max() + math.log(np.exp(s - s.max()).sum()), self.target(true)
            return sum(float(t * (normalizer - score + math.log(t))) for t, score in zip(share, s, strict=True) if t)
        if self.loss == "logistic":
            sign = np.where(np.arange(self.classes) == true, 1, -1)
            return float(np.log1p(np.exp(-sign * s)).sum())
        margin = 1 + s[self.rival(s, true)] - s[true]
        return margin if margin > 1e-5 else 0.0

    def rival(self, s: np.ndarray, true: int) -> int:
        others = s.copy()
        others[true] = -np.inf
        return int(np.argmax(others))

    def learn(self, terms, true, weight: float, base=0.0) -> np.ndarray:
        """The scores before; one update."""
        before = self.scores(terms, base)
        self.taken = None
        if self.loss != "crammer_singer" or self.value(before, true) > 0:
            self.update(terms, true, weight, before)
        self.penalty += self.price * (self.rate * weight * self.factor if self.taken is None else self.taken)
        return before

    @property
    def factor(self) -> float:
        if self.price:
            return STRIDE * self.rows / self.squares if self.squares else 0.0
        return math.sqrt(self.norm_weight / self.norm_sum) if self.norm_sum else 1.0

    def update(self, terms, true, weight: float, before: np.ndarray) -> None:
        for row, x in terms:
            if not self.price and abs(x) > self.scale[row]:
                self.w[row] *= self.scale[row] / abs(x) if self.scale[row] else 1
                self.scale[row] = abs(x)
        norm = sum((x if self.price else x / self.scale[row]) ** 2 for row, x in terms)
        self.norm_sum += weight * norm
        self.norm_weight += weight
        if self.price:
            square = 2 if self.loss == "crammer_singer" else float((self.slopes(before, true) ** 2).sum())
            self.squares += weight * square * norm
            self.rows += sum(not self.w[row].any() for row, _ in terms)
        step = self.margin if self.loss == "crammer_singer" else self.all
        step(terms, before.copy(), true, weight, self.factor)

    def scan(self, terms, squares: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        reach, rates = np.zeros(self.classes), []
        for row, x in terms:
            if not self.price:
                self.g[row] += squares * x * x
            with np.errstate(divide="ignore", invalid="ignore"):
                own = np.where(self.g[row] > 0, 1 / np.sqrt(self.g[row]), 0) / self.scale[row]
            rates.append(np.ones(self.classes) if self.price else own)
            reach += x * x * rates[-1]
        return reach, rates

    def move(self, terms, step: np.ndarray, rates) -> None:
        for (row, x), rate in zip(terms, rates, strict=True):
            self.w[row] += step * rate * x

    def flow(self, s: np.ndarray, true, reach: np.ndarray, time: float) -> np.ndarray:
        """The scores at the end of the flow."""
        slopes = self.slopes(s, true)
        self.on_edge |= bool(((abs(slopes) < 1e-6) & (np.array(self.target(true)) > 0)).any())  # nothing but roundings
        length = 4 * (reach * abs(slopes)).max() * time
        self.on_edge |= abs(length - round(length)) < self.edge and 0 < round(length) <= MAX_STEPS
        steps = int(length) + 1 if length < MAX_STEPS else MAX_STEPS
        for number in range(steps):
            slopes = self.slopes(s, true) if number else slopes
            s = s - slopes * np.minimum(reach * time / steps, 1)
        return s

    def all(self, terms, start, true, weight, factor) -> None:
        slopes = self.slopes(start, true)
        reach, rates = self.scan(terms, weight * slopes**2)
        reach *= factor
        s = self.flow(start, true, reach, self.rate * weight)
        step = np.divide(s - start, reach, out=np.zeros_like(s), where=reach > 0) * factor
        self.taken = np.linalg.norm(step) / np.linalg.norm(slopes) if slopes.any() else None
        self.move(terms, step, rates)

    def margin(self, terms, s, true, weight, factor) -> None:
        def part(number):
            mine = (np.arange(self.classes) == number).astype(float)
            reach, rates = self.scan(terms, weight * mine)
            return reach[number] * factor, [rate[number] for rate in rates]

        left, moved = self.rate * weight, {}
        own, own_rates = part(true)
        rivals, level = {}, None
        order = sorted((c for c in range(self.classes) if c != true), key=lambda c: -s[c])
        for place, other in enumerate(order[:MAX_RIVALS]):
            level = s[other] if level is None else level
            rivals[other] = part(other)
            speed = 1 / sum(1 / reach for reach, _ in rivals.values())
            time = min((1 + level - s[true]) / (own + speed), left)
            following = order[place + 1] if place + 1 < min(len(order), MAX_RIVALS) else None
            joins = following is not None and level - s[following] < 0.9999 * speed * time
            time = (level - s[following]) / speed if joins else time
            level -= speed * time
            s[true] += own * time
            left -= time
            moved[true] = moved.get(true, 0) + time
            for number, (reach, _) in rivals.items():
                moved[number] = moved.get(number, 0) - speed * time / reach
            if not joins:
                break
        for number, step in moved.items():
            rates = own_rates if number == true else rivals[number][1]
            for (row, x), rate in zip(terms, rates, strict=True):
                self.w[row, number] += step * factor * rate * x
