"""The best label sequences, by looking at every one there is."""

from itertools import product


def total(names, score, pair, triple, allowed):
    """What labels of a sequence add up to. Label L is before it; those that may not follow count -infinity."""
    labels, sum_of = len(score[0]), 0.0
    before = [labels, labels, *names]
    for place, name in enumerate(names):
        one, two = before[place], before[place + 1]
        sum_of += float(score[place][name]) if allowed[two][name] else float("-inf")
        sum_of += float(pair[place][two][name]) if pair is not None else 0
        sum_of += float(triple[one][two][name]) if triple is not None else 0
    return sum_of


def best(score, pair, triple, allowed):
    """Labels of one sequence and their sum; None where no sequence is allowed."""
    found = None, float("-inf")
    for names in product(range(len(score[0])), repeat=len(score)):
        here = total(names, score, pair, triple, allowed)
        if here > found[1]:
            found = names, here
    return found
