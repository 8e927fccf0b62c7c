"""The best cut of scores by trying all, and F of classes, in plain Python."""

from itertools import pairwise


def f1(hits, said, true):
    return 2 * hits / (said + true) if said + true else 0.0


def f_at(cut, scores, true):
    said = [score > cut for score in scores]
    return f1(sum(a and b for a, b in zip(said, true, strict=True)), sum(said), sum(true))


def best_f(scores, true):
    """The largest F of any cut that gives at least one example the label."""
    edges = sorted(set(scores))
    cuts = [edges[0] - 1, *((a + b) / 2 for a, b in pairwise(edges))]
    return max(f_at(cut, scores, true) for cut in cuts)


def macro_f(chosen, true):
    """Mean over the columns in which something is true or chosen."""
    result = []
    for said, is_true in zip(zip(*chosen, strict=True), zip(*true, strict=True), strict=True):
        if any(said) or any(is_true):
            result.append(f1(sum(a and b for a, b in zip(said, is_true, strict=True)), sum(said), sum(is_true)))
    return sum(result) / len(result) if result else 0.0
