"""Labels that are levels: the nearest one is predicted, others are malformed, metrics are of both."""

import json
import math

import numpy as np
import pytest

import vwlite as library
from vwlite.learners.label_check import Levels

LINES = [f"{1 + (u * i + u) % 5} '{u}.{i} |user u{u} |item i{i}\n" for u in range(12) for i in range(9)]
CHOSEN = ("mae", "mae_raw", "rmse", "rmse_raw", "accuracy", "loss")
MODELS = [
    "--dotproduct user,item --rank 2 --loss_function quantile --passes 5",
    "--loss_function quantile", "--coin", "--average --sgd -l 0.1", "--lrq ui2", "--loss_function poisson",
]


def rounded(numbers, levels):
    """The nearest level, of two the higher."""
    return [max(levels, key=lambda level: (-abs(number - level), level)) for number in numbers]


@pytest.fixture
def trained(vwlite, write):
    """A model of these options, and the first word of every line that ``predict`` writes with others."""

    def of(options, *show, levels="1..5"):
        with_levels = ("--levels", levels) if levels else ()
        vwlite("train", write("data", "".join(LINES)), "-f", "model", "--quiet", *options.split(), *with_levels)
        return [line.split()[0] for line in vwlite("predict", "-i", "model", "data", *show).lines]

    return of


@pytest.mark.parametrize("options", MODELS)
def test_predictions_are_levels_and_raw_ones_numbers(options, trained):
    plain, raw = trained(options, levels=""), trained(options, "--raw")
    if "poisson" not in options:
        assert raw == trained(options, "--raw", levels="")
    words = trained(options)
    assert words == [f"{level:g}" for level in rounded(map(float, plain), (1, 2, 3, 4, 5))]
    assert {*words} <= {"1", "2", "3", "4", "5"}
    uneven = trained(options, levels="1,2,3,4,5,8.5")
    assert uneven == words


def test_a_model_without_levels_is_told_them(trained, vwlite):
    words = trained(MODELS[0])
    trained(MODELS[0], levels="")
    done = vwlite("predict", "-i", "model", "data", "--levels", "1..5")
    assert [line.split()[0] for line in done.lines] == words
    report = json.loads(vwlite("evaluate", "-i", "model", "data", "--levels", "1,2,3,4,5", "--json", "-").stdout)
    assert report["accuracy"] == np.mean([line[0] == word for line, word in zip(LINES, words, strict=True)])


def test_the_losses_of_training_and_its_predictions(vwlite, write, tmp_path):
    """Losses are those of the numbers; the weights do not change."""
    write("data", "".join(LINES))
    told = []
    for levels in ((), ("--levels", "1..5")):
        run = ("train", "data", "-f", "model", "--passes", "4", "--holdout_period", "5", "-p", "p", *MODELS[1].split())
        told.append(vwlite(*run, *levels).stderr.split("finished run")[1])
        model = library.load("model")
        told[-1] = (told[-1], model.weights.tobytes())
    assert told[0] == told[1]
    assert {line.split()[0] for line in (tmp_path / "p").read_text().splitlines()} <= {"1", "2", "3", "4", "5"}


@pytest.mark.parametrize("options", MODELS)
def test_metrics_of_levels_and_of_numbers(options, trained, vwlite):
    numbers = np.array(list(map(float, trained(options, levels=""))))
    labels = np.array([int(line[0]) for line in LINES])
    levels = np.array([int(word) for word in trained(options)])
    report = json.loads(vwlite("evaluate", "-i", "model", "data", "--json", "-").stdout)
    assert report["accuracy"] == pytest.approx((levels == labels).mean())
    assert report["mae"] == pytest.approx(np.abs(levels - labels).mean())
    assert report["rmse"] == pytest.approx(math.sqrt(np.square(levels - labels).mean()))
    assert report["mae_raw"] == pytest.approx(np.abs(numbers - labels).mean(), rel=1e-5)
    assert report["rmse_raw"] == pytest.approx(math.sqrt(np.square(numbers - labels).mean()), rel=1e-5)
    classes, weight = report["confusion_matrix"].values()
    counted = {(int(a), int(b)): weight[i][j] for i, a in enumerate(classes) for j, b in enumerate(classes)}
    assert counted == {(a, b): ((labels == a) & (levels == b)).sum() for a, b in counted}
    chosen = json.loads(vwlite("evaluate", "-i", "model", "data", "--metric", "mae,mae_raw", "--json", "-").stdout)
    assert {name: chosen.get(name) for name in report if name in CHOSEN} == {
        name: report[name] if name.startswith("mae") else None for name in CHOSEN
    }


def test_labels_that_are_no_level_are_malformed(vwlite, write, tmp_path):
    lines = [*LINES * 2, "2.5 |user u1 |item i1\n", *LINES * 8, "|user u1\n"]
    run = ("train", write("data", "".join(lines)), "-f", "model", "--levels", "1..5", "--passes", "3", "--holdout_off")
    done = vwlite(*run, "-c", "--bad-lines", "bad", "--no-shuffle")
    assert "bad line data:217:1: label 2.5 is no level, expected 1, 2, 3, 4, 5: 2.5 |user u1 |item i1" in done.stderr
    assert done.stderr.count("is no level") == 1 and "1 of 1082 lines were malformed and left out" in done.stderr
    assert (tmp_path / "bad").read_text() == "2.5 |user u1 |item i1\n"
    first = (tmp_path / "model").read_bytes()
    again = vwlite(*run, "-c", "--no-shuffle")
    assert again.stderr.count("is no level") == 1 and (tmp_path / "model").read_bytes() == first
    write("few", "".join([*LINES, "7 |a\n"]))
    few = vwlite("train", "few", "-f", "m", "--levels", "1..5", "--strict", status=65)
    assert "few:109:1: label 7 is no level" in few.stderr
    many = vwlite("train", write("many", "7 |a\n1 |a\n"), "-f", "m", "--levels", "1..5", status=65)
    assert "1 of 2 lines are malformed, more than --max-bad-ratio 0.01 allows" in many.stderr


def test_lines_of_tables_without_a_level_are_malformed_too(vwlite, write):
    rows = "".join(f"{1 + n % 5},u{n % 7}\n" for n in range(200))
    write("data.csv", f"stars,user\n{rows}9,u1\n")
    done = vwlite("train", "data.csv", "--columns", "label=stars", "-f", "m", "--levels", "1..5")
    assert "data.csv:202: label 9 is no level, expected 1, 2, 3, 4, 5" in done.stderr
    assert {line.split()[0] for line in vwlite("predict", "-i", "m", "data.csv").lines} <= {*"12345"}


def test_the_weights_are_those_of_the_other_lines(vwlite, write):
    tables = []
    for extra in ("", "2.5 |user u1 |item i1\n"):
        write("data", "".join([*LINES, extra, *LINES]))
        vwlite("train", "data", "-f", "model", "--levels", "1..5", "--quiet", "--passes", "3", "--holdout_off")
        tables.append(library.load("model").weights.tobytes())
    assert tables[0] == tables[1]


def test_levels_in_python(trained, tmp_path):
    words = trained(MODELS[1])
    model = library.Model(loss_function="quantile", levels=(1, 2, 3, 4, 5)).learn("".join(LINES))
    model = library.train(tmp_path / "data", loss_function="quantile", levels="1..5")
    assert model.predict(tmp_path / "data").tolist() == list(map(float, words))
    assert not {*model.predict(tmp_path / "data", raw=True).tolist()} <= {1, 2, 3, 4, 5}
    assert model.evaluate(tmp_path / "data", metrics="accuracy")["accuracy"] > 0


def test_the_nearest_level():
    levels = Levels((1.0, 2.0, 4.0, 8.0))
    numbers = np.array([-9, 1.49, 1.5, 3, 2.99, 6, 99, np.nan], np.float32)
    answers = numbers.copy()
    levels.answer(answers, 0, 8)
    np.testing.assert_array_equal(answers, [1, 1, 2, 4, 2, 8, 8, np.nan])
    np.testing.assert_array_equal(levels.numbers, numbers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--levels 3", "--levels takes two numbers or more, ascending and each once, not 3"),
        ("--levels 1,1", "ascending and each once, not 1,1"),
        ("--levels 5..1", "'5..1' is no range of levels"),
        ("--levels 1,x", "'x' is not a finite number"),
        ("--levels 1..1e9", "'1e9' is not a valid integer"),
        ("--levels 1..100000", "more than 10000 levels"),
        ("--levels 0,1 --binary", "--levels and --binary do not go together"),
        ("--levels 0,1 --loss_function logistic", "of two classes"),
        ("--levels 1..3 --oaa 3", "--levels does not go with --oaa"),
        ("--levels 1..3 --multiclass 3", "--levels does not go with --multiclass"),
        ("--levels 1..3 --multiclass 3 --dotproduct ui", "--levels does not go with --multiclass"),
        ("--levels 1..3 --filter_tree 3", "--levels does not go with --filter_tree"),
        ("--levels 1..3 --oaa 3 --lrq ui2", "--levels does not go with --oaa"),
        ("--levels 1..3 --bfgs --passes 3", "--levels does not go with --bfgs"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    stderr = vwlite("train", write("data", "".join(LINES)), "-f", "m", *options.split(), status=2).stderr
    assert message in stderr


def test_a_model_of_levels_refuses_wrong_options(trained, vwlite):
    trained(f"{MODELS[1]}")
    for options, message in (
        ("--probabilities", "needs a model of --loss_function logistic"),
        ("--scores", "--scores is for models of classes"),
        ("--raw --levels 1..4", "--raw and --levels do not go together"),
        ("--confidence", "--confidence does not go with --levels"),
    ):
        assert message in vwlite("predict", "-i", "model", "data", *options.split(), status=2).stderr
    assert "contradicts model" in vwlite("train", "data", "-i", "model", "-f", "m", "--levels", "1..4", status=2).stderr
    soft = "--loss_function logistic --logistic_min 0 --logistic_max 5"
    trained(soft, levels="0,0.5,1,2,3,4,5")
    stderr = vwlite("predict", "-i", "model", "data", "--probabilities", status=2).stderr
    assert "--probabilities does not go with a model of --levels: --raw" in stderr
    assert "none of vw's options" in vwlite("vw", "-d", "data", "--levels", "1..5", status=1).stdout
