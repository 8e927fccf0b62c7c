"""``vwlite evaluate``."""

import json
import math

import pytest

DATA = "".join(f"{1 if n % 3 else 0} {1 + n % 2} |a x{n % 3} y{n % 4}\n" for n in range(30))


@pytest.fixture(autouse=True)
def model(vwlite, write):
    """A logistic model of ``data.vw``."""
    write("data.vw", DATA)
    vwlite("train", "data.vw", "-f", "model", "--loss_function", "logistic", "--quiet")


def report(vwlite, *options):
    return json.loads(vwlite("evaluate", "-i", "model", *options, "--json", "-").stdout)


def test_metrics_are_those_of_the_predictions(vwlite):
    found = report(vwlite, "data.vw")
    predictions = [float(line) for line in vwlite("predict", "-i", "model", "data.vw").lines]
    labels = [(line.startswith("1"), float(line.split()[1])) for line in DATA.splitlines()]
    rows = [(p, *label) for p, label in zip(predictions, labels, strict=True)]
    weight = sum(w for *_, w in rows)
    log_loss = -sum(w * math.log(p if positive else 1 - p) for p, positive, w in rows) / weight
    accuracy = sum(w for p, positive, w in rows if (p > 0.5) == positive) / weight
    assert found["log_loss"] == pytest.approx(log_loss, abs=1e-5) == pytest.approx(found["loss"], abs=1e-5)
    assert found["accuracy"] == pytest.approx(accuracy)
    assert 0.5 < found["auc"] <= 1


def test_table_on_stdout_and_json_in_a_file(vwlite, tmp_path):
    done = vwlite("evaluate", "--initial_regressor", "model", "-d", "data.vw", "--json", "scores.json", "--quiet")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert {"accuracy", "auc", "log_loss"} <= set(scores)
    assert f"{scores['auc']:.6g}"[:6] in done.stdout and "accuracy" in done.stdout
    assert done.stderr == ""


def test_metric_selects(vwlite):
    assert set(report(vwlite, "data.vw", "--metric", "auc,log_loss")) >= {"auc", "log_loss"}
    assert "accuracy" not in report(vwlite, "data.vw", "--metric", "auc,log_loss")


def test_unknown_metric(vwlite):
    done = vwlite("evaluate", "-i", "model", "data.vw", "--metric", "nonsense", status=2)
    assert done.stderr.startswith("vwlite: ") and "nonsense" in done.stderr and "auc" in done.stderr


def test_regression_has_errors_instead(vwlite):
    vwlite("train", "data.vw", "-f", "model", "--quiet")
    found = report(vwlite, "data.vw")
    assert {"mse", "mae"} <= set(found) and "auc" not in found
    assert found["mse"] == pytest.approx(found["loss"], abs=1e-6)


def test_unlabelled_lines_do_not_count(vwlite, write):
    write("more.vw", DATA + "|a x1\n\n|a x2 y7\n")
    assert report(vwlite, "more.vw") == report(vwlite, "data.vw")


def test_nothing_labelled(vwlite, write):
    done = vwlite("evaluate", "-i", "model", write("none.vw", "|a x\n\n"), status=65)
    assert done.stderr == "vwlite: there is no labelled example to measure the model on\n"


def test_reading_options(vwlite, write):
    write("head.vw", "".join(DATA.splitlines(keepends=True)[:12]))
    head = report(vwlite, "head.vw")
    assert report(vwlite, "data.vw", "--examples", "12") == head != report(vwlite, "data.vw")
    assert report(vwlite, "head.vw", "--threads", "2", "--block-size", "9") == head
    write("data.svm", "1 3:1\n0 4:1\n")
    write("svm.vw", "1 | 3\n0 | 4\n")
    assert report(vwlite, "--format", "svmlight", "data.svm") == report(vwlite, "svm.vw")


def test_bad_lines(vwlite, write, tmp_path):
    write("bad.vw", DATA + "1 a\n")
    options = ("--max-bad-ratio", "0.1", "--bad-lines", "kept")
    assert report(vwlite, "bad.vw", *options) == report(vwlite, "data.vw")
    assert (tmp_path / "kept").read_text() == "1 a\n"
    place = "bad.vw:31:1: no '|', expected one between label and features: 1 a"
    assert vwlite("evaluate", "-i", "model", "bad.vw", "--strict", status=65).stderr == f"vwlite: {place} (--strict)\n"
    done = vwlite("evaluate", "-i", "model", "bad.vw", status=65)
    assert done.stdout == "" and done.stderr.splitlines() == [
        f"vwlite: bad line {place}",
        "vwlite: 1 of 31 lines are malformed, more than --max-bad-ratio 0.01 allows",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2 |a x\n", "label 2 does not fit --loss_function logistic: labels must be 0/1 or -1/1"),
        ("-1 |a x\n", "label -1 after 0/1 labels: use either 0/1 or -1/1, not both"),
    ],
)
def test_labels_must_suit_the_loss(line, said, vwlite, write):
    done = vwlite("evaluate", "-i", "model", write("wrong.vw", line), status=65)
    assert done.stderr == f"vwlite: wrong.vw:1: {said}\n"


def test_missing_files(vwlite):
    assert vwlite("evaluate", "-i", "absent", "data.vw", status=66).stdout == ""
    assert vwlite("evaluate", "-i", "model", "absent", status=66).stdout == ""
    assert vwlite("evaluate", "-i", "model", "data.vw", "--json", "nofolder/j", status=73).stderr.startswith("vwlite: ")


def test_rankings_within_queries(vwlite, write):
    write("graded.vw", "2 'a|a x1\n0 'a|a x0\n1 'b|a x1\n0 'b|a x0\n")
    found = report(vwlite, "graded.vw", "--metric", "map,ndcg@1", "--qid", "tag")
    assert (found["queries"], found["map"]) == (2, pytest.approx(1.0))
    assert report(vwlite, "data.vw", "--qid", "none")["queries"] == 1
    assert "no example has a tag" in vwlite("evaluate", "-i", "model", "data.vw", "--qid", "tag", status=65).stderr
