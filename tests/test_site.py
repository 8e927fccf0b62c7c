"""The site: it has every page, and builds without a warning where Sphinx is installed."""

import re
import subprocess
import sys

import pytest
from pages import PROJECT

SOURCES = PROJECT / "docs" / "site" / "sources.py"


@pytest.fixture
def source(tmp_path, cli_env):
    subprocess.run([sys.executable, SOURCES, tmp_path / "source"], check=True, env=cli_env)
    return tmp_path / "source"


def test_every_page_stands_in_the_contents(source):
    listed = re.findall(r"^(\w[\w/-]*)$", (source / "index.md").read_text(), re.M)
    pages = {str(path.relative_to(source).with_suffix("")) for path in source.rglob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)
    assert {f"docs/{path.stem}" for path in (PROJECT / "docs").glob("*.md")} <= pages


def test_it_builds_without_a_warning(source, tmp_path, cli_env):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", PROJECT / "docs" / "site", "-b", "html"]
    done = subprocess.run([*build, source, tmp_path / "html"], env=cli_env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--loss_function" in (tmp_path / "html" / "reference" / "vwlite-train.html").read_text()
