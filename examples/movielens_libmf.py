"""A row of movielens.sh's table for LIBMF, another matrix factorisation: movielens_libmf.py TRAIN.vw TEST.vw PAIR RANK.

Runs in an interpreter that has LIBMF (``pip install libmf``). Ids are whole numbers, one on each side of a line. Errors
are those of the absolute loss with 40 passes and the better of two penalties on the test part, which favours LIBMF.
"""

import json
import re
import sys
import time

import numpy as np
from libmf import mf

ABSOLUTE = 1  # its code of the loss
PENALTIES = (0.02, 0.05)  # L2, of both sides


def ratings(path, pair):
    """float64[n, 3]: ids of both sides and the rating of each line."""
    left, right = pair.split(",") if "," in pair else pair
    line = re.compile(rf"^(\S+) .*?\|{left}\S* (\d+)\b.*?\|{right}\S* (\d+)\b")
    with open(path) as file:
        matches = [line.match(text) for text in file]
    return np.array([[int(one[2]), int(one[3]), float(one[1])] for one in matches if one])


def predictions(model, pairs):
    """From its factors: what ``predict`` of version 0.9.2 gives is not their product. The mean for ids without any."""
    sides = ((model.P, model.m), (model.Q, model.n))
    left, right = (np.ctypeslib.as_array(part, (size, model.k)) for part, size in sides)
    u, i = pairs[:, :2].astype(int).T
    known = (u < model.m) & (i < model.n)
    sums = (left[np.minimum(u, model.m - 1)] * right[np.minimum(i, model.n - 1)]).sum(axis=1)
    return np.where(known & np.isfinite(sums), sums, model.b)


def row(train, test, rank, penalty):
    l2 = {"lambda_p2": penalty, "lambda_q2": penalty, "lambda_p1": 0.0, "lambda_q1": 0.0}
    learner = mf.MF(fun=ABSOLUTE, k=rank, nr_iters=40, nr_threads=1, quiet=True, **l2)
    start = time.perf_counter()
    learner.fit(train)
    seconds = time.perf_counter() - start
    low, high = train[:, 2].min(), train[:, 2].max()
    number = np.clip(predictions(learner.model, test), low, high)
    error, level = number - test[:, 2], np.floor(number + 0.5)
    return {
        "model": "libmf",
        "k": rank,
        "quantile_loss": float(np.abs(error).mean() / 2),
        "mae": float(np.abs(error).mean()),
        "rmse": float(np.sqrt(np.square(error).mean())),
        "levels_loss": float(np.abs(level - test[:, 2]).mean() / 2),
        "error": float((level != test[:, 2]).mean()),
        "seconds": seconds,
    }


if __name__ == "__main__":
    files, pair, rank = sys.argv[1:3], sys.argv[3], int(sys.argv[4])
    train, test = (ratings(path, pair) for path in files)
    if not len(train) or not len(test):
        raise SystemExit(f"movielens_libmf.py: no line has a whole number for each side of {pair}")
    rows = [row(train, test, rank, penalty) for penalty in PENALTIES]
    print(json.dumps(min(rows, key=lambda one: one["quantile_loss"])))
