"""vwlite's time, processor time and memory beside vw's, measured alternately in one run: `make bench`.

    python tests/bench/speed.py [FOLDER] [--rounds 5] [--only clicks] [--mb 100] [--sizes 64,256,1024]

FOLDER holds text.vw, counts.vw, clicks.vw, mnist2.vw, mnist.vw and eaters.vw (any of them); without it, lines of the
standard library are repeated until they fill --mb megabytes, and lines like those of Fwumious Wabbit's benchmark are
drawn. The variable VW names vw's command; without one only vwlite is measured.
Medians of the rounds are printed as a table: ratios are vw's figure divided by vwlite's.
"""

import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from workloads import compressed, found, repeated

LOSS = re.compile(r"average loss = (\S+)")
SMALL = 100  # megabytes of the cases that take a part of a workload
# An installed package has its byte code: a shell that forbids to write it would measure the compiler of Python.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Case:
    """One row: a workload, the options that both tools get; ``small`` takes a part of it, ``how`` what is done."""

    title: str
    workload: str
    options: tuple[str, ...] = ("-b", "22")
    small: bool = False
    how: str = "train"  # or "passes", "cached", "predict", "gz"


# Those of Fwumious Wabbit's benchmark, which also writes the predictions that are made while it learns.
CROSSED = shlex.split("-b 25 -l .1 --adaptive --sgd --power_t 0 --link logistic --hash all --interactions AB")
CASES = (
    Case("text", "text"),
    Case("counts", "counts"),
    Case("clicks", "clicks"),
    Case("mnist2, `-b 18`", "mnist2", ("-b", "18")),
    Case("mnist, `--oaa 10`, `-b 18`", "mnist", ("-b", "18", "--oaa", "10")),
    Case("clicks, 5 passes", "clicks", ("-b", "22", "--passes", "5", "--holdout_off"), how="passes"),
    Case("clicks 100 MB, `-q ::`, `-b 24`", "clicks", ("-b", "24", "-q", "::"), small=True),
    Case("clicks 100 MB, `-b 28`", "clicks", ("-b", "28"), small=True),
    Case("clicks, predict", "clicks", how="predict"),
    Case("clicks 100 MB, .gz", "clicks", small=True, how="gz"),
    Case("lines of Python, `-b 18`", "code", ("-b", "18")),
    Case("eaters, `-b 25`, `-p`", "eaters", (*CROSSED, "-p", "/dev/null")),
    Case("eaters, `-b 25`, from a cache", "eaters", (*CROSSED, "-p", "/dev/null"), how="cached"),
    Case("eaters, `-b 25`, predict", "eaters", tuple(CROSSED), how="predict"),
)


@dataclass
class Tool:
    """A command, its figures by round, and the loss it said last."""

    command: list[str]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    loss: str = "-"

    def measure(self) -> None:
        """One run, from the start of the process to its end."""
        with tempfile.TemporaryFile() as said:
            begin = time.perf_counter()
            process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=said, env=ENVIRONMENT)
            _, status, used = os.wait4(process.pid, 0)
            self.wall.append(time.perf_counter() - begin)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode(errors="replace")
        if process.returncode:
            sys.exit(f"{shlex.join(self.command)}: exit status {process.returncode}\n{text}")
        self.cpu.append(used.ru_utime + used.ru_stime)
        self.peak.append(used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))
        self.loss = (LOSS.findall(text) or ["-"])[-1]

    def medians(self) -> tuple[float, float, float]:
        return tuple(map(statistics.median, (self.wall, self.cpu, self.peak)))


def commands(case: Case, path: Path, scratch: Path, vw: list[str]) -> dict[str, list[str]]:
    """What each tool runs; models and caches go to ``scratch``."""
    ours = [sys.executable, "-m", "vwlite", "train", str(path)]
    theirs = [*vw, "-d", str(path)]
    made = {}
    for name, command in {"vwlite": ours, **({"vw": theirs} if vw else {})}.items():
        model = str(scratch / f"{name}.model")
        learn = [*command, "--loss_function", "logistic", *case.options, "-f", model]
        if case.how == "passes":
            learn += ["-c", "-k", "--cache_file", str(scratch / f"{name}.cache")]
        if case.how == "cached":
            learn += ["--cache_file", str(scratch / f"{name}.cache")]
            subprocess.run([*learn, "--quiet"], check=True)
        if case.how == "predict":
            subprocess.run([*learn, "--quiet"], check=True)
            out = ["-p", str(scratch / f"{name}.txt")]
            ask = [sys.executable, "-m", "vwlite", "predict", "-i", model, str(path), *out]
            learn = ask if name == "vwlite" else [*theirs, "-t", "-i", model, *out]
        made[name] = learn
    return made


def run(case: Case, path: Path, rounds: int, vw: list[str]) -> dict[str, Tool]:
    with tempfile.TemporaryDirectory() as folder:
        tools = {name: Tool(command) for name, command in commands(case, path, Path(folder), vw).items()}
        for number in range(rounds + 1):
            for tool in tools.values():
                tool.measure()
            if number == 0:  # the first round brings the files into memory
                for tool in tools.values():
                    tool.wall, tool.cpu, tool.peak = [], [], []
    return tools


def row(case: Case, tools: dict[str, Tool]) -> str:
    ours = tools["vwlite"].medians()
    cells = [case.title, *(f"{figure:.2f}" for figure in ours[:2]), f"{ours[2]:.0f}"]
    if "vw" in tools:
        theirs = tools["vw"].medians()
        ratios = [a / b for a, b in zip(theirs, ours, strict=True)]
        cells += [f"{theirs[0]:.2f}", f"{theirs[1]:.2f}", f"{theirs[2]:.0f}", *(f"{ratio:.1f}" for ratio in ratios[:2])]
        cells += [tools["vwlite"].loss, tools["vw"].loss]
    return f"| {' | '.join(cells)} |"


HEAD = ["", "vwlite s", "CPU s", "MiB"]
BESIDE = ["vw s", "CPU s", "MiB", "wall ratio", "CPU ratio", "loss", "vw's"]


def sizes(source: Path, scratch: Path, wanted: list[int], rounds: int) -> None:
    """Cost against size: seconds should lie on a straight line and memory stay as it is."""
    print("\n| MB | vwlite s | CPU s | MiB |\n|---|---|---|---|")
    for megabytes in wanted:
        path = repeated(source, scratch / "sized.vw", megabytes)
        wall, cpu, peak = run(Case("", ""), path, rounds, [])["vwlite"].medians()
        print(f"| {megabytes} | {wall:.2f} | {cpu:.2f} | {peak:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the titles to run")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--sizes", default="", help="megabytes, separated by commas")
    options = parser.parse_args()
    vw = shlex.split(os.environ.get("VW", ""))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        workloads = found(options.folder, scratch, options.mb)
        head = [*HEAD, *(BESIDE if vw else [])]
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
        for case in CASES:
            if case.workload not in workloads or options.only not in case.title:
                continue
            path = workloads[case.workload]
            if case.small:
                path = repeated(path, scratch / "small.vw", SMALL)
            if case.how == "gz":
                path = compressed(path, scratch / "small.vw.gz")
            print(row(case, run(case, path, options.rounds, vw)), flush=True)
        if options.sizes:
            expected = [int(part) for part in options.sizes.split(",")]
            sizes(next(iter(workloads.values())), scratch, expected, max(options.rounds // 2, 1))


if __name__ == "__main__":
    main()
