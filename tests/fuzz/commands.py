"""Whole commands on spoiled inputs: ``python -m fuzz.commands --inputs 3000``, as ``make fuzz-commands`` runs it.

A process in which everything is imported forks a child for each input; the child runs a command of each kind on it.
Finds are signals, tracebacks, statuses that docs/exit-codes.md does not have, too much time or memory; their inputs are
kept.
"""

import argparse
import contextlib
import faulthandler
import hashlib
import importlib
import os
import random
import re
import resource
import select
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzz.forks import in_memory
from fuzz.inputs import CONLL, FORMATS, TEXT
from fuzz.mutations import mutated
from fuzz.sealing import sealed_cache
from fuzz.seeds import HERE, regressions
from vwlite.errors import ExtraMissing

SECONDS, WALL = 10, 120  # of processor time for the commands of an input; of any time, for a child that waits
MEMORY = 2 << 30  # bytes that they may take
SPACE = 8 << 30  # bytes of address space, which protects the machine
LONGEST = 1 << 16  # bytes of an input
FEW = 20  # inputs, for which a process need not import much
KEPT = ("data.vw", "good.conll", "model", "modules", "seeds")  # files that commands read
PAGE = HERE.parent.parent / "docs" / "exit-codes.md"


def statuses() -> set[int]:
    """Those of the table of the manual, but for what signals and closed pipes make."""
    rows = re.findall(r"^\| ([\d, ]+) \|", PAGE.read_text(), re.M)
    return {int(number) for row in rows for number in row.split(",") if int(number) < 128}


class Ended(NamedTuple):
    """How a child ended: ``said`` has for each command its status, -1 where it did not end, and what it printed."""

    signal: int
    said: list[tuple[int, str]]
    seconds: float
    peak: int  # bytes


def in_child(work: Callable[[], None]) -> tuple[int, resource.struct_rusage]:
    """Run ``work`` in a child; its wait status and what it used. One that waits too long is killed as by its limit."""
    sys.stdout.flush(), sys.stderr.flush()
    pid = os.fork()
    if not pid:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    ended = os.pidfd_open(pid)
    try:
        if not select.select([ended], [], [], WALL)[0]:
            os.kill(pid, signal.SIGXCPU)
    finally:
        os.close(ended)
    _, status, used = os.wait4(pid, 0)
    return status, used


def run(line: str) -> int:
    """The exit status of a command in this process."""
    from vwlite import interrupts
    from vwlite.cli.root import main

    sys.argv = ["vwlite", *shlex.split(line)]
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        signal.set_wakeup_fd(-1)
        interrupts.clear_request()
        sys.stdout.flush(), sys.stderr.flush()
    return 0


def run_all(lines: list[str]) -> None:
    """In a child: the commands one after the other, what each prints and its status in files of the current folder."""
    space = in_memory("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (space + SPACE, space + SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, line in enumerate(lines):
        printing_to(f"said.{number}")
        faulthandler.enable(2)
        faulthandler.register(signal.SIGXCPU, 2, chain=True)
        Path(f"status.{number}").write_text(str(run(line)))


def printing_to(path: str) -> None:
    """Standard output and error go there from now on."""
    os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), 1)
    os.dup2(1, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115


def attempt(lines: list[str]) -> Ended:
    """The commands in a child, in the current folder."""
    started = time.monotonic()
    status, used = in_child(lambda: run_all(lines))
    said = []
    for number in range(len(lines)):
        if not os.path.exists(f"said.{number}"):
            break
        text, done = Path(f"said.{number}").read_text(errors="replace"), Path(f"status.{number}")
        said.append((int(done.read_text()) if done.exists() else -1, text))
    return Ended(os.WTERMSIG(status), said, time.monotonic() - started, used.ru_maxrss << 10)


def find_in(ended: Ended, lines: list[str], known: set[int], before: int) -> str:
    """What is wrong, empty where nothing is; ``before`` bytes of memory a child begins with."""
    for (status, text), line in zip(ended.said, lines, strict=False):
        if status == -1:
            frame = re.search(r'  File ".*/(\w+\.py)", line (\d+)', text)
            at = f" at {frame[1]}:{frame[2]}" if frame else ""
            late = ended.signal == signal.SIGXCPU
            return f"{'takes too long' if late else signal.Signals(ended.signal).name}{at} <- {line}"
        if frames := re.findall(r'  File ".*/(\w+\.py)", line (\d+)', text):
            return f"{text.splitlines()[-1][:200]} at {':'.join(frames[-1])} <- {line}"
        expected = {0, 1} if line.startswith("vw ") else known
        if status not in expected or "Traceback" in text or "Warning: " in text or (status and not text.strip()):
            return f"status {status}: {text[-200:]!r} <- {line}"
    if ended.peak - before > MEMORY:
        return f"{ended.peak >> 20} MiB of memory <- {lines}"
    return ""


class Runs:
    """The inputs of one format, in a folder of its own."""

    def __init__(self, name: str, folder: Path, keep: Path) -> None:
        """Raises ExtraMissing for a format that needs what is not installed."""
        self.name, self.format, self.keep = name, FORMATS[name], keep
        self.folder = folder / name
        self.folder.mkdir()
        os.chdir(self.folder)
        Path("data.vw").write_bytes(TEXT)
        Path("good.conll").write_bytes(CONLL)
        time.sleep(0.05)  # a cache is of a file that had settled
        if in_child(self.prepare)[0]:
            raise ExtraMissing(f"{name}: inputs cannot be made without the extras that read them")
        self.corpus = [path.read_bytes() for path in sorted(Path("seeds").iterdir())] + regressions(f"input_{name}")
        self.before = in_memory("VmRSS")  # an earlier program's most may count as this process's
        self.known, self.statuses, self.finds = statuses(), Counter[int](), Counter[str]()
        self.inputs = 0
        self.slowest, self.peak = 0.0, 0

    def prepare(self) -> None:
        """In a child: good inputs, and a model, as files of the current folder."""
        Path("seeds").mkdir()
        for number, seed in enumerate(self.format.seeds()):
            Path("seeds", str(number)).write_bytes(seed)
        printing_to(os.devnull)
        good = Path(f"good.{self.format.ending}")
        good.write_bytes(Path("seeds", "0").read_bytes())
        run(f"train {good} -f model --columns label=y?")
        if not os.path.exists("model"):
            run("train data.vw -f model")

    def import_modules(self) -> None:
        """Those that the commands import, here rather than in every child."""

        def find() -> None:
            printing_to(os.devnull)
            for line in (line for group in self.format.commands for line in group):
                run(line.format(input=f"good.{self.format.ending}", format=self.name))
            Path("modules").write_text(" ".join(name for name in sys.modules if name.startswith(("vwlite", "pyarrow"))))

        in_child(find)
        for module in Path("modules").read_text().split():
            with contextlib.suppress(Exception):
                importlib.import_module(module)

    def try_out(self, data: bytes, lines: list[str]) -> str:
        """The find, empty where there is none."""
        os.chdir(self.folder)
        for path in Path().iterdir():
            if path.name not in KEPT:
                path.unlink()
        Path(f"input.{self.format.ending}").write_bytes(data)
        ended = attempt(lines)
        self.inputs += 1
        self.statuses.update(status for status, _ in ended.said)
        self.slowest, self.peak = max(self.slowest, ended.seconds), max(self.peak, ended.peak)
        return find_in(ended, lines, self.known, self.before)

    def run(self, draw: random.Random, inputs: int) -> None:
        """The good inputs, then so many spoiled ones."""
        for number in range(-len(self.corpus), inputs):
            data = self.corpus[number] if number < 0 else mutated(draw, self.corpus)[:LONGEST]
            if number >= 0 and self.name == "cache" and draw.randrange(2):
                data = sealed_cache(data)
            self.step(draw, data)

    def step(self, draw: random.Random, data: bytes) -> None:
        chosen, named = map(draw.choice, self.format.commands), {"input": f"input.{self.format.ending}"}
        find = self.try_out(data, [line.format(**named, format=self.name) for line in chosen])
        what = find.partition(" <- ")[0]
        if find and not self.finds[what]:
            path = self.keep / f"{self.name}-{hashlib.sha256(data).hexdigest()[:12]}"
            path.write_bytes(data)
            print(f"FIND {path}: {find}", flush=True)
        self.finds[what] += bool(find)

    def line(self) -> str:
        ends = ", ".join(f"{status}: {count}" for status, count in sorted(self.statuses.items()))
        rest = f"the slowest {self.slowest:.1f} s, peak {self.peak >> 20} MiB"
        return f"{self.name:>9}: {self.inputs} inputs, {self.finds.total()} finds; commands by status {ends}; {rest}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=300, help="of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz-out"), help="where inputs of finds are kept")
    parser.add_argument("formats", nargs="*", choices=[[], *FORMATS], default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    keep, result = options.folder.resolve(), False
    work = Path(tempfile.mkdtemp(prefix="vwlite-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        for name in options.formats or FORMATS:
            draw = random.Random(f"{options.seed} {name}")
            try:
                runs = Runs(name, work, keep)
            except ExtraMissing as missing:
                print(missing, flush=True)
                continue
            if options.inputs > FEW:
                runs.import_modules()
            runs.run(draw, options.inputs)
            print(runs.line(), flush=True)
            result |= runs.finds.total() > 0
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    raise SystemExit(result)


if __name__ == "__main__":
    main()
