"""Does a network gain when it sees easy shapes first? The experiment of Bengio et al. (2009), section 5, by vwlite.

Grey images show a shape of one of three classes. In BasicShapes these are squares, circles and equilateral triangles,
in GeomShapes rectangles, ellipses and other triangles; position, size, angle and both grey levels are uniform. A
network learns BasicShapes until the switch epoch, then GeomShapes. Its error is that on new GeomShapes after the
epoch, from the switch on, with the least error on validation images. Beside it stand BasicShapes alone, and the union
of both, half as many epochs of twice as many images. Every run of a seed has the same images; another seed has
others, and other start weights.
"""

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from vwlite import Model

CLASSES = 3  # squares or rectangles, circles or ellipses, triangles
CONTRAST = 0.2  # between shape and ground, at least
SIZES = (0.2, 0.45)  # of the shapes' half diameter, as a share of the image's side
RATIOS = (0.3, 1.0)  # of the two diameters in GeomShapes
SHARES = (5, 25, 50, 75, 95)  # percentiles
BESIDE = ("union", "basic only")


class Images(NamedTuple):
    pixels: np.ndarray  # float32[n, side * side], less 1/2
    labels: np.ndarray  # int64[n], from 0


def inside(label: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """bool[n, pixels]: which points lie in the shape of the class, whose half diameter is 1."""
    square = np.maximum(abs(u), abs(v)) <= math.sqrt(0.5)
    circle = u * u + v * v <= 1
    triangle = (v >= -0.5) & (math.sqrt(3) * abs(u) + v <= 1)
    return np.select([label[:, None] == 0, label[:, None] == 1], [square, circle], triangle)


def draw(rng: np.random.Generator, count: int, side: int, general: bool) -> Images:
    """Images of BasicShapes or, ``general``, of GeomShapes: the second diameter is shorter, and triangles lean."""
    label = rng.integers(0, CLASSES, count)
    longest, angle = rng.uniform(*SIZES, count), rng.uniform(0, 2 * math.pi, count)
    ratio, lean = rng.uniform(*RATIOS, count), rng.uniform(-0.5, 0.5, count)
    if not general:
        ratio[:], lean[:] = 1, 0
    lean[label != 2] = 0
    x, y = (rng.uniform(longest, 1 - longest) for _ in range(2))
    ground, shape = rng.uniform(0, 1, (2, count))
    near = abs(ground - shape) < CONTRAST
    shape[near] = (ground + np.where(ground < 0.5, CONTRAST, -CONTRAST))[near]
    at = (np.arange(side) + 0.5) / side
    dx, dy = (np.tile(at, side) - x[:, None], np.repeat(at, side) - y[:, None])
    u = (dx * np.cos(angle)[:, None] + dy * np.sin(angle)[:, None]) / longest[:, None]
    v = (dy * np.cos(angle)[:, None] - dx * np.sin(angle)[:, None]) / (longest * ratio)[:, None]
    covered = inside(label, u - lean[:, None] * v, v)
    grey = np.where(covered, shape[:, None], ground[:, None]) - 0.5
    return Images(grey.astype(np.float32), label)


def joined(first: Images, second: Images) -> Images:
    return Images(np.concatenate([first.pixels, second.pixels]), np.concatenate([first.labels, second.labels]))


def error(model: Model, images: Images) -> float:
    return float(np.mean(model.predict(images.pixels) != images.labels))


def least_error(
    model: Model, rng: np.random.Generator, stages: Iterator[Images], tests: list[Images], counted: int
) -> float:
    """The test error after the epoch with the least validation error, of the epochs from ``counted`` on."""
    best = (math.inf, math.nan)
    for epoch, images in enumerate(stages):
        order = rng.permutation(len(images.labels))
        model.learn(images.pixels[order], y=images.labels[order])
        if epoch >= counted:
            held = error(model, tests[0])
            if held < best[0]:
                best = (held, error(model, tests[1]))
    return best[1]


def run(options: argparse.Namespace, seed: int, what: int | str) -> float:
    """The test error of one network: ``what`` is a switch epoch, or a training set without one."""
    rng = np.random.default_rng(seed)
    counts = (options.examples, options.examples, options.tests, options.tests)
    basic, *general = (draw(rng, count, options.side, kind > 0) for kind, count in enumerate(counts))
    sets = {"basic only": basic, "union": joined(basic, general[0])}
    epochs = options.epochs // 2 if what == "union" else options.epochs
    switch = 0 if isinstance(what, str) else what
    of = (sets[what] if isinstance(what, str) else basic if n < switch else general[0] for n in range(epochs))
    asked: dict[str, Any] = {"multiclass": CLASSES, "indexing": 0, "nn": options.nn, "bit_precision": options.bits}
    model = Model(**asked, learning_rate=options.rate, random_seed=seed)
    return least_error(model, rng, of, general[1:], switch)


def sign_test(pairs: list[tuple[float, float]]) -> tuple[int, int, float]:
    """How often the first of two errors is less, how often more, and the probability of that or more by chance."""
    less, more = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    tails = sum(math.comb(less + more, k) for k in range(max(less, more), less + more + 1))
    return less, more, min(1.0, 2 * tails / 2 ** (less + more))


def table(found: dict[int | str, list[float]]) -> list[dict[str, Any]]:
    rows = []
    for what, errors in found.items():
        less, more, p = sign_test(list(zip(errors, found[0], strict=True)))
        shares = {f"p{share}": float(np.percentile(errors, share)) for share in SHARES}
        rows.append({"switch": what, **shares, "errors": errors, "below 0": less, "above 0": more, "p": p})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    print("| switch epoch | " + " | ".join(f"{share}%" for share in SHARES) + " | better, worse than 0 | p |")
    print("|---|" + "---|" * len(SHARES) + "---|---|")
    for row in rows:
        errors = " | ".join(f"{row[f'p{share}']:.4f}" for share in SHARES)
        against = f"{row['below 0']}, {row['above 0']} | {row['p']:.3g}" if row["switch"] != 0 else " | "
        print(f"| {row['switch']} | {errors} | {against} |")


def work(job: tuple[argparse.Namespace, int, int | str]) -> float:
    return run(*job)


def switches(text: str) -> list[int]:
    places = sorted({int(word) for word in text.split(",")} | {0})
    if places[0] < 0:
        raise argparse.ArgumentTypeError(f"switch epochs are 0 or more, not {places[0]}")
    return places


def main() -> None:
    parser = argparse.ArgumentParser(prog="shapes", description=__doc__.partition("\n")[0])
    parser.add_argument("--switch", type=switches, default="0,1,2,4,8,16,32,64,128", metavar="EPOCH,...")
    parser.add_argument("--epochs", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--examples", type=int, default=10000, help="training images of each kind (10000)")
    parser.add_argument("--tests", type=int, default=5000, help="images to validate, and as many to test (5000)")
    parser.add_argument("--side", type=int, default=32, help="pixels of an image's side (32)")
    parser.add_argument("--nn", default="300,300,300", help="units of the hidden layers (300,300,300)")
    parser.add_argument("--rate", type=float, default=0.1, help="learning rate (0.1)")
    parser.add_argument("--bits", type=int, default=20, help="of the table of weights (20)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once (1)")
    parser.add_argument("--json", metavar="FILE", help="all errors")
    options = parser.parse_args()
    if max(options.switch) >= options.epochs:
        parser.error(f"the last switch epoch, {max(options.switch)}, is before the last of --epochs {options.epochs}")
    wanted: list[int | str] = [*options.switch, *BESIDE]
    jobs = [(options, seed, what) for seed in range(options.seeds) for what in wanted]
    errors: dict[int | str, list[float]] = {what: [] for what in wanted}
    begun = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for (_, seed, what), wrong in zip(jobs, pool.map(work, jobs), strict=True):
            errors[what].append(wrong)
            print(f"shapes: seed {seed}, switch {what}: {wrong:.4f}", file=sys.stderr, flush=True)
    rows, seconds = table(errors), time.perf_counter() - begun
    show(rows)
    best = min((row for row in rows if row["switch"] not in (0, *BESIDE)), key=lambda row: row["p50"], default=None)
    if best:
        medians = f"{best['p50']:.4f}, without a switch {statistics.median(errors[0]):.4f}"
        print(f"\nbest switch epoch {best['switch']}: median {medians}, sign test p = {best['p']:.3g}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"options": vars(options), "seconds": seconds, "rows": rows}, out, indent=1)


if __name__ == "__main__":
    main()
