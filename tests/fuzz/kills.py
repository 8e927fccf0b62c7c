"""Commands that write over a standing model, killed at random moments: it stays whole, old or new, and work goes on.

``python -m fuzz.kills`` kills a hundred; the tests kill a few.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

DATA = "".join(f"{1 if n % 3 else -1} 'tag{n} |a x{n % 7} y{n % 50} |b z:{n % 5} w{n % 31}\n" for n in range(30_000))
WORDS = "the cat sat on the mat and the dog ran to the cat\n" * 300
MODELS = {  # that stand: what makes them
    "m": "train data.vw -f m -q ab -b 18 --label-units raw",
    "chain": "l1 data.vw -f chain --passes 1",
    "p": "pca data.vw -f p --dim 2",
    "words": "lm train text -f words --hidden 4 --dim 4",
}
COMMANDS = {  # what is killed: the model that it writes over, and what is added to go on
    "train data.vw -i m -f m": ("m", ""),
    "train data.vw -f m -q ab -b 20 --passes 3 -c --holdout_off": ("m", ""),
    "train data.vw -i m -f m --passes 4 --checkpoint-every 0s --block-size 100000 -p out": ("m", " --resume"),
    "train data.vw -f m -q ab --passes 5 --save_per_pass": ("m", ""),
    "train data.vw -f m -q ab --workers 1 --shards 3 --rounds 2": ("m", " --resume"),
    "vw -d data.vw -i m -f m --passes 3 -c -k": ("m", ""),
    "merge m m -f m": ("m", ""),
    "l1 data.vw -i chain -f chain --passes 5": ("chain", ""),
    "crr data.vw -f m --qid none --steps 200000": ("m", ""),
    "pca data.vw -i p -f p": ("p", ""),
    "lm train text -i words -f words": ("words", ""),
}
SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
ENDS = {signal.SIGTERM: (0, 143, -15), signal.SIGKILL: (0, -9), signal.SIGINT: (0, 130, -2)}


class Lost(Exception):
    """The standing model was lost, or what follows does not work."""


def run(command: str, wait: float | None = None, number: int = signal.SIGTERM) -> tuple[int, float, str]:
    """Exit status, seconds and what was said of a command, which gets a signal after ``wait`` seconds."""
    began = time.monotonic()
    words = [sys.executable, "-m", "vwlite", *command.split()]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(words, text=True, preexec_fn=hear, **streams) as process:
        if wait is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(wait)
            process.send_signal(number)
        said = process.communicate(timeout=120)[0]
    return process.returncode, time.monotonic() - began, said


def hear() -> None:
    """A job in the background ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@cache
def standing() -> str:
    """A folder with the data and the models. It is removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    KEPT.append(folder)
    with contextlib.chdir(folder.name):
        Path("data.vw").write_text(DATA)
        Path("text").write_text(WORDS)
        for command in MODELS.values():
            status, _, said = run(command)
            assert status == 0, said
    return folder.name


KEPT: list[tempfile.TemporaryDirectory] = []


@contextlib.contextmanager
def copied():
    """A copy of the folder, as the current one."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(standing(), folder, dirs_exist_ok=True)
        with contextlib.chdir(folder):
            yield


@cache
def whole(command: str) -> tuple[bytes, float]:
    """The model that a command makes when nothing kills it, and the seconds it takes."""
    with copied():
        status, seconds, said = run(command)
        assert status == 0, said
        return Path(COMMANDS[command][0]).read_bytes(), seconds


def kill(command: str, draw: random.Random) -> str:
    """One that ends, or is ended, at a random moment; how it ended. Raises Lost."""
    name, going_on = COMMANDS[command]
    new, seconds = whole(command)
    number, wait = draw.choice(SIGNALS), draw.uniform(0, 1.1 * seconds)
    with copied():
        old = Path(name).read_bytes()
        status, _, said = run(command, wait, number)
        message = f"{command}, {signal.Signals(number).name} after {wait:.2f} of {seconds:.2f} s: status {status}"
        if Path(name).read_bytes() not in (old, new):
            raise Lost(f"{message}: {name} is neither the old model nor the new one")
        early = number == signal.SIGINT and "Traceback" in said and ", in program" not in said  # Python's own start
        if not early and ("Traceback" in said or status not in ENDS[number]):
            raise Lost(f"{message}: {said[-300:]}")
        left = sorted(one for one in os.listdir() if one.endswith((".vwlite", ".lock")))
        if left and number != signal.SIGKILL:
            raise Lost(f"{message}: {', '.join(left)} left behind")
        if Path(f"{name}.ledger").exists():
            json.loads(Path(f"{name}.ledger").read_text())
        replaced = Path(name).read_bytes() == new
        Path(name).write_bytes(old)
        again = f"{command}{going_on}" if not replaced else command
        status, _, said = run(again)
        if status or Path(name).read_bytes() != new:
            raise Lost(f"{message}; then {again}: status {status}: {said[-300:]}")
        if left := sorted(one for one in os.listdir() if one.endswith((".vwlite", ".lock"))):
            raise Lost(f"{message}; then {again}: {', '.join(left)} left behind")
    return "done" if replaced else "kept"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ended, began = Counter(), time.monotonic()
    for number in range(options.count):
        command = list(COMMANDS)[number % len(COMMANDS)]
        try:
            ended[kill(command, random.Random(f"{options.seed} {number}"))] += 1
        except Lost as find:
            ended["lost"] += 1
            print(find, flush=True)
    print(f"{options.count} kills in {time.monotonic() - began:.0f} s: {dict(ended)}")
    raise SystemExit(bool(ended["lost"]))


if __name__ == "__main__":
    main()
