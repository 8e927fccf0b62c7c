"""Ando and Zhang's figures 4(a), 8 and 15 (2005) on 20 newsgroups: accuracy by labelled examples, and by h.

1,000 documents are for testing, labelled ones are drawn from 2,000 others in each run, and the rest is unlabelled.
"""

import argparse
import json
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from vwlite.data.malformed_lines import BadLines
from vwlite.features.theta import Theta
from vwlite.solvers.aso.apply import as_text, topics
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import labels_of, train
from vwlite.solvers.aso.config import CotrainConfig, LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.cotrain import cotrain
from vwlite.solvers.aso.train import learn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from newsgroups_to_vw import documents, line

METHODS = {
    "supervised": (),
    "freq": ("freq",),
    "top-1": ("top-k:1",),
    "top-2": ("top-k:2",),
    "top-2+freq": ("top-k:2", "freq"),
    "freq-10": ("freq-k:10",),
    "top-2+freq-10": ("top-k:2", "freq-k:10"),
}
ONE_VIEW = {"co-training": False, "self-training": True}
BEST = "-best"  # suffix of a method: the round with the best test accuracy instead of the last
BY_ROUNDS = [*ONE_VIEW, *(method + BEST for method in ONE_VIEW)]
METHODS |= dict.fromkeys(BY_ROUNDS, ())
IDF = "+idf"  # suffix of a method: with --idf
METHODS |= {method + IDF: METHODS[method] for method in ("supervised", "freq-10", "top-1", *BY_ROUNDS)}
PENALTY = {"freq-10": 1e-4, "top-2+freq-10": 1e-4}  # lambda of the auxiliary problems, 1e-3 elsewhere
PAPER = {
    "supervised": (32.0, 42.7, 56.9, 66.0),
    "freq": (53.6, 60.0, 65.8, 69.1),
    "top-1": (46.6, 55.9, 67.6, 72.9),
    "top-2": (47.4, 58.4, 68.3, 72.5),
    "top-2+freq": (54.1, 61.6, 68.5, 72.3),
    "co-training-best": (49.6, 58.5),
}
COLUMNS = (100, 200, 500, 1000)
DIMS = range(20, 101, 10)


def corpus(lines: list[str]) -> Corpus:
    with tempfile.NamedTemporaryFile("w", suffix=".vw", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        return Corpus(BadLines(None, None)).read([file.name])


class Experiment:
    """The split of the documents, and models trained on it."""

    def __init__(self, lines: list[str], options: argparse.Namespace) -> None:
        lines = random.Random(options.seed).sample(lines, len(lines))
        scale = len(lines) / 18846  # a smaller collection is split in the same proportions
        tests, pool = min(1000, int(1000 * scale)), min(2000, int(2000 * scale))
        self.test, self.pool = corpus(lines[:tests]), lines[tests : tests + pool]
        self.unlabelled = corpus(lines[tests + pool :])
        self.solver = SolverConfig(penalty=1e-3, threads=options.threads)
        self.max_problems, self.dim = options.max_problems, options.dim

    def theta(self, method: str, labelled: Corpus | None = None) -> Theta:
        solver = replace(self.solver, penalty=PENALTY.get(method.removesuffix(IDF), self.solver.penalty))
        aux = tuple(map(read_aux, METHODS[method]))
        idf = method.endswith(IDF)
        config = LearnConfig(aux, dim=self.dim, most=self.max_problems, least=3, idf=idf, solver=solver)
        return learn(config, self.unlabelled, labelled).theta

    def draw(self, run: int, count: int) -> Corpus:
        return corpus(random.Random(f"{run} {count}").sample(self.pool, min(count, len(self.pool))))

    def by_rounds(self, method: str, labelled: Corpus) -> float:
        """Test accuracy in percent, of the last round or, for a method with ``BEST``, of the best round."""
        name, idf = method.removesuffix(IDF), method.endswith(IDF)
        config = CotrainConfig(one_view=ONE_VIEW[name.removesuffix(BEST)])
        done = cotrain(labelled, self.unlabelled, config, TargetConfig(idf=idf), test=self.test)
        shares = [100 * entry["accuracy"] for entry in done.history]
        return max(shares) if name.endswith(BEST) else shares[-1]

    def accuracy(self, labelled: Corpus, theta: Theta | None, idf: bool = False) -> float:
        """Test accuracy in percent."""
        target = train(labelled, theta, TargetConfig(idf=idf))
        rows, true = labels_of(self.test, target.classes)
        best = target.scores(self.test)[rows].argmax(1)
        return 100 * float((true.positive.indices == best[true.positive.owner]).sum()) / len(rows)


def table(experiment: Experiment, ready: dict[str, Theta], options: argparse.Namespace) -> list[dict]:
    """Accuracies by number of labels and method; ``ready`` has each Theta that does not depend on labels."""
    rows = []
    for count in options.labeled:
        accuracies: dict[str, list[float]] = {method: [] for method in options.methods}
        for run in range(options.runs):
            labelled = experiment.draw(run, count)
            for method in options.methods:
                if method.removesuffix(IDF) in BY_ROUNDS:
                    accuracies[method].append(experiment.by_rounds(method, labelled))
                    continue
                theta = experiment.theta(method, labelled) if method.startswith("top") else ready.get(method)
                accuracies[method].append(experiment.accuracy(labelled, theta, method.endswith(IDF)))
        for method, values in accuracies.items():
            std = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            rows.append({"labeled": count, "method": method, "mean": float(np.mean(values)), "std": std})
        print(f"newsgroups: {count} labelled done", file=sys.stderr)
    return rows


def format_table(rows: list[dict], options: argparse.Namespace) -> str:
    """Mean and standard deviation of each cell, and the figure of the paper."""
    lines = [f"{'labeled':<26}" + "".join(f"{count:>22}" for count in options.labeled)]
    for method in options.methods:
        cells = []
        for row in rows:
            if row["method"] == method:
                known = dict(zip(COLUMNS, PAPER.get(method, ()), strict=False))
                paper = f"{known[row['labeled']]:.1f}" if row["labeled"] in known else "-"
                cells.append(f"{row['mean']:.1f} +- {row['std']:.1f} ({paper})".rjust(22))
        lines.append(f"{method:<26}" + "".join(cells))
    return "\n".join(lines)


def by_dimension(experiment: Experiment, theta: Theta, options: argparse.Namespace) -> list[dict]:
    rows = []
    for count in (min(options.labeled), max(options.labeled)):
        draws = [experiment.draw(run, count) for run in range(options.runs)]
        for h in DIMS:
            values = [experiment.accuracy(labelled, theta.cut(h)) for labelled in draws]
            rows.append({"labeled": count, "h": h, "mean": float(np.mean(values))})
    return rows


def plot(rows: list[dict], dims: list[dict], path: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("newsgroups: no plot without matplotlib: pip install 'vwlite[plot]'", file=sys.stderr)
        sys.exit(69)
    figure = Figure(figsize=(11, 4))
    left, right = figure.subplots(1, 2)
    for axis, data, key, line_of in ((left, rows, "labeled", "method"), (right, dims, "h", "labeled")):
        for name in dict.fromkeys(row[line_of] for row in data):
            points = [(row[key], row["mean"], row.get("std", 0)) for row in data if row[line_of] == name]
            axis.errorbar(*zip(*points, strict=True), label=str(name), capsize=2)
        axis.set_xlabel("labelled examples" if key == "labeled" else "h")
        axis.set_ylabel("accuracy, %")
        axis.legend()
    figure.savefig(path)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="newsgroups.sh", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--labeled", type=lambda text: [int(n) for n in text.split(",")], default=list(COLUMNS))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    parser.add_argument("--plot", nargs="?", const="newsgroups.png", metavar="PNG", help="plot it (needs vwlite[plot])")
    parser.add_argument("--dim", type=int, default=100, help="number of shared features of each view (h)")
    parser.add_argument("--max-problems", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the split")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.methods) - METHODS.keys():
        parser.error(f"--methods: no {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    return options


def main() -> None:
    options = arguments()
    path = options.data / "20news.txt.gz" if options.data.is_dir() else options.data
    experiment = Experiment([line(group, words) for group, words in documents(str(path)) if words], options)
    unsupervised = [method for method, aux in METHODS.items() if aux and not method.startswith("top")]
    ready = {method: experiment.theta(method) for method in unsupervised if method in {"freq", *options.methods}}
    freq = ready["freq"]
    rows = table(experiment, ready, options)
    dims = by_dimension(experiment, freq, options)
    print("Accuracy in %: mean, standard deviation, and the figure of the paper in parentheses")
    print(format_table(rows, options))
    print("\nfreq by h\n" + f"{'h':<12}" + "".join(f"{h:>7}" for h in DIMS))
    for count in dict.fromkeys(row["labeled"] for row in dims):
        cells = (f"{row['mean']:7.1f}" for row in dims if row["labeled"] == count)
        print(f"{count:<12}" + "".join(cells))
    print("\nTheta's first rows\n" + as_text(topics(freq, 5, 10)))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows, "h": dims}, indent=2) + "\n")
    if options.plot:
        plot(rows, dims, options.plot)


if __name__ == "__main__":
    main()
