"""A mutation fuzzer that keeps what reaches new code: ``python -m fuzz.driver``, which ``make fuzz`` sets up.

Kernels built with sanitizers end the process at the first wrong step, and the input that made them do so stands in
``current``. A Python exception that is no refusal is a find, too: it is kept under ``finds``, and fuzzing goes on.
"""

import argparse
import ctypes
import faulthandler
import hashlib
import mmap
import random
import resource
import signal
import time
import traceback
from pathlib import Path

import numpy as np

from fuzz.mutations import mutated
from fuzz.seeds import seeds
from fuzz.targets import TARGETS, Unraisable, attempt

LONGEST = 1 << 13  # bytes of an input
HANGS = 60  # seconds of processor time for a round; SIGXCPU ends what takes longer
BUCKET = np.array([0, 1, 2, 4] + [8] * 4 + [16] * 8 + [32] * 16 + [64] * 96 + [128] * 128, np.uint8)  # AFL's


class Edges:
    """What the kernels went through: ``edges`` of coverage.h, where it is preloaded."""

    def __init__(self) -> None:
        try:
            self.counts = np.frombuffer((ctypes.c_uint8 * (1 << 16)).in_dll(ctypes.CDLL(None), "edges"), np.uint8)
        except ValueError:
            self.counts = np.zeros(1 << 16, np.uint8)
        self.words = self.counts.view(np.uint64)

    def clear(self) -> None:
        self.words[:] = 0

    def new_in(self, seen: np.ndarray) -> bool:
        """Whether there is an edge, or a number of times, that ``seen`` lacks; it is added."""
        taken = np.flatnonzero(self.words)
        result = BUCKET[self.counts.reshape(-1, 8)[taken]]
        new = bool((result & ~seen[taken]).any())
        if new:
            seen[taken] |= result
        return new


class Fuzzer:
    """One target: its corpus, the edges it has reached, what it did."""

    def __init__(self, name: str, edges: Edges, folder: Path) -> None:
        self.name, self.edges, self.folder = name, edges, folder
        self.seen = np.zeros((1 << 13, 8), np.uint8)
        self.corpus: list[bytes] = []
        self.runs = self.refused = 0
        self.finds: set[str] = set()
        self.outcomes: set[str] = set()  # names of errors met

    def try_out(self, data: bytes, current: mmap.mmap) -> None:
        head = f"{self.name} {len(data)}\n".encode()
        current[: len(head)], current[32 : 32 + len(data)] = head, data
        self.edges.clear()
        self.runs += 1
        outcome = ""
        try:
            outcome = attempt(self.name, data)
            self.refused += bool(outcome)
        except Exception as error:
            self.keep(data, error)
        if self.edges.new_in(self.seen) or outcome not in self.outcomes:
            self.corpus.append(data)
            self.outcomes.add(outcome)

    def keep(self, data: bytes, error: Exception) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} at {place.filename}:{place.lineno}"
        if isinstance(error, Unraisable):
            what = str(error)
        if what in self.finds:
            return
        self.finds.add(what)
        path = self.folder / f"{self.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        print(f"FIND {path}: {what}: {str(error)[:300]}", flush=True)

    def line(self) -> str:
        counts = f"{self.runs} runs, {self.refused} refused, {len(self.corpus)} kept"
        return f"{self.name:>13}: {counts}, {np.count_nonzero(self.seen)} edges, {len(self.finds)} finds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("fuzz-out"))
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    edges, draw = Edges(), random.Random(options.seed)
    fuzzers = [Fuzzer(name, edges, options.folder) for name in options.targets or TARGETS]
    with open(options.folder / "current", "w+b") as file:
        file.truncate(2 * LONGEST + (1 << 20))
        current = mmap.mmap(file.fileno(), 0)
    for fuzzer in fuzzers:
        for data in seeds(fuzzer.name):
            fuzzer.try_out(data, current)
    faulthandler.register(signal.SIGXCPU, chain=True)
    due = 1.0
    while (spent := time.process_time()) < options.seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent) + HANGS, resource.RLIM_INFINITY))
        for fuzzer in fuzzers:
            for _ in range(200 if fuzzer.name in ("vw", "groups", "svmlight", "columns") else 20):
                fuzzer.try_out(mutated(draw, fuzzer.corpus, fuzzer.name)[:LONGEST], current)
        if spent >= due:
            report(fuzzers, spent)
            due *= 2
    report(fuzzers, time.process_time())
    raise SystemExit(any(fuzzer.finds for fuzzer in fuzzers))


def report(fuzzers: list[Fuzzer], spent: float) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{spent:.0f} s of processor time, {sum(f.runs for f in fuzzers)} runs, peak {memory} MiB", flush=True)
    for fuzzer in fuzzers:
        print(fuzzer.line(), flush=True)


if __name__ == "__main__":
    main()
