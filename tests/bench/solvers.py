"""Solvers from text beside libraries from arrays, in processor seconds: the table of docs/how-fast.md.

    python tests/bench/solvers.py FOLDER [--rounds 5] [--only logistic] [--old TREE]

FOLDER holds a9a/, mnist/ and ml-1m/ (any of them), in the forms in which they are published. The interpreter has
scikit-learn and, for one row, implicit; PYTHON names one that has vwlite's dependencies and scikit-learn. This source
tree has to be built; --old names another such tree, and the two take turns. vwlite's seconds are those of the whole
process, a library's those of ``fit`` on one thread, and of estimators both are those of ``fit``. Medians of the rounds.
"""

import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dual import GAP, LOSSES, estimator, matrix
from estimators import a9a, mnist
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, SGDClassifier
from speed import Tool
from threadpoolctl import threadpool_limits

TREE = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("PYTHON", sys.executable)
ONE_THREAD = "OPENBLAS_NUM_THREADS=1"
FITS = 15  # of an estimator in a round, after one that imports what it needs
IMAGES = 20_000
LIKED = 4  # and more


def adult(folder: Path, text: Path) -> tuple[Any, ...]:
    """Write the text; rows and labels."""
    text.write_bytes(gzip.decompress((folder / "a9a/a9a.gz").read_bytes()))
    return matrix(text)


def images(folder: Path, text: Path) -> tuple[Any, ...]:
    """Write the text; rows and labels of the first images."""
    rows, labels = (part[:IMAGES] for part in mnist(folder / "mnist")[0])
    with open(text, "w", encoding="ascii") as out:
        for label, begin, end in zip(labels, rows.indptr, rows.indptr[1:], strict=False):
            terms = zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True)
            out.write(f"{label} | {' '.join(f'{column}:{value:.6g}' for column, value in terms)}\n")
    return rows, labels


def choices(folder: Path, text: Path) -> tuple[Any, ...]:
    """Write what people chose, a tenth left out; a matrix of people and films."""
    ratings, rest = text.with_suffix(".ratings"), text.with_suffix(".rest")
    converter = [sys.executable, TREE / "examples/movielens_to_vw.py", folder / "ml-1m/ratings.dat.gz"]
    subprocess.run([*converter, "--split", "10", ratings, rest], check=True, capture_output=True)
    pairs = []
    with open(ratings, encoding="ascii") as lines, open(text, "w", encoding="ascii") as out:
        for label, person, film in (line.split("|") for line in lines):
            if float(label) >= LIKED:
                pairs.append((int(person.split()[1]), int(film.split()[1])))
                out.write(f"1 |{person}|{film}")
    return (csr_matrix((np.ones(len(pairs), np.float32), tuple(np.array(pairs).T))),)


def least_squares(chosen: csr_matrix) -> None:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(factors=10, iterations=15, regularization=0.01, random_state=0, num_threads=1)
    model.fit(chosen, show_progress=False)


@dataclass(frozen=True)
class Row:
    """``make`` writes the text of ``data``, a folder, and gives what ``fit`` of the ``library`` takes."""

    title: str
    data: str
    make: Callable[[Path, Path], tuple[Any, ...]]
    options: str
    library: str
    fit: Callable[..., Any]


ADULT = f"--format svmlight --threads 1 --dual --l2 1 --gap {GAP} --loss_function"
ROWS = [
    *(
        Row(f"Adult, `--dual`, `{loss}`", "a9a", adult, f"{ADULT} {loss}", "LIBLINEAR", estimator(loss).fit)
        for loss in LOSSES
    ),
    Row(
        f"`--bfgs --multiclass 10 --passes 50`, {IMAGES:,} images of MNIST", "mnist", images,
        "--bfgs --multiclass 10 --passes 50 --l2 1", "`LogisticRegression`", LogisticRegression(max_iter=50).fit,
    ),
    Row(
        "`--dotproduct --als`, MovieLens 1M", "ml-1m", choices,
        "--dotproduct u,i --rank 10 --als", "`implicit`", least_squares,
    ),
]


def used(function: Callable[[], Any]) -> float:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that were to make so many passes say that they could go on
        function()
    return time.process_time() - begin


def measured(row: Row, folder: Path, trees: list[Path], rounds: int) -> list[float]:
    """Medians of all trees and of the library."""
    with tempfile.TemporaryDirectory() as scratch:
        text, model = Path(scratch, "text"), str(Path(scratch, "model"))
        arrays = row.make(folder, text)
        command = (ONE_THREAD, PYTHON, "-P", "-m", "vwlite", "train", str(text), *row.options.split(), "-f", model)
        tools = [Tool(["env", f"PYTHONPATH={tree}", *command, "--quiet"]) for tree in trees]
        library = []
        for _ in range(rounds):
            for tool in tools:
                tool.measure()
            library.append(used(partial(row.fit, *arrays)))
    return [*(tool.medians()[1] for tool in tools), statistics.median(library)]


def median_fit(folder: Path, make: Callable[[], Any]) -> float:
    train = a9a(folder / "a9a")[0]
    make().fit(*train)
    return statistics.median(used(partial(make().fit, *train)) for _ in range(FITS))


def measured_estimator(folder: Path, trees: list[Path], rounds: int) -> list[float]:
    """As ``measured``; vwlite is in processes of its own, as trees are of one name."""
    figures = []
    for _ in range(rounds):
        said = [
            subprocess.run(
                [PYTHON, __file__, str(folder), "--fit"], check=True, capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": str(tree)},
            ).stdout
            for tree in trees
        ]
        other = partial(SGDClassifier, loss="log_loss", max_iter=1, tol=None, random_state=0)
        figures.append([*map(float, said), median_fit(folder, other)])
    return [statistics.median(column) for column in zip(*figures, strict=True)]


def show(title: str, figures: list[float], library: str) -> None:
    print(f"| {title} | {' | '.join(f'{figure:.3g}' for figure in figures)}, {library} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose title has this word")
    parser.add_argument("--old", type=Path, help="a built source tree of another version")
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        from vwlite.sklearn import VWClassifier

        print(median_fit(options.folder, partial(VWClassifier, passes=1)))
        return
    trees = [TREE, *([options.old.resolve()] if options.old else [])]
    print(f"| | vwlite CPU s |{' old CPU s |' * (len(trees) - 1)} library CPU s |\n|---|{'---|' * (len(trees) + 1)}")
    with threadpool_limits(1):
        for row in ROWS:
            if options.only in row.title and (options.folder / row.data).is_dir():
                show(row.title, measured(row, options.folder, trees, options.rounds), row.library)
        title = "`VWClassifier(passes=1)`, Adult as CSR"
        if options.only in title and (options.folder / "a9a").is_dir():
            show(title, measured_estimator(options.folder, trees, options.rounds), "`SGDClassifier`")


if __name__ == "__main__":
    main()
