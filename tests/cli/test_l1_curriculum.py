"""``vwlite l1 --curriculum``: which examples and sequences the first passes take."""

import json
import logging

import pytest
from cli.test_l1_tree import TREES
from l1_case import SENTENCES

from vwlite.api.loglinear_models import CRFModel
from vwlite.solvers.loglinear.config import L1Config
from vwlite.training.config import CurriculumConfig

EASY = ("--curriculum", "easy")
WAYS = {
    "passes": EASY,
    "weights": (*EASY, "--curriculum-weights", "linear", "--curriculum-width", "0.5"),
    "a sample": (*EASY, "--curriculum-weights", "logistic", "--curriculum-sample"),
    "steps": (*EASY, "--curriculum-steps", "7"),
    "by rarity": ("--curriculum", "anti", "--curriculum-by", "rarest", "--curriculum-start", "0.5"),
    "in any order": ("--curriculum", "random", "--curriculum-passes", "3"),
}
ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(autouse=True)
def files(write):
    write("tags.vw", SENTENCES)
    write("two.vw", "".join(f"{(-1) ** n} |a {' '.join('xyz'[: 1 + n % 3])} |d v:{n % 7}\n" for n in range(80)))


def tags(vwlite, *options, status=0, **more):
    model = () if "-f" in options else ("-f", "m")
    return vwlite("l1", "tags.vw", "--model", "crf", "--passes", "4", *model, *options, status=status, **more)


def notes(done):
    return [line for line in done.stderr.splitlines() if line.startswith("note: ")]


def test_passes_tell_what_they_take(vwlite, tmp_path):
    done = tags(vwlite, *EASY, "--holdout", "4")
    assert [note.partition(", entropy")[0] for note in notes(done)] == [
        "note: curriculum, pass 1: weights add up to 8 of 30",
        *(f"note: curriculum, pass {number}: weights add up to 30 of 30" for number in (2, 3, 4)),
    ]
    assert not tags(vwlite, *EASY, "--quiet").stderr
    done = tags(vwlite, *EASY, "--curriculum-steps", "12")
    assert notes(done)[-1] == "note: curriculum, step 4: all examples take part from here on"
    done = tags(vwlite, *EASY, "--curriculum-steps", "20")
    assert notes(done)[-1] == "note: curriculum: the data end in step 2; all would take part in 4"
    record = json.loads(tags(vwlite, *EASY, "--json", "-").stdout)
    assert (record["options"]["curriculum_order"], record["options"]["curriculum_by"]) == ("easy", "length")


@ways
def test_another_model_which_keeps_nothing_of_it(way, vwlite, header):
    tags(vwlite, *WAYS[way])
    tags(vwlite, "-f", "plain")
    made, plain = header("m"), header("plain")
    assert made["l1"].keys() == plain["l1"].keys() and made["l1"]["objective"] != plain["l1"]["objective"]


@pytest.mark.parametrize("whole", [EASY, (*EASY, "--curriculum-steps", "5"), (*EASY, "--curriculum-weights", "linear")])
def test_a_start_of_all_examples_changes_nothing(whole, vwlite, tmp_path):
    tags(vwlite, *whole, "--curriculum-start", "1")
    tags(vwlite, "-f", "plain")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()


@ways
def test_going_on_when_all_take_part_is_as_if_nothing_had_stopped(way, vwlite, tmp_path):
    growing = WAYS[way] if way in ("steps", "in any order") else (*WAYS[way], "--curriculum-passes", "3")
    tags(vwlite, *growing, "--passes", "7", "-f", "whole")
    tags(vwlite, *growing)
    vwlite("l1", "tags.vw", "-i", "m", "-f", "next", "--passes", "3")
    assert (tmp_path / "next").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_model_in_python_takes_a_curriculum(vwlite, tmp_path, caplog):
    config, curriculum = L1Config(model="crf", passes=4), CurriculumConfig("anti", by="rarest")
    model = CRFModel(config, curriculum=curriculum)
    with caplog.at_level(logging.INFO, "vwlite"):
        model.fit(model.batches(SENTENCES))
    assert "note: curriculum, pass 1: weights add up to 10 of 40" in caplog.text
    tags(vwlite, "--curriculum", "anti", "--curriculum-by", "rarest")
    assert model.dumps() == (tmp_path / "m").read_bytes()
    assert CRFModel.loads(model.dumps()).curriculum == CurriculumConfig()


@pytest.mark.parametrize("loss", ["log", "mira"])
def test_trees_with_few_tokens_are_easy(loss, vwlite, write, tmp_path):
    """The easiest ones have a single token."""
    write("trees.vw", TREES)
    common = ("l1", "trees.vw", "--model", "tree", "--loss", loss, "--passes", "3")
    done = vwlite(*common, "-f", "m", *EASY, "--curriculum-weights", "linear", "--curriculum-start", "0.1")
    assert notes(done)[0].startswith("note: curriculum, pass 1: weights add up to ") and " of 36, " in notes(done)[0]
    vwlite(*common, "-f", "n", *EASY, "--curriculum-start", "1")
    vwlite(*common, "-f", "plain")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "plain").read_bytes() != (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("by", ["length", "rarest", "value:d", "margin:first", "loss:first"])
def test_two_classes_take_a_curriculum(by, vwlite, weights):
    vwlite("l1", "two.vw", "-f", "first", "--passes", "2", "--quiet")
    common = ("l1", "two.vw", "--passes", "3", "--quiet", "--l1", "0.1")
    vwlite(*common, "-f", "m", *EASY, "--curriculum-by", by)
    vwlite(*common, "-f", "plain")
    assert weights("m") != weights("plain")


def test_lines_without_the_namespace(vwlite, write):
    write("tags.vw", SENTENCES.replace("|w cat", "|w cat |d v:2"))
    done = tags(vwlite, *EASY, "--curriculum-by", "value:d")
    assert "note: --curriculum-by value:d: 16 of 40 sequences have no such namespace; 0 is taken" in notes(done)
    stderr = tags(vwlite, *EASY, "--curriculum-by", "value:e", status=2).stderr
    assert "value:e: no line has a namespace of this name" in stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--solver owlqn", "does not go with --solver owlqn, which needs the same examples in every pass"),
        ("--loss margin --l2 1", "or take --l1 in place of --l2"),
        ("--passes 1", "needs --passes 2 or more, or --curriculum-steps N"),
        ("--curriculum-by margin:tags.vw", "with --model crf take length, rarest or value:NAMESPACE"),
        ("--curriculum-by colour", "takes length, rarest"),
        ("--curriculum-steps 5 --curriculum-by rarest", "goes with passes"),
        ("--curriculum-steps 5 --curriculum-passes 2", "--curriculum-passes counts passes"),
        ("--curriculum-width 0.1", "needs weights between 0 and 1"),
        ("--curriculum-start 0", "--curriculum-start takes a number above 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, tmp_path):
    assert message in tags(vwlite, *EASY, *options.split(), status=2).stderr
    assert not (tmp_path / "m").exists()


def test_nothing_without_the_order(vwlite):
    stderr = tags(vwlite, "--curriculum-by", "rarest", status=2).stderr
    assert "--curriculum-by does nothing without --curriculum" in stderr
