"""Text to measure on: files of a folder, or lines of Python's standard library repeated until there are enough."""

import gzip
import subprocess
import sys
from pathlib import Path

CONVERTER = Path(__file__).resolve().parents[2] / "examples/stdlib_to_vw.py"
NAMES = ("text", "counts", "clicks", "mnist2", "mnist")
BLOCK = 1 << 20


def found(folder: Path | None, scratch: Path, megabytes: int) -> dict[str, Path]:
    """Workloads by name; without a folder the one that can be made anywhere, of so many megabytes."""
    if folder is None:
        return {"code": lines_of_python(scratch, megabytes)}
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
