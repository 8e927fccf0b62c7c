"""Training time beside the tools a user would pick instead, in one run on the same file.

    python tests/bench/training.py [FILE] [--mb 100] [--rounds 3]

Without FILE, lines of the standard library (see examples/stdlib_to_vw.py) are repeated until they
fill --mb megabytes. `vw` is looked for on PATH; the environment variable VW may name another
command. Rounds alternate between the tools, and the best of each counts.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONVERTER = Path(__file__).resolve().parents[2] / "examples/stdlib_to_vw.py"
OPTIONS = ["--loss_function", "logistic", "-b", "18", "--quiet"]


def workload(folder, megabytes):
    """A file of ``megabytes`` of VW text in ``folder``."""
    subprocess.run([sys.executable, CONVERTER, folder], check=True, stdout=subprocess.DEVNULL)
    text = (folder / "train.vw").read_bytes()
    path = folder / "bench.vw"
    with open(path, "wb") as out:
        for _ in range(-(-megabytes * 1_000_000 // len(text))):
            out.write(text)
    return path


def tools(path, model):
    """Command of every tool by name, vwlite first; None where it is not installed."""
    vw = shlex.split(os.environ.get("VW", "vw"))
    return {
        "vwlite": [sys.executable, "-m", "vwlite", "train", path, "-f", model, *OPTIONS],
        "vw": [*vw, "-d", path, "-f", model, *OPTIONS] if shutil.which(vw[0]) else None,
    }


def measure(commands, rounds):
    """Best wall-clock seconds of each command."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description="Training time beside other tools.")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = options.file or workload(Path(scratch), options.mb)
        megabytes = path.stat().st_size / 1e6
        commands = tools(path, Path(scratch) / "model")
        installed = {name: command for name, command in commands.items() if command}
        best = measure(installed, options.rounds)
    print(f"{path.name}, {megabytes:.0f} MB, best of {options.rounds}")
    print(f"{'tool':8} {'seconds':>8} {'MB/s':>8} {'vs vwlite':>10}")
    for name in commands:
        if name not in best:
            print(f"{name:8} not installed (put it on PATH, or name it in the variable VW)")
            continue
        seconds = best[name]
        ratio = seconds / best["vwlite"]
        print(f"{name:8} {seconds:8.2f} {megabytes / seconds:8.1f} {ratio:9.2f}x")


if __name__ == "__main__":
    main()
