"""Models that earlier versions, and this one, wrote: they load, and predict the same bytes as they did then."""

import importlib.util
from pathlib import Path

import pytest

from vwlite.learners import CLASSES
from vwlite.version import __version__

FOLDER = Path(__file__).resolve().parent / "golden"
LISTS = sorted(FOLDER.glob("*/models.tsv"))
MODELS = [(path.parent, *line.split("\t")) for path in LISTS for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("folder", "model", "text", "command"), MODELS, ids=[f"{of.name}-{name}" for of, name, *_ in MODELS]
)
def test_a_model_predicts_what_it_did(folder, model, text, command, run_here):
    done = run_here(*command.split(), folder / text, "-i", folder / f"{model}.model", "--quiet")
    assert done.stdout.encode() == (folder / f"{model}.predictions").read_bytes()


def test_this_version_has_a_model_of_every_learner(run_here):
    names = [name for folder, name, *_ in MODELS if folder.name == __version__]
    shown = [run_here("inspect", str(FOLDER / __version__ / f"{name}.model")).stdout for name in names]
    learners = {text.split("learner ")[1].split()[0].partition("+")[0] for text in shown}
    assert {*CLASSES} <= learners


def test_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 8_000 * len(MODELS)


def test_the_texts_are_those_of_the_script():
    spec = importlib.util.spec_from_file_location("make_golden", FOLDER / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    folder = FOLDER / __version__
    assert {path.stem: path.read_text() for path in folder.glob("*.vw")} == make.texts()
    assert [name for of, name, *_ in MODELS if of == folder] == [*make.LEARNERS]
