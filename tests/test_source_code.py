"""The house rules that a machine can check."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
LONGEST = 400
ROOMS = ("vwlite", "cython_ext", "tests", "examples", "bench", ".ci")
SOURCES = [
    path
    for room in ROOMS
    for path in sorted((PROJECT / room).rglob("*"))
    if path.suffix in (".py", ".pyx", ".pxd", ".sh", ".h") or path.parent.name == ".ci"
]


def test_ruff_finds_nothing():
    ruff = shutil.which("ruff", path=Path(sys.executable).parent) or shutil.which("ruff")
    if not ruff:
        pytest.skip("ruff is not installed")
    done = subprocess.run([ruff, "check", "--no-cache", PROJECT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_file_is_short_enough_to_read(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{path.relative_to(PROJECT)} has {lines} lines: does it do one thing?"


def test_no_room_for_odds_and_ends():
    names = {path.stem for path in SOURCES}
    assert not names & {"utils", "util", "helpers", "helper", "misc", "common"}
