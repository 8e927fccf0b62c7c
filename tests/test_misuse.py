"""The table of misuse says what vwlite does."""

import re
import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent / "examples" / "misuse"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    import cases
    import tool
    import trials

    yield cases.CASES, tool.Tool, trials.TRIALS
    for name in ("cases", "forged", "tool", "trials"):
        sys.modules.pop(name, None)


def rows():
    """Title -> what vwlite does, from the table."""
    lines = (HERE / "table.md").read_text().splitlines()
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| ")][1:]
    return {title.strip().replace("\\|", "|"): own.strip().replace("\\|", "|") for title, own, *_ in cells}


def test_the_table_has_every_case(script):
    cases, _, trials = script
    assert list(rows()) == [*cases, *trials] and len(rows()) >= 30


CHECKED = [
    "`h:nan`", "labels {0,2,5} with logistic", "`cat f | tool`", "a model as data", "half a `.gz`", "half a cache",
    "labels changed after the cache was made", "`-b` other than the model's", "the input as `-f`",
    "`-q` that matches nothing", "weights overflow", "the same file learned again", "`head -1` closes the pipe",
]


def test_the_table_is_true(script, tmp_path, monkeypatch, cli_env, commands):
    for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
        monkeypatch.setenv(name, cli_env[name])
    cases, make_tool, _ = script
    tool, told = make_tool("vwlite", str(commands / "vwlite"), tmp_path), rows()
    assert shutil.which("sh")
    assert {title: tool.outcome(cases[title]) for title in CHECKED} == {title: told[title] for title in CHECKED}
