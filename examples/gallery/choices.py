"""Search results, films, actions."""

import gzip
import random
import struct
from collections.abc import Iterator
from pathlib import Path

from work import Timed, Work, curve


def search(work: Work) -> dict:
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import Ridge
    from sklearn.metrics import ndcg_score

    for part in ("train", "test"):
        with gzip.open(work.source(f"mq2008/Fold1/{part}.txt.gz"), "rt") as file:
            work.write(f"{part}.txt", [row.partition("#")[0].rstrip() for row in file][: work.rows])
    learn = "crr train.txt --format svmlight --alpha 0 --pairs lambda-ndcg"
    work.vwlite(f"{learn} -f model --quiet")
    options = "--format svmlight --alpha 0.5 --lambda 0.01 --steps 100000"
    work.vwlite(f"crr train.txt {options} -f both --quiet", listed=False)
    metric = "test.txt --format svmlight --metric ndcg@10,map --qid tag --quiet"
    ours, both = work.measured(f"evaluate -i model {metric}"), work.measured(f"evaluate -i both {metric}", listed=False)
    (work.folder / "scores").write_text(work.vwlite("predict -i model test.txt --format svmlight", listed=False))
    scores = np.array([float(row.split()[0]) for row in (work.folder / "scores").read_text().splitlines()])
    with Timed() as timed:
        x, y, _ = load_svmlight_file(str(work.folder / "train.txt"), query_id=True, n_features=46)
        other, labels, queries = load_svmlight_file(str(work.folder / "test.txt"), query_id=True, n_features=46)
        predictions = Ridge().fit(x, y).predict(other)

    def ndcg(answers: np.ndarray) -> float:
        """scikit-learn's, of queries that have something to find: its gains are the grades themselves."""
        found = []
        for query in dict.fromkeys(queries):
            rows = queries == query
            if labels[rows].any() and rows.sum() > 1:
                found.append(ndcg_score([labels[rows]], [answers[rows]], k=10))
        return float(np.mean(found))

    rounds = []
    for steps in (100, 300, 1000, 3000, 10000, 30000, 100000):
        options = f"--format svmlight --alpha 0 --lambda 0.01 --steps {steps}"
        work.vwlite(f"crr train.txt {options} -f m --quiet", listed=False)
        rounds.append([steps, work.measured(f"evaluate -i m {metric}", listed=False)["ndcg@10"]])
    return {
        "counts": [len(y), len(labels)],
        "metric": "NDCG@10, by scikit-learn",
        "rows": [["vwlite crr, whole queries", ndcg(scores)], ["Ridge (scikit-learn)", ndcg(predictions)]],
        "note": f"By vwlite evaluate, NDCG@10 is {ours['ndcg@10']:.4f}, and {both['ndcg@10']:.4f} with regression and "
                "ranking together.",
        "peer_seconds": timed.seconds,
        "chart": {"title": "NDCG@10 by the number of pairs seen", "x": "pairs", "y": "NDCG@10", "logarithmic": True,
                  "lines": [{"name": "vwlite crr, pairs", "points": rounds}]},
    }  # fmt: skip


def films(work: Work) -> dict:
    for part in ("base", "test"):
        with gzip.open(work.source(f"ml-100k/u1.{part}.gz"), "rt") as file:
            rows = [row.split()[:3] for row in file]
        random.Random(1).shuffle(rows)
        work.write(f"{part}.vw", [f"{rating} |user u{user} |item i{item}" for user, item, rating in rows][: work.rows])
    runs = {"linear": "", "vectors": "--dotproduct user,item --rank 10 --dot-l2 0.03 "}
    errors = {}
    for name, how in runs.items():
        work.vwlite(f"train base.vw {how}--passes 20 -f {name} --json {name}.json --quiet")
        errors[name] = work.measured(f"evaluate -i {name} test.vw --metric rmse,mae --quiet")
    rows = [["vwlite, linear", errors["linear"]["rmse"]], ["vwlite, vectors of 10", errors["vectors"]["rmse"]]]
    with Timed() as timed:
        passes = ["-k", "--cache_file", "peer.cache", "--passes", "20", "--holdout_off"]
        work.with_vw("-d", "base.vw", *passes, "--lrq", "ui10", "--lrqdropout", "--l2", "1e-6", "-f", "peer", "--quiet")
        work.with_vw("-d", "test.vw", "-t", "-i", "peer", "-p", "peer.txt", "--quiet")
    predictions = [float(row.split()[0]) for row in (work.folder / "peer.txt").read_text().splitlines() if row]
    labels = [float(row.split()[0]) for row in (work.folder / "test.vw").read_text().splitlines()]
    error = sum((one - other) ** 2 for one, other in zip(predictions, labels, strict=True)) / len(labels)
    lines = [
        {
            "name": name,
            "points": sorted(
                {
                    one["pass"]: one["holdout"]
                    for one in work.run(f"{name}.json")["history"]
                    if one.get("holdout") is not None
                }.items()
            ),
        }
        for name in runs
    ]
    return {
        "counts": [sum(1 for _ in (work.folder / "base.vw").open()), len(labels)],
        "metric": "RMSE",
        "rows": [*rows, ["vw --lrq ui10 --lrqdropout --l2 1e-6", error**0.5]],
        "peer_seconds": timed.seconds,
        "chart": {"title": "Held-out loss by pass", "x": "pass", "y": "squared error", "lines": lines},
    }  # fmt: skip


def images(folder: Path, part: str, most: int) -> Iterator[tuple[int, str]]:
    """Digit and features of each image: the pixels that are not white."""
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        labels = file.read()[8:]
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        _, count, rows, columns = struct.unpack(">4I", file.read(16))
        size = rows * columns
        for place in range(min(count, most)):
            pixels = file.read(size)
            yield labels[place], " ".join(f"p{at}:{value / 255:.3g}" for at, value in enumerate(pixels) if value)


def bandits(work: Work) -> dict:
    """A log in which each digit was answered by chance, and only the cost of that answer is known."""
    draw, most = random.Random(1), work.rows or 60_000
    folder = work.source("mnist")
    log = []
    for digit, features in images(folder, "train", most):
        action = draw.randrange(10)
        log.append(f"{action + 1}:{int(action != digit)}:0.1 |p {features}")
    work.write("log.vw", log)
    test = list(images(folder, "t10k", most))
    work.write("test.vw", (f"|p {features}" for _, features in test))
    rows, lines = [["by chance", 0.1]], []

    def right(answers: str) -> float:
        actions = [int(row.split()[0]) for row in answers.splitlines() if row.strip()]
        actions = [one + (min(actions) == 0) for one in actions]  # vw 9.11 counts actions from 0 in its answers
        return sum(one == digit + 1 for one, (digit, _) in zip(actions, test, strict=True)) / len(test)

    for kind in ("mtr", "dr"):
        work.vwlite(f"train log.vw -f {kind} --cb 10 --cb_type {kind} --json {kind}.json --quiet", kind == "mtr")
        rows.append([f"vwlite, --cb_type {kind}", right(work.vwlite(f"predict -i {kind} test.vw", kind == "mtr"))])
        lines.append(curve(f"--cb_type {kind}", work.run(f"{kind}.json")))
    with Timed() as timed:
        for kind in ("mtr", "dr"):
            work.with_vw("-d", "log.vw", "--cb", "10", "--cb_type", kind, "-f", "peer", "--quiet")
            work.with_vw("-d", "test.vw", "-t", "-i", "peer", "-p", "peer.txt", "--quiet")
            rows.append([f"vw, --cb_type {kind}", right((work.folder / "peer.txt").read_text())])
    return {
        "counts": [len(log), len(test)],
        "metric": "share of right answers",
        "rows": rows,
        "peer_seconds": timed.seconds,
        "chart": {"title": "Estimated cost so far", "x": "examples", "y": "cost", "lines": lines},
    }
