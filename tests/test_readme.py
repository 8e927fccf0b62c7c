"""The README is short and leads everywhere: to a page of every command, and to files that exist."""

import re

import pytest
from pages import HOME, PAGES, PROJECT, README

from vwlite.cli.root import COMMANDS

TEXT = README.read_text()
OTHERS = [PROJECT / "CHANGELOG.md", *PROJECT.glob(".github/*.md"), *PROJECT.glob("examples/**/*.md")]


def anchors(page):
    """The anchors of a page's headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def links(page):
    """Where a page leads to within the project: (file, anchor)."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            yield (page.parent / name).resolve() if name else page, anchor


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 150


def test_how_to_install_stands_at_the_top():
    top = "\n".join(TEXT.splitlines()[:15])
    commands = ("pip install vwlite-*.whl", "pip install .", "make demo", "make test")
    assert all(f"$ {command}" in top for command in commands)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_in_the_table(name):
    (row,) = re.findall(rf"^\| `vwlite {name}` \|.*\|$", TEXT, re.M)
    assert re.search(r"\]\(docs/[\w-]+\.md", row)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    names = anchors(page)
    assert len(names) == len(set(names)), "two headings have the same anchor"
    for file, anchor in links(page):
        assert file.exists(), f"{page.name} links to {file}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {file.name}#{anchor}"


def test_the_readme_links_to_every_page():
    assert {file for file, _ in links(README)} >= {*PAGES} - {README, HOME}
