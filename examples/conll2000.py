"""Objective, active features and phrase F1 of five ways to train the same linear-chain CRF, by vwlite's commands.

The last column is the label, empty lines separate sentences. The default template takes words (column 0) and tags
(column 1) at most two tokens away; without a second column, words only. Beside vwlite's figures stand those of
Tsuruoka, Tsujii and Ananiadou (ACL 2009) for CoNLL-2000, where their test is repeated. --plot draws the objective and
the active features by passes.
"""

import argparse
import gzip
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from vwlite.data.plain_text import words_of
from vwlite.reporting.svg import COLOURS, Axis, Chart, axis, drawing

STOCHASTIC = {  # row: penalty, rate
    "naive": ("naive", "harmonic"),
    "clipping": ("clipping", "harmonic"),
    "cumulative": ("cumulative", "harmonic"),
    "cumulative+exponential": ("cumulative", "exponential"),
}
PAPER = {  # row: passes, objective, active features, F1
    "owlqn": (160, -1.583, 18109, 93.62),
    "naive": (30, -1.671, 455651, 93.64),
    "clipping": (30, -1.671, 87792, 93.65),
    "cumulative": (30, -1.653, 28189, 93.68),
    "cumulative+exponential": (30, -1.622, 23584, 93.66),
}
SENTENCES = 8936  # of their training part
PLACES = ("U00", "U01", "w", "U03", "U04")  # names of words nearby, as in the default template
WORDS = "".join(f"{name}:%x[{place},0]\n" for place, name in enumerate(PLACES, -2))
WORDS += "U05:%x[-1,0]/%x[0,0]\nU06:%x[0,0]/%x[1,0]\nB\n"


def vwlite(*arguments):
    """What the command prints, as JSON data."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout) if done.stdout else None


def opened(path) -> TextIO:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return (gzip.open if packed else open)(path, "rt", encoding="utf-8-sig", errors="surrogateescape")


def columns_of(path):
    """How many columns the first token has."""
    with opened(path) as lines:
        return next((len(cells) for line in lines if (cells := words_of(line))), 0)


def only(columns, path) -> Iterator[str]:
    """The lines of the file, with these columns alone."""
    with opened(path) as lines:
        for line in lines:
            cells = words_of(line)
            yield " ".join(cells[column] for column in columns) + "\n" if cells else "\n"


def convert(options, work):
    """Text for vwlite of both parts."""
    made, more = [], ["--iob2"] if options.iob2 else []
    for name in ("train", "test"):
        made.append(work / f"{name}.vw")
        source, template = getattr(options, name), options.template
        if options.columns:
            chosen, source = only(options.columns, source), work / name
            source.write_text("".join(chosen), encoding="utf-8", errors="surrogateescape")
        if not template and columns_of(source) < 3:
            template = work / "template"
            template.write_text(WORDS)
        vwlite("convert", "conll", source, "-o", made[-1], *more, *(["--template", template] if template else []))
    return made


def how(row, options):
    if row == "owlqn":
        stopping = ["--tolerance", options.tolerance, "--passes", options.iterations]
        return ["--solver", "owlqn", "--warm_passes", options.warm, *stopping]
    penalty, rate = STOCHASTIC[row]
    steps = ["-l", options.rate]
    if rate == "exponential":
        steps = ["-l", options.start, "--decay_learning_rate", options.decay]
    return ["--penalty", penalty, "--rate", rate, *steps, "--passes", options.passes, "--seed", options.seed]


def measured(row, options, train, test, work):
    model = work / "model"
    fixed = ["--model", "crf", "--l1", options.l1, "--quiet", "-f", model, "--json", "-", *options.features]
    trained = vwlite("l1", train, "--cache_file", work / "cache", *fixed, *how(row, options))
    score = vwlite("evaluate", "-i", model, test, "--json", "-")
    kept = {name: trained[name] for name in ("passes", "objective", "active", "seconds")}
    curve = [{name: one[name] for name in ("pass", "objective", "active")} for one in trained["history"]]
    figures = {"row": row, **kept, "f1": score.get("f1"), "accuracy": 100 * score["accuracy"], "history": curve}
    return figures, trained["examples"]


def options_of(arguments):
    parser = argparse.ArgumentParser("conll2000.sh", description=__doc__)
    parser.add_argument("train", metavar="TRAIN")
    parser.add_argument("test", metavar="TEST")
    parser.add_argument("template", metavar="TEMPLATE", nargs="?", help="CRF++-style")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON; - is standard output, instead of text")
    parser.add_argument("--l1", type=float, default=1.0, metavar="C")
    parser.add_argument("--passes", type=int, default=30)
    parser.add_argument("--rate", type=float, default=0.3, help="learning rate of the harmonic rows (%(default)s)")
    parser.add_argument("--start", type=float, default=0.4, help="of the exponential row (%(default)s)")
    parser.add_argument("--decay", type=float, default=0.87, help="of the exponential row (%(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="where OWL-QN stops (%(default)s)")
    parser.add_argument("--iterations", type=int, default=500, help="of OWL-QN at most (%(default)s)")
    parser.add_argument("--warm", type=int, default=0, help="stochastic passes before OWL-QN (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", nargs="+", choices=PAPER, default=list(PAPER))
    parser.add_argument("--columns", type=numbers, metavar="N,N", help="take these columns, from 0, the label last")
    parser.add_argument("--iob2", action="store_true", help="labels of phrases begin with B-")
    parser.add_argument(
        "--features", type=shlex.split, default=[], metavar="OPTIONS",
        help="of vwlite l1, in one word: '--spelling w --affix +3w,-3w' (w: a token's own word)",
    )
    parser.add_argument("--plot", metavar="SVG", help="draw the objective and the active features by passes")
    return parser.parse_args(arguments)


def numbers(text):
    return [int(word) for word in text.split(",")]


def plot(rows) -> str:
    """Two charts, one below the other; of the batch solver's iterations as many as the others have passes."""
    steps = [row for row in rows if row["row"] != "owlqn"] or rows
    longest = max(len(row["history"]) for row in steps)
    objectives = [row["objective"] for row in rows] + [row["history"][0]["objective"] for row in steps]
    active = [one["active"] for row in rows for one in row["history"][:longest]]
    across = Axis("passes", 1, max(longest, 2), whole=True)
    charts = {
        "objective": Chart("Objective by passes", across, axis("L(w)/N", objectives)),
        "active": Chart("Active features by passes", across, axis("weights", active, logarithmic=True)),
    }
    for figure, chart in charts.items():
        for row, colour in zip(rows, COLOURS, strict=False):
            chart.line([(one["pass"], one[figure]) for one in row["history"]], colour, row["row"])
    return drawing(charts.values())


def shown(f1):
    """Of labels that mark no phrases there is none."""
    return "-" if f1 is None else f"{f1:.2f}"


def table(rows, paper):
    titles = f"{'':<24}{'passes':>7}{'L(w)/N':>10}{'active':>9}{'seconds':>9}{'F':>8}{'accuracy':>10}"
    print(titles + (f"   | paper:{'passes':>7}{'L(w)/N':>9}{'active':>9}{'F':>8}" if paper else ""))
    for row in rows:
        line = f"{row['row']:<24}{row['passes']:7d}{row['objective']:10.3f}{row['active']:9d}{row['seconds']:9.1f}"
        line += f"{shown(row['f1']):>8}{row['accuracy']:10.2f}"
        if paper:
            passes, objective, active, f1 = PAPER[row["row"]]
            line += f"   |       {passes:7d}{objective:9.3f}{active:9d}{f1:8.2f}"
        print(line)


def main(arguments):
    options = options_of(arguments)
    rows = []
    with tempfile.TemporaryDirectory(prefix="conll2000-") as folder:
        work = Path(folder)
        train, test = convert(options, work)
        for name in options.rows:
            row, sentences = measured(name, options, train, test, work)
            rows.append(row)
            scores = f"F {shown(row['f1'])}, accuracy {row['accuracy']:.2f}"
            print(f"{name}: L(w)/N {row['objective']:.4f}, {scores}", file=sys.stderr, flush=True)
    if options.json != "-":
        table(rows, sentences == SENTENCES and not (options.columns or options.features))
    if options.plot:
        Path(options.plot).write_text(plot(rows), encoding="utf-8")
    if options.json:
        text = json.dumps({"rows": rows}, indent=2) + "\n"
        sys.stdout.write(text) if options.json == "-" else Path(options.json).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
