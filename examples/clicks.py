"""Regression (alpha 1), ranking (alpha 0), both combined (alpha 0.5) and ranking with calibrated scores on clicks.

The file's order is kept: the first 80% of the lines are learned, the rest is predicted. A table of TalkingData has
columns ip, app, device, os, channel and the hour of click_time as features, and is_attributed as label; any other file
is text of vw, labels -1 and 1. Logistic loss, all examples are one query.
"""

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, stdev

METHODS = {
    "regression": ["--alpha", 1], "ranking": ["--alpha", 0], "crr": ["--alpha", 0.5],
    "calibrated": ["--alpha", 0, "--calibrate"],
}  # fmt: skip
MEASURES = ("auc_loss", "log_loss", "mse", "ece")
PAPER = {"regression": (0.133, 0.084), "ranking": (0.132, 0.094), "crr": (0.132, 0.084)}  # AUC loss, MSE; other data
COLUMNS = ("ip", "app", "device", "os", "channel")


def vwlite(*arguments):
    """What the command prints, as JSON data."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout) if done.stdout else None


def lines_of(source):
    """Lines of text of vw."""
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rt", encoding="utf-8", newline="") as text:
        if ".csv" not in source.suffixes:
            return [line for line in text if line.strip()]
        rows = csv.DictReader(text)
        rows.fieldnames = [name.lstrip(".\ufeff") for name in rows.fieldnames]  # what precedes the first in some copies
        rows = list(rows)
    return [clicks_line(row) for row in rows]


def clicks_line(row):
    label = 1 if row["is_attributed"] == "1" else -1
    features = [f"|{name} {name}{row[name]}" for name in COLUMNS]
    return f"{label} {' '.join(features)} |hour hour{row['click_time'][11:13]}\n"


def measure(work, how, options, seed):
    """The measures on the test part."""
    train = ["crr", work / "train.vw", "--cache_file", work / "cache", "--loss_function", "logistic", "--qid", "none"]
    vwlite(*train, "--quiet", "-b", options.bits, "--lambda", options.penalty, "--steps", options.steps,
           "--seed", seed, *how, "-f", work / "model")  # fmt: skip
    names = "auc_loss,log_loss,mse,ece"
    shown = vwlite("evaluate", "-i", work / "model", work / "test.vw", "--metric", names, "--json", "-")
    return {name: shown[name] for name in MEASURES}


def options_of(arguments):
    parser = argparse.ArgumentParser("clicks.sh", description=__doc__)
    parser.add_argument("source", type=Path, metavar="FILE", help="train_sample.csv of TalkingData, or text of vw")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--lambda", type=float, dest="penalty", default=0.00003, metavar="X")
    parser.add_argument("--bits", type=int, default=18)
    parser.add_argument("--seeds", type=int, default=10)
    return parser.parse_args(arguments)


def main(arguments):
    options = options_of(arguments)
    if not options.source.is_file():
        sys.exit(f"clicks: there is no file {options.source}")
    lines = lines_of(options.source)
    cut = len(lines) * 4 // 5
    losses = {method: [] for method in METHODS}
    with tempfile.TemporaryDirectory(prefix="clicks-") as folder:
        work = Path(folder)
        (work / "train.vw").write_text("".join(lines[:cut]), encoding="utf-8")
        (work / "test.vw").write_text("".join(lines[cut:]), encoding="utf-8")
        for seed in range(options.seeds):
            for method, how in METHODS.items():
                losses[method].append(measure(work, how, options, seed))
    print(table(losses))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": losses}, indent=2) + "\n")


def table(found):
    """Mean and deviation of the seeds, and the paper's figures of its own data."""
    lines = [f"{'':<12}" + "".join(f"{name:>20}" for name in MEASURES) + f"{'paper: auc loss, mse':>24}"]
    for method, rows in found.items():
        values = [[row[name] for row in rows] for name in MEASURES]
        cells = [f"{mean(one):.5f} +- {stdev(one) if len(one) > 1 else 0:.5f}" for one in values]
        paper = ", ".join(f"{value:.3f}" for value in PAPER.get(method, ()))
        lines.append(f"{method:<12}" + "".join(f"{cell:>20}" for cell in cells) + f"{paper:>24}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
