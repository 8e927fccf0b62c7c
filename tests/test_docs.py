"""The pages of docs/ and the README: their commands run and print what they show, and what they name exists."""

import doctest
import math
import re
import shlex

import pytest
from commands import TYPED, command
from pages import PAGES, PROJECT, PYTHON, README, UNRUN, blocks, run, session
from test_rooms import ROOMS

from vwlite._native import loss_functions
from vwlite.cli.root import cli
from vwlite.cli.samples import write
from vwlite.cli.settings import plain_name
from vwlite.evaluation.metric_table import MEASURED, TABLE
from vwlite.learners.base import Learner
from vwlite.learners.losses import LOSSES, LossConfig

DOCS = PROJECT / "docs"
LACKED = DOCS / "coming-from-vw.md"  # names what vwlite does not have


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page(page, tmp_path, cli_path):
    write(tmp_path)
    for block in blocks(page):
        compared = any(step.expected for step in block)  # a block without any output is a list of commands
        for step, output in run(block, tmp_path, cli_path):
            if compared and not step.agrees(output):
                assert (step.command, output) == (step.command, step.expected)


WITH_PYTHON = [page for page in PAGES if PYTHON.search(page.read_text())]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_a_page(page, tmp_path, monkeypatch):
    if "vwlite.sklearn" in page.read_text():
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    written, examples = [], session(page)
    assert examples.examples
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=written.append)
    assert "".join(written) == ""


def test_few_blocks_are_not_run():
    unrun = {page.name for page in PAGES if UNRUN in page.read_text()}
    assert unrun == {"README.md", "development.md", "experiments.md", "gallery.md", "start.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in (README, LACKED)], ids=lambda page: page.name)
def test_a_page_begins_with_an_example(page):
    lines = page.read_text().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("```")), 0)
    assert lines[0].startswith("# ") and 0 < first < 16


def options(name):
    return {plain_name(option) for param in command(name).params for option in (*param.opts, *param.secondary_opts)}


SLURM = {"--array", "--dependency", "--wrap"}  # options of sbatch
SOFIA = {
    "--learner_type",
    "--loop_type",
    "--iterations",
    "--rank_step_probability",
    "--hash_mask_bits",
    "--eta_type",
    "--passive_aggressive_c",
    "--test_file",
    "--model_in",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page != LACKED], ids=lambda page: page.name)
def test_the_options_a_page_names_exist(page):
    known = {plain_name(option) for param in cli.params for option in param.opts} | {plain_name("--help")}
    known |= {option for name in TYPED for option in options(name)}
    named = re.findall(r"(?<![\w-])--[a-z][\w-]*", re.sub(r"ARGS='[^']*'", "", page.read_text()))
    assert sorted({name for name in named if plain_name(name) not in known} - SLURM - SOFIA) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_a_page_names_exist(page):
    named = re.findall(r"\b(?:vwlite|cython_ext|tests|examples|docs)/[\w./-]*\w", page.read_text())
    assert [name for name in named if "NAME" not in name and not (PROJECT / name).exists()] == []


def test_every_metric_stands_in_the_table():
    text = (DOCS / "evaluating.md").read_text()
    for kind, what in MEASURED.items():
        names = ", ".join(f"`{row.name}`" for row in TABLE if kind in row.of)
        assert f"| {what} | {names} |\n" in text


def test_every_loss_stands_in_the_table():
    text = (DOCS / "losses.md").read_text()
    choices = next(param.type.choices for param in command("train").params if param.name == "loss_function")
    assert [name for name in choices if not re.search(rf"^\| .*`{name}`.* \|", text, re.M)] == []


def test_the_formulas_are_those_of_the_losses():
    """Every loss has one, and it gives the loss's value and link."""
    text = (DOCS / "formulas.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(.+)` \| (.+) \| (\w+) \|$", text, re.M)
    assert [name for name, *_ in rows] == [*LOSSES]
    for name, formula, labels, link in rows:
        parameters = {"quantile_tau": 0.3, "expectile_q": 0.2, "loss_scale": 1.5, "lp_power": 1.7, "tube": 0.2}
        loss, config = LOSSES[name], LossConfig(name, **parameters)
        assert link == loss.link and ("-1, 1" in labels) == loss.two_classes
        params = config.params((-9, 9))
        known = {**vars(math), "min": min, "max": max, "abs": abs, "tau": 0.3, "q": 0.2, "scale": 1.5, "power": 1.7}
        known["tube"] = 0.2
        for p, y in ((0.4, 1), (-2.5, 1), (1.9, 1), (3.1, 1), (0.4, -1), (-2.5, -1)):
            if y >= 0 or name != "poisson":
                expected = eval(formula, {**known, "p": p, "y": y, "m": y * p, "r": abs(p - y)})
                assert loss_functions.value(loss.code, params, p, y) == pytest.approx(expected, rel=1e-4), (name, p, y)


def test_every_target_of_make_stands_in_the_table():
    targets = re.findall(r"^([a-z]+):.*##", (PROJECT / "Makefile").read_text(), re.M)
    text = (DOCS / "development.md").read_text()
    assert [name for name in targets if f"\n| `{name}` " not in text] == []


def test_the_members_of_a_learner_exist():
    text = (DOCS / "development.md").read_text()
    table = text[text.index("## What a learner is") : text.index("What only some learners can do")]
    members = [name for cells in re.findall(r"^\| (`[^|]*) \|", table, re.M) for name in re.findall(r"`(\w+)", cells)]
    declared = {*dir(Learner), *Learner.__annotations__}
    assert len(members) > 10
    assert [name for name in members if name not in declared] == []


def test_the_rooms_stand_in_their_order():
    text = (DOCS / "development.md").read_text()
    assert re.findall(r"^\| `vwlite/(\w*)/?(?:\*\.py)?` \|", text, re.M) == [*ROOMS]


def test_the_commands_of_the_papers(run_here, tmp_path, cli_path):
    write(tmp_path)
    page = DOCS / "papers.md"
    _, of_files = blocks(page)
    assert not any(told for _, told in run(of_files, tmp_path, cli_path))
    commands = re.findall(r"^\| .*\| `vwlite (.+)` \|$", page.read_text().partition("## What is where")[2], re.M)
    for one in commands:
        run_here(*shlex.split(one))
    assert len(commands) > 60
