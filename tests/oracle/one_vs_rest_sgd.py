"""Many problems at once in plain Python: one problem after the other, in double precision."""

import math


def slope(loss, p, y):
    """Of the loss at score p for y = -1 or 1."""
    if loss == "modified_huber":
        return 0 if p * y >= 1 else -4 * y if p * y < -1 else -2 * y * (1 - p * y)
    if loss == "logistic":
        return -y / (1 + math.exp(p * y))
    if loss == "hinge":
        return -y if p * y < 1 else 0
    return -2 * (y - p)


def passes(config, rows, positive, orders, shared):
    """Weights of one problem: a dict by feature, v and the bias, after one pass per order.

    ``rows``: lists of (feature, value); ``positive``: set of rows; ``shared``: dense features of each row.
    """
    w, v, bias, step = {}, [0.0] * len(shared[0]), 0.0, 0
    for order in orders:
        for row in order:
            if not rows[row]:
                continue
            step += 1
            rate = config.rate / (1 + 2 * config.rate * config.penalty * step)
            p = bias + sum(w.get(feature, 0) * value for feature, value in rows[row])
            p += sum(a * b for a, b in zip(v, shared[row], strict=True))
            g = slope(config.loss, p, 1 if row in positive else -1)
            w = {feature: weight * (1 - 2 * rate * config.penalty) for feature, weight in w.items()}
            for feature, value in rows[row]:
                w[feature] = w.get(feature, 0) - rate * g * value
            v = [a - rate * config.shared_rate * g * b for a, b in zip(v, shared[row], strict=True)]
            bias -= rate * config.bias_rate * g
    return w, v, bias
