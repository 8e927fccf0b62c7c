"""Errors of a constant, a linear model and dyadic models on ratings held out: the work of movielens.sh.

All of them minimise the 0.5-quantile loss, half the absolute error, with vwlite's own defaults and 20 passes:

    constant  the median of the training labels
    linear    vwlite train TRAIN --loss_function quantile --passes 20 --holdout_off
    dyadic    the same with --dotproduct u,i --rank K

The table goes to standard output, the commands to standard error. Seconds are those of the whole training command,
reading the text included. --json writes {"rows": [{"model": "dyadic", "k": 5, "quantile_loss": ..., "mae": ...,
"rmse": ..., "seconds": ...}, ...]}; k is null for the constant and the linear model.

--levels takes ratings for levels, whole numbers one apart, adds half the absolute error and the share of errors of the
nearest level, and models of labels with latent vectors of their own, whose rows have the absolute error of the median,
the root of the squared error of the mean, log loss and expected calibration error:

    labels    vwlite train TRAIN --dotproduct u,i --rank K --multiclass N --dot-rates global --passes 20 --holdout_off

In JSON these have "reliability": for each label ten bins of mean probability and observed rate. --libmf PYTHON names an
interpreter that has LIBMF, which joins the table where ids are whole numbers.
"""

import argparse
import bz2
import gzip
import itertools
import json
import lzma
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = """examples:
  movielens.sh train.vw test.vw                           ranks 1, 2, 5 and 10
  movielens.sh train.vw test.vw 5 20 --json table.json
  movielens.sh train.vw test.vw --pair reader,book        namespaces of other names
  movielens.sh train.vw test.vw 5 --levels --json -       what are the chances of each rating?
"""
RANKS = [1, 2, 5, 10]
NAMESPACE = re.compile(rb"\|([^\s:|]+)")
MAX_LEVEL = 100
PEEK = 1000  # lines that must show the namespaces
COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
HEADINGS = ("model", "k", "quantile loss", "MAE", "RMSE", "seconds")
OF_LEVELS = {"levels_loss": "on levels", "error": "error", "log_loss": "log loss", "ece": "ECE"}


def open_lines(path):
    """The lines of a file, as bytes."""
    raw = open(path, "rb")  # noqa: SIM115
    start = raw.peek(6)
    opener = next((opener for magic, opener in COMPRESSIONS.items() if start.startswith(magic)), None)
    return opener(raw) if opener else raw


def labels(path):
    """[(label, importance)] of the labelled lines of VW text, or SystemExit when there is none."""
    values = []
    with open_lines(path) as lines:
        for line in lines:
            fields = line.partition(b"|")[0].split(b"'")[0].split()
            try:
                values.append((float(fields[0]), float(fields[1]) if len(fields) > 1 else 1.0))
            except (IndexError, ValueError):
                continue  # no label, or a line that vwlite refuses
    if not values:
        raise SystemExit(f"movielens.sh: {path}: no labelled line of VW text; movielens_to_vw.py makes it from ratings")
    return values


def pair_in(path, wanted):
    """The pair to train on, ``wanted`` or what the file has; SystemExit when it is not there."""
    with open_lines(path) as lines:
        found = [name.decode() for line in itertools.islice(lines, PEEK) for name in NAMESPACE.findall(line)]
    names = list(dict.fromkeys(found))
    if not wanted and not {"u", "i"} <= set(names) and len(names) == 2:
        return ",".join(names)
    pair = wanted or "u,i"
    parts, known = (pair.split(","), names) if "," in pair else (pair, [name[0] for name in names])
    if not set(parts) <= set(known):
        there = ", ".join(names) or "none with a name"
        raise SystemExit(f"movielens.sh: {path} has no namespaces {pair}; name two by --pair A,B (there are: {there})")
    return pair


def levels_in(pairs):
    """The lowest and the highest of [(label, importance)]; SystemExit where labels are no whole numbers from 0 or 1."""
    levels = {label for label, _ in pairs}
    if not all(label.is_integer() for label in levels) or min(levels) not in (0, 1) or max(levels) > MAX_LEVEL:
        raise SystemExit(f"movielens.sh: --levels needs whole numbers as ratings, from 0 or 1 to at most {MAX_LEVEL}")
    return int(min(levels)), int(max(levels))


def errors(pairs, prediction):
    """Errors of a constant on [(label, importance)]."""
    weight = math.fsum(importance for _, importance in pairs)
    mae = math.fsum(importance * abs(label - prediction) for label, importance in pairs) / weight
    mse = math.fsum(importance * (label - prediction) ** 2 for label, importance in pairs) / weight
    return {"quantile_loss": mae / 2, "mae": mae, "rmse": math.sqrt(mse)}


def weighted_median(pairs):
    """The smallest label with half of the importance at or below it."""
    pairs = sorted(pairs)
    sums = list(itertools.accumulate(importance for _, importance in pairs))
    return next(label for (label, _), below in zip(pairs, sums, strict=True) if 2 * below >= sums[-1])


def constant_row(options):
    start = time.perf_counter()
    median = weighted_median(labels(options.train))
    seconds = time.perf_counter() - start
    row = errors(labels(options.test), median)
    if options.levels:
        pairs = labels(options.test)
        wrong = math.fsum(importance for label, importance in pairs if label != median)
        weight = math.fsum(importance for _, importance in pairs)
        row |= {"levels_loss": row["quantile_loss"], "error": wrong / weight}
    return {"model": "constant", "k": None, **row, "seconds": seconds}


def run(vwlite, *arguments):
    """Standard output of ``vwlite ARGUMENTS``; its failure is ours, and it has said why."""
    print("$ vwlite", shlex.join(map(str, arguments)), file=sys.stderr)
    done = subprocess.run([*vwlite, *map(str, arguments)], stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout


def trained(vwlite, options, learn, *tests):
    """What ``tests`` tell of a model, and the seconds that learning it took; its folder is gone afterwards."""
    learn = [*learn, "--passes", options.passes, "--holdout_off", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/model"
        start = time.perf_counter()
        run(vwlite, "train", options.train, *learn, "--cache_file", f"{folder}/cache", "-f", model)
        seconds = time.perf_counter() - start
        test = ["evaluate", "-i", model, options.test, "--json", "-", "--quiet", "--metric"]
        return [json.loads(run(vwlite, *test, *one)) for one in tests], seconds


def model_row(vwlite, options, rank):
    """Train and test one model, linear when ``rank`` is None."""
    dyadic = [] if rank is None else ["--dotproduct", options.pair, "--rank", rank]
    tests = [["loss,mae,rmse"]]
    if options.levels:
        tests.append(["mae,accuracy", "--levels", "{}..{}".format(*options.levels)])
    (score, *more), seconds = trained(vwlite, options, ["--loss_function", "quantile", *dyadic], *tests)
    figures = {"quantile_loss": score["loss"], "mae": score["mae"], "rmse": score["rmse"], "seconds": seconds}
    for one in more:
        figures |= {"levels_loss": one["mae"] / 2, "error": 1 - one["accuracy"]}
    return {"model": "linear" if rank is None else "dyadic", "k": rank, **figures}


def labels_row(vwlite, options, rank):
    """The same of labels with latent vectors of their own, which have probabilities."""
    low, high = options.levels
    learn = ["--dotproduct", options.pair, "--rank", rank, "--multiclass", high - low + 1, "--indexing", low, "-b", 20]
    learn += ["--dot-rates", "global"]
    wanted = "log_loss,accuracy,mae,rmse,ece,calibration_bins"
    (score,), seconds = trained(vwlite, options, learn, [wanted])
    figures = {name: score[name] for name in ("mae", "rmse", "log_loss", "ece")}
    figures |= {"levels_loss": score["mae"] / 2, "quantile_loss": score["mae"] / 2, "error": 1 - score["accuracy"]}
    return {"model": "labels", "k": rank, **figures, "seconds": seconds, "reliability": score["calibration_bins"]}


def libmf_row(options, rank):
    script = Path(__file__).with_name("movielens_libmf.py")
    words = [options.libmf, str(script), options.train, options.test, options.pair, str(rank)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.returncode)
    return json.loads(done.stdout.splitlines()[-1])


def print_table(rows, levels):
    """The rows as they come, each when it is known."""
    more = OF_LEVELS if levels else {}
    headings = "".join(f"{heading:>10}" for heading in more.values())
    print("{:10}{:>4}{:>15}{:>9}{:>9}{:>9}".format(*HEADINGS) + headings, flush=True)
    for row in rows:
        k = "" if row["k"] is None else row["k"]
        figures = "{quantile_loss:15.4f}{mae:9.4f}{rmse:9.4f}{seconds:9.2f}".format_map(row)
        others = "".join(f"{row[name]:10.4f}" if name in row else " " * 10 for name in more)
        print(f"{row['model']:10}{k:>4}{figures}{others}".rstrip(), flush=True)
        yield row


def find_vwlite():
    """The command of a vwlite: this interpreter's, the one on PATH, or the one that make built beside the examples."""
    built = Path(__file__).resolve().parent.parent / ".venv/bin/python"
    here, beside = [sys.executable, "-P", "-m", "vwlite"], [str(built), "-P", "-m", "vwlite"]
    for command in (here, [shutil.which("vwlite") or ""], beside):
        try:
            if subprocess.run([*command, "--version"], capture_output=True).returncode == 0:
                return command
        except OSError:
            continue
    raise SystemExit("movielens.sh: no vwlite here; run make, or let PYTHON=... name an interpreter that has it")


def arguments():
    about, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="movielens.sh",
        usage="%(prog)s TRAIN.vw TEST.vw [K...] [--json OUT] [--pair A,B] [--passes N] [--levels [--libmf PYTHON]]",
        description=about.partition(": ")[0] + ".",
        epilog=rest + "\n" + EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="+", metavar="TRAIN.vw TEST.vw [K...]", help="data, and ranks (1 2 5 10)")
    parser.add_argument("--json", metavar="OUT", help="write the rows there as JSON; - is stdout, without table")
    parser.add_argument("--pair", metavar="A,B", help="the two namespaces (u,i, or the only two in TRAIN.vw)")
    parser.add_argument("--passes", type=int, default=20, metavar="N", help="passes over the data (20)")
    parser.add_argument("--levels", action="store_true", help="errors of levels as well, and models of labels")
    parser.add_argument("--libmf", metavar="PYTHON", help="with --levels: an interpreter that has LIBMF")
    options = parser.parse_intermixed_args()
    ranks = [int(word) for word in options.words if word.isdecimal() and not os.path.exists(word)]
    files = [word for word in options.words if not word.isdecimal() or os.path.exists(word)]
    if options.libmf and not options.levels:
        parser.error("--libmf needs --levels")
    if len(files) != 2:
        parser.error(f"expected two files, TRAIN.vw and TEST.vw, found {' '.join(files) or 'none'}")
    options.train, options.test = files
    options.ranks = list(dict.fromkeys(ranks)) or RANKS
    for path in files:
        if not os.path.isfile(path):
            parser.error(f"{path} is not a file")
    if options.json not in (None, "-") and not Path(options.json).absolute().parent.is_dir():
        parser.error(f"--json {options.json}: its folder does not exist")
    if os.path.realpath(options.json or "") in map(os.path.realpath, files):
        parser.error(f"--json {options.json} is the data and would be overwritten: give it another name")
    return options


def rows_of(vwlite, options):
    """Each when it is known."""
    yield constant_row(options)
    for rank in (None, *options.ranks):
        yield model_row(vwlite, options, rank)
    for rank in (0, *options.ranks) if options.levels else ():
        yield labels_row(vwlite, options, rank)
    if options.libmf:
        yield libmf_row(options, max(options.ranks))


def main():
    options = arguments()
    vwlite = find_vwlite()
    options.pair = pair_in(options.train, options.pair)
    options.levels = levels_in(labels(options.train)) if options.levels else None
    rows = rows_of(vwlite, options)
    rows = list(rows if options.json == "-" else print_table(rows, options.levels))
    text = json.dumps({"rows": rows}, indent=1) + "\n"
    if options.json == "-":
        sys.stdout.write(text)
    elif options.json:
        Path(options.json).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (OSError, EOFError) as error:
        raise SystemExit(f"movielens.sh: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
