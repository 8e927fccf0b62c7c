"""``vwlite crr --curriculum``: which examples and pairs the first steps draw."""

import logging

import pytest
from cli.test_crr import DATA, same

from vwlite.api.solver_model import CRRModel
from vwlite.solvers.crr.config import CrrConfig
from vwlite.training.config import CurriculumConfig

EASY = ("--curriculum", "easy", "--curriculum-steps", "300")
WAYS = {
    "far pairs": (*EASY, "--curriculum-by", "difference"),
    "short examples": EASY,
    "by value": (*EASY, "--curriculum-by", "value:user", "--curriculum-start", "0.5"),
    "weights": (*EASY, "--curriculum-weights", "logistic", "--curriculum-width", "0.1"),
    "a sample": ("--curriculum", "anti", *EASY[2:], "--curriculum-weights", "linear", "--curriculum-sample"),
    "in any order": ("--curriculum", "random", *EASY[2:], "--alpha", "1"),
}
ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(autouse=True)
def files(write):
    write("data.vw", DATA)


def crr(vwlite, *options, data="data.vw", **more):
    model = () if "-f" in options else ("-f", "m")
    return vwlite("crr", data, *model, "--steps", "2000", *options, **more)


def notes(done):
    return [line for line in done.stderr.splitlines() if line.startswith("note: curriculum")]


def test_steps_tell_what_they_draw(vwlite):
    assert notes(crr(vwlite, *WAYS["far pairs"])) == [
        *(f"note: curriculum, step {n}: weights add up to 90 of 270 pairs, entropy 6.4919 bits" for n in (1, 2, 3)),
        "note: curriculum, step 4: all examples take part from here on",
    ]
    assert [note.partition(", entropy")[0] for note in notes(crr(vwlite, *EASY, "--steps", "700"))] == [
        "note: curriculum, step 1: weights add up to 23 of 90",
        "note: curriculum, step 2: weights add up to 45 of 90",
        "note: curriculum, step 3: weights add up to 68 of 90",
        "note: curriculum, step 4: all examples take part from here on",
    ]
    told = notes(crr(vwlite, *EASY, "--steps", "600"))
    assert told[-1] == "note: curriculum: --steps ends in step 2; all would take part in 4"
    assert not crr(vwlite, *EASY, "--quiet").stderr


@ways
def test_another_model_which_keeps_nothing_of_it(way, vwlite, header, weights):
    alpha = WAYS[way][-2:] if "--alpha" in WAYS[way] else ()
    crr(vwlite, *WAYS[way])
    crr(vwlite, *alpha, "-f", "plain")
    assert header("m")["crr"] == header("plain")["crr"] and weights("m") != weights("plain")


@pytest.mark.parametrize("by", ["length", "difference"])
def test_a_start_of_all_examples_changes_nothing(by, vwlite, tmp_path):
    crr(vwlite, *EASY, "--curriculum-by", by, "--curriculum-start", "1")
    crr(vwlite, "-f", "plain")
    assert same(tmp_path, "m", "plain")


@ways
def test_going_on_when_all_take_part_is_as_if_nothing_had_stopped(way, vwlite, tmp_path):
    crr(vwlite, *WAYS[way])
    crr(vwlite, *WAYS[way], "-f", "half", "--steps", "1000")
    vwlite("crr", "data.vw", "-i", "half", "-f", "both", "--steps", "1000", "--quiet")
    assert same(tmp_path, "m", "both")


def test_going_on_begins_anew(vwlite, tmp_path):
    crr(vwlite, "-f", "half", "--steps", "1000", "--quiet")
    done = vwlite("crr", "data.vw", "-i", "half", "-f", "m", "--steps", "1000", *EASY)
    assert notes(done)[0].startswith("note: curriculum, step 1: weights add up to 23 of 90")


def test_a_sample_of_a_pipe_has_a_curriculum_too(vwlite, tmp_path):
    for name in "ab":
        crr(vwlite, *WAYS["far pairs"], "--pair-buffer", "2", "-f", name, data="-", stdin=DATA)
    crr(vwlite, "--pair-buffer", "2", "-f", "c", data="-", stdin=DATA)
    assert same(tmp_path, "a", "b") and not same(tmp_path, "a", "c")


@pytest.mark.parametrize("by", ["length", "difference"])
def test_a_model_in_python_takes_a_curriculum(by, vwlite, tmp_path, caplog):
    model = CRRModel(CrrConfig(steps=2000), curriculum=CurriculumConfig("easy", by, steps=300))
    with caplog.at_level(logging.INFO, "vwlite"):
        model.fit(model.batches(DATA))
    assert "note: curriculum, step 1: weights add up to" in caplog.text
    crr(vwlite, *EASY, "--curriculum-by", by)
    assert model.dumps() == (tmp_path / "m").read_bytes()
    assert CRRModel.loads(model.dumps()).curriculum == CurriculumConfig()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--curriculum easy", "--curriculum needs --curriculum-steps N"),
        ("--curriculum-steps 5", "--curriculum-steps does nothing without --curriculum"),
        ("--curriculum easy --curriculum-steps 5 --pairs lambda-map", "takes whole queries: drop one of the two"),
        ("--curriculum easy --curriculum-steps 5 --curriculum-by difference --alpha 1", "learns from none"),
        ("--curriculum anti --curriculum-steps 5 --curriculum-by difference", "it goes with --curriculum easy"),
        ("--curriculum easy --curriculum-steps 5 --curriculum-by loss:data.vw", "goes with passes"),
        ("--curriculum easy --curriculum-steps 5 --curriculum-by value:no", "no line has a namespace of this name"),
        ("--curriculum easy --curriculum-steps 5 --curriculum-width 0.1", "needs weights between 0 and 1"),
        ("--curriculum easy --curriculum-passes 5", "no such option"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, tmp_path):
    assert message in crr(vwlite, *options.split(), status=2).stderr
    assert not (tmp_path / "m").exists()


def test_a_stage_without_a_pair(vwlite, write):
    write("data.vw", "".join(f"{n // 5} |a {' '.join('xyz'[: 1 + n // 5])}\n" for n in range(10)))
    stderr = crr(vwlite, *EASY, "--qid", "none", status=65).stderr
    assert "curriculum, step 1: of the 3 easiest examples no query has two different labels" in stderr


@pytest.mark.parametrize("command", ["train", "l1"])
def test_pairs_are_for_rankings_alone(command, vwlite, write):
    write("two.vw", "1 | a\n-1 | b\n" * 9)
    easy = ("--passes", "3", "--curriculum", "easy", "--curriculum-by", "difference")
    assert "which 'vwlite crr' learns from: take length" in vwlite(command, "two.vw", "-f", "m", *easy, status=2).stderr
