"""``vwlite train --dual``: the same bytes however it is run, what it tells, and what it refuses."""

import json
import re
import zipfile

import numpy as np
import pytest

from vwlite.storage.model_file import load

RNG = np.random.default_rng(5)
ROWS = RNG.integers(0, 6, (400, 3))
SIGNS = np.where(ROWS[:, 0] - ROWS[:, 1] + RNG.integers(-3, 4, 400) > 0, 1, -1)
TEXT = "".join(
    f"{sign} 't{n} |u a{a} b:{b} |i c{c}\n" for n, (sign, (a, b, c)) in enumerate(zip(SIGNS, ROWS, strict=True))
)
DUAL = ("--dual", "--l2", "1")
LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "tube")


def content(path):
    """The files of a model, without their times."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture
def data(write):
    return write("d", TEXT)


def test_another_seed_is_another_order(vwlite, data, weights):
    for seed in "12":
        vwlite("train", "d", "-f", seed, "--quiet", *DUAL, "--seed", seed)
    assert weights("1") != weights("2")


@pytest.mark.parametrize("loss", LOSSES)
def test_every_pass_is_told_and_the_gap_ends_them(vwlite, data, loss):
    done = vwlite("train", "d", "-f", "m", *DUAL, "--gap", "0.01", "--loss_function", loss, "--json", "run.json")
    rows = [[float(cell) for cell in row.split()] for row in re.findall(r"^ +\d.*$", done.stderr, re.M)]
    assert [int(row[0]) for row in rows] == [*range(1, len(rows) + 1)]
    for _, primal, dual, gap, support in rows:
        assert gap == pytest.approx((primal - dual) / primal, abs=2e-3) and 0 < support <= 400
    assert rows[-1][3] <= 0.01 < rows[-2][3]
    with open("run.json") as file:
        result = json.load(file)["result"]
    actual = result["dual"]
    assert actual["passes"] == len(rows) and actual["examples"] == result["examples"] == 400 and actual["skipped"] == 0
    assert actual["primal"] == pytest.approx(rows[-1][1], rel=1e-7) and actual["gap"] <= 0.01
    assert actual["margin"] == pytest.approx(1 / actual["norm"])
    if loss not in ("squared", "tube"):  # of which predictions are clipped to the labels
        average = (actual["primal"] - actual["norm"] ** 2 / 2) / 400
        assert result["average_loss"] == pytest.approx(average, rel=1e-5)
    for name in ("primal", "dual"):
        assert f"{name} = {actual[name]:.6f}\n" in done.stderr
    assert f"support vectors = {actual['support']}\nof these at their bound = {actual['bound']}\n" in done.stderr
    assert actual == json.loads(vwlite("inspect", "m", "--json", "-").stdout)["result"]["dual"]


def test_predictions_of_the_training_are_those_of_the_model(vwlite, data, tmp_path):
    vwlite("train", "d", "-f", "m", "-p", "p", "-r", "r", "--quiet", *DUAL)
    text = (tmp_path / "p").read_text()
    assert text == vwlite("predict", "-i", "m", "d").stdout and len(text.splitlines()) == 400
    assert len((tmp_path / "r").read_text().splitlines()) == 400


def test_an_ordinary_model_comes_of_it(vwlite, data, weights, tmp_path):
    options = ("--names", "--readable_model", "text", "--loss_function", "logistic")  # with hinge a weight is 0
    vwlite("train", "d", "-f", "m", "--quiet", *options, *DUAL)
    report = json.loads(vwlite("evaluate", "-i", "m", "d", "--metric", "accuracy", "--json", "-").stdout)["result"]
    assert report["accuracy"] > 0.75
    stdout = vwlite("inspect", "m", "--top", "2").stdout
    assert "can_go_on      no" in stdout and re.search(r"u\^b|u\^a", stdout)
    assert len(weights("m")) == 14
    assert len(re.findall(r"^\d+:", (tmp_path / "text").read_text(), re.M)) == 14


def test_importance_counts_as_repetition(vwlite, write):
    lines = TEXT.splitlines(True)[:60]
    write("heavy", "".join(line.replace(" '", " 3 '", 1) if n % 2 else line for n, line in enumerate(lines)))
    write("often", "".join(line * (3 if n % 2 else 1) for n, line in enumerate(lines)))
    for name in ("heavy", "often"):
        vwlite("train", name, "-f", f"{name}.m", "--quiet", *DUAL, "--gap", "1e-9", "--passes", "100000")
    one, two = (load(f"{name}.m").header["dual"]["primal"] for name in ("heavy", "often"))
    assert one == pytest.approx(two, rel=1e-8)


def support_of(tmp_path):
    header, *rows = (tmp_path / "sv").read_text().splitlines()
    return header.split("\t"), [row.split("\t") for row in rows]


def test_support_vectors_are_listed(vwlite, data, tmp_path):
    options = ("--gap", "1e-9", "--passes", "99999", "--quiet", *DUAL)
    vwlite("train", "d", "-f", "m", "--support", "sv", *options)
    header, rows = support_of(tmp_path)
    assert header == ["file", "line", "tag", "label", "a", "margin", "bound"]
    inspection = json.loads(vwlite("inspect", "m", "--json", "-").stdout)["result"]["dual"]
    assert (len(rows), sum(row[-1] == "bound" for row in rows)) == (
        inspection["support"],
        inspection["bound"],
    ) and inspection["bound"]
    for file, line, tag, label, a, margin, bound in rows:
        assert file == "d" and tag == f"t{int(line) - 1}" and float(label) == SIGNS[int(line) - 1]
        assert float(a) == 1 if bound else 0 < float(a) < 1
        assert float(margin) < 1 + 1e-6 if bound else float(margin) == pytest.approx(1, abs=1e-6)
    margins = SIGNS * [float(line.split()[0]) for line in vwlite("predict", "-i", "m", "d").lines]
    assert (np.delete(margins, [int(row[1]) - 1 for row in rows]) >= 1 - 1e-5).all()


def test_the_support_vectors_alone_give_the_same_model(vwlite, data, write, tmp_path, weights):
    options = ("--gap", "1e-10", "--passes", "99999", "--quiet", *DUAL)
    vwlite("train", "d", "-f", "m", "--support", "sv", *options)
    lines = TEXT.splitlines(True)
    write("few", "".join(lines[int(row[1]) - 1] for row in support_of(tmp_path)[1]))
    vwlite("train", "few", "-f", "f", *options)
    assert weights("f") == pytest.approx(weights("m"), abs=1e-4)


def test_support_vectors_of_regression_have_residuals(vwlite, write, tmp_path):
    write("d", "x |w\n" + "".join(f"{n % 7} |w x:{n % 5}\n" for n in range(40)))
    options = "--loss_function tube --tube 0.5 --max-bad-ratio 0.5 --gap 1e-8 --passes 99999"
    vwlite("train", "d", "-f", "m", "--support", "sv", "--quiet", *DUAL, *options.split())
    header, rows = support_of(tmp_path)
    done = vwlite("predict", "-i", "m", "d", "--raw", status=65).stdout.split()
    numbers = [float(line) for line in done if line != "nan"]
    assert header[5] == "residual"
    for _, line, _, label, a, residual, bound in rows:
        n = int(line) - 2
        assert float(label) == n % 7 and float(residual) == pytest.approx(n % 7 - numbers[n], abs=1e-4)
        assert abs(float(residual)) >= 0.5 - 1e-4 and float(a) * float(residual) > 0
        assert (abs(float(a)) == 1) == bool(bound)


def test_examples_of_a_cache_are_numbered(vwlite, data, tmp_path):
    vwlite("train", "d", "-c", "--support", "sv", "--quiet", *DUAL)
    first = support_of(tmp_path)[1]
    vwlite("train", "d", "-c", "--support", "sv", "--quiet", *DUAL)
    assert [row[1:] for row in support_of(tmp_path)[1]] == [row[1:] for row in first]
    assert {row[0] for row in first} == {"d"} and {row[0] for row in support_of(tmp_path)[1]} == {""}


SEPARABLE = "1 |a x:2 y:1\n1 |a x:3 y:2\n-1 |a x:-1 y:0.5\n-1 |a y:2\n"


def test_a_hard_margin_of_separable_classes(vwlite, write, weights):
    write("d", SEPARABLE)
    done = vwlite("train", "d", "-f", "m", "--dual", "--hard_margin", "--gap", "1e-9", "--json", "j")
    with open("j") as file:
        actual = json.load(file)["result"]["dual"]
    assert actual["separable"] and actual["bound"] == 0 and actual["support"] == 2
    assert f"the classes are = linearly separable, margin {actual['margin']:.6g}\n" in done.stderr
    margins = [1, 1, -1, -1] * np.array([float(line) for line in vwlite("predict", "-i", "m", "d").stdout.split()])
    assert margins.min() == pytest.approx(1, abs=1e-6)
    assert actual["margin"] == pytest.approx(1 / np.linalg.norm([*weights("m").values()]), rel=1e-6)
    # between the nearest points, in which the constant is 1: a plane through 0
    directions = np.linspace(0, np.pi, 400)
    best = 0
    for direction in directions:
        for other in 2 * directions:
            w = [np.sin(direction) * np.cos(other), np.sin(direction) * np.sin(other), np.cos(direction)]
            best = max(best, min(np.array([[2, 1, 1], [3, 2, 1], [1, -0.5, -1], [0, -2, -1]]) @ w))
    assert best <= actual["margin"] + 1e-9 and actual["margin"] == pytest.approx(best, abs=2e-3)


@pytest.mark.parametrize("text", ["1 |a x y\n1 |a\n-1 |a x\n-1 |a y\n", "1 |a x\n-1 |a x\n", TEXT])
def test_classes_that_are_not_separable_leave_no_model(vwlite, write, names_in, text):
    write("d", text)
    done = vwlite("train", "d", "-f", "m", "--dual", "--hard_margin", "--json", "j")
    with open("j") as file:
        assert json.load(file)["result"]["dual"]["separable"] is False
    assert "not separable: there is no model" in done.stderr and "the classes are = not separable" in done.stderr
    assert names_in() == ["d", "j"]
    if text == TEXT:
        quiet = vwlite("train", "d", "-f", "m", "--dual", "--hard_margin", "--quiet")
        assert quiet.stderr == "vwlite: not separable: there is no model\n"


def test_too_few_passes_leave_separability_unknown(vwlite, write, names_in):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 40))
    w, near = rng.normal(size=40), 1e-7
    x -= np.outer((x @ w - np.sign(x @ w) * near) / (w @ w), w)
    lines = (" ".join(f"f{j}:{value:.17g}" for j, value in enumerate(row)) for row in x)
    write("d", "".join(f"{int(np.sign(row @ w))} |a {line}\n" for row, line in zip(x, lines, strict=True)))
    done = vwlite("train", "d", "-f", "m", "--dual", "--hard_margin", "--noconstant", "--passes", "2")
    assert "not known after 2 passes: there is no model" in done.stderr and names_in() == ["d"]


def test_held_out_examples_are_not_fitted(vwlite, write, weights):
    write("d", TEXT)
    write("head", "".join(TEXT.splitlines(True)[:300]))
    held = vwlite("train", "d", "-f", "m", *DUAL, "--holdout_after", "300")
    vwlite("train", "head", "-f", "h", "--quiet", *DUAL)
    assert weights("m") == weights("h")
    measured = vwlite("evaluate", "-i", "h", "d", "--metric", "loss", "--json", "-")
    assert json.loads(measured.stdout)["result"]["loss"] > 0
    assert re.search(r"average loss = 0\.\d+ h\n", held.stderr)


def test_a_large_value_of_the_constant_leaves_its_weight_free(vwlite, write, weights):
    write("d", "".join(f"{7 + n % 3} |w x:{n % 3}\n" for n in range(60)))
    actual = {}
    for scale in (1, 100):
        options = f"--dual --l2 100 --loss_function squared --bias_scale {scale} --gap 1e-9 --passes 99999"
        vwlite("train", "d", "-f", "m", "--quiet", *options.split())
        actual[scale] = sorted(weights("m").values())
    slope = 40 / (40 + 50)  # of centred numbers, l2 / 2 being the penalty beside (y - p)^2
    assert actual[1][-1] < 6 and actual[100] == pytest.approx([slope, 8 - slope], abs=2e-3)


def test_malformed_lines_and_unlabelled_ones_are_left_out(vwlite, write, weights):
    write("d", TEXT)
    write("odd", TEXT + "x |u a\n|u a1 b:2\n\n1 0 |u a1\n")
    vwlite("train", "d", "-f", "m", "--quiet", *DUAL)
    vwlite("train", "odd", "-f", "o", "--quiet", *DUAL, "--max-bad-ratio", "0.1")
    assert weights("m") == weights("o")


def test_examples_without_features_are_counted(vwlite, write):
    write("d", TEXT + "1 |u\n-1 |z a\n")
    done = vwlite("train", "d", "-f", "m", *DUAL, "--noconstant", "--ignore", "z", "--json", "j")
    assert "2 examples without features were skipped" in done.stderr
    with open("j") as file:
        actual = json.load(file)["result"]["dual"]
    assert (actual["examples"], actual["skipped"]) == (400, 2)
    write("none", "1 |u\n-1 |u\n")
    refused = vwlite("train", "none", "-f", "n", *DUAL, "--noconstant", "--quiet", status=65)
    assert refused.stderr == "vwlite: no example has a feature to learn from\n"


def test_too_few_passes_are_said(vwlite, data):
    done = vwlite("train", "d", "-f", "m", *DUAL, "--passes", "2", "--gap", "1e-6")
    message = r"vwlite: the gap is 0\.\d+ after 2 passes, more than --gap 1e-06: --passes allows more\n"
    assert len(re.findall(message, done.stderr)) == 1
    quiet = vwlite("train", "d", "-f", "m", *DUAL, "--passes", "2", "--gap", "1e-6", "--quiet")
    assert re.fullmatch(message, quiet.stderr)
    assert vwlite("train", "d", "-f", "m", *DUAL, "--quiet").stderr == ""


@pytest.mark.parametrize("kind", ["--oaa", "--multiclass"])
def test_too_few_passes_of_classes_are_said_once(kind, vwlite, write):
    write("classes", of_classes(CLASSES))
    few = vwlite("train", "classes", "-f", "m", *DUAL, "--passes", "2", "--gap", "1e-6", "--quiet", kind, "3")
    assert few.stderr.count("\n") == 1 and few.stderr.endswith("--passes allows more (so 3 of 3 classes)\n")


def test_labels_of_two_classes_may_be_0_and_1(vwlite, write, weights):
    write("signs", TEXT)
    write("bits", re.sub("^-1", "0", TEXT, flags=re.M))
    for name in ("signs", "bits"):
        vwlite("train", name, "-f", f"{name}.m", "--quiet", *DUAL)
    assert weights("signs.m") == weights("bits.m")


CLASSES = [int(2 * a > c + 3) + int(b > 3) + 1 for a, b, c in ROWS]


def of_classes(labels):
    rows = zip(labels, ROWS, strict=True)
    return "".join(f"{label} 't{n} |u a{a} b:{b} |i c{c}\n" for n, (label, (a, b, c)) in enumerate(rows))


@pytest.mark.parametrize("options", ["--loss_function squared_hinge", "--loss_function logistic", "-q ui --unit", ""])
def test_every_class_has_the_machine_that_tells_it_from_the_others(vwlite, write, options):
    text, dual = of_classes(CLASSES), ("--quiet", *DUAL, *options.split())
    write("d", text)
    vwlite("train", "d", "-f", "m", "--oaa", "3", *dual, "--json", "j")
    vwlite("train", "-f", "pipe", "--oaa", "3", *dual, stdin=text)
    assert content("m") == content("pipe")
    shown = [line.split()[:3] for line in vwlite("predict", "-i", "m", "d", "--scores").lines]
    scores = np.array([[float(entry.rpartition(":")[2]) for entry in row] for row in shown])
    with open("j") as file:
        result = json.load(file)["result"]
    for number in (1, 2, 3):
        write("two", of_classes([1 if label == number else -1 for label in CLASSES]))
        vwlite("train", "two", "-f", "t", *dual)
        raw = [float(line.split()[0]) for line in vwlite("predict", "-i", "t", "d", "--raw").lines]
        np.testing.assert_allclose(scores[:, number - 1], raw, rtol=1e-5, atol=2e-6)  # as many digits are shown
        assert result["dual"][number - 1] == load("t").header["dual"]
    answers = [int(line.split()[0]) for line in vwlite("predict", "-i", "m", "d").lines]
    assert answers == (scores.argmax(axis=1) + 1).tolist()
    assert result["average_loss"] == pytest.approx((np.array(answers) != CLASSES).mean())


def test_one_machine_of_all_classes(vwlite, write):
    text, dual = of_classes(CLASSES), ("--multiclass", "3", "--gap", "1e-4", *DUAL)
    write("d", text)
    done = vwlite("train", "d", "-f", "m", *dual, "--json", "j")
    vwlite("train", "-f", "pipe", "--loss_function", "crammer_singer", "--quiet", *dual, stdin=text)
    assert content("m") == content("pipe")
    with open("j") as file:
        result = json.load(file)["result"]
    predictions, lines = result["dual"], vwlite("predict", "-i", "m", "d", "--scores").lines
    scores = np.array([[float(entry.rpartition(":")[2]) for entry in line.split()[:3]] for line in lines])
    place, true = np.arange(400), np.array(CLASSES) - 1
    least = (scores + 1 - np.eye(3)[true]).max(axis=1) - scores[place, true]
    assert predictions["gap"] <= 1e-4 and predictions["passes"] == len(re.findall(r"^ +\d.*$", done.stderr, re.M))
    assert predictions["norm"] ** 2 / 2 + least.sum() == pytest.approx(predictions["primal"], rel=1e-4)
    assert result["average_loss"] == pytest.approx((scores.argmax(axis=1) != true).mean())
    vwlite("train", "d", "-f", "o", "--oaa", "3", "--quiet", *DUAL)
    assert vwlite("predict", "-i", "o", "d", "--scores").lines != lines


def test_sets_of_labels_are_told_one_by_one(vwlite, write):
    sets = [",".join(map(str, sorted({c - 1, 2 - a % 2}))) for c, (a, _, _) in zip(CLASSES, ROWS, strict=True)]
    write("d", of_classes(sets))
    done = vwlite("train", "d", "-f", "m", "--multilabel_oaa", "3", *DUAL)
    assert re.search(r"^class 3: +\d+ .*$", done.stderr, re.M)
    assert len(vwlite("predict", "-i", "m", "d").lines) == 400
    refused = vwlite("train", "d", "-i", "m", "-f", "m", "--quiet", status=2).stderr
    assert "vwlite: a model of --dual does not go on learning" in refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--dual", "--dual needs --l2, the strength of regularisation: try --l2 1 (the C of others is 1 / l2)"),
        ("--dual --l2 1 --loss_function poisson", "--dual takes --loss_function hinge, squared_hinge, logistic, "),
        ("--dual --l2 1 --adaptive", "--adaptive does nothing with --dual: drop one of the two"),
        ("--dual --l2 1 -l 2", "-l does nothing with --dual: drop one of the two"),
        ("--dual --l2 1 --power_t 1", "--power_t does nothing with --dual: drop one of the two"),
        ("--dual --l2 1 --l1 1", "--l1 does nothing with --dual: drop one of the two"),
        ("--dual --l2 1 --shuffle-first", "--shuffle-first does nothing with --dual: drop one of the two"),
        ("--dual --l2 1 --passes 5 --holdout_period 3", "--holdout_period does nothing with --dual"),
        ("--dual --l2 1 --ftrl", "--ftrl does not go with --dual"),
        ("--dual --l2 1 --bfgs --passes 3", "--bfgs and --dual do not go together; with --bfgs one set of weights"),
        ("--dual --l2 1 --coin", "--coin and --dual do not go together; with --dual one set of weights is fitted to"),
        ("--dual --l2 1 --dotproduct ui", "--dual and --dotproduct do not go together"),
        ("--dual --l2 1 --passes 2 --curriculum easy", "--curriculum does not go with --dual, which needs the same"),
        ("--dual --l2 1 --resume", "--dual does not go with --resume and --checkpoint-every"),
        ("--dual --l2 1 --shard 1/2", "--dual does not go with shards: its examples stay in memory together"),
        ("--dual --l2 1 --gap 1", "--gap takes a number above 0 and below 1, not 1"),
        ("--dual --l2 1 --bias_scale 0", "--bias_scale takes a number above 0, not 0"),
        ("--dual --hard_margin --loss_function logistic", "--hard_margin goes with --loss_function hinge, not l"),
        ("--dual --l2 1 --csoaa 3", "--csoaa does not go with --dual for classes"),
        ("--dual --hard_margin --oaa 3", "--hard_margin does not go with --dual for classes"),
        ("--dual --l2 1 --oaa 3 --support sv", "--support is for --ksvm, and for --dual with two"),
        ("--dual --l2 1 --filter_tree 3", "--filter_tree plays with learners of two classes"),
        ("--dual --l2 1 --multiclass 3 --loss_function hinge", "--multiclass with --dual takes --loss_function "),
        ("--dual --hard_margin --multiclass 3", "--hard_margin does not go with --dual for classes"),
        ("--dual --l2 1 --loss_function crammer_singer", "--loss_function crammer_singer needs --multiclass"),
        ("--dual --oaa 3", "--dual needs --l2, the strength of regularisation"),
        ("--dual --l2 1 --oaa 3 --adaptive", "--adaptive does nothing with --dual: drop one of the two"),
        ("--gap 0.1", "--gap needs --dual"),
        ("--hard_margin", "--hard_margin needs --dual"),
        ("--support sv", "--support does nothing without --dual or --ksvm"),
        ("--bias_scale 2", "--bias_scale needs --dual"),
    ],
)
def test_wrong_options_are_refused(vwlite, data, names_in, options, message):
    refused = vwlite("train", "d", "-f", "m", *options.split(), "--quiet", status=2).stderr
    assert refused.startswith(f"vwlite: {message}") and refused.count("\n") == 1
    assert names_in() == ["d"]


@pytest.mark.parametrize("option", ["oaa", "multiclass"])
def test_refusals_of_a_model_of_classes_name_its_option(vwlite, write, option):
    write("d", "1 |a b\n2 |a c\n")
    vwlite("train", "d", "-f", "m", "--dual", "--l2", "1", f"--{option}", "2", "--quiet")
    refused = vwlite("predict", "d", "-i", "m", "--audit", status=2).stderr
    assert refused.startswith(f"vwlite: --audit does not go with --{option}: ")


def test_labels_must_fit_the_loss(vwlite, write):
    write("d", "1 |a b\n2 |a c\n")
    refused = vwlite("train", "d", "-f", "m", *DUAL, "--quiet", status=65).stderr
    assert "label 2 does not fit --loss_function hinge" in refused


def test_vw_has_no_such_option(vwlite, data):
    refused = vwlite("vw", "d", "-f", "m", *DUAL, "--quiet", status=None)
    assert refused.status == 1 and "--dual is none of vw's options (use 'vwlite train')" in refused.stdout
