"""Learning from logged decisions, in plain Python: a twin under ``--sgd --power_t 0`` that knows no slots."""

from collections import defaultdict

TYPES = ("mtr", "ips", "dm", "dr", "direct")


class Bandit:
    """An event's actions are lists of features, (name, value); ``choose`` and ``learn`` work on one event."""

    def __init__(self, kind, rate, clip_p=0.0, offset=0.0):
        """``offset`` None: the highest cost so far."""
        self.kind, self.rate, self.clip_p, self.offset = kind, rate, clip_p, offset
        self.policy, self.regressor = defaultdict(float), defaultdict(float)
        self.low = self.high = 0.0
        self.events = self.actions = 0
        self.highest = None

    def base(self):
        return (self.highest or 0.0) if self.offset is None else self.offset

    @staticmethod
    def score(weights, line):
        return sum(weights[name] * value for name, value in line)

    def costs(self, lines):
        return [self.score(self.policy, line) + self.base() for line in lines]

    def clipped(self, score):
        return min(max(score, self.low), self.high)

    def update(self, weights, line, target, weight):
        """The prediction before."""
        self.low, self.high = min(self.low, target), max(self.high, target)
        before = self.clipped(self.score(weights, line))
        for name, value in line:
            weights[name] += self.rate * weight * 2 * (target - before) * value
        return before

    def learn(self, lines, possible, shown, cost, p):
        self.highest = cost if self.highest is None else max(self.highest, cost)
        self.events += 1
        self.actions += len(possible)
        cost -= self.base()
        clipped = max(p, self.clip_p)
        if self.kind in ("mtr", "direct"):
            weight = self.events / self.actions / clipped if self.kind == "mtr" else 1
            self.update(self.policy, lines[shown], cost, weight)
            return
        if self.kind == "dr":
            made = {}
            for a in possible:
                if a == shown:
                    made[a] = self.update(self.regressor, lines[a], cost, 1 / p)
                else:
                    made[a] = self.clipped(self.score(self.regressor, lines[a]))
            targets = {a: made[a] + (a == shown) * (cost - made[a]) / clipped for a in possible}
        else:
            target = cost / clipped if self.kind == "ips" else cost
            targets = {a: target * (a == shown) for a in possible}
        for a in possible:
            self.update(self.policy, lines[a], targets[a], 1)
