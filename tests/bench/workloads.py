"""Text to measure on: files of a folder; without one lines of Python's standard library, repeated until there are
enough, and lines of twelve namespaces."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np

CONVERTER = Path(__file__).resolve().parents[2] / "examples/stdlib_to_vw.py"
NAMES = ("text", "counts", "clicks", "mnist2", "mnist", "eaters")
BLOCK = 1 << 20


def found(folder: Path | None, scratch: Path, megabytes: int) -> dict[str, Path]:
    """Workloads by name; without a folder those that can be made anywhere, of so many megabytes each."""
    if folder is None:
        return {"code": lines_of_python(scratch, megabytes), "eaters": eaters(scratch / "eaters.vw", megabytes)}
    workloads = {name: folder / f"{name}.vw" for name in NAMES if (folder / f"{name}.vw").is_file()}
    if not workloads:
        sys.exit(f"{folder} has none of {', '.join(f'{name}.vw' for name in NAMES)}")
    return workloads


def lines_of_python(folder: Path, megabytes: int) -> Path:
    subprocess.run([sys.executable, CONVERTER, folder], check=True, stdout=subprocess.DEVNULL)
    return repeated(folder / "train.vw", folder / "bench.vw", megabytes)


def repeated(source: Path, path: Path, megabytes: int) -> Path:
    """``path``: whole lines of ``source``, from the beginning again and again, about so many megabytes."""
    left = megabytes * 1_000_000
    with open(path, "wb") as out:
        while left > 0:
            with open(source, "rb") as lines:
                while left > 0 and (block := lines.read(min(BLOCK, left)) + lines.readline()):
                    out.write(block)
                    left -= len(block)
    return path


def compressed(source: Path, path: Path) -> Path:
    with open(source, "rb") as text, gzip.open(path, "wb", compresslevel=6) as out:
        while block := text.read(BLOCK):
            out.write(block)
    return path


FORMS = (("Herbivore", "Carnivore"), ("Plant", "Meat"))  # of namespaces A and B
LINE = 200  # bytes, roughly


def eaters(path: Path, megabytes: int, seed: int = 1) -> Path:
    """``path``: about so many megabytes of lines like those of Fwumious Wabbit's benchmark.

    Each has one of 1,000 or 10,000 names in each of twelve namespaces, A to L; the label is 1 where an animal, A, eats
    a food, B, which only the pair of the two tells.
    """
    rng = np.random.default_rng(seed)
    with open(path, "w") as out:
        left = megabytes * 1_000_000
        while left > 0:
            rows = min(10_000, left // LINE + 1)
            kinds = rng.integers(0, 2, (rows, 2)).tolist()
            names = rng.integers(0, [1_000, 1_000] + [1_000, 10_000] * 5, (rows, 12)).tolist()
            lines = []
            for (animal, food), (a, b, *others) in zip(kinds, names, strict=True):
                pair = f"|A {FORMS[0][animal]}-{a} |B {FORMS[1][food]}-{b}"
                named = zip("CDEFGHIJKL", others, strict=True)
                rest = " ".join(f"|{space} {space.lower()}-{name}" for space, name in named)
                lines.append(f"{1 if animal == food else -1} {pair} {rest}\n")
            left -= out.write("".join(lines))
    return path
