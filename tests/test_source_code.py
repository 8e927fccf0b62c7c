"""The house rules that a machine can check."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vwlite.cli.root import COMMANDS

PROJECT = Path(__file__).resolve().parent.parent
LONGEST = 400
ROOMS = ("vwlite", "cython_ext", "tests", "examples", "bench", ".ci")
SOURCES = [
    path
    for room in ROOMS
    for path in sorted((PROJECT / room).rglob("*"))
    if path.suffix in (".py", ".pyx", ".pxd", ".sh", ".h") or path.parent.name == ".ci"
]


def matches(pattern, texts):
    return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts.values())


def test_ruff_finds_nothing():
    ruff = shutil.which("ruff", path=Path(sys.executable).parent) or shutil.which("ruff")
    if not ruff:
        pytest.skip("ruff is not installed")
    done = subprocess.run([ruff, "check", "--no-cache", PROJECT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_are_short_enough_to_read():
    lines = {str(path.relative_to(PROJECT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {path: count for path, count in lines.items() if count > LONGEST} == {}, "does it do one thing?"


def test_no_room_for_odds_and_ends():
    names = {path.stem for path in SOURCES}
    assert not names & {"utils", "util", "helpers", "helper", "misc", "common"}


PYTHON = {path: path.read_text(encoding="utf-8") for path in SOURCES if (PROJECT / "vwlite") in path.parents}
BELOW_THE_DOORS = {path: text for path, text in PYTHON.items() if (PROJECT / "vwlite" / "cli") not in path.parents}
OWN = [  # modules that are no command's and no solver's own, which docs/development.md asks for
    path
    for path in PYTHON
    if not (path.parent.name in ("cli", "runs") and path.stem in COMMANDS)
    and not (path.parent.parent.name == "solvers" and path.stem in ("__init__", "config", "solver"))
]
CEILINGS = {  # figures of the house that have fallen and must not grow again; lower one when it falls further
    "modules": (len(OWN), 266),
    "modules of at most 60 lines": (
        sum(PYTHON[path].count("\n") <= 60 and path.stem != "__init__" for path in OWN), 4,
    ),
    "dicts of arguments below the doors": (matches(r"\barguments\[", BELOW_THE_DOORS), 0),
    "values of any type by their names": (matches(r"\bdict\[str, Any\]", PYTHON), 36),
    "members of a learner or a configuration that are asked for by name": (
        matches(r'(?:get|has)attr\((?:\w+\.)*(?:learner|config|kind)\s*,\s*"', PYTHON), 2,
    ),
    "places that make the policy for malformed lines": (matches(r"\bBadLines\(", PYTHON), 2),
    "classes of checkpoints": (matches(r"^class \w*Checkpoints?\b", PYTHON), 1),
}


@pytest.mark.parametrize("figure", CEILINGS)
def test_the_house_does_not_grow_back(figure):
    now, ceiling = CEILINGS[figure]
    assert now <= ceiling, f"{now} {figure}, more than {ceiling}: what stands that this belongs to?"
