"""vwlite's time and memory beside those of its peers, for every learner, option, format and command: `make bench-all`.

    python tests/bench/every_row.py FOLDER [--rounds 5] [--only oaa] [--mb 64]

FOLDER holds text.vw, counts.vw, clicks.vw, mnist.vw and dyad.vw (any of them). VW names vw's command and PEERS a Python
with scikit-learn (and python-crfsuite, for one row); rows whose peer is missing tell vwlite's figures alone. Whole
processes, which take turns, are timed from start to end; medians. A ratio is the peer's figure divided by vwlite's.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from derived import FIELDS, made
from speed import Tool
from workloads import found

LOGISTIC = "--loss_function logistic -b 22"
COLUMNS = f"'label=label num={','.join(f'i{k}' for k in range(13))} {' '.join(f'{name}={name}' for name in FIELDS)}'"
TRAIN, PREDICT = "train {data} {options} -f {model}", "predict -i {model} {data} -p {out}"
VW_TRAIN, VW_PREDICT = "-d {data} {options} -f {model}", "-t -i {model} -d {data} -p {out}"


@dataclass(frozen=True)
class Row:
    """What vwlite's and the peer's commands are, of places in braces; ``learned``: both have a model first.

    ``peer``: "vw", or a function of peers.py.
    """

    title: str
    data: str
    options: str = LOGISTIC
    ours: str = TRAIN
    theirs: str = VW_TRAIN
    peer: str = "vw"
    learned: bool = False


def learners() -> list[Row]:
    """Every learner and reduction."""

    def classes(options: str, data: str = "classes20", bits: int = 18) -> Row:
        return Row(f"`{options}`", data, f"{options} -b {bits}")

    def one(options: str, data: str = "text") -> Row:
        return Row(f"`{options}`", data, f"{LOGISTIC} {options}")

    return [
        *(one(options) for options in ("--adaptive", "--sgd", "--l1 1e-6", "--l2 1e-6", "--ftrl")),
        *(one(options, "clicks") for options in ("--coin", "--pistol")),
        one("--active --simulation"),
        one("--bfgs --passes 5 -k --cache_file {cache} --holdout_off --predict_only_model", "clicks"),
        Row("`--loss_function squared`", "counts", "-b 22"),
        Row("`--loss_function quantile`", "counts", "--loss_function quantile -b 22"),
        Row("`--loss_function poisson`", "classes10", "--loss_function poisson -b 22 -l .01"),
        *(classes(f"--oaa {count}", f"classes{count}") for count in (10, 20)),
        classes("--oaa 1000", "classes1000", 24),
        *(classes(options) for options in ("--ect 20", "--log_multi 20")),
        classes("--log_multi 1000", "classes1000", 24),
        classes("--csoaa 10", "costs"),
        classes("--multilabel_oaa 20", "sets"),
        classes("--csoaa_ldf m", "groups"),
        classes("--wap_ldf m", "groups"),
        *(classes(options, "decisions", 22) for options in ("--cb 10", "--cb 10 --cb_type dr")),
        *(classes(options, "offers", 22) for options in ("--cb_adf -q xa", "--cb_explore_adf --bag 5")),
        Row("`--lrq ui10`", "dyad", "--lrq ui10 -b 18"),
        Row("`--dotproduct u,i`", "dyad", "-b 18", f"{TRAIN} --dotproduct u,i --rank 10", f"{VW_TRAIN} --lrq ui10"),
        Row("`--ksvm`, 2,000 lines", "counts", "--examples 2000 --ksvm --kernel rbf -b 18"),
    ]


def pipeline() -> list[Row]:
    """Every option of the features, of the passes and of the table of weights."""

    def clicks(options: str, bits: int = 22) -> Row:
        title = f"`{options or f'-b {bits}'}`, clicks"
        return Row(title, "clicks", f"--loss_function logistic -b {bits} {options}")

    def text(options: str) -> Row:
        return Row(f"`{options}`, text", "text", f"{LOGISTIC} {options}")

    return [
        *(clicks(options, 24) for options in ("-q ab", "-q ::", "--cubic abc", "--interactions abcd")),
        *(clicks(options) for options in ("--ignore a", "--keep n", "--noconstant", "--hash all")),
        clicks("--holdout_off --passes 5 -k --cache_file {cache}"),
        clicks("-c -k --cache_file {cache}"),
        clicks("", 18),
        clicks("", 26),
        clicks("", 28),
        *(text(options) for options in ("--ngram w2", "--ngram w3 --skips w1", "--affix +2w", "--spelling w")),
        Row("`--readable_model`", "clicks", f"{LOGISTIC} --readable_model {{out}}"),
        Row("`--invert_hash`", "clicks", f"{LOGISTIC} --invert_hash {{out}}"),
        Row("`--audit`", "clicks", LOGISTIC, f"{PREDICT} --audit", f"{VW_PREDICT} --audit", learned=True),
        Row("`-p` while it learns", "clicks", f"{LOGISTIC} -p {{out}}"),
        Row("`vwlite vw`, clicks", "clicks", LOGISTIC, f"vw {VW_TRAIN}"),
        Row("`vwlite vw`, text", "text", LOGISTIC, f"vw {VW_TRAIN}"),
    ]


def forms() -> list[Row]:
    """Every format; vw has only text and gzip, scikit-learn's readers stand beside the others."""
    table = f"train {{data}} {{options}} -f {{model}} --columns {COLUMNS} --format"
    return [
        Row("text .gz", "clicks.gz"),
        Row("text .zst", "clicks.zst", theirs="", peer=""),
        Row("SVMlight", "clicks.svm", LOGISTIC, "train {data} --format svmlight {options} -f {model}", peer="svmlight"),
        Row("CSV", "csv", LOGISTIC, f"{table} csv", peer="csv"),
        Row("JSON lines", "jsonl", LOGISTIC, f"{table} jsonl", peer="jsonl"),
    ]


def commands() -> list[Row]:
    """What else is done with data and models."""

    def predict(options: str, data: str) -> Row:
        return Row(f"predict, `{options}`", data, f"{options} -b 22", PREDICT, VW_PREDICT, learned=True)

    return [
        predict("--loss_function logistic", "clicks"),
        predict("--loss_function squared", "text"),
        predict("--oaa 10", "classes10"),
        predict("--csoaa_ldf m", "groups"),
        Row("evaluate", "clicks", LOGISTIC, "evaluate -i {model} {data}", VW_PREDICT, learned=True),
        Row("check", "clicks", "", "check {data}", "", ""),
        Row("inspect", "clicks", LOGISTIC, "inspect {model}", "", "", learned=True),
        Row("`l1`, CRF", "tokens", "", "l1 {data} --model crf --passes 5 -f {model}", peer="crf"),
        Row("`crr`, 10^6 steps", "clicks", "", "crr {data} --steps 1000000 -f {model}", peer="sgd"),
        Row("`--dual`", "counts", "", "train {data} --dual --l2 1 --loss_function hinge -f {model}", peer="linear_svc"),
        Row("pca, 50", "counts", "", "pca {data} --dim 50 -f {model}", peer="pca"),
        Row("cluster, 20", "counts", "", "cluster {data} -k 20 --batch 1000 -f {model}", peer="cluster"),
    ]


def row_commands(row: Row, data: Path, scratch: Path, vw: list[str], python: str) -> dict[str, list[str]]:
    """What each tool runs, its model made first where it needs one."""
    made = {}
    own = [sys.executable, "-P", "-m", "vwlite"]
    peers = [python, str(Path(__file__).with_name("peers.py")), row.peer, str(data)]
    for name, tool, words, learn in (("vwlite", own, row.ours, TRAIN), ("peer", vw, row.theirs, VW_TRAIN)):
        places = {"data": str(data), **{key: str(scratch / f"{name}.{key}") for key in ("model", "cache", "out")}}
        places["options"] = row.options.format(**places)
        if name == "peer" and row.peer != "vw":
            if row.peer and python:
                made[name] = peers
            continue
        if tool:
            if row.learned:
                subprocess.run([*tool, *shlex.split(learn.format(**places)), "--quiet"], check=True)
            made[name] = [*tool, *shlex.split(words.format(**places))]
    return made


def measured(row: Row, data: Path, rounds: int, vw: list[str], python: str) -> dict[str, Tool]:
    with tempfile.TemporaryDirectory() as folder:
        tools = {name: Tool(words) for name, words in row_commands(row, data, Path(folder), vw, python).items()}
        for _ in range(rounds):
            for tool in tools.values():
                tool.measure()
    return tools


def cells(row: Row, tools: dict[str, Tool]) -> list[str]:
    ours = tools["vwlite"].medians()
    shown = [row.title, *(f"{figure:.2f}" for figure in ours[:2]), f"{ours[2]:.0f}"]
    if "peer" not in tools:
        return [*shown, *[""] * 7]
    theirs = tools["peer"].medians()
    ratios = (a / b for a, b in zip(theirs, ours, strict=True))
    peer = {"vw": "vw", "crf": "CRFsuite"}.get(row.peer, "scikit-learn")
    times = (f"{figure:.2f}" for figure in theirs[:2])
    return [*shown, peer, *times, f"{theirs[2]:.0f}", *(f"{ratio:.1f}" for ratio in ratios)]


HEAD = ("", "s", "CPU s", "MiB", "peer", "s", "CPU s", "MiB", "ratio", "of CPU", "of memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the titles to run")
    parser.add_argument("--mb", type=float, default=64)
    options = parser.parse_args()
    vw, python = shlex.split(os.environ.get("VW", "")), os.environ.get("PEERS", "")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        workloads = found(options.folder, Path(folder), 0)
        for row in (*learners(), *pipeline(), *forms(), *commands()):
            if options.only in row.title and (data := made(row.data, workloads, Path(folder), options.mb)):
                tools = measured(row, data, options.rounds, vw, python)
                print(f"| {' | '.join(cells(row, tools))} |", flush=True)


if __name__ == "__main__":
    main()
