"""Trains on text that is made on the fly and comes through a pipe, and watches the memory: `make soak`.

Fails when the second half of the run takes more memory than the first: ``python tests/bench/soak.py --gb 20``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LINES = 100_000  # in a block
DIGITS = np.frombuffer(b"0123456789", np.uint8)
GROWTH = 1.05  # of the second half of the run over the first


class Text:
    """Blocks of lines whose labels and features are drawn anew each time."""

    def __init__(self) -> None:
        line = b"0 |user u000000 age:0.000 |item i00000 c00 |words w0000 w0000 w0000 w0000 w0000 w0000\n"
        self.lines = np.tile(np.frombuffer(line, np.uint8), (LINES, 1))
        self.places = [place for place, byte in enumerate(line) if byte == ord("0")]
        self.draw = np.random.default_rng(1)

    def block(self) -> memoryview:
        shape = (LINES, len(self.places) - 1)
        self.lines[:, self.places[1:]] = DIGITS[self.draw.integers(0, 10, shape, np.uint8)]
        self.lines[:, 0] = DIGITS[self.lines[:, self.places[-1]] % 2]
        return memoryview(self.lines).cast("B")


def memory(process: int) -> int:
    """MiB of physical memory that are the process's own."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gb", type=float, default=20, help="of text")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop then, whatever was written")
    parser.add_argument("options", nargs="*", help="of vwlite train, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "vwlite", "train", "-f", f"{folder}/model", "--quiet", *options.options]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            samples = feed(process, options.gb * 1e9, options.seconds)
        first, second = np.array_split(np.array(samples), 2)
    grown = second.max() / first.max()
    print(f"largest memory of the first half {first.max()} MiB, of the second {second.max()} MiB ({grown:.3f} times)")
    raise SystemExit(process.returncode or int(grown > GROWTH))


def feed(process: subprocess.Popen, size: float, seconds: float) -> list[int]:
    """Write so many bytes into the process; its memory after every gigabyte, and more often while that is short."""
    text, written, samples, start, due = Text(), 0, [], time.perf_counter(), 1e9
    while written < size and time.perf_counter() - start < seconds:
        left = text.block()
        written += len(left)
        while left:
            left = left[os.write(process.stdin.fileno(), left) :]
        if written >= 2e8:
            samples.append(memory(process.pid))
        if written >= due:
            speed = written / 1e6 / (time.perf_counter() - start)
            print(f"{written / 1e9:6.1f} GB, {speed:.0f} MB/s, {samples[-1]} MiB", flush=True)
            due += 1e9
    process.stdin.close()
    return samples


if __name__ == "__main__":
    main()
