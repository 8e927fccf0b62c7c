"""Accuracy, log loss and processor time of VWClassifier beside scikit-learn's linear models and vowpalwabbit's.

    python tests/bench/estimators.py FOLDER [--peer PYTHON] [--only a9a] [--rounds 3]

FOLDER holds a9a/, mnist/ and 20news/ (any of them), in the forms in which they are published. --peer names an
interpreter that has vowpalwabbit and scikit-learn; without it that row is left out. All learn the same CSR matrix of
float32 with their default parameters; times are those of fit alone, medians of the rounds. docs/scikit-learn.md has the
figures in a table.
"""

import argparse
import gzip
import json
import statistics
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz
from sklearn.metrics import accuracy_score, log_loss

PASSES = 10  # of vwlite's estimator, by default; vowpalwabbit's has 1 by default and gets as many
Table = tuple[csr_matrix, np.ndarray]


def a9a(folder: Path) -> tuple[Table, Table]:
    from sklearn.datasets import load_svmlight_file

    parts = []
    for name in ("a9a.gz", "a9a.t.gz"):
        with gzip.open(folder / name) as file:
            rows, labels = load_svmlight_file(file, n_features=123, dtype=np.float32)
        narrow = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))  # as SGDClassifier wants them
        parts.append((csr_matrix(narrow, shape=rows.shape), labels))
    return parts[0], parts[1]


def mnist(folder: Path) -> tuple[Table, Table]:
    """Pixels from 0 to 1."""
    parts = []
    for name in ("train", "t10k"):
        images, labels = (
            np.frombuffer(gzip.decompress((folder / f"{name}-{kind}-ubyte.gz").read_bytes()), np.uint8, offset=offset)
            for kind, offset in (("images-idx3", 16), ("labels-idx1", 8))
        )
        parts.append((csr_matrix(images.reshape(-1, 784).astype(np.float32) / np.float32(255)), labels.astype(int)))
    return parts[0], parts[1]


def news(folder: Path) -> tuple[Table, Table]:
    """TF-IDF of the words of header and text, and the number of the group."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    with gzip.open(folder / "20news.txt.gz", "rt", encoding="utf-8", errors="replace") as file:
        for line in file:
            part, group, _, text = line.split("|", 3)
            texts[part.strip()][0].append(text)
            texts[part.strip()][1].append(group.strip())
    words = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    train, test = words.fit_transform(texts["train"][0]), words.transform(texts["test"][0])
    _, labels = np.unique(texts["train"][1] + texts["test"][1], return_inverse=True)
    return (train, labels[: train.shape[0]]), (test, labels[train.shape[0] :])


DATA: dict[str, Callable[[Path], tuple[Table, Table]]] = {"a9a": a9a, "mnist": mnist, "20news": news}


def estimators() -> dict[str, Callable[[], Any]]:
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    from vwlite.sklearn import VWClassifier

    return {
        "`VWClassifier()`": VWClassifier,
        "`VWClassifier(passes=1)`": lambda: VWClassifier(passes=1),
        '`SGDClassifier(loss="log_loss")`': lambda: SGDClassifier(loss="log_loss", random_state=0),
        '`LogisticRegression(solver="saga")`': lambda: LogisticRegression(solver="saga", random_state=0),
    }


def peer(classes: int) -> Any:
    from vowpalwabbit.sklearn import VWClassifier, VWMultiClassifier

    if classes == 2:
        return VWClassifier(passes=PASSES, quiet=True)
    logistic = {"loss_function": "logistic", "convert_labels": False}  # which by default makes all classes -1 and 1
    return VWMultiClassifier(oaa=classes, passes=PASSES, quiet=True, **logistic)


def measured(make: Callable[[], Any], train: Table, test: Table, rounds: int) -> dict[str, float]:
    times = []
    for _ in range(rounds):
        estimator = make()
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # saga says that it has not converged after its 100 passes
            estimator.fit(*train)
        times.append(time.process_time() - begin)
    chances = np.clip(estimator.predict_proba(test[0]), 1e-15, 1)
    chances /= chances.sum(axis=1, keepdims=True)
    result = np.unique(train[1])[chances.argmax(axis=1)]
    return {
        "accuracy": float(accuracy_score(test[1], result)),
        "log_loss": float(log_loss(test[1], chances)),
        "cpu": statistics.median(times),
    }


def asked_of_peer(python: str, train: Table, test: Table) -> dict[str, float]:
    """The same in a process of another interpreter, one round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, (rows, labels) in {"train": train, "test": test}.items():
            save_npz(folder / f"{part}.npz", rows)
            np.save(folder / f"{part}.npy", labels)
        said = subprocess.run([python, __file__, name, "--as-peer"], check=True, capture_output=True, text=True)
    return json.loads(said.stdout.splitlines()[-1])


def answer_as_peer(folder: Path) -> None:
    train, test = ((load_npz(folder / f"{part}.npz"), np.load(folder / f"{part}.npy")) for part in ("train", "test"))
    print(json.dumps(measured(lambda: peer(len(np.unique(train[1]))), train, test, 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="an interpreter that has vowpalwabbit")
    parser.add_argument("--only", choices=DATA)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_peer:
        answer_as_peer(options.folder)
        return
    print("| | | accuracy | log loss | CPU s |\n|---|---|---|---|---|")
    for name, load in DATA.items():
        if (options.only or name) == name and (options.folder / name).is_dir():
            train, test = load(options.folder / name)
            for title, make in estimators().items():
                show(name, title, measured(make, train, test, options.rounds))
            if options.peer:
                show(name, f"vowpalwabbit, {PASSES} passes", asked_of_peer(options.peer, train, test))


def show(name: str, title: str, figures: dict[str, float]) -> None:
    cells = (name, title, f"{figures['accuracy']:.4f}", f"{figures['log_loss']:.4f}", f"{figures['cpu']:.2f}")
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
