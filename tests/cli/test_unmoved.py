"""A model used on data none of whose features it knows says so."""

import json

import pytest

LINES = "".join(f"{1 if n % 3 else -1} |w f{n % 7} g{n % 5}\n" for n in range(300))
OTHER = LINES.replace("|w", "|v")
SAID = "vwlite: note: no feature of the data changed a prediction: "
KINDS = {
    "": "",
    "logistic": "--loss_function logistic",
    "clipped": "--loss_function hinge --binary",
    "interactions": "-q ::",
    "bare": "--noconstant",
    "ftrl": "--ftrl",
    "smaller": "--predict_only_model",
}


@pytest.fixture
def model(vwlite, write):
    write("data.vw", LINES)
    write("other.vw", OTHER)

    def of(options=""):
        vwlite("train", "data.vw", "-f", "m", "--quiet", *options.split())

    return of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", ["", "--threads 1 --block-size 500"])
def test_predictions_of_the_constant_alone_are_told(kind, more, vwlite, model):
    model(KINDS[kind])
    more = more.split()
    assert (
        f"{SAID}all 300 predictions are that of a line without"
        in vwlite("predict", "-i", "m", "other.vw", *more).stderr
    )
    assert vwlite("predict", "-i", "m", "data.vw", *more).stderr == ""
    done = vwlite("evaluate", "-i", "m", "other.vw", "--json", "-", *more)
    assert done.stderr.count(SAID) == 1 and json.loads(done.stdout)["examples"] == 300
    assert SAID not in vwlite("evaluate", "-i", "m", "data.vw", *more).stderr


def test_one_line_that_is_known_is_enough(vwlite, model, write):
    model()
    for place in (0, 50, 200, 300):
        lines = OTHER.splitlines(True)
        lines.insert(place, "|w f1\n")
        assert vwlite("predict", "-i", "m", stdin="".join(lines)).stderr == "", place
    assert vwlite("predict", "-i", "m", stdin="|w f1\n" * 9).stderr == ""
    assert vwlite("predict", "-i", "m", stdin="|v f1\n\n\n|v f2\n").stderr.startswith(f"{SAID}all 2 ")
    assert vwlite("predict", "-i", "m", stdin="|v f1\n").stderr.startswith(f"{SAID}the prediction is")


def test_a_quiet_run_does_not_tell_of_unmoved_predictions(vwlite, model):
    model()
    assert vwlite("predict", "-i", "m", "other.vw", "--quiet").stderr == ""
    assert vwlite("evaluate", "-i", "m", "other.vw", "--quiet").stderr == ""
    assert vwlite("predict", "-i", "m", stdin="").stderr == ""


def test_vw_says_nothing(vwlite, model):
    vwlite("vw", "-d", "data.vw", "-f", "v", "--quiet")
    assert "no feature" not in vwlite("vw", "-t", "-d", "other.vw", "-i", "v").stderr
