"""Trees of two-class twins: ``--log_multi``, which grows, and the error-correcting tournaments of ``--ect``."""

from dataclasses import dataclass, field

import numpy as np

from .curved_losses import LINKS
from .gd import F32
from .options import Options
from .per_class import Answer, PerClass


class Tree(PerClass):
    def __init__(self, kind: str, models: int, options: Options):
        super().__init__(kind, models, options)
        self.asked = 0

    def judge(self, number: int) -> tuple[np.float32, np.float32]:
        """Raw prediction, and the clipped one with its link."""
        self.asked += 1
        raw, score = self.predict(number)
        return raw, F32(LINKS[self.options.link](score))

    def tell(self, number: int, sign, weight) -> np.float32:
        """Learn; returns the prediction from before."""
        self.widen(sign)
        before = self.judge(number)[1]
        if weight > 0:
            self.teach(number, self.predict(number)[1], sign, weight)
        return before


@dataclass(eq=False)
class Node:
    parent: "Node | None" = None
    children: "list[Node]" = field(default_factory=list)
    predictor: int = 0
    least: int = 0
    most: int = 0
    answer: int = 1
    margin: float = 0.0
    examples: int = 0
    labels: dict = field(default_factory=dict)  # label -> [count, margin, examples]

    def begin_anew(self) -> None:
        least, parent = self.least, self.parent
        self.__init__()
        self.least, self.parent = least, parent


class LogMulti(Tree):
    """``cuts``: as vw, which makes a leaf of the root where its child is the emptiest leaf."""

    def __init__(self, count: int, options: Options, resistance: int, cuts: bool):
        super().__init__("log_multi", max(count - 1, 1), options)
        self.spare, self.resistance, self.cuts = list(range(count - 1)), resistance, cuts
        self.root = Node()
        self.cut = self.swapped = 0

    def log_multi(self, label, weight, learn: bool) -> Answer:
        node = self.root
        while node.children:
            node = node.children[int(self.judge(node.predictor)[1] >= 0)]
        answer = node.answer
        if learn:
            self.train(int(label), weight)
        wrong = label is not None and weight > 0 and answer != label
        return Answer(answer, weight if wrong else F32(0), [])

    def train(self, label: int, weight) -> None:
        node = self.root
        while self.meet(node, label):
            node = self.train_node(node, label, weight)
        node.least += 1
        self.tell_above(node)

    def meet(self, node: Node, label: int) -> bool:
        entry = node.labels.setdefault(label, [0, 0.0, 0])
        entry[0] += 1
        if entry[0] > node.most:
            node.most, node.answer = entry[0], label
        if not node.children and len(node.labels) > 1:
            if self.spare:
                self.divide(node, self.spare.pop(0), Node(), Node())
            elif node.least - node.most > self.resistance * (self.root.least + 1):
                self.swap(node)
        return bool(node.children)

    def swap(self, node: Node) -> None:
        leaf = self.root
        while leaf.children:
            left, right = leaf.children
            leaf = left if left.least < right.least else right
        parent = leaf.parent
        if leaf is node or (parent is self.root and not self.cuts):
            return
        self.swapped += 1
        if parent is self.root:
            self.cut += 1
        else:
            sibling = parent.children[parent.children[0] is leaf]
            above = parent.parent
            above.children = [sibling if child is parent else child for child in above.children]
            sibling.parent = above
            self.tell_above(sibling)
        predictor = parent.predictor
        leaf.begin_anew(), parent.begin_anew()
        self.divide(node, predictor, leaf, parent)

    def divide(self, node: Node, predictor: int, *children: Node) -> None:
        node.predictor, node.children = predictor, list(children)
        for child, least in zip(children, (node.least // 2, node.least - node.least // 2), strict=True):
            child.parent, child.least, child.answer = node, least, node.answer
        self.tell_above(children[0])

    def tell_above(self, node: Node) -> None:
        while node is not self.root:
            before, node = node, node.parent
            if node.least == before.least:
                break
            node.least = min(child.least for child in node.children or [node])

    def train_node(self, node: Node, label: int, weight) -> Node:
        entry = node.labels[label]
        average, own = (F32(F32(sum) / F32(n)) if n else 0 for sum, n in ((node.margin, node.examples), entry[1:]))
        self.tell(node.predictor, -1 if average > own else 1, weight)
        raw, prediction = self.judge(node.predictor)
        node.margin += float(raw)
        entry[1] += float(raw)
        node.examples += 1
        entry[2] += 1
        return node.children[int(prediction >= 0)]


@dataclass(eq=False)
class Contest:
    number: int
    tournament: int = 0
    sides: "tuple[Contest, ...]" = ()
    winner: "Contest | None" = None
    loser: "Contest | None" = None
    last: bool = False


class Ect(Tree):
    def __init__(self, count: int, options: Options, error: int):
        super().__init__("ect", max((count - 1) * (error + 1) + error, 1), options)
        self.error, self.height = error, len(f"{error:b}") if error else 0
        self.classes = [Contest(number) for number in range(count)]
        self.contests, self.finals = count, []
        level = [list(self.classes), *([] for _ in range(error))]
        while count > 1 and any(level):
            level = self.next_level(level)

    def next_level(self, level: list[list[Contest]]) -> list[list[Contest]]:
        result = [[] for _ in level]
        for number, entrants in enumerate(level):
            for at in range(0, len(entrants) - 1, 2):
                contest = Contest(self.contests, number, tuple(entrants[at : at + 2]))
                self.contests += 1
                contest.last = len(entrants) == 2 and not any(level[max(number - 1, 0) : number])
                for side in contest.sides:
                    setattr(side, "winner" if side.tournament == number else "loser", contest)
                if contest.sides[0].last:
                    contest.sides[0].winner = contest
                if contest.last:
                    self.finals.append(contest)
                    result[number + 1 : number + 2] = [[*later, contest] for later in result[number + 1 : number + 2]]
                else:
                    result[number].append(contest)
                result[number + 1 : number + 2] = [[*later, contest] for later in result[number + 1 : number + 2]]
            result[number] += entrants[len(entrants) & ~1 :]
        return result

    @property
    def boundary(self) -> float:
        return 0.5 if self.options.link == "logistic" else 0.0

    def set_of(self, contest: Contest) -> int:
        return contest.number - len(self.classes)

    def between(self, number: int) -> int:
        return (len(self.classes) - 1) * (self.error + 1) + number - 1

    def run(self, terms, squares, label, weight, base, learn: bool) -> Answer:
        result = super().run(terms, squares, label, weight, base, learn)
        self.twins[0].t += float(result.scores[0]) - float(weight)
        return result

    def ect(self, label, weight, learn: bool) -> Answer:
        answer = self.answer() + 1
        if learn and len(self.classes) > 1 and 1 <= label <= len(self.classes):
            weight = self.train(self.classes[int(label) - 1], weight)
        wrong = label is not None and weight > 0 and answer != label
        return Answer(answer, weight if wrong else F32(0), [weight])

    def answer(self) -> int:
        if len(self.classes) == 1:
            return 0
        winner = 0
        for level in reversed(range(self.height)):
            number = winner | 1 << level
            if number <= self.error and self.judge(self.between(number))[1] > self.boundary:
                winner = number
        contest = self.finals[winner]
        while contest.sides:
            contest = contest.sides[int(self.judge(self.set_of(contest))[1] > self.boundary)]
        return contest.number

    def train(self, entrant: Contest, weight):
        """Returns the weight that the example is counted with."""
        won, contest = [], entrant.winner
        left = contest.sides[0] is entrant
        while contest:
            sign = -1 if left else 1
            self.tell(self.set_of(contest), sign, weight)
            wins = (self.judge(self.set_of(contest))[1] - self.boundary) * sign > 0
            following = contest.winner if wins else contest.loser
            if contest.last or not following:
                won.append(wins)
            if not contest.last and following:
                left = following.sides[0] is contest
            contest = following
        for level in range(self.height):
            j = 0
            while j < len(won) // 2:
                one, other = won[2 * j : 2 * j + 2]
                won[j] = one
                if one != other:
                    weight = F32(1 << (self.height - level - 1))
                    number = (j << (level + 1)) + (1 << level)
                    if self.tell(self.between(number), -1 if one else 1, weight) > self.boundary:
                        won[j] = other
                if len(won) % 2:
                    won[len(won) // 2] = won[-1]
                del won[(len(won) + 1) // 2 :]
                j += 1
        return weight
