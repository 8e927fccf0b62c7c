"""Regression (alpha 1), ranking (alpha 0), both combined (alpha 0.5) and steps on queries that aim at NDCG or MAP, on a
LETOR collection, by vwlite's commands.

Models learn whether a document is relevant (its grade is above 0), from pairs of queries that are all as likely; those
of steps on queries are calibrated. Per fold and method, lambda (of steps on queries: the learning rate) is the one of
the best MAP on vali.txt; test.txt is looked at once, with that. MAP, NDCG and NDCG@10 are of the grades; MSE is of the
prediction against relevance, 0 or 1, mse_grades against the grade.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = {"regression": 1.0, "ranking": 0.0, "crr": 0.5, "lambda-ndcg": None, "lambda-map": None}  # their alpha
MEASURES = ("map", "ndcg", "ndcg@10", "mse", "mse_grades")
PARTS = ("train", "vali", "test")


def vwlite(*arguments):
    """What the command prints, as JSON data."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout) if done.stdout else None


def part_of(fold, name):
    for path in (fold / f"{name}.txt", fold / f"{name}.txt.gz"):
        if path.exists():
            return path
    sys.exit(f"letor: there is no {name}.txt or {name}.txt.gz in {fold}")


def copy_relevance(source, target):
    """The same documents, their grade replaced by 0 or 1."""
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rt", encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            grade, _, rest = line.partition(" ")
            if rest:
                out.write(f"{int(float(grade) > 0)} {rest}")


class Fold:
    """One fold: its files, and models that are trained when asked for."""

    def __init__(self, folder, work, options):
        self.parts = {name: part_of(folder, name) for name in PARTS}
        self.work, self.options = work, options
        for name in PARTS:
            copy_relevance(self.parts[name], work / f"{name}.txt")

    def train(self, method, choice):
        model = self.work / f"{method}-{choice}.model"
        text = self.parts["train"] if self.options.grades else self.work / "train.txt"
        train = ["crr", text, "--format", "svmlight", "--cache_file", self.work / "cache", "--quiet"]
        if METHODS[method] is None:
            how = ["--pairs", method, "-l", choice, "--calibrate"]
        else:
            how = ["--alpha", METHODS[method], "--lambda", choice, "--steps", self.options.steps]
            how += ["--pair-sampling", self.options.pair_sampling]
        vwlite(*train, "-f", model, *how, "--seed", self.options.seed)
        return model

    def measure(self, model, path, metrics):
        shown = vwlite("evaluate", "-i", model, path, "--format", "svmlight", "--metric", metrics, "--json", "-")
        return [shown[name] for name in metrics.split(",")]

    def row(self, method):
        """The measures on test.txt of the model that is best on vali.txt, and its lambda or learning rate."""
        choices = self.options.rates if METHODS[method] is None else self.options.lambdas
        models = {choice: self.train(method, choice) for choice in choices}
        best = max(models, key=lambda choice: self.measure(models[choice], self.parts["vali"], "map"))
        ranked = self.measure(models[best], self.parts["test"], "map,ndcg,ndcg@10,mse")
        relevance = self.measure(models[best], self.work / "test.txt", "mse")
        return dict(zip(MEASURES, [*ranked[:3], *relevance, ranked[3]], strict=True)), best


def options_of(arguments):
    parser = argparse.ArgumentParser("letor.sh", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="holds Fold*/train.txt, vali.txt, test.txt")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON; - is standard output, instead of text")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lambdas", type=float, nargs="+", default=[0.003, 0.01, 0.03, 0.1], metavar="X")
    parser.add_argument("--rates", type=float, nargs="+", default=[0.03, 0.1, 0.3], metavar="X")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--grades", action="store_true", help="learn the grades instead of relevance")
    parser.add_argument("--pair-sampling", choices=["pairs", "query"], default="query")
    return parser.parse_args(arguments)


def main(arguments):
    options = options_of(arguments)
    folders = sorted(path for path in options.folder.glob("Fold*") if path.is_dir())
    if not folders:
        sys.exit(f"letor: there is no Fold* in {options.folder}")
    results = {method: [] for method in options.methods}
    for folder in folders:
        with tempfile.TemporaryDirectory(prefix="letor-") as work:
            fold = Fold(folder, Path(work), options)
            for method in options.methods:
                row, best = fold.row(method)
                results[method].append(row)
                print(f"{folder.name} {method}: {best:g} is best, MAP {row['map']:.4f}", file=sys.stderr, flush=True)
    rows = [
        {"method": method, **{name: sum(row[name] for row in fold_rows) / len(fold_rows) for name in MEASURES}}
        for method, fold_rows in results.items()
    ]
    if options.json != "-":
        print(f"{'method':<12}" + "".join(f"{name:>12}" for name in MEASURES))
        for row in rows:
            print(f"{row['method']:<12}" + "".join(f"{row[name]:12.4f}" for name in MEASURES))
    if options.json:
        text = json.dumps({"rows": rows}, indent=2) + "\n"
        sys.stdout.write(text) if options.json == "-" else Path(options.json).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
