"""Exploration in plain Python: how likely actions are to be shown, and what is learned under ``--sgd --power_t 0``."""

import math
from collections import defaultdict

from oracle.bandit import Bandit

M64 = (1 << 64) - 1


def mixed(value):
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & M64
    value = (value ^ value >> 27) * 0x94D049BB133111EB & M64
    return value ^ value >> 31


def drawn(seed, event, model):
    return (mixed((mixed((mixed((seed + 0x9E3779B97F4A7C15) & M64) + event) & M64) + model) & M64) >> 11) / 2**53


def poisson(u):
    chances = [sum(math.exp(-1) / math.factorial(i) for i in range(k + 1)) for k in range(20)]
    return sum(chance < u for chance in chances)


def tied(costs):
    best = min(costs)
    return [abs(cost - best) <= 1e-4 * (abs(cost) + abs(best)) for cost in costs]


def votes(costs, first_only=False):
    if first_only:
        return [float(a == costs.index(min(costs))) for a in range(len(costs))]
    ties = tied(costs)
    return [tie / sum(ties) for tie in ties]


def floor(pmf, epsilon, nounif=False):
    """By bisection of what the others give away."""
    part = [p > 0 or not nounif for p in pmf]
    least = epsilon / sum(part)
    if epsilon > 0.999:
        return [one / sum(part) for one in part]
    low, high = 0.0, 1.0
    for _ in range(100):
        tau = (low + high) / 2
        total = sum(max(p - tau, least) for p, one in zip(pmf, part, strict=True) if one)
        low, high = (tau, high) if total > 1 else (low, tau)
    return [max(p - low, least) if one else 0.0 for p, one in zip(pmf, part, strict=True)]


class Explorer(Bandit):
    def __init__(self, explorer, kind, rate, **options):
        super().__init__(kind, rate)
        self.explorer, self.t = explorer, 0
        self.given = {"epsilon": 0.05 if explorer == "epsilon" else 0.0, "seed": 0, **options}
        self.count = options.get("bag") or options.get("cover") or 1
        self.weights = [(self.policy, self.regressor)] + [
            (defaultdict(float), defaultdict(float)) for _ in range(1, self.count)
        ]
        self.sums = [[0, 0] for _ in range(self.count)]

    def use(self, model):
        self.policy, self.regressor = self.weights[model]

    def scores(self, model, lines):
        return [self.score(self.weights[model][0], line) for line in lines]

    def gamma(self):
        return self.given.get("gamma_scale", 10) * self.t ** self.given.get("gamma_exponent", 0.5)

    def bounds(self, costs, lines):
        low, high = self.given.get("cost_range", (0, 1))
        limit = self.given.get("mellowness", 0.1) * math.log(len(lines) * self.t) * (high - low) ** 2 if self.t else 0

        def reach(gap, felt):
            if limit <= 0:
                return 0
            if gap / felt * gap * gap <= limit:
                return gap
            begin, end = 0.0, gap / felt
            for _ in range(60):
                w = (begin + end) / 2
                begin, end = (begin, w) if w * (gap**2 - (gap - w * felt) ** 2) > limit else (w, end)
            return begin * felt

        felt = [self.rate * sum(value * value for _, value in line) for line in lines]
        lower = [
            low if c < low else min(max(c - reach(c - low + 1, f), low), high)
            for c, f in zip(costs, felt, strict=True)
        ]
        upper = [
            high if c > high else min(max(c + reach(high + 1 - c, f), low), high)
            for c, f in zip(costs, felt, strict=True)
        ]
        return lower, upper

    def least(self, count):
        falling = min(1 / count, 1 / math.sqrt(self.t * count)) if self.t else 1 / count
        return self.given["epsilon"] / count if self.given["epsilon"] else falling

    def pmf(self, lines):
        costs, count, given = self.scores(0, lines), len(lines), self.given
        first_only = given.get("first_only", False)
        if self.explorer == "epsilon":
            return [given["epsilon"] / count + (1 - given["epsilon"]) * vote for vote in votes(costs, first_only)]
        if self.explorer == "first":
            one = votes(costs, True) if self.t >= given["first"] else [1 / count] * count
            return floor(one, given["epsilon"]) if self.t >= given["first"] else one
        if self.explorer == "softmax":
            shares = [math.exp(-given.get("lambda", 1) * (cost - min(costs))) for cost in costs]
            return floor([share / sum(shares) for share in shares], given["epsilon"])
        if self.explorer == "squarecb":
            among = range(count)
            if given.get("elim"):
                lower, upper = self.bounds(costs, lines)
                among = [a for a in range(count) if lower[a] <= min(upper)]
            best = min(among, key=lambda a: costs[a])
            pmf = [
                1 / (len(among) + self.gamma() * (costs[a] - costs[best])) if a in among and a != best else 0.0
                for a in range(count)
            ]
            pmf[best] = 1 - sum(pmf)
            return pmf
        if self.explorer == "regcb":
            lower, upper = self.bounds(costs, lines)
            if given.get("optimistic"):
                return votes(lower, first_only)
            plausible = [float(cost <= min(upper)) for cost in lower]
            return [one / sum(plausible) for one in plausible]
        each = [votes(self.scores(model, lines), first_only) for model in range(self.count)]
        pmf = [sum(one) / self.count for one in zip(*each, strict=True)]
        if self.explorer == "cover":
            return floor(pmf, count * self.least(count), given.get("nounif", False))
        return floor(pmf, given["epsilon"])

    def learn(self, lines, shown, cost, p):
        possible = range(len(lines))
        if self.explorer == "cover":
            self.learn_cover(lines, shown, cost, p)
        else:
            for model in range(self.count):
                times = 1
                if self.explorer == "bag" and (model or not self.given.get("greedify")):
                    times = poisson(drawn(self.given["seed"], self.t, model))
                for _ in range(times):
                    self.learn_one(model, lines, possible, shown, cost, p)
        self.t += 1

    def learn_one(self, model, lines, possible, shown, cost, p):
        self.use(model)
        self.events, self.actions = self.sums[model]
        super().learn(lines, possible, shown, cost, 1 if self.explorer in ("squarecb", "regcb") else p)
        self.sums[model] = [self.events, self.actions]
        self.use(0)

    def learn_cover(self, lines, shown, cost, p):
        count, size, kind = len(lines), self.count, self.kind
        least, first_only = self.least(count), self.given.get("first_only", False)
        targets = [0.0] * count
        for a, one in enumerate(lines if kind != "ips" else ()):
            if kind == "mtr" and a == shown:  # learned in its turn, so that later actions are estimated with it
                targets[a] = self.update(self.regressor, one, cost, 1 / p)
            else:
                targets[a] = self.clipped(self.score(self.regressor, one))
        targets[shown] += (cost - targets[shown]) / p
        scores = [self.scores(model, lines) for model in range(size)]
        self.learn_one(0, lines, range(count), shown, cost, p)
        q = [vote / size for vote in votes(scores[0], first_only)]
        norm = count * least + 1 / size - least
        for model in range(1, size):
            for a, line in enumerate(lines):
                target = targets[a] - self.given.get("psi", 1) * least * norm / max(q[a], least)
                self.update(self.weights[model][0], line, target, 1)
            for a, vote in enumerate(votes(scores[model], first_only)):
                share = vote / size
                norm += share if q[a] >= least else max(0, share - (least - q[a]))
                q[a] += share
