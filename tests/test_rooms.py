"""The law of the rooms: a folder of ``vwlite/`` or ``cython_ext/`` imports from those before it, never in a circle."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
ROOMS = (  # "": vwlite/*.py
    "",
    "storage",
    "data",
    "features",
    "learners",
    "training",
    "evaluation",
    "distributed",
    "solvers",
    "reporting",
    "api",
    "serving",
    "sklearn",
    "cli",
)
KERNEL_ROOMS = ("base", "losses", "text", "features", "learners", "solvers", "storage")
DOORS = ("vwlite", "vwlite.__main__")  # for Python and for the command line
MODULES = {
    ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((PROJECT / "vwlite").rglob("*.py"))
    if path.parent.name != "_native"
}


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (PROJECT / "vwlite" / parts[1]).is_dir() else ""


@cache
def nodes_of(module):
    return [*ast.walk(ast.parse(MODULES[module].read_text()))]


def imported(module):
    """The modules of the project that a module names in its imports, wherever they stand."""
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if (name := whole if whole in MODULES else node.module) in MODULES:
                    yield name


@cache
def graph():
    """What each module imports, by its name."""
    return {module: {*imported(module)} - {module} for module in MODULES}


def test_a_module_imports_from_its_room_and_those_before_it():
    place = {module: ROOMS.index(room_of(module)) for module in MODULES}
    pairs = [(module, name) for module, names in graph().items() if module not in DOORS for name in names]
    assert [f"{module} imports {name}" for module, name in pairs if place[name] > place[module]] == []


def test_no_import_leads_back():
    try:
        list(TopologicalSorter(graph()).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_few_modules_stand_in_no_room():
    assert len([module for module in MODULES if room_of(module) == ""]) <= 10


def test_only_the_command_line_knows_click():
    library = {name: path.read_text() for name, path in MODULES.items() if room_of(name) != "cli"}
    assert [name for name, text in library.items() if "import click" in text] == []


def test_only_the_estimators_know_scikit_learn():
    others = {name: path.read_text() for name, path in MODULES.items() if room_of(name) != "sklearn"}
    known = re.compile(r"^ *(import|from) (sklearn|scipy)\b", re.M)
    assert [name for name, text in others.items() if known.search(text)] == []


LIBRARY = [name for name in MODULES if room_of(name) != "cli"]
TO_STREAMS = {"vwlite.training.prediction_writer"}  # predictions go to standard output where they are told to


def nodes(modules):
    """Each with the name of its module."""
    return [(module, node) for module in modules for node in nodes_of(module)]


def test_only_the_command_line_prints_and_knows_signals():
    for module, node in nodes(LIBRARY):
        match node:
            case ast.Import(names=names):
                known = {"signal"} if room_of(module) == "api" else {"signal", "logging"}  # notes of Python's models
                assert not {name.name for name in names} & known, module
            case ast.ImportFrom(module=source):
                assert source not in ("signal", "logging"), module
            case ast.Call(func=ast.Name(id="print")):
                pytest.fail(f"{module}:{node.lineno} prints")
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" | "__stdout__" | "__stderr__"):
                assert module in TO_STREAMS, f"{module}:{node.lineno}"


OWNED = [name for name in MODULES if room_of(name) in ("training", "evaluation") or name.startswith("vwlite.cli.runs.")]


def test_no_module_sets_the_attributes_of_another():
    """But what belongs to itself, and the columns of a batch, which goes from hand to hand."""
    for module, node in nodes(OWNED):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            owner = ast.unparse(node.value)
            assert owner.partition(".")[0] in ("self", "cls", "batch"), f"{module}:{node.lineno} sets one of {owner}"


@pytest.mark.parametrize("room", KERNEL_ROOMS)
def test_a_kernel_takes_from_its_room_and_those_before_it(room):
    later = KERNEL_ROOMS[KERNEL_ROOMS.index(room) + 1 :]
    taken = re.compile(rf'^ *(?:from ({"|".join(later)})\.\w+ cimport|# *include "({"|".join(later)})/)', re.M)
    sources = sorted((PROJECT / "cython_ext" / room).iterdir())
    assert sources
    assert [path.name for path in sources if later and taken.search(path.read_text())] == []
