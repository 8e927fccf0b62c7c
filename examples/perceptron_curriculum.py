"""Does the order of examples matter to a perceptron? The experiment of Bengio et al. (2009), section 4.2.

    python examples/perceptron_curriculum.py [REPETITIONS]

Labels are the signs of w'x over 50 relevant inputs, uniform on (0, 1). Another 50 inputs tell nothing: of these
each example has a random number set, uniform too, the others are 0. A perceptron sees 200 examples once: the
easiest first (curriculum), as they come (none), or the hardest first (anti), where easy means few irrelevant
inputs, or a large margin. Errors are those of the last weights, and of the mean of the weights after every example
(the averaged perceptron of Freund and Schapire, Machine Learning 1999). Printed are mean errors on examples as they
come, their standard errors, and paired tests against "none".
"""

import math
import sys

import numpy as np

RELEVANT, IRRELEVANT, EXAMPLES, TESTS = 50, 50, 200, 1000
ORDERS = ("curriculum", "none", "anti")
WEIGHTS = ("last", "mean")


def draw(rng: np.random.Generator, w: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs float64[count, inputs], labels -1 or 1, and how many irrelevant inputs each example has."""
    noise = rng.integers(0, IRRELEVANT + 1, count)
    x = rng.uniform(size=(count, RELEVANT + IRRELEVANT))
    rank = rng.uniform(size=(count, IRRELEVANT)).argsort(1).argsort(1)
    x[:, RELEVANT:] *= rank < noise[:, None]
    return x, np.where(x[:, :RELEVANT] @ w > 0, 1.0, -1.0), noise


def perceptron(x: np.ndarray, y: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights after one look at every example, and their mean over all examples."""
    v, total = start.copy(), np.zeros_like(start)
    for inputs, label in zip(x, y, strict=True):
        if label * (inputs @ v) <= 0:
            v += label * inputs
        total += v
    return v, total / len(x)


def errors(rng: np.random.Generator) -> dict[tuple[str, str, str], float]:
    """Error by what makes examples hard, which weights predict, and the order of the examples, in one repetition."""
    w = rng.normal(size=RELEVANT)
    x, y, noise = draw(rng, w, EXAMPLES)
    tests, answers, _ = draw(rng, w, TESTS)
    start = rng.normal(size=RELEVANT + IRRELEVANT)
    rates = {}
    for hard, difficulty in (("irrelevant inputs", noise), ("margin", -y * (x[:, :RELEVANT] @ w))):
        easy_first = np.argsort(difficulty, kind="stable")
        for name, order in zip(ORDERS, (easy_first, np.arange(EXAMPLES), easy_first[::-1]), strict=True):
            for weights, v in zip(WEIGHTS, perceptron(x[order], y[order], start), strict=True):
                rates[hard, weights, name] = float(np.mean(np.where(tests @ v > 0, 1, -1) != answers))
    return rates


def against_none(runs: list[dict[tuple[str, str, str], float]], hard: str, weights: str, name: str) -> np.ndarray:
    """The paired differences from the error without an order, float64[repetitions]."""
    return np.array([run[hard, weights, name] - run[hard, weights, "none"] for run in runs])


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    runs = [errors(np.random.default_rng(seed)) for seed in range(repetitions)]
    print("| hard because of | weights | order | error | standard error | against none | t | p |")
    print("|---|---|---|---|---|---|---|---|")
    for hard, weights, name in sorted(runs[0], key=lambda one: (one[0], WEIGHTS.index(one[1]))):
        rates = np.array([run[hard, weights, name] for run in runs])
        cells = [hard, weights, name, f"{rates.mean():.4f}", f"{rates.std(ddof=1) / math.sqrt(repetitions):.4f}"]
        if name != "none":
            apart = against_none(runs, hard, weights, name)
            t = apart.mean() / (apart.std(ddof=1) / math.sqrt(repetitions))
            cells += [f"{apart.mean():+.4f}", f"{t:.2f}", f"{math.erfc(abs(t) / math.sqrt(2)):.2g}"]
        print(f"| {' | '.join(cells + [''] * (8 - len(cells)))} |")


if __name__ == "__main__":
    main()
