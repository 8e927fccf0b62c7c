"""Normalised cuts in plain Python: a graph is a dictionary of weights by (low, high), nodes are numbers or names."""

from collections import defaultdict


def edges_of(lines, combine="max"):
    """``(nodes, weights)`` of well-formed lines, ``other:weight`` without colons in names."""
    nodes, ends = {}, defaultdict(lambda: [None, None])
    for line in lines:
        head, _, neighbours = line.partition("|")
        node = head.split()[0]
        nodes.setdefault(node, len(nodes))
        for word in neighbours.split(" ")[1:]:
            other, _, weight = word.partition(":")
            if weight and not float(weight):
                continue  # the parser leaves out what has the value 0
            nodes.setdefault(other, len(nodes))
            a, b = nodes[node], nodes[other]
            entry, end = ends[min(a, b), max(a, b)], int(a > b)
            entry[end] = (entry[end] or 0.0) + float(weight or 1)
    weights = {}
    for pair, result in ends.items():
        given = [weight for weight in result if weight is not None]
        together = {"max": max(given), "sum": sum(given), "mean": sum(given) / len(given)}[combine]
        if together:
            weights[pair] = together
    return list(nodes), weights


def matrix_of(weights, nodes):
    k = [[0.0] * nodes for _ in range(nodes)]
    for (a, b), weight in weights.items():
        k[a][b] = k[b][a] = weight
    return k


def components(weights, nodes):
    part = list(range(nodes))
    for _ in range(nodes):
        for a, b in weights:
            part[a] = part[b] = min(part[a], part[b])
    return len(set(part))


def cost(k, cluster, clusters):
    """The sum of cut(j) / vol(j); an empty cluster costs 1."""
    nodes, total = range(len(k)), 0.0
    for j in range(clusters):
        own = [i for i in nodes if cluster[i] == j]
        volume = sum(sum(k[i]) for i in own)
        cut = sum(k[i][m] for i in own for m in nodes if cluster[m] != j)
        total += cut / volume if own else 1.0
    return total


def distances(k, cluster, shift=0.0):
    """Of each node, by the clusters that have nodes: D = diag(L^-1 K L^-1) 1' + 1 diag(B K B')' - 2 L^-1 K B',
    B = (Y'LY)^-1 Y', with K + shift L in place of K.
    """
    nodes = range(len(k))
    degree = [sum(row) for row in k]
    shifted = [[k[i][m] + shift * degree[i] * (i == m) for m in nodes] for i in nodes]
    made = []
    for i in nodes:
        made.append({})
        for j in {*cluster}:
            own = [m for m in nodes if cluster[m] == j]
            volume = sum(degree[m] for m in own)
            inner = sum(shifted[a][b] for a in own for b in own) / volume**2
            mean = sum(shifted[i][m] for m in own) / degree[i] / volume
            made[i][j] = shifted[i][i] / degree[i] ** 2 + inner - 2 * mean
    return made
