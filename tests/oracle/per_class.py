"""Classes: a twin of ``Gd`` for each, which share label range, time, rate and outstanding shrinkage."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from .curved_losses import LINKS
from .gd import F32, Gd
from .options import Options

SHARED = ("low", "high", "t", "idle", "rate", "gravity", "contraction")


class Answer(NamedTuple):
    number: int  # the class, or of a set of labels how many
    loss: np.float32
    scores: list[np.float32]


class OfMany(Gd):
    """The weights of one class; what shrinkage is outstanding is so for all of them."""

    others: list[Gd]

    def sync(self) -> None:
        outstanding = self.gravity, self.contraction
        for twin in self.others:
            twin.gravity, twin.contraction = outstanding
            Gd.sync(twin)


class PerClass:
    """``kind`` is oaa, csoaa or multilabel_oaa; ``options.bits`` are those of one class's slots."""

    def __init__(
        self, kind: str, count: int, options: Options, set_loss: str = "hamming", label_order: str = "given"
    ) -> None:
        self.kind, self.options, self.set_loss, self.label_order = kind, options, set_loss, label_order
        self.decided, self.having, self.examples = range(count), Counter(), 0
        self.twins = [OfMany(options) for _ in range(count)]
        for twin in self.twins:
            twin.others = self.twins
        for twin in self.twins[1:]:
            twin.length = twin.total = 0.0  # initial_t starts those of the first class only
        self.first = 0 if kind == "multilabel_oaa" else None

    def run(self, terms, squares, label, weight, base, learn: bool) -> Answer:
        """One example. ``label``: a number, a list of (class, cost) or a list of labels; None: unlabelled."""
        self.terms, self.squares, self.base = terms, squares, base
        with np.errstate(all="ignore"):
            answer = getattr(self, self.kind)(label, F32(weight), learn and label is not None)
        shared = self.twins[0]
        shared.t += float(weight)
        if not learn or label is None:
            shared.idle += float(weight)
        return answer

    def use(self, number: int) -> Gd:
        """The class's twin, told what the others have learned."""
        twin = self.twins[number]
        if number:
            for name in SHARED:
                setattr(twin, name, getattr(self.twins[0], name))
        return twin

    def widen(self, label) -> None:
        self.twins[0].extend_range(F32(label))

    def predict(self, number: int):
        return self.use(number).predict(self.terms, self.base)

    def teach(self, number: int, score, label, weight) -> None:
        twin = self.use(number)
        twin.step(self.terms, score, F32(label), weight, self.squares)
        for name in SHARED:
            setattr(self.twins[0], name, getattr(twin, name))

    def tell_first(self, number) -> None:
        if self.first is None and number in (0, len(self.twins)):
            self.first = 0 if number == 0 else 1

    def start(self) -> int:
        return 0 if self.first == 0 else 1

    def oaa(self, label, weight, learn: bool) -> Answer:
        scores = [self.predict(number)[1] for number in range(len(self.twins))]
        answer = int(np.argmax(scores)) + self.start()
        loss = weight if label is not None and weight > 0 and answer != label else F32(0)
        if learn:
            self.tell_first(label)
            for number, score in enumerate(scores):
                sign = 1 if label == number + self.start() else -1
                self.widen(sign)
                if weight > 0:
                    self.teach(number, score, sign, weight)
        return Answer(answer, loss, scores)

    def csoaa(self, label, weight, learn: bool) -> Answer:
        listed = label or []
        for number, _ in listed:
            self.tell_first(number)
        first, count = self.start(), len(self.twins)
        places = [place if 0 <= (place := number - first) < count else (count - 1) * first for number, _ in listed]
        raws, result = [], []
        if not listed:
            result = [(self.predict(number)[0], number) for number in range(count)]
        for place, (_, cost) in zip(places, listed, strict=True):
            known = np.isfinite(cost)
            if learn and known:
                self.widen(cost)
            raw, score = self.predict(place)
            raws.append(raw)
            result.append((raw, place))
            if learn and known:
                self.teach(place, score, cost, F32(1))
        best = min((raw, place) for raw, place in result)[1]
        chosen = [cost for place, (_, cost) in zip(places, listed, strict=True) if place == best]
        labeled = any(np.isfinite(cost) for _, cost in listed)
        loss = F32(0)
        if labeled:  # to Vowpal Wabbit an unknown cost is the largest number
            largest = np.finfo(F32).max
            loss = min(F32(chosen[-1]), largest) - min(F32(cost) for _, cost in listed)
        return Answer(best + first, loss, raws)

    def multilabel_oaa(self, label, weight, learn: bool) -> Answer:
        """A contest is between the set answered so far, with and without a label, and the true rest."""
        scores, link, bound = {}, LINKS[self.options.link], 0 if self.options.link == "identity" else 0.5
        meant, answered, later = set(label or ()), set(), [*self.decided]
        while later:
            number, rest = later[0], meant & {*later[1:]}
            later = later[1:]
            without, with_it = (cost_of_set(self.set_loss, answered | own | rest, meant) for own in (set(), {number}))
            sign, learns = 1 if number in meant else -1, learn and with_it != without
            assert with_it == without or (with_it < without) == (sign > 0)
            if learns:
                self.widen(sign)
            score = self.predict(number)[1]
            if learns and weight > 0:
                self.teach(number, score, sign, F32(weight * F32(abs(with_it - without))))
            scores[number] = F32(link(score))
            if scores[number] > bound:
                answered.add(number)
        if learn and weight > 0:
            self.count(meant)
        loss = F32(cost_of_set(self.set_loss, answered, meant)) if label is not None else F32(0)
        return Answer(len(answered), loss, [scores[number] for number in range(len(self.twins))])

    def count(self, meant) -> None:
        """After 1, 2, 4, 8 ... examples labels are ordered by how many have had them."""
        self.examples += 1
        self.having.update(meant)
        if self.label_order != "given" and self.examples & (self.examples - 1) == 0:
            sign = -1 if self.label_order == "frequent" else 1
            self.decided = sorted(range(len(self.twins)), key=lambda number: (sign * self.having[number], number))


def cost_of_set(loss: str, answered: set, meant: set) -> float:
    if answered == meant:
        return 0.0
    both, either = len(answered & meant), len(answered | meant)
    match loss:
        case "hamming":
            return float(len(answered ^ meant))
        case "zero_one":
            return 1.0
        case "f1":
            return 1 - 2 * both / (len(answered) + len(meant))
    return 1 - both / either


class OneAgainstAllOver(PerClass):
    """``oaa`` of twins that learn in another way than gradient descent; ``make`` makes one. Coins share the norms."""

    def __init__(self, count: int, options: Options, make) -> None:
        super().__init__("oaa", count, options)
        self.twins = [make() for _ in range(count)]
        self.shared = [name for name in (*SHARED, "norms", "seen") if hasattr(self.twins[0], name)]

    def use(self, number: int):
        for name in self.shared:
            setattr(self.twins[number], name, getattr(self.twins[0], name))
        return self.twins[number]

    def teach(self, number: int, score, label, weight) -> None:
        twin = self.use(number)
        twin.teach(self.terms, F32(label), weight, self.base if twin.strict else F32(0))
        for name in self.shared:
            setattr(self.twins[0], name, getattr(twin, name))
