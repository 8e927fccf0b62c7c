"""The dual of the hinge loss of classes, of dense rows, by definition and by search."""


class DualClasses:
    """Rows ``x`` with labels ``y`` from 0 and importance ``c``."""

    def __init__(self, x, y, c, classes, l2):
        self.x, self.y, self.c, self.classes, self.l2 = x, y, c, classes, l2
        self.a = [[0.0] * classes for _ in y]

    @property
    def w(self):
        """By class."""
        columns = range(len(self.x[0]))
        return [
            [sum(a[k] * row[j] for a, row in zip(self.a, self.x, strict=True)) / self.l2 for j in columns]
            for k in range(self.classes)
        ]

    def scores(self, i, w):
        return [sum(one * other for one, other in zip(of, self.x[i], strict=True)) for of in w]

    def primal(self, w=None):
        w = self.w if w is None else w
        total = self.l2 / 2 * sum(one * one for of in w for one in of)
        for i, y in enumerate(self.y):
            scores = self.scores(i, w)
            total += self.c[i] * max(scores[k] + (k != y) - scores[y] for k in range(self.classes))
        return total

    def dual(self):
        total = -self.l2 / 2 * sum(one * one for of in self.w for one in of)
        return total - sum(a[k] for a, y in zip(self.a, self.y, strict=True) for k in range(self.classes) if k != y)

    def step(self, i):
        """The best numbers of a row, whose sum is 0: the multiplier of that by halving an interval."""
        y, square = self.y[i], sum(one * one for one in self.x[i]) / self.l2
        slope = [score + (k != y) for k, score in enumerate(self.scores(i, self.w))]
        bound = [self.c[i] if k == y else 0.0 for k in range(self.classes)]

        def numbers(beta):
            return [min(bound[k], self.a[i][k] + (beta - slope[k]) / square) for k in range(self.classes)]

        reach = 1 + max(map(abs, slope)) + square * (self.c[i] + max(map(abs, self.a[i]))) * 2
        low, high = -reach, reach
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(numbers(middle)) < 0 else (low, middle)
        self.a[i] = numbers(high)
