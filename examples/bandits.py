"""Policies from what a bandit sees, on MNIST (ten actions) and 20 newsgroups (twenty). The cost of the right class is
0, of others 1. Three tables, of which simulated clicks (ten actions, a click costs -1) have the last:

explore    errors of the actions drawn, by explorer (vwlite simulate)
learn      errors on test data of policies learned from logged events (vwlite train --cb)
intervals  how often the 95% intervals of vwlite.policy_value hold, over logs simulated from test data: of what a policy
           costs, and of the difference to one that has learned a quarter of the same log

Logs are uniform, or soft: 0.2 uniform and 0.8 the softmax of a weak model's scores, as sharp as gives the log a mean
cost of .486 (MNIST) or .856 (20 newsgroups). After a slash costs are learned as differences to the highest.
"""

import argparse
import gzip
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import vwlite

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mnist_to_vw import idx

EXPLORERS = {
    "epsilon": [],
    "dr": ["--cb_type", "dr"],
    "ips": ["--cb_type", "ips"],
    "cover": ["--cover", "3"],
    "bag": ["--bag", "5"],
    "squarecb": ["--squarecb"],
    "squarecb-500": ["--squarecb", "--gamma_scale", "500"],
    "regcbopt": ["--regcbopt", "--mellowness", "0.01"],
    "softmax": ["--softmax", "--lambda", "10"],
    "first": ["--first", "1000"],
    "coin": ["--coin"],
}
TYPES = {name: ["--cb_type", name] for name in ("ips", "dm", "dr", "mtr", "direct")}
TYPES["dr-slow"] = ["--cb_type", "dr", "-l", "0.05"]
FLOOR = 0.2  # of soft logs: the uniform share
ESTIMATES = ("cv", "ips", "snips", "dr", "difference")


class Lines(NamedTuple):
    """Features of each example, and its class, from 0, or how likely each action is clicked."""

    features: list[str]
    classes: np.ndarray
    clicked: np.ndarray | None = None  # float64[n, actions]

    def costs(self, rng, rows, actions):
        """Drawn, of actions for these rows, and their expectations: of clicks -1, of classes that are wrong 1."""
        if self.clicked is None:
            expected = (actions != self.classes[rows]).astype(float)
            return expected, expected
        expected = -self.clicked[rows, actions]
        return -(rng.random(len(rows)) < -expected).astype(float), expected


class Task(NamedTuple):
    train: Lines
    test: Lines
    actions: int
    bits: list[str]
    weak: int  # examples that the model of soft logs learns
    logged_cost: float
    taught: int  # events of a soft log from which the policy of the intervals learns
    cases: list[tuple[str, int]]


def mnist(folder, most, tests):
    values = [f":{value / 255:.4g}" for value in range(256)]

    def read(part, count):
        pixels = idx(folder / f"mnist/{part}-images-idx3-ubyte.gz", 3)
        classes = idx(folder / f"mnist/{part}-labels-idx1-ubyte.gz", 1)
        rows = np.random.default_rng(2).permutation(len(classes))[:count]
        images = (pixels[row].ravel() for row in rows)
        text = [" ".join(f"{at}{values[image[at]]}" for at in np.flatnonzero(image).tolist()) for image in images]
        return Lines([f"|x {line}" for line in text], classes[rows].astype(int))

    cases = [("uniform", 500), ("soft", 500), ("soft", 5000)]
    return Task(read("train", most), read("t10k", tests), 10, ["-b", "18"], 300, 0.486, 4000, cases)


def newsgroups(folder, most, tests):
    names, documents_by_part = {}, {"train": [], "test": []}
    try:
        with gzip.open(folder / "20news/20news.txt.gz", "rt", encoding="latin-1", newline="\n") as file:
            for line in file:
                part, group, _, text = (field.strip(" ") for field in line.rstrip("\n").split("|", 3))
                words = list(dict.fromkeys(re.findall("[a-z]+", text.lower())))[:150]
                documents_by_part[part].append((f"|w {' '.join(words)}", names.setdefault(group, len(names))))
    except FileNotFoundError as error:
        sys.exit(f"bandits: there is no {error.filename}")
    for rows in documents_by_part.values():
        random.Random(2).shuffle(rows)
    train, test = (
        Lines([line for line, _ in rows], np.array([group for _, group in rows]))
        for rows in (documents_by_part["train"][:most], documents_by_part["test"][:tests])
    )
    return Task(train, test, 20, ["-b", "22"], 1000, 0.856, 4000, [("uniform", 5000)])


def clicks(folder, most, tests):
    """Users of 20 kinds at 24 hours; a click is rare, and what is clicked depends on both."""
    rng = np.random.default_rng(5)
    base, by_kind, by_hour = rng.normal(0, 0.5, 10), rng.normal(0, 0.7, (20, 10)), rng.normal(0, 0.4, (24, 10))

    def make(count):
        kinds, hours = rng.integers(0, 20, count), rng.integers(0, 24, count)
        chance = 1 / (1 + np.exp(5.4 - base - by_kind[kinds] - by_hour[hours]))
        text = [f"|u k{kind} |t h{hour}" for kind, hour in zip(kinds.tolist(), hours.tolist(), strict=True)]
        return Lines(text, np.zeros(0, int), chance)

    return Task(make(most), make(tests), 10, ["-b", "18"], 0, 0, most, [("uniform", 2000), ("soft", 2000)])


SETS = {"mnist": mnist, "20news": newsgroups, "clicks": clicks}
PARTS_OF = {"clicks": ["intervals"]}  # of other sets all


def run(command):
    """What the command prints."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def tool(*arguments):
    return run([sys.executable, "-P", "-m", "vwlite", *arguments])


def write(path, labels, features):
    path.write_text("".join(f"{label} {line}\n" for label, line in zip(labels, features, strict=True)))
    return path


def costs(model, path):
    """float64[n, K]: the scores of all actions."""
    lines = tool("predict", "-i", model, path, "--scores", "--quiet").splitlines()
    return np.array([[word.rpartition(":")[2] for word in line.split()] for line in lines], float)


def soft(task, work):
    """The probabilities of all actions by which soft logs are drawn, of training and of test examples."""
    weak, scores = work / "weak", []
    text = write(work / "weak.vw", task.train.classes[: task.weak] + 1, task.train.features[: task.weak])
    tool("train", text, "-f", weak, "--oaa", task.actions, *task.bits, "--quiet")
    for lines in (task.train, task.test):
        scores.append(costs(weak, write(work / "all.vw", lines.classes + 1, lines.features)))

    def policy(of, sharpness):
        power = np.exp(sharpness * (of - of.max(axis=1, keepdims=True)))
        return FLOOR / task.actions + (1 - FLOOR) * power / power.sum(axis=1, keepdims=True)

    low, high = 0.0, 100.0
    for _ in range(30):
        middle = (low + high) / 2
        right = policy(scores[1], middle)[np.arange(len(scores[1])), task.test.classes]
        low, high = (middle, high) if 1 - right.mean() > task.logged_cost else (low, middle)
    return [policy(of, high) for of in scores]


def draw(rng, shown):
    """Actions, and the probabilities with which they are drawn."""
    sums = shown.cumsum(axis=1)
    actions = (rng.random((len(shown), 1)) * sums[:, -1:] >= sums).sum(axis=1)
    return actions, shown[np.arange(len(shown)), actions]


def logging(task, work):
    """By the kind of log the probabilities of actions, of training and of test examples."""
    even = [np.full((len(of.features), task.actions), 1 / task.actions) for of in (task.train, task.test)]
    return {"uniform": even, "soft": soft(task, work) if task.weak else softly_clicked(task)}


def softly_clicked(task):
    """Of clicks the weak model is how likely they are, with errors as large."""
    noise = np.random.default_rng(6)
    made = []
    for lines in (task.train, task.test):
        scores = np.log(lines.clicked)
        scores = scores + noise.normal(0, 1, scores.shape)
        power = np.exp(scores - scores.max(axis=1, keepdims=True))
        made.append(FLOOR / task.actions + (1 - FLOOR) * power / power.sum(axis=1, keepdims=True))
    return made


def write_log(path, task, rows, shown, rng, *, right=0):
    """Events of these training examples; wrong actions cost 1 more than the right one."""
    actions, probability = draw(rng, shown[rows])
    cost = right + task.train.costs(rng, rows, actions)[0]
    labels = [f"{a + 1}:{c:g}:{p:.6g}" for a, c, p in zip(actions, cost, probability, strict=True)]
    return write(path, labels, [task.train.features[row] for row in rows])


def explore(task, work, options):
    """By explorer the errors with costs of 0 and 1 and of -1 and 0, one for each order."""
    table = {name: {"0/1": [], "-1/0": []} for name in options.explorers}
    for order in range(options.orders):
        rows = np.random.default_rng(order).permutation(len(task.train.classes))
        text = write(work / "order.vw", task.train.classes[rows] + 1, [task.train.features[row] for row in rows])
        for name, losses in table.items():
            for least, key in ((0, "0/1"), (-1, "-1/0")):
                how = ["--loss0", least, "--loss1", least + 1, *EXPLORERS[name], *task.bits]
                if name == "regcbopt":
                    how += ["--cb_min_cost", least, "--cb_max_cost", least + 1]
                report = tool("simulate", text, "--actions", task.actions, *how, "--quiet", "--json", "-")
                losses[key].append(json.loads(report)["average_loss"])
    return table


def error_of(predictions, first, task):
    return float((np.array(predictions.split(), int) - first != task.test.classes).mean())


def learn(task, work, options):
    """By the type of learning and the log the errors of policies, plain and with an offset, one for each log."""
    test = write(work / "test.vw", [""] * len(task.test.classes), task.test.features)
    shown = logging(task, work)
    table = {}
    for order, kind in ((order, kind) for order in range(options.orders) for kind in shown):
        rows = np.random.default_rng([order, 7]).permutation(len(task.train.classes))[: options.events]
        plain, less = (
            write_log(work / f"log{right}.vw", task, rows, shown[kind][0], np.random.default_rng(order), right=right)
            for right in (0, -1)
        )
        for name in options.types:
            how = [*TYPES[name], *task.bits]
            row = table.setdefault(name, {}).setdefault(kind, {"plain": [], "offset": [], "vw 0/1": [], "vw -1/0": []})
            for key, offset in (("plain", []), ("offset", ["--cost_offset", "max"])):
                tool("train", plain, "-f", work / "policy", "--cb", task.actions, *how, *offset, "--quiet")
                row[key].append(error_of(tool("predict", "-i", work / "policy", test, "--quiet"), 1, task))
            for key, log in (("vw 0/1", plain), ("vw -1/0", less)):
                if options.vw and name != "direct":
                    there = [*shlex.split(options.vw), "--quiet", "-d"]
                    run([*there, log, "--cb", task.actions, *how, "--hash", "all", "-f", work / "vw"])
                    run([*there, test, "-t", "-i", work / "vw", "-p", work / "actions"])
                    row[key].append(error_of((work / "actions").read_text(), 0, task))
    return table


def intervals(task, work, options):
    """By log and estimate the share of intervals that hold the error, their mean width, and the root mean square error
    of the estimate."""
    shown = logging(task, work)
    count, every = min(task.taught, len(task.train.features)), np.arange(len(task.test.features))
    test, chosen = write(work / "test.vw", [""] * len(every), task.test.features), []
    for taught in (count, count // 4):
        log = write_log(work / "log.vw", task, np.arange(taught), shown["soft"][0], np.random.default_rng(0))
        tool("train", log, "-f", work / f"policy{taught}", "--cb", task.actions, *task.bits, "--quiet")
        chosen.append(np.array(tool("predict", "-i", work / f"policy{taught}", test, "--quiet").split(), int) - 1)
    span = (0, 1) if task.test.clicked is None else (-1, 0)
    expected = costs(work / f"policy{count}", test).clip(*span)
    error, other = (float(task.test.costs(np.random.default_rng(0), every, of)[1].mean()) for of in chosen)
    table = {}
    for kind, size in task.cases:
        estimates = {name: [] for name in ESTIMATES}
        for number in range(options.logs):
            rng = np.random.default_rng([number, size])
            rows = rng.integers(0, len(every), size)
            actions, probability = draw(rng, shown[kind][1][rows])
            cost = task.test.costs(rng, rows, actions)[0]
            logged = chosen[0][rows], actions, cost, probability, expected[rows]
            values = vwlite.policy_value(*logged, against=chosen[1][rows], cost_range=span)
            for name, rows_found in estimates.items():
                rows_found.append(tuple(values[name]))
        table[f"{kind} ({size})"] = {"error": error, "other": other}
        for name, rows_found in estimates.items():
            value, low, high = np.array(rows_found).T
            truth = error - other if name == "difference" else error
            table[f"{kind} ({size})"][name] = {
                "coverage": float(((low <= truth) & (truth <= high)).mean()),
                "width": float((high - low).mean()),
                "rmse": float(np.sqrt(((value - truth) ** 2).mean())),
            }
    return table


def means(lists):
    return " / ".join(f"{np.mean(errors):.3f}" for errors in lists if errors)


def show(part, name, table):
    """The table in Markdown."""
    if part == "intervals":
        heads = " | ".join(f"{key}: coverage, width, rmse" for key in ESTIMATES)
        print(f"\n| {name}: log | error | the other's | {heads} |\n{'|---' * (3 + len(ESTIMATES))}|")
        for log, row in table.items():
            cells = [", ".join(f"{figure:.3f}" for figure in row[key].values()) for key in ESTIMATES]
            print(f"| {log} | {row['error']:.4f} | {row['other']:.4f} | {' | '.join(cells)} |")
    elif part == "explore":
        print(f"\n| {name}: explorer | error |\n|---|---|")
        for explorer, row in table.items():
            print(f"| {explorer} | {means(row.values())} |")
    else:
        logs = list(next(iter(table.values())))
        print(f"\n| {name}: --cb_type | {' | '.join(f'{log} | vw' for log in logs)} |\n{'|---' * (1 + 2 * len(logs))}|")
        for kind, row in table.items():
            cells = [means(list(row[log].values())[at : at + 2]) for log in logs for at in (0, 2)]
            print(f"| {kind} | {' | '.join(cells)} |")
    sys.stdout.flush()


PARTS = {"explore": explore, "learn": learn, "intervals": intervals}


def names(known):
    def of(text):
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in known]:
            raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: there are {', '.join(known)}")
        return chosen

    return {"type": of, "default": list(known), "metavar": "NAMES", "help": f"of {', '.join(known)}"}


def number(text):
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"takes a number of 1 or more, not {text!r}")
    return int(text)


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bandits", description=__doc__, formatter_class=form)
    parser.add_argument("folder", type=Path, metavar="DATA")
    parser.add_argument("--parts", **names(PARTS))
    parser.add_argument("--sets", **names(SETS))
    parser.add_argument("--explorers", **names(EXPLORERS))
    parser.add_argument("--types", **names(TYPES))
    parser.add_argument("--orders", type=number, default=1, help="orders of explore, logs of learn (1)")
    parser.add_argument("--logs", type=number, default=200, help="logs of intervals (200)")
    parser.add_argument("--lines", type=number, default=20000, help="training examples at most (20000)")
    parser.add_argument("--events", type=number, default=10000, help="logged events (10000)")
    parser.add_argument("--tests", type=number, default=10000, help="test examples at most (10000)")
    parser.add_argument("--vw", help="a command: vw learns from the same logs")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    tables = {}
    for name in options.sets:
        task = SETS[name](options.folder, options.lines, options.tests)
        for part in (one for one in options.parts if one in PARTS_OF.get(name, PARTS)):
            with tempfile.TemporaryDirectory() as work:
                tables.setdefault(part, {})[name] = PARTS[part](task, Path(work), options)
            show(part, name, tables[part][name])
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    main()
