"""The site: it has every page, and builds without a warning where Sphinx is installed."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from pages import PAGES, PROJECT

from vwlite.cli.runs.samples import contents

SOURCES = PROJECT / "docs" / "site" / "sources.py"


@pytest.fixture
def source(tmp_path, cli_env):
    subprocess.run([sys.executable, SOURCES, tmp_path / "source"], check=True, env=cli_env)
    return tmp_path / "source"


def test_every_page_stands_in_the_contents(source):
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```$", (source / "index.md").read_text(), re.M | re.S)
    listed = re.findall(r"^(\w[\w/-]*)$", "".join(trees), re.M)
    pages = {str(path.relative_to(source).with_suffix("")) for path in source.rglob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)
    assert {f"docs/{path.stem}" for path in (PROJECT / "docs").glob("*.md")} <= pages


OF_THE_TREE = {"development", "experiments"}  # pages for who has the source tree
OF_FILES = r"\b(?:examples|tests|cython_ext)/|\.venv\b|Makefile"
PATHS = re.compile(rf"{OF_FILES}|\bmake [a-z]+`|^\$ make\b|pip install \.(?!\w)", re.M)


def test_pages_for_users_need_no_source_tree():
    pages = [path for path in (PROJECT / "docs").glob("*.md") if path.stem not in OF_THE_TREE]
    texts = {path.stem: re.sub(r"\]\([^)]*\)", "]", path.read_text()) for path in pages}  # but for where links lead
    found = {name: PATHS.findall(text) for name, text in texts.items()}
    assert {name: paths for name, paths in found.items() if paths} == {"start": ["pip install ."]}


def test_the_front_page_begins_with_how_to_install(source):
    front = (source / "index.md").read_text()
    assert front.startswith((PROJECT / "README.md").read_text())
    assert front.index("pip install vwlite-*.whl") < front.index("vwlite samples") < front.index("vwlite train ")


def test_pages_say_where_their_data_come_from():
    """A sample file that a page reads is one that 'vwlite samples' writes, which the page says before."""
    names = "|".join(rf"(?<![\w/-]){re.escape(name)}\b" for name, _ in contents())
    reads = re.compile(rf"^```(?:console|python)\n(?:(?!```).*\n)*?.*(?:{names})", re.M)
    for page in PAGES:
        if found := reads.search(page.read_text()):
            assert "vwlite samples" in found.string[: found.end()], page.name


class Page(HTMLParser):
    """Where a page leads to, and the places in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places.add(found.get("id", ""))
        self.links |= {found[name] for name in ("href", "src") if name in found}


def dead_links(folder):
    """What leads nowhere within the site: page and link."""
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            name, _, place = unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", link):
                continue  # elsewhere
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            if not target.is_file() or (target in pages and place not in pages[target].places):
                yield f"{path.relative_to(folder)}: {link}"


def test_it_builds_without_a_warning_or_a_dead_link(source, tmp_path, cli_env):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", PROJECT / "docs" / "site", "-b", "html"]
    done = subprocess.run([*build, source, tmp_path / "html"], env=cli_env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--loss_function" in (tmp_path / "html" / "reference" / "vwlite-train.html").read_text()
    assert sorted(dead_links(tmp_path / "html")) == []


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#one">x</a> <a href="b.html#two">x</a> <a href="#three">x</a>')
    (tmp_path / "b.html").write_text('<p id="one"><a href="https://example.org/none">x</a><img src="none.png"></p>')
    assert sorted(dead_links(tmp_path)) == ["a.html: #three", "a.html: b.html#two", "b.html: none.png"]
