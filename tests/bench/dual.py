"""``vwlite train --dual`` from text beside LIBLINEAR, through scikit-learn, from arrays.

    python tests/bench/dual.py a9a a9a.t        Adult as SVMlight, to learn and to test; needs scikit-learn

vwlite's seconds are those of the whole process: start, parsing, learning, writing the model. LIBLINEAR's are of ``fit``
alone. CPU seconds are beside them, for machines that do other work. Both objectives are computed here, in float64, from
the weights that came out: l2 = C = 1, the constant penalised. Medians of five rounds, in which the programs take turns.
"""

import json
import os
import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

ROUNDS, GAP = 5, "1e-4"
VWLITE = os.environ.get("VWLITE", "vwlite")
COLUMNS = 123
LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m).sum(),
    "squared_hinge": lambda m: (np.maximum(0, 1 - m) ** 2).sum(),
    "logistic": lambda m: np.logaddexp(0, -m).sum(),
}


def estimator(loss):
    if loss == "logistic":
        return LogisticRegression(solver="liblinear", tol=1e-4, max_iter=10_000)
    return LinearSVC(loss=loss, dual=True, tol=1e-4, max_iter=10_000, random_state=0)


def vwlite(*words):
    return subprocess.run([VWLITE, *words], check=True, capture_output=True, text=True).stdout


def objective(loss, x, y, weights):
    """``weights`` have the constant's last."""
    return weights @ weights / 2 + LOSSES[loss](y * (x @ weights[:-1] + weights[-1]))


def matrix(path):
    """Rows and labels, with the short indices that LIBLINEAR takes."""
    x, y = load_svmlight_file(path, n_features=COLUMNS)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x, y


def ours(train, loss, *more):
    """Seconds of wall and CPU."""
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ("--dual", "--l2", "1", "--loss_function", loss, "--gap", GAP, "--threads", "1")
    vwlite("train", train, "--format", "svmlight", *options, "-f", "bench.model", "--quiet", *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return time.perf_counter() - begin, cpu


def weights_of(model):
    """By feature, the constant's last; from what the model says of its names."""
    top = json.loads(vwlite("inspect", model, "--top", str(COLUMNS + 1), "--json", "-"))["result"]["top"]
    result = np.zeros(COLUMNS + 1)
    for one in top:
        name = one["name"].rpartition("^")[2]
        result[int(name) - 1 if name.isdigit() else COLUMNS] = one["weight"]
    return result


def main():
    train, test = sys.argv[1:]
    begin = time.perf_counter()
    x, y = matrix(train)
    print(f"load_svmlight_file: {time.perf_counter() - begin:.2f} s\n")
    other, truth = matrix(test)
    print("| loss | | objective | seconds | CPU s | test accuracy | below margin 1 - 1e-3 |")
    print("|---|---|---|---|---|---|---|")
    for loss in LOSSES:
        seconds = {"vwlite, from text": [], "LIBLINEAR, from arrays": []}
        for _ in range(ROUNDS):
            seconds["vwlite, from text"].append(ours(train, loss))
            begin, cpu = time.perf_counter(), time.process_time()
            model = estimator(loss).fit(x, y)
            taken = time.perf_counter() - begin, time.process_time() - cpu
            seconds["LIBLINEAR, from arrays"].append(taken)
        ours(train, loss, "--names")
        weights = weights_of("bench.model"), np.append(model.coef_, model.intercept_)
        for (name, taken), w in zip(seconds.items(), weights, strict=True):
            right = (np.sign(other @ w[:-1] + w[-1]) == truth).mean()
            low = int((y * (x @ w[:-1] + w[-1]) < 1 - 1e-3).sum())
            wall, cpu = map(median, zip(*taken, strict=True))
            message = f"{objective(loss, x, y, w):.2f} | {wall:.2f} | {cpu:.2f} | {right:.4f} | {low}"
            print(f"| `{loss}` | {name} | {message} |")


if __name__ == "__main__":
    main()
