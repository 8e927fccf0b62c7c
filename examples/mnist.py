"""Ando and Zhang's figure 13 (2005) on MNIST: error by labelled images, plain and with Theta of the other images.

Each run draws the labelled images from the 60,000 of the training part; the rest of these is without labels. Auxiliary
problems predict, from one half of an image, the best class that a classifier finds by the other half: left and right,
top and bottom. Errors are those on the test part.
"""

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vwlite.data.batch import Csr, offsets
from vwlite.features.sparse_rows import Rows, Vocabulary
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import train
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.train import learn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mnist_to_vw import CHUNK, REGIONS, blocks, fail, feature, labelled_images

COLUMNS = (100, 500, 1000, 5000)
PAPER = {
    "supervised": ((14.22, 2.90), (3.93, 0.22), (2.83, 0.16), (1.64, 0.07)),
    "ASO": ((9.13, 1.95), (3.05, 0.20), (2.26, 0.11), (1.47, 0.07)),
    "manifold (BN04), best": ((6.4,), (3.5,), (3.2,), (2.7,)),
    "manifold (BN04), second best": ((14.4,), (3.6,), (3.4,), (2.9,)),
}


@dataclass
class Images:
    """Labelled images as a corpus whose features are numbered already."""

    words: Vocabulary
    whole: Rows
    label: np.ndarray  # int64[n]
    texts: list[str]

    def vocabulary(self, least: int = 1, idf: bool = False, without: Collection[str] = ()) -> Vocabulary:
        return self.words

    def rows(self, words: Vocabulary, unit: bool = True) -> Rows:
        if not np.array_equal(words.key, self.words.key):
            raise ValueError("these rows are of other features")
        return self.whole.unit() if unit else self.whole

    def take(self, rows: np.ndarray) -> "Images":
        return replace(self, whole=self.whole.take(rows), label=self.label[rows])


def bags(pixels: np.ndarray, threshold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """int64[n] features of each image, uint32 and float32 of all their keys and values."""
    parts = [blocks(pixels[begin : begin + CHUNK], threshold) for begin in range(0, len(pixels), CHUNK)]
    sizes = [np.bincount(part[0], minlength=len(pixels[at * CHUNK :][:CHUNK])) for at, part in enumerate(parts)]
    return np.concatenate(sizes), np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts])


def vocabulary(keys: np.ndarray, least: int) -> Vocabulary:
    held, counts = np.unique(keys, return_counts=True)
    held = held[counts >= least]
    return Vocabulary(held, (held >> 20).astype(np.int32), [feature(key)[1] for key in held.tolist()], list(REGIONS))


def numbered(words: Vocabulary, bag: tuple[np.ndarray, np.ndarray, np.ndarray], labels: np.ndarray) -> Images:
    sizes, keys, values = bag
    index = words.find(keys)
    terms = Csr(offsets(sizes), index.astype(np.uint32), values).keep(index >= 0)
    rows = Rows(terms, np.ones(len(sizes), np.float32), np.zeros((len(sizes), 0), np.float32))
    return Images(words, rows, labels.astype(np.int64), [str(digit) for digit in range(int(labels.max()) + 1)])


class Experiment:
    """The images, and the errors of one draw of labelled ones."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        names = [(f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte") for part in ("train", "t10k")]
        train_part, test_part = (labelled_images(*(found(options.data, name) for name in pair)) for pair in names)
        bag = bags(train_part[0], options.threshold)
        words = vocabulary(bag[1], options.min_count)
        self.train = numbered(words, bag, train_part[1])
        self.test = numbered(words, bags(test_part[0], options.threshold), test_part[1])

    def errors(self, run: int, count: int) -> tuple[float, float]:
        """Percent of the test images, without Theta and with it."""
        total, options = len(self.train.label), self.options
        own = np.array(random.Random(f"{options.seed} {run} {count}").sample(range(total), count))
        labelled, rest = self.train.take(own), self.train.take(np.setdiff1d(np.arange(total), own))
        config = LearnConfig(
            tuple(map(read_aux, options.aux)), dim=options.dim, solver=SolverConfig(passes=options.passes)
        )
        plain, theta = self.error(labelled, None), learn(config, rest, labelled).theta
        return plain, self.error(labelled, theta)

    def error(self, labelled: Images, theta) -> float:
        target = train(labelled, theta, TargetConfig(theta_scale=self.options.theta_scale if theta else None))
        names = np.array(target.classes.names)
        best = names[target.scores(self.test).argmax(1)]
        return 100 * float(np.mean(best != np.array(self.test.texts)[self.test.label]))


def found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    fail(66, f"there is no {name} or {name}.gz in {folder}: the four idx files of MNIST belong there")


def one(task: tuple[int, int]) -> tuple[float, float]:
    return EXPERIMENT.errors(*task)


def table(options: argparse.Namespace) -> list[dict]:
    rows = []
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("fork")) as pool:
        for count in options.labeled:
            errors = np.array(list(pool.map(one, [(run, count) for run in range(options.runs)])))
            for method, values in zip(("supervised", "ASO"), errors.T, strict=True):
                std = float(values.std(ddof=1)) if len(values) > 1 else 0.0
                rows.append({"labeled": count, "method": method, "mean": float(values.mean()), "std": std})
                print(f"mnist: {count} labelled, {method}: {rows[-1]['mean']:.2f}", file=sys.stderr)
    return rows


def shown(rows: list[dict], counts: list[int]) -> str:
    """Means and deviations, the paper's figures, and by how many percent Theta makes the error smaller."""
    lines = [f"{'labelled':<30}" + "".join(f"{count:>16}" for count in counts)]
    means = {(row["method"], row["labeled"]): row["mean"] for row in rows}
    for method in ("supervised", "ASO"):
        cells = (f"{row['mean']:.2f} +- {row['std']:.2f}" for row in rows if row["method"] == method)
        lines.append(f"{method:<30}" + "".join(f"{cell:>16}" for cell in cells))
    cuts = (1 - means["ASO", count] / max(means["supervised", count], 1e-9) for count in counts)
    lines.append(f"{'less by, %':<30}" + "".join(f"{100 * cut:>16.0f}" for cut in cuts))
    for method, figures in PAPER.items():
        known = dict(zip(COLUMNS, figures, strict=True))
        cells = (" +- ".join(f"{figure:.2f}" for figure in known.get(count, ())) or "-" for count in counts)
        lines.append(f"{'paper: ' + method:<30}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mnist.sh", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the four idx files")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--labeled", type=lambda text: [int(n) for n in text.split(",")], default=list(COLUMNS))
    parser.add_argument("--aux", action="append", help="auxiliary problems (top-k:1 of both pairs of halves)")
    parser.add_argument("--dim", type=int, default=50, help="h of each region")
    parser.add_argument("--passes", type=int, default=2, help="over the images without labels")
    parser.add_argument("--theta-scale", type=float, default=0.5)
    parser.add_argument("--threshold", type=int, default=100, help="pixels of this value and above are black")
    parser.add_argument("--min-count", type=int, default=2, help="images that must hold a feature")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--jobs", type=int, default=2, help="draws at once")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    options = parser.parse_args()
    options.aux = options.aux or ["top-k:1:TL,BL", "top-k:1:TL,TR"]
    return options


if __name__ == "__main__":
    begin, options = time.monotonic(), arguments()
    EXPERIMENT = Experiment(options)
    rows = table(options)
    print("Error in %, mean and standard deviation, the paper's below")
    print(shown(rows, options.labeled))
    print(f"{time.monotonic() - begin:.0f} seconds")
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows, "aux": options.aux}, indent=2) + "\n")
