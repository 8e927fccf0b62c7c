"""Lloyd's k-means in plain Python: rows and means are lists of numbers."""

import math


def distance(row, mean):
    return sum((a - b) ** 2 for a, b in zip(row, mean, strict=True))


def nearest(rows, means):
    """Of each row the number of the nearest mean, and the squared distance from it."""
    result = []
    for row in rows:
        distances = [distance(row, mean) for mean in means]
        result.append((distances.index(min(distances)), min(distances)))
    return result


def unit(row):
    length = sum(value * value for value in row) ** 0.5
    return [value / length for value in row] if length else row


def lloyd(rows, weights, means, spherical=False, trim=0):
    """Clusters and average squared distance of every pass, up to that which changes no cluster; none becomes empty.

    The ``trim`` rows that are farthest away count for nothing, the earlier of equals.
    """
    rows, passes = [unit(row) for row in rows] if spherical else rows, []
    while True:
        result = nearest(rows, means)
        clusters = [cluster for cluster, _ in result]
        trimmed = sorted(range(len(rows)), key=lambda row: -result[row][1])[:trim]
        left = [0 if row in trimmed else weight for row, weight in enumerate(weights)]
        average = sum(w * d for w, (_, d) in zip(left, result, strict=True)) / sum(left)
        passes.append((clusters, average))
        if len(passes) > 1 and clusters == passes[-2][0]:
            return passes
        for number in range(len(means)):
            members = [(w, row) for w, row, cluster in zip(left, rows, clusters, strict=True) if cluster == number]
            mean = [sum(w * row[k] for w, row in members) / sum(w for w, _ in members) for k in range(len(rows[0]))]
            means[number] = unit(mean) if spherical else mean


def soft(rows, weights, means, softness, passes):
    """The means after so many passes, and the free energy before each of them; ``means`` are changed."""
    energies = []
    for _ in range(passes):
        shares, energy = [], 0.0
        for row, weight in zip(rows, weights, strict=True):
            kept = [math.exp(-distance(row, mean) / softness) for mean in means]
            shares.append([weight * one / sum(kept) for one in kept])
            energy -= weight * softness * math.log(sum(kept))
        energies.append(energy / sum(weights))
        for number in range(len(means)):
            own = [share[number] for share in shares]
            means[number] = [
                sum(s * row[k] for s, row in zip(own, rows, strict=True)) / sum(own) for k in range(len(rows[0]))
            ]
    return means, energies


def projected(mean, radius):
    """The nearest point whose absolute values sum up to ``radius`` at most, by halving the threshold's interval."""
    if sum(map(abs, mean)) <= radius:
        return list(mean)
    low, high = 0.0, max(map(abs, mean))
    for _ in range(200):
        middle = (low + high) / 2
        beyond = sum(max(abs(value) - middle, 0) for value in mean) > radius
        low, high = (middle, high) if beyond else (low, middle)
    return [math.copysign(max(abs(value) - high, 0), value) for value in mean]


def mini_batch(rows, weights, means, size, spherical=False):
    """The means after one pass by batches, each first mean being an example of weight 1, and the average distance."""
    counts, means, total = [1.0] * len(means), [list(mean) for mean in means], 0.0
    for begin in range(0, len(rows), size):
        batch = rows[begin : begin + size]
        result = nearest(batch, [unit(mean) for mean in means] if spherical else means)
        for weight, row, (cluster, far) in zip(weights[begin : begin + size], batch, result, strict=True):
            total += weight * far
            if weight:
                counts[cluster] += weight
                rate, mean = weight / counts[cluster], means[cluster]
                means[cluster] = [old + rate * (new - old) for old, new in zip(mean, row, strict=True)]
    return [unit(mean) for mean in means] if spherical else means, total / sum(weights)
