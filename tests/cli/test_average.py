"""--average: the mean predicts, the last weights learn on, and what has no mean of weights is refused by name."""

import json

import numpy as np
import pytest

LINES = "".join(f"{(-1) ** (n * n // 3 % 2)} 't{n} |u u{n % 5} x:{n % 4}.25 |i i{n % 7}\n" for n in range(300))
LOGISTIC = ("--loss_function", "logistic")


def by_name(vwlite, name):
    """The weights of a model that has names."""
    report = json.loads(vwlite("inspect", name, "--top", "100", "--json", "-").stdout)
    return {row["name"]: row["weight"] for row in report["top"]}


def test_the_averaged_perceptron(vwlite, write, weights):
    rng = np.random.default_rng(1)
    x, w = rng.integers(-3, 4, (60, 5)), rng.normal(size=5)
    y = np.where(x @ w > 0, 1, -1)
    features = [" ".join(f"{i}:{value}" for i, value in enumerate(row)) for row in x]
    write("d", "".join(f"{label} | {row}\n" for row, label in zip(features, y, strict=True)))
    v, total = np.zeros(5), np.zeros(5)
    for row, label in zip(x, y, strict=True):
        v += label * row if label * (row @ v) <= 0 else 0
        total += v
    textbook = "--sgd --power_t 0 -l 1 --noconstant --loss_function perceptron -b 10 --average --average_after 0"
    vwlite("train", "d", "-f", "m", "--quiet", *textbook.split())
    assert weights("m") == pytest.approx({i: value / 60 for i, value in enumerate(total)}, rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        "--multiclass 3", "--multiclass 3 --loss_function logistic --average_after 20", "--filter_tree 3",
        "--multiclass 3 --loss_function crammer_singer", "--oaa 3", "--oaa 3 --sgd -l 0.1 --l2 1e-3", "--csoaa 3",
    ],
)
def test_a_mean_of_classes(vwlite, write, options):
    head = "1:{} 2:0.5 3:{}" if "csoaa" in options else "{}"
    heads = [head.format(*([n % 2, n % 3 / 2] if "csoaa" in options else [n % 3 + 1])) for n in range(300)]
    lines = [f"{label} |u u{n % 5} x:{n % 4}.25 |i i{n % 7}\n" for n, label in enumerate(heads)]
    for name, some in (("d", lines), ("first", lines[:130]), ("rest", lines[130:]), ("250", lines[:250])):
        write(name, "".join(some))
    arguments, scores = ("--average", *options.split(), "--quiet"), () if "tree" in options else ("--raw",)
    vwlite("train", "d", "-f", "whole", *arguments)
    vwlite("train", "first", "-f", "half", *arguments)
    vwlite("train", "rest", "-i", "half", "-f", "two", "--quiet")
    told = [vwlite("predict", "-i", name, "d", *scores).stdout for name in ("whole", "two")]
    assert told[0] == told[1]
    vwlite("train", "d", "-f", "last", *options.split("--average_after")[0].split(), "--quiet")
    assert not scores or vwlite("predict", "-i", "last", "d", *scores).stdout != told[0]
    vwlite("train", "d", "--holdout_after", "250", *arguments, "-p", "p")
    vwlite("train", "250", *arguments, "-f", "m")
    with open("p") as file:
        assert file.read().splitlines()[250:] == vwlite("predict", "-i", "m", "d").stdout.splitlines()[250:]


def test_held_out_examples_are_predicted_with_the_mean(vwlite, write):
    lines = LINES.splitlines(True)
    write("d", LINES)
    write("train", "".join(lines[:250]))
    write("test", "".join(lines[250:]))
    vwlite("train", "d", "--holdout_after", "250", "--average", *LOGISTIC, "--quiet", "-p", "p", "-f", "m")
    vwlite("train", "train", "--average", *LOGISTIC, "--quiet", "-f", "n")
    output = vwlite("predict", "-i", "n", "test").stdout.splitlines()
    with open("p") as file:
        assert file.read().splitlines()[250:] == output
    assert vwlite("predict", "-i", "m", "test").stdout.splitlines() == output


def test_texts_and_reports_have_the_mean(vwlite, write, weights):
    write("d", LINES)
    vwlite("train", "d", "--average", *LOGISTIC, "--quiet", "-f", "m", "--names", "--readable_model", "r")
    mean = weights("m")
    with open("r") as file:
        rows = [line.split(":") for line in file.read().partition("\n:1\n")[2].splitlines()]
    read = {int(row[0]): float(row[1].split()[0]) for row in rows if row[0].isdigit()}
    assert read == pytest.approx(mean, rel=1e-5)
    assert sorted(by_name(vwlite, "m").values()) == pytest.approx(sorted(mean.values()), rel=1e-5)
    vwlite("train", "d", "--average", *LOGISTIC, "--quiet", "-f", "small", "--predict_only_model")
    assert weights("small") == mean
    audit = vwlite("predict", "-i", "m", "--audit", "d").stdout.splitlines()
    assert "u^u0:" in audit[1] and f"{mean[slot_of(audit[1], 'u^u0')]:g}" in audit[1]


def slot_of(line, name):
    return int(next(item for item in line.split("\t") if item.startswith(name)).split(":")[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--average --ftrl", "--ftrl does not go with --average"),
        ("--average --l1 1e-4", "--l1 does not go with --average"),
        ("--average --bfgs --passes 2", "--average and --bfgs do not go together"),
        ("--average --dual --l2 1", "--average and --dual do not go together"),
        ("--average --coin", "--average and --coin do not go together"),
        ("--average --lrq ui2", "--average and --lrq do not go together"),
        ("--average --active --simulation", "--average and --active do not go together"),
        ("--average --ect 3", "--average and --ect do not go together; with --average the mean is one of single steps"),
        ("--average --dotproduct ui", "--average"),
        ("--average --workers 2", "--average does not go with shards: a mean of the rounds' models is one already"),
        ("--average_after 3", "--average_after needs --average"),
        ("--multiclass 3 --average_after 3", "--average_after needs --average"),
        ("--multiclass 3 --dual --l2 1 --average", "--average and"),
        ("--average --average_after -1", "--average_after"),
    ],
)
def test_learners_without_a_mean_of_weights_are_refused(vwlite, write, options, message):
    write("d", LINES)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


def test_a_model_keeps_whether_it_has_a_mean(vwlite, write):
    write("d", LINES)
    vwlite("train", "d", "-f", "plain", "--quiet")
    vwlite("train", "d", "-f", "mean", "--average", "--quiet")
    assert "--average" in vwlite("train", "d", "-i", "plain", "--average", status=2).stderr
    assert "--average_after" in vwlite("train", "d", "-i", "mean", "--average_after", "9", status=2).stderr
    assert "--average does not go with" in vwlite("merge", "mean", "mean", "-f", "n", status=2).stderr
    stderr = vwlite("train", "d", "-f", "late", "--average", "--average_after", "999").stderr
    assert "300 examples were learned, and --average_after is 999: the model has the last weights" in stderr
    assert vwlite("predict", "-i", "late", "d").stdout == vwlite("predict", "-i", "plain", "d").stdout
    vwlite("train", "d", "-f", "plain", "--quiet", "--label-units", "raw")
    vwlite("train", "d", "-f", "late", "--average", "--average_after", "999", "--label-units", "raw", "--quiet")
    assert vwlite("predict", "-i", "late", "d").stdout == vwlite("predict", "-i", "plain", "d").stdout


def test_text_of_a_model_is_in_units_of_the_labels(vwlite, write, tmp_path):
    """Weights are those of the mean times the spread; the constant has the labels' mean, too."""
    write("d", LINES)
    vwlite("train", "d", "-f", "m", "--average", "--noconstant", "--quiet", "--readable_model", "t", "--names")
    shown = json.loads(vwlite("inspect", "m", "--top", "50", "--json", "-").stdout)["top"]
    lines = (tmp_path / "t").read_text().splitlines()
    text = dict(line.split(":")[:2] for line in lines if line[:1].isdigit() and line.count(":") == 1)
    for entry in shown:
        assert float(text[str(entry["slot"])].split()[0]) == pytest.approx(entry["weight"], rel=1e-4)
