"""vwlite tune: what it finds, says and refuses."""

import json
import math
import shlex
import sys
from contextlib import suppress

import pytest

from vwlite.errors import UsageError
from vwlite.estimation import estimated
from vwlite.tuning import Dimension, Trial, draw, rungs, search

LINES = [f"{(n * 7 % 11) / 5 + n % 3} |a x{n % 3}:1 y:{(n * 7 % 11) / 5}\n" for n in range(80)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-l 0.01..10", Dimension("-l", low=0.01, high=10)),
        ("-b 10..14", Dimension("-b", low=10, high=14, whole=True)),
        ("-q off|ui", Dimension("-q", ("off", "ui"))),
        ("--l2 1e-8..1e-2", Dimension("--l2", low=1e-8, high=0.01)),
        ("l 1|2", Dimension("-l", ("1", "2"))),
        ("l2 1|2", Dimension("--l2", ("1", "2"))),
    ],
)
def test_dimensions(text, wanted):
    assert Dimension.read(text) == wanted


@pytest.mark.parametrize("text", ["", "-l", "-- 1..2", "-l 3..2", "-l 1..2 3", "-q |"])
def test_bad_dimensions(text):
    with pytest.raises(UsageError, match="--vary takes"):
        Dimension.read(text)


def test_points_lie_in_the_space_and_differ():
    space = [Dimension.read(text) for text in ("-l 0.01..10", "-b 10..14", "--ftrl on|off")]
    points = draw(space, 40, 1)
    assert len({trial.text for trial in points}) == 40 and points[0].options == draw(space, 3, 1)[0].options
    for trial in points:
        words = trial.options
        assert 0.01 <= float(words[1]) <= 10 and 10 <= int(words[3]) <= 14 and words[4:] in ([], ["--ftrl"])
    assert sum(float(trial.options[1]) < 0.3 for trial in points) > 10  # by the logarithm
    assert len(draw([Dimension.read("-b 10|11")], 9, 0)) == 2


def test_the_best_third_goes_on():
    assert rungs(27, 9) == [1, 3, 9] and rungs(2, 9) == [9] and rungs(5, 20) == [6, 20] and rungs(9, 1) == [1]
    made = []

    def run(trial, passes):
        made.append((trial.number, passes))
        if trial.number == 5:
            raise RuntimeError("diverged")
        return abs(trial.number - 4) + 1 / passes

    trials = [Trial(number, [f"-{number}"]) for number in range(1, 10)]
    best = search([trials[:4], trials[4:]], 9, 9, "mse", run)
    assert best.number == 4 and best.passes == 9 and trials[4].failure == "diverged"
    assert [passes for _, passes in made] == [1] * 9 + [3] * 2 + [9]
    assert search([[Trial(1, []), Trial(2, [])]], 2, 1, "auc", lambda trial, passes: trial.number).number == 2


def test_estimated_points_draw_near_the_best():
    pytest.importorskip("optuna")
    space = [Dimension.read(text) for text in ("-l 0.0001..100", "-b 10..18", "--ftrl on|off")]

    def run(trial, passes):
        if "--ftrl" in trial.options:
            raise RuntimeError("no")
        return abs(math.log(float(trial.options[1]))) + abs(int(trial.options[3]) - 14)

    def points(metric="loss"):
        return [list(portion) for portion in noted(estimated(space, 42, 3, metric), run)]

    found = points()
    assert [len(portion) for portion in found] == [4] * 10 + [2]
    assert [trial.number for portion in found for trial in portion] == list(range(1, 43))
    assert [trial.text for portion in points() for trial in portion] == [t.text for portion in found for t in portion]
    rates = [abs(math.log(float(trial.options[1]))) for portion in found for trial in portion]
    assert sum(rates[-20:]) < sum(rates[:20])


def noted(portions, run):
    for portion in portions:
        for trial in portion:
            with suppress(RuntimeError):
                trial.scores[1], trial.passes = run(trial, 1), 1
        yield portion


def test_estimating_needs_the_extra(vwlite, write, monkeypatch):
    write("train.vw", "".join(LINES))
    options = ("--test", "train.vw", "--vary", "-l 0.1..1", "--sampler", "tpe", "--trials", "3", "--passes", "1")
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = vwlite("tune", "train.vw", *options, status=69)
    assert "pip install 'vwlite[tune]'" in done.stderr


def test_it_finds_a_rate_and_says_the_command(vwlite, write, tmp_path):
    write("train.vw", "".join(LINES[:60])), write("test.vw", "".join(LINES[60:]))
    options = ("--metric", "mse", "--trials", "6", "--passes", "3", "--vary", "-l 0.0001..2")
    options += ("--with", "--noconstant -b 10")
    found = vwlite("tune", "train.vw", "--test", "test.vw", *options, "-f", "best", "--json", "all.json")
    words = shlex.split(found.stdout)
    assert words[:4] == ["vwlite", "train", "train.vw", "--noconstant"] and words[-2:] == ["-f", "best"]
    report = json.loads((tmp_path / "all.json").read_text())
    last = {trial["trial"]: trial["scores"].get("3") for trial in report["trials"] if "3" in trial["scores"]}
    assert len(report["trials"]) == 6 and len(last) == 2 and last[report["best"]] == min(last.values())
    vwlite(*words[1:-1], "again", "--quiet", "--threads", "1")
    measured = (vwlite("evaluate", "-i", model, "test.vw", "--json", "-").stdout for model in ("best", "again"))
    one, other = (json.loads(text)["mse"] for text in measured)
    assert one == other == last[report["best"]]
    alone = vwlite("tune", "train.vw", "--test", "test.vw", *options, "--jobs", "1", "--seed", "0", "--quiet")
    assert alone.stdout.replace("-f model", "-f best") == found.stdout and alone.stderr == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("- --test t --vary '-l 1..2'", "name files, not standard input"),
        ("d --test d --vary '-l 1'", "every trial failed"),
        ("d --test d --vary '-l 1..2' --with '-f m'", "-f is not for tune"),
        ("d --test d --vary '-l 1..2' --trials 0", "--trials takes 1 or more"),
        ("d --test d --vary '-l 1..2' --with \"'\"", "--with: No closing quotation"),
    ],
)
def test_what_is_refused(options, message, vwlite, write):
    write("d", "oh\n")
    assert message in vwlite("tune", *shlex.split(options), status=2).stderr
