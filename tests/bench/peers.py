"""What a user of scikit-learn or CRFsuite would run instead: read a file, learn, nothing more.

python peers.py NAME FILE
"""

import csv as tables
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

BITS = 22
BATCH = 10_000
STEPS = 1_000_000


def rows_of_text(path: str) -> Iterator[tuple[str, dict[str, float]]]:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label, *spaces = line.split("|")
            row = {}
            for space in spaces:
                name, *terms = space.split()
                for term in terms:
                    word, _, value = term.partition(":")
                    row[f"{name}^{word}"] = float(value or 1)
            yield label.strip(), row


def matrix(path: str) -> tuple[Any, Any]:
    """Hashed rows and labels of a text."""
    import numpy as np
    from sklearn.feature_extraction import FeatureHasher

    labels, rows = zip(*rows_of_text(path), strict=True)
    return FeatureHasher(2**18).transform(rows), np.array(labels, float)


def hashed(rows: Iterator[tuple[float, dict[str, Any]]]) -> None:
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import SGDClassifier

    learner, hasher = SGDClassifier(loss="log_loss"), FeatureHasher(2**BITS)
    while batch := list(islice(rows, BATCH)):
        labels, features = zip(*batch, strict=True)
        learner.partial_fit(hasher.transform(features), labels, classes=[-1, 1])


def csv(path: str) -> None:
    with open(path, encoding="utf-8", newline="") as file:
        table = tables.DictReader(file)
        hashed((float(row.pop("label")), numbers_of(row)) for row in table)


def numbers_of(row: dict[str, str]) -> dict[str, Any]:
    return {k: float(v) if len(k) > 1 else v for k, v in row.items() if v}


def jsonl(path: str) -> None:
    with open(path, encoding="utf-8") as lines:
        hashed((row.pop("label"), row) for row in map(json.loads, lines))


def svmlight(path: str) -> None:
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    x, y = load_svmlight_file(path)
    x.indices, x.indptr = x.indices.astype("int32"), x.indptr.astype("int32")  # others are refused
    SGDClassifier(loss="log_loss", max_iter=1, tol=None).fit(x, y)


def sgd(path: str) -> None:
    """As many steps as the row of crr."""
    from sklearn.linear_model import SGDRegressor

    x, y = matrix(path)
    SGDRegressor(max_iter=max(1, round(STEPS / x.shape[0])), tol=None).fit(x, y)


def linear_svc(path: str) -> None:
    from sklearn.svm import LinearSVC

    LinearSVC(loss="hinge", C=1).fit(*matrix(path))


def pca(path: str) -> None:
    from sklearn.utils.extmath import randomized_svd

    randomized_svd(matrix(path)[0], 50, n_iter=4)


def cluster(path: str) -> None:
    from sklearn.cluster import MiniBatchKMeans

    MiniBatchKMeans(20, batch_size=1000).fit(matrix(path)[0])


def crf(path: str) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    items, labels = [], []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line:
            label, *spaces = line.split("|")
            items.append([part.replace(" ", "=").strip("=") for part in spaces])
            labels.append(label.strip())
        elif items:
            trainer.append(items, labels)
            items, labels = [], []
    trainer.select("l2sgd")
    trainer.set_params({"max_iterations": 5})
    trainer.train("/dev/null")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
