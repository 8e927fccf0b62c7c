"""Errors of predicting which label a rater gives to a task; raters.sh says how to run it.

Without a file the labels are drawn. A task is of one of six classes, the most frequent one of three tasks in ten, more
or less clearly; some tasks are taken for another class by half of the raters, always the same half. Every task has five
raters. A rater prefers some classes whatever the task is. The label is the class of the largest sum of all that and of
noise.

A tenth of all labels is for testing: most raters and tasks are in both parts, no pair is. Printed is the share of wrong
predictions.
"""

import argparse
import json
import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from movielens import find_vwlite, run

SHARES = (0.30, 0.22, 0.18, 0.14, 0.10, 0.06)  # of the classes
EACH = 5  # raters of a task
CLEAR, BIAS = 8.0, 0.5  # how clear tasks are, and how large preferences
SPLIT = 0.3  # of the tasks, which are seen in two ways
LEARNERS = {  # name: options for K classes; of ranks, and linear
    "scores": ("--filter_tree {} --scoring --loss_function hinge", ""),
    "contests": ("--filter_tree {} --loss_function hinge", "--sgd --power_t 0 -l 0.1"),
    "labels": ("--multiclass {} --dotproduct r,t", "--rank 0"),
}
RANKS = (None, 1, 2, 3)
LINE = "{:10}" + "{:>10}" * len(LEARNERS)


def drawn(tasks, raters, seed):
    """(rater, task, label) of ``EACH`` raters for every task."""
    draw = random.Random(seed)
    classes = range(len(SHARES))
    bias = [[draw.gauss(0, BIAS) for _ in classes] for _ in range(raters)]
    for task in range(tasks):
        true = draw.choices(classes, SHARES)[0]
        rival = draw.choice([one for one in classes if one != true])
        clear, split = CLEAR * abs(draw.gauss(1, 0.4)), draw.random() < SPLIT
        for rater in draw.sample(range(raters), EACH):
            score = [bias[rater][one] - math.log(-math.log(draw.random())) for one in classes]
            score[rival if split and rater % 2 else true] += clear
            yield f"r{rater}", f"t{task}", str(score.index(max(score)) + 1)


def read(path):
    """(rater, task, label) of every line."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 3 or not all(cells) or any(mark in "".join(cells) for mark in " |:"):
                wanted = "not rater, task and label, between tabs, without blanks, | and :"
                raise SystemExit(f"raters.sh: {path}:{number}: {wanted}")
            yield tuple(cells)


def split(answers, seed, folder):
    """Write ``train.vw`` and ``test.vw``; the number of classes, and the error of the most frequent one."""
    answers = list(answers)
    random.Random(seed).shuffle(answers)
    numbers = {label: number for number, label in enumerate(sorted({label for *_, label in answers}), 1)}
    parts = {"test": answers[: len(answers) // 10], "train": answers[len(answers) // 10 :]}
    if len(numbers) < 2 or not parts["test"]:
        raise SystemExit("raters.sh: the labels are of fewer than two classes, or fewer than ten")
    for name, part in parts.items():
        lines = (f"{numbers[label]} |r {rater} |t {task}\n" for rater, task, label in part)
        Path(folder, f"{name}.vw").write_text("".join(lines), encoding="utf-8")
    most = Counter(label for *_, label in parts["train"]).most_common(1)[0][0]
    return len(numbers), sum(label != most for *_, label in parts["test"]) / len(parts["test"])


def error_of(vwlite, options, folder, learner, rank, classes):
    asked, linear = LEARNERS[learner]
    asked = asked.format(classes).split()
    if rank is None:
        asked += linear.split()
    else:
        asked += [*([] if "--dotproduct" in asked else ["--dotproduct", "r,t"]), "--rank", rank]
    learn = ["-b", 20, "--indexing", 1, "--passes", options.passes, "--shuffle", "--holdout_off", "--quiet"]
    run(vwlite, "train", f"{folder}/train.vw", "-f", f"{folder}/model", *learn, *asked)
    test = ["evaluate", "-i", f"{folder}/model", f"{folder}/test.vw", "--metric", "accuracy", "--json", "-", "--quiet"]
    return 1 - json.loads(run(vwlite, *test))["accuracy"]


def main():
    parser = argparse.ArgumentParser(prog="raters.sh", description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", metavar="FILE", help="lines of rater, task and label (they are drawn)")
    for name, default in (("tasks", 10_000), ("raters", 100), ("passes", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"({default})")
    parser.add_argument("--json", metavar="OUT", help="write all figures there")
    options = parser.parse_args()
    if options.tasks < 2 or options.raters < EACH or options.passes < 1:
        parser.error(f"--tasks takes 2 or more, --raters {EACH} or more, --passes 1 or more")
    vwlite, rows = find_vwlite(), []
    with tempfile.TemporaryDirectory() as folder:
        answers = read(options.file) if options.file else drawn(options.tasks, options.raters, options.seed)
        classes, constant = split(answers, options.seed, folder)
        print(LINE.format("wrong", *LEARNERS), flush=True)
        print(LINE.format("constant", *[f"{constant:.3f}"] * len(LEARNERS)), flush=True)
        for rank in RANKS:
            errors = {name: error_of(vwlite, options, folder, name, rank, classes) for name in LEARNERS}
            rows.append({"k": rank, **errors})
            name = "linear" if rank is None else f"rank {rank}"
            print(LINE.format(name, *(f"{value:.3f}" for value in errors.values())), flush=True)
    if options.json:
        report = {"classes": classes, "constant": constant, "passes": options.passes, "rows": rows}
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"raters.sh: {error}")
