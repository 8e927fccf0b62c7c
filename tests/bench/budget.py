"""Where the time of one row goes, and what the machine could do at best: the tables of docs/how-fast.md.

    python tests/bench/budget.py FOLDER [--only text] [--mb 64] [--rounds 7]

FOLDER holds text.vw, counts.vw, clicks.vw, mnist2.vw (any of them). Each part of a run is timed by itself, by one
thread: reading, parsing, and learning from parsed rows that are kept in memory. Processors' counters are not needed:
stubs take their place. One has the terms of every row in the same slots, side by side, so that no weight is
fetched from memory; one only predicts; one has no rates (--sgd). NumPy measures the machine's limits. Medians of
the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from workloads import found

from vwlite import Model
from vwlite.data.batch import Batch
from vwlite.data.block_parser import Parser
from vwlite.data.blocks import Block, Buffers, blocks
from vwlite.data.config import BLOCK_SIZE
from vwlite.data.text_format import TextFormat
from vwlite.learners.row_results import Results

LOGISTIC = "--loss_function logistic"
BITS = {"mnist2": 18}  # of the rows of the first page's table, 22 elsewhere
LONGEST = 1 << 28
TEST = "-t "
CORES = (1, 2, 4, 8, 16)


@dataclass
class Rows:
    """The parsed rows of a workload's first megabytes."""

    batches: list[Batch]
    bytes: int
    bits: int

    def __post_init__(self) -> None:
        self.rows = sum(map(len, self.batches))
        self.features = sum(len(batch.feature_hash) for batch in self.batches)
        self.slots = [batch.feature_hash & np.uint32((1 << self.bits) - 1) for batch in self.batches]

    def by_row(self) -> Iterator[list[np.ndarray]]:
        """The slots of each row, batch by batch."""
        for batch, slots in zip(self.batches, self.slots, strict=True):
            yield np.split(slots, np.add.accumulate(features_of(batch))[:-1])

    def lines_of_memory(self) -> float:
        """Lines of 64 bytes that a row's weights are in, four slots to a line."""
        return sum(len(np.unique(row >> 2)) for batch in self.by_row() for row in batch) / self.rows

    def independent(self) -> float:
        """Of 1,000 rows, those whose slots no earlier row of their batch has: these could be computed ahead."""
        result = 0
        for batch in self.by_row():
            seen: set[int] = set()
            for row in map(np.ndarray.tolist, batch):
                result += seen.isdisjoint(row)
                seen.update(row)
        return 1000 * result / self.rows

    def in_place(self) -> list[Batch]:
        """The same rows, the terms of each in slots that follow each other."""
        return [replace(batch, feature_hash=places(batch)) for batch in self.batches]


def features_of(batch: Batch) -> np.ndarray:
    """int64[rows]: features of each row."""
    return np.diff(batch.namespace_start[batch.row_namespace].astype(np.int64))


def places(batch: Batch) -> np.ndarray:
    """uint32[features]: slots 0, 1, 2 and so on of a row, 512 more of the next row, and so on for four rows."""
    counts = features_of(batch)
    begins = np.repeat(np.add.accumulate(counts) - counts - np.arange(len(counts)) % 4 * 512, counts)
    return (np.arange(len(begins)) - begins).astype(np.uint32)


def median_of(call: Callable[[], Any], rounds: int) -> float:
    """Seconds of processor time of this thread, after a round that is not counted."""
    taken = []
    for _ in range(rounds + 1):
        begin = time.thread_time()
        call()
        taken.append(time.thread_time() - begin)
    return statistics.median(taken[1:])


def text_blocks(path: Path, megabytes: int, buffers: Buffers) -> Iterator[Block]:
    count = max(1, megabytes * 1_000_000 // BLOCK_SIZE)
    return islice(blocks([str(path)], BLOCK_SIZE, LONGEST, buffers, False), count)


def read(path: Path, megabytes: int) -> int:
    buffers, size = Buffers(BLOCK_SIZE), 0
    for block in text_blocks(path, megabytes, buffers):
        size += block.size
        buffers.give(block.data)
    return size


def parse(path: Path, megabytes: int) -> None:
    buffers = Buffers(BLOCK_SIZE)
    parser = Parser(TextFormat(), "vw", buffers)
    for block in text_blocks(path, megabytes, buffers):
        parser(block).batch.release()


def kept_rows(path: Path, megabytes: int, bits: int) -> Rows:
    parser = Parser(TextFormat(), "vw")
    batches = [parser(block).batch for block in text_blocks(path, megabytes, Buffers(BLOCK_SIZE))]
    for batch in batches:
        batch.label = np.where(batch.label > 0, np.float32(1), np.float32(-1))
    return Rows(batches, read(path, megabytes), bits)


def learning(options: str, batches: list[Batch]) -> Callable[[], None]:
    """One pass over the rows, by a learner whose table stays from pass to pass; a call to predict only with ``-t``."""
    model, results = Model(options.removeprefix(TEST)), Results()
    results.reserve(max(map(len, batches)))
    learner = model._learner.tester() if options.startswith(TEST) else model._learner

    def one_pass() -> None:
        for batch in batches:
            learner.run(batch, model._plan, results, 0, len(batch))

    return one_pass


def machine() -> dict[str, float]:
    """What this machine does at best, in the units of the page."""
    megabytes, rounds = 256, 5
    big, text = np.ones(megabytes << 17), b"word " * (megabytes * 200_000)
    table, small = np.zeros(1 << 22, np.complex128), np.full(2048, 1.5, np.float32)
    random = np.random.default_rng(0).integers(0, len(table), 1 << 22)
    times = 1000

    def again(call: Callable[..., Any], *operands: np.ndarray) -> Callable[[], None]:
        out = np.empty_like(small)
        return lambda: [call(*operands, out) for _ in range(times)] and None

    each = times * len(small) * 1e-9
    return {
        "reading memory, GB/s": big.nbytes / median_of(big.sum, rounds) / 1e9,
        "looking for a byte in text, GB/s": len(text) / median_of(lambda: text.count(b"\n"), rounds) / 1e9,
        "fetching 16 bytes at random from 64 MB, ns": median_of(lambda: table.take(random), rounds) / len(random) * 1e9,
        "square root of a float32, ns": median_of(again(np.sqrt, small), rounds) / each,
        "division of a float32, ns": median_of(again(np.divide, small, small), rounds) / each,
        "multiplication of a float32, ns": median_of(again(np.multiply, small, small), rounds) / each,
    }


def gather(rows: Rows) -> Callable[[], None]:
    """Fetches the 16 bytes of every weight that the rows have, in their order, and nothing else."""
    table = np.zeros(1 << rows.bits, np.complex128)
    return lambda: [table.take(slots) for slots in rows.slots] and None


def budget(path: Path, megabytes: int, rounds: int) -> dict[str, float]:
    """Of one workload: what a row consists of, and ns that a row takes in each part."""
    bits = BITS.get(path.stem, 22)
    rows = kept_rows(path, megabytes, bits)
    options, placed = f"{LOGISTIC} -b {bits}", rows.in_place()
    whole = {
        "reading": lambda: read(path, megabytes),
        "reading and parsing": lambda: parse(path, megabytes),
        "learning": learning(options, rows.batches),
        "learning, weights in the nearest cache": learning(options, placed),
        "learning without rates (`--sgd`)": learning(f"--sgd {options}", rows.batches),
        "predicting": learning(TEST + options, rows.batches),
        "predicting, weights in the nearest cache": learning(TEST + options, placed),
        "fetching the weights, by NumPy": gather(rows),
    }
    one = 1e9 / rows.rows
    return {
        "rows": rows.rows,
        "bytes": rows.bytes / rows.rows,
        "features": rows.features / rows.rows,
        "lines of memory": rows.lines_of_memory(),
        "independent rows, of 1,000": rows.independent(),
        **{title: median_of(call, rounds) * one for title, call in whole.items()},
    }


def with_cores(found: dict[str, float], cores: int) -> float:
    """ns a row, if nothing but the parts counted: the learner's thread and the others' do not wait for each other."""
    learn, parse = found["learning"], found["reading and parsing"]
    return max(learn, (learn + parse) / cores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--mb", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| the machine | |\n|---|---|")
    for title, figure in machine().items():
        print(f"| {title} | {figure:.2f} |", flush=True)
    paths = {name: path for name, path in found(options.folder, options.folder, 0).items() if name != "mnist"}
    tables = {name: budget(path, options.mb, options.rounds) for name, path in paths.items() if options.only in name}
    print("\n| of a row | " + " | ".join(tables) + " |\n|" + "---|" * (len(tables) + 1))
    for title in next(iter(tables.values())):
        digits = 1 if title.startswith("independent") else 0
        print(f"| {title} | " + " | ".join(f"{table[title]:,.{digits}f}" for table in tables.values()) + " |")
    for cores in CORES:
        cells = (f"{with_cores(table, cores):,.0f}" for table in tables.values())
        print(f"| both, at best on {cores} cores | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
