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
    result = None, float("-inf")
    for names in product(range(len(score[0])), repeat=len(score)):
        here = total(names, score, pair, triple, allowed)
        if here > result[1]:
            result = names, here
    return result


def beam_search(score, pair, triple, allowed, beam):
    """The names that a search finds that goes on from the ``beam`` best pairs of names at each token; None: none."""
    count = len(score[0])

    def gain(token, one, two, name):
        if not allowed[two][name]:
            return None
        of_pair = float(pair[token][two][name]) if pair is not None else 0
        return float(score[token][name]) + of_pair + float(triple[one][two][name])

    paths = {}  # by the last two names, the sum and the names of the best path
    for name in range(count):
        if (sum_of := gain(0, count, count, name)) is not None:
            paths[count, name] = sum_of, [name]
    for token in range(1, len(score)):
        kept = sorted(paths, key=lambda state: (-paths[state][0], state))[:beam]
        longer = {}
        for one, two in sorted(kept):
            for name in range(count):
                more = gain(token, one, two, name)
                here = None if more is None else paths[one, two][0] + more
                if here is not None and ((two, name) not in longer or here > longer[two, name][0]):
                    longer[two, name] = here, [*paths[one, two][1], name]
        paths = longer
    return min(paths.items(), key=lambda item: (-item[1][0], item[0]))[1][1] if paths else None
