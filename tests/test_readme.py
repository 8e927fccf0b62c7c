"""The README's first example runs and prints what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from vwlite.evaluation.metric_table import MEASURED, TABLE

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()


def steps():
    """Commands and what stands below each."""
    block = re.search(r"## A first model\n+```console\n(.*?)```", README, re.S)[1]
    return [part.partition("\n")[::2] for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


def test_how_to_install_stands_at_the_top():
    assert "pip install ." in "\n".join(README.splitlines()[:10])


def test_the_first_model(tmp_path, cli_env):
    assert len(steps()) > 4
    vwlite = f"{shlex.quote(sys.executable)} -m vwlite"
    for command, shown in steps():
        if command.startswith("cat "):
            (tmp_path / command.split()[1]).write_text(shown)
            continue
        typed = re.sub(r"\bvwlite\b", lambda found: vwlite, command, count=1)
        done = subprocess.run(typed, shell=True, cwd=tmp_path, env=cli_env, capture_output=True, text=True)
        assert (command, done.returncode, done.stdout) == (command, 0, shown), done.stderr


def test_every_metric_stands_in_the_table():
    for kind, what in MEASURED.items():
        names = ", ".join(f"`{row.name}`" for row in TABLE if kind in row.of)
        assert f"| {what} | {names} |\n" in README
