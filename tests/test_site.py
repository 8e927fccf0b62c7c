"""The site: it has every page, and builds without a warning where Sphinx is installed."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from oracle.dyadic_flow import Term
from pages import HOW_TO, PAGES, PROJECT

from vwlite.cli.samples import make_files

SOURCES = PROJECT / "docs" / "site" / "sources.py"


@pytest.fixture
def source(tmp_path, cli_env):
    subprocess.run([sys.executable, SOURCES, tmp_path / "source"], check=True, env=cli_env)
    return tmp_path / "source"


def test_every_page_stands_in_the_contents(source):
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```$", (source / "index.md").read_text(), re.M | re.S)
    listed = re.findall(r"^(?:\w+ <)?(\w[\w/-]*)>?$", "".join(trees), re.M)
    pages = {str(path.relative_to(source).with_suffix("")) for path in source.rglob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)
    assert {f"docs/{path.stem}" for path in (PROJECT / "docs").glob("*.md")} <= pages


OF_THE_TREE = {"development", "experiments"}  # pages for who has the source tree
OF_FILES = r"\b(?:examples|tests|cython_ext)/|\.venv\b|Makefile"
PATHS = re.compile(rf"{OF_FILES}|\bmake [a-z]+`|^\$ make\b|pip install \.(?!\w)", re.M)


def test_pages_for_users_need_no_source_tree():
    pages = [path for path in (PROJECT / "docs").glob("*.md") if path.stem not in OF_THE_TREE]
    texts = {path.stem: re.sub(r"\]\([^)]*\)", "]", path.read_text()) for path in pages}  # but for where links lead
    actual = {name: PATHS.findall(text) for name, text in texts.items()}
    assert {name: paths for name, paths in actual.items() if paths} == {"start": ["pip install ."]}


def test_the_overview_begins_with_how_to_install(source):
    text = (source / "README.md").read_text()
    assert text == (PROJECT / "README.md").read_text()
    assert text.index("pip install vwlite-*.whl") < text.index("vwlite samples") < text.index("vwlite train ")


def test_the_home_page_has_a_picture_a_card_for_each_task_and_a_command(source):
    text = (source / "index.md").read_text()
    cards = re.findall(r'class="card" href="docs/how-to/([\w-]+)\.html"><strong>(.+?)</strong><span>(.+?)<', text)
    assert sorted(name for name, *_ in cards) == sorted(page.stem for page in HOW_TO)
    assert all((PROJECT / f"docs/how-to/{name}.md").read_text().startswith(f"# {title}\n") for name, title, _ in cards)
    assert "times as fast as vw" in text and text.index("vwlite train ") < text.index("<svg")


def test_every_picture_is_drawn_and_has_an_alternative_text(source):
    drawn = {path.name: re.findall(r"<svg .*?</svg>", path.read_text(), re.S) for path in source.rglob("*.md")}
    count = {name: len(actual) for name, actual in drawn.items() if actual}
    assert {"index.md": 1, "dyadic.md": 1, "crr.md": 1, "aso.md": 1, "development.md": 1}.items() <= count.items()
    for picture in (one for actual in drawn.values() for one in actual):
        root = ElementTree.fromstring(picture)
        assert len(root.get("aria-label")) > 40 and root.get("role") == "img"
    texts = [path.read_text() for path in source.rglob("*.md")]
    assert not any(re.search("^<!-- (picture|gallery|cards)", text, re.M) for text in texts)


def test_the_trail_of_the_dyadic_step_ends_at_the_label(monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCES.parent))
    from pictures import dyadic

    assert dyadic.product(dyadic.end()) == pytest.approx(dyadic.LABEL)
    step = oracle_term(dyadic.A, dyadic.B)
    alpha, beta = step.moved(-dyadic.end(), 1.0)
    assert alpha[0] == pytest.approx(dyadic.moved(dyadic.A, dyadic.B, dyadic.end()))
    assert beta[0] == pytest.approx(dyadic.moved(dyadic.B, dyadic.A, dyadic.end()))


def oracle_term(a, b):
    """The dot product of two features of value 1."""
    one = np.array([1.0])
    return Term(np.array([a]), one, np.array([b]), one)


def test_pages_say_where_their_data_come_from():
    """A sample file that a page reads is one that 'vwlite samples' writes, which the page says before."""
    names = "|".join(rf"(?<![\w/-]){re.escape(name)}\b" for name, _ in make_files())
    reads = re.compile(rf"^```(?:console|python)\n(?:(?!```).*\n)*?.*(?:{names})", re.M)
    for page in PAGES:
        if actual := reads.search(page.read_text()):
            assert "vwlite samples" in actual.string[: actual.end()], page.name


class Page(HTMLParser):
    """Where a page leads to, and the places in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        result = dict(attrs)
        self.places.add(result.get("id", ""))
        self.links |= {result[name] for name in ("href", "src") if name in result}


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
    train = (tmp_path / "html" / "reference" / "vwlite-train.html").read_text()
    assert 'id="cmdoption-vwlite-train-loss_function"' in train and "<table" not in train
    home = (tmp_path / "html" / "index.html").read_text()
    assert "site.js" in home and "charts.css" in home and (tmp_path / "html" / "_static" / "site.js").is_file()
    assert "how-to" in (tmp_path / "html" / "_static" / "language_data.js").read_text()
    assert sorted(dead_links(tmp_path / "html")) == []


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#one">x</a> <a href="b.html#two">x</a> <a href="#three">x</a>')
    (tmp_path / "b.html").write_text('<p id="one"><a href="https://example.org/none">x</a><img src="none.png"></p>')
    assert sorted(dead_links(tmp_path)) == ["a.html: #three", "a.html: b.html#two", "b.html: none.png"]
