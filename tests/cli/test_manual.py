"""Man pages and the site's reference: they have the commands and the options of --help, in its words."""

import re
import shutil
import subprocess
import sys

import click
import pytest
from commands import ABOUT, GROUPS, TYPED, command

from vwlite.cli.manual import EXIT, escape_markdown, escape_roff, make_pages, release_date, to_man, to_markdown, write

PAGES = {page.name.removeprefix("vwlite").strip(): page for page in make_pages()}


def rendered(text):
    """The text of a man page as a reader sees it."""
    lines = text.replace("\\&", "").replace("\\(aq", "'").replace("\\-", "-").replace("\\(em", "\u2014")
    return re.sub(r"^\.\w+ ?", "", lines, flags=re.M).replace("\\e", "\\")


def test_every_command_has_a_page():
    assert sorted(PAGES) == sorted(["", *TYPED, *GROUPS, *ABOUT])


@pytest.mark.parametrize("name", TYPED)
def test_a_page_has_every_option_that_help_shows(name):
    declared = command(name)
    context = click.Context(declared, info_name=name, **declared.context_settings)
    records = [
        param.get_help_record(context)
        for param in declared.params
        if isinstance(param, click.Option) and not param.hidden
    ]
    text, reference = rendered(to_man(PAGES[name])), to_markdown(PAGES[name])
    assert records
    for typed, help in records:
        assert f"\n{typed}\n{help}\n" in text
        assert f"````{{option}} {typed}\n\n{escape_markdown(help)}\n````\n" in reference


@pytest.mark.parametrize("name", TYPED)
def test_a_page_has_the_examples_and_the_text_of_help(name, vwlite):
    help = " ".join(vwlite(*name.split(), "--help").stdout.split())
    page, text = PAGES[name], rendered(to_man(PAGES[name]))
    assert page.examples and all(" ".join(line.split()) in help for line in page.examples)
    for part in (page.about, *page.text, *page.examples):
        assert " ".join(part.split()) in help.replace("- ", "-") or " ".join(part.split()) in help
        assert part in text


@pytest.mark.parametrize("name", PAGES)
def test_groff_has_no_warnings(name):
    """Most systems show pages with groff."""
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    typeset = ["groff", "-ww", "-man", "-Tutf8", "-Kutf8", "-z"]
    checked = subprocess.run(typeset, input=to_man(PAGES[name], "2026-01-31").encode(), capture_output=True)
    assert checked.stderr == b""


@pytest.mark.parametrize("name", PAGES)
def test_roff_has_no_errors(name, tmp_path):
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    (tmp_path / "page.1").write_text(to_man(PAGES[name], "2026-01-31"), encoding="utf-8")
    lint = ["mandoc", "-T", "lint", "-W", "warning", tmp_path / "page.1"]
    checked = subprocess.run(lint, capture_output=True, text=True)
    assert checked.stdout == ""


def test_the_date_is_that_of_the_version():
    text = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-02-03\n\n## [1.1.0] - 2025-12-31\n"
    dates = {version: release_date(text, version) for version in ("1.2.0", "1.1.0", "1.3.0", "112.0")}
    assert dates == {"1.2.0": "2026-02-03", "1.1.0": "2025-12-31", "1.3.0": "", "112.0": ""}
    assert to_man(PAGES["train"], "2026-02-03").startswith('.TH VWLITE-TRAIN 1 "2026-02-03" "vwlite ')


def test_versions_in_the_changelog_have_dates():
    """The dates are those of the man pages."""
    from pages import PROJECT

    headings = re.findall(r"^## (.*)$", (PROJECT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "[Unreleased]"
    for heading in headings[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading)


def test_roff_of_odd_text():
    assert escape_roff(".a -b 'c' \\n") == "\\&.a \\-b \\(aqc\\(aq \\en"


def test_exit_codes_are_those_of_their_page():
    from pages import PROJECT

    text = (PROJECT / "docs" / "exit-codes.md").read_text()
    assert set(re.findall(r"^\| (\d[\d, ]*) \|", text, re.M)) == set(EXIT)


def test_the_pages_are_files(tmp_path):
    written = write(tmp_path / "man")
    assert {path.name for path in written} >= {"vwlite.1", "vwlite-train.1", "vwlite-aso-learn.1"}
    assert written[0].read_text() == to_man(PAGES[""])


def test_pages_need_no_numpy(tmp_path, cli_env):
    """Pages are made when the package is built, without its run-time dependencies."""
    hide = "import sys; sys.modules.update(numpy=None, tqdm=None, mmh3=None)"
    code = f"{hide}; from pathlib import Path; from vwlite.cli.manual import write; write(Path('man'))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=cli_env, check=True)
    assert (tmp_path / "man" / "vwlite.1").exists()
