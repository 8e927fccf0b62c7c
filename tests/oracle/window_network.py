"""The language model of ``vwlite lm`` in NumPy, written from the formulas, and its text in plain Python.

f(s) = u . tanh(A [E_s1; ...; E_sn] + b); a step lowers max(0, 1 - f(s) + f(s')), s' the window s with another last word
(Collobert and Weston, ICML 2008).
"""

import re
from collections import Counter

import numpy as np

from oracle.random_features import mix64, unit_interval

MASK = 2**64 - 1


class Network:
    """E float64[vocabulary, dim], A float64[n dim, hidden], b and u float64[hidden]."""

    def __init__(self, words, inputs, bias, output):
        self.e, self.a, self.b, self.u = (np.array(one, np.float64) for one in (words, inputs, bias, output))

    @property
    def arrays(self):
        return self.e, self.a, self.b, self.u

    def hidden(self, window):
        return np.tanh(self.e[window].reshape(-1) @ self.a + self.b)

    def score(self, window):
        return self.hidden(window) @ self.u

    def loss(self, window, other):
        return 1 - self.score(window) + self.score([*window[:-1], other])

    def gradients(self, window, other):
        """Of ``loss``, for E, A, b and u."""
        result = [np.zeros_like(one) for one in self.arrays]
        for sign, words in ((-1, window), (1, [*window[:-1], other])):
            h = self.hidden(words)
            inner = sign * self.u * (1 - h * h)
            result[1] += np.outer(self.e[words].reshape(-1), inner)
            result[2] += inner
            result[3] += sign * h
            for word, slope in zip(words, (self.a @ inner).reshape(len(words), -1), strict=True):
                result[0][word] += slope
        return result

    def step(self, window, other, rate, layer_rate):
        """Returns the loss."""
        loss = self.loss(window, other)
        if loss > 0:
            rates = rate, layer_rate, layer_rate, layer_rate
            for array, slope, by in zip(self.arrays, self.gradients(window, other), rates, strict=True):
                array -= by * slope
        return max(loss, 0)

    def first_violating(self, window, others):
        """The first word that misses the margin and is not the last one (WSABIE, section 3); else the last of them."""
        missing = (one for one in others if one != window[-1] and self.loss(window, one) > 0)
        return next(missing, others[-1])

    def rank(self, window):
        """Of the last word among all, 1 the best; words of the same score share the mean of their ranks."""
        scores = [self.score([*window[:-1], word]) for word in range(len(self.e))]
        right = scores.pop(window[-1])
        return 1 + sum(one > right for one in scores) + sum(one == right for one in scores) / 2


def drawn(key, step, windows, known, draws=1):
    """The numbers of the window and of the words that a step may draw."""
    at, bits = (mix64(key + 2 * step + part & MASK) for part in range(2))
    chain = [bits]
    for number in range(1, draws):
        chain.append(mix64(chain[-1] + number & MASK))
    return [int(unit_interval(at) * windows), *(int(unit_interval(bits) * known) for bits in chain)]


def tokens(line):
    """Words of English text."""
    return ["0" if one[0].isdigit() else one for one in re.findall(r"[a-z]+|\d+(?:[.,]\d+)*|[.,!?;:]", line.lower())]


def vocabulary(lines, limit):
    counts = Counter(token for line in lines for token in tokens(line))
    return sorted(counts, key=lambda word: (-counts[word], word))[:limit]


def windows(lines, words, size, known):
    """The windows of the first ``known`` words, as numbers of these."""
    number = {word: place for place, word in enumerate(words[:known])}
    result = []
    for line in lines:
        of = [number.get(token) for token in tokens(line)]
        result += [of[at : at + size] for at in range(len(of) - size + 1) if None not in of[at : at + size]]
    return result
