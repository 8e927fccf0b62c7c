"""``vwlite predict --probabilities, --scores, --raw, --audit``: whatever was typed when the model was trained."""

import json
import math

import pytest

from vwlite import Model

NUMBERS = "1 't |a x:2 y\n-1 |a y z\n" * 9
CLASSES = "1 't |a x:2 y\n2 |a y z\n3 |a z\n" * 9
COSTS = "1:0 2:1 3:2 |a x:2 y\n1:2 2:0 3:1 |a y z\n" * 9
SETS = "0,1 |a x:2 y\n2 |a y z\n" * 9
GROUPS = "1:0 't|a x:2 y\n2:1 |a z\n\n1:1 |a y\n2:0 |a x z\n\n" * 9
LOGISTIC = "--loss_function logistic"


@pytest.fixture
def predicted(vwlite, write):
    """Trains with some options; then the answers of ``predict`` with others."""

    def of(text, trained, *options, name="d", status=0):
        vwlite("train", write(name, text), "-f", "m", "--quiet", *trained.split())
        return vwlite("predict", "-i", "m", name, *options, status=status)

    return of


@pytest.mark.parametrize(
    ("text", "options", "shown"),
    [
        (CLASSES, f"--oaa 3 {LOGISTIC}", "--probabilities"),
        (CLASSES, f"--oaa 3 {LOGISTIC}", "--scores"),
        (CLASSES, "--oaa 3", "--scores"),
        (CLASSES, "--multiclass 3", "--probabilities"),
        (CLASSES, "--multiclass 3", "--scores"),
        (CLASSES, "--multiclass 3 --dotproduct aa", "--probabilities"),
        (CLASSES, "--multiclass 3 --loss_function crammer_singer", "--scores"),
        (SETS, f"--multilabel_oaa 3 {LOGISTIC}", "--probabilities"),
        (GROUPS, f"--csoaa_ldf mc {LOGISTIC}", "--probabilities"),
        (GROUPS, "--csoaa_ldf m", "--csoaa_rank"),
    ],
)
def test_predicting_shows_what_training_would_have(text, options, shown, predicted):
    plain = predicted(text, options).stdout
    later = predicted(text, options, shown.replace("--csoaa_rank", "--scores")).stdout
    assert later == predicted(text, f"{options} {shown}").stdout != plain
    other = "--scores" if "prob" in shown else "--probabilities"
    if options.endswith(("--oaa 3 " + LOGISTIC, "--multiclass 3")):
        assert predicted(text, f"{options} {other}", shown).stdout == later


def test_a_sample_of_classes_in_training_is_no_matter_of_predicting(predicted):
    shares = predicted(CLASSES, f"--oaa 3 {LOGISTIC} --oaa_subsample 1", "--probabilities").lines[0].split()
    assert shares[3] == "t" and sum(float(word.split(":")[1]) for word in shares[:3]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "options"),
    [(CLASSES, "--oaa 3"), (CLASSES, "--multiclass 3"), (COSTS, "--csoaa 3"), (SETS, "--multilabel_oaa 3")],
)
def test_raw_shows_the_sums_of_every_class(text, options, predicted, tmp_path):
    raw = predicted(text, options, "--raw", "-r", "sums").lines
    assert [line.strip() for line in raw] == [line.strip() for line in (tmp_path / "sums").read_text().splitlines()]
    assert [word.partition(":")[0] for word in raw[1].split()] == (["0", "1", "2"] if text == SETS else ["1", "2", "3"])
    if options != "--multiclass 3":
        assert [line.strip() for line in predicted(text, options, "--scores").lines] == [line.strip() for line in raw]


@pytest.mark.parametrize("options", ["", "--link identity", "--binary", "--coin"])
def test_a_logistic_model_has_probabilities_and_sums(options, predicted):
    shown = [predicted(NUMBERS, f"{LOGISTIC} {options}", kind).lines for kind in ("--probabilities", "--raw")]
    shares, sums = ([float(line.split()[0]) for line in lines] for lines in shown)
    assert shares == pytest.approx([1 / (1 + math.exp(-x)) for x in sums], abs=2e-6)
    assert len(set(sums)) == 2


@pytest.mark.parametrize(
    ("text", "options", "shown", "said"),
    [
        (NUMBERS, "", "--probabilities", "needs a model of --loss_function logistic, not squared: --raw"),
        (NUMBERS, "", "--scores", "--scores is for models of classes: --raw shows"),
        (CLASSES, "--oaa 3", "--probabilities", "needs a model of --loss_function logistic, not squared: --scores"),
        (CLASSES, "--multiclass 3 --loss_function logistic", "--probabilities", "--loss_function multinomial, not"),
        (COSTS, "--csoaa 3", "--probabilities", "costs are not probabilities; --scores"),
        (CLASSES, "--ect 3", "--probabilities", "a tree of classes has only its answers"),
        (CLASSES, "--log_multi 3", "--scores", "a tree of classes has only its answers"),
        (CLASSES, "--filter_tree 3", "--raw", "a tree of classes has only its answers"),
        (CLASSES, "--filter_tree 3", "--audit", "--audit does not go with --filter_tree"),
        (CLASSES, "--multiclass 3 --dotproduct aa", "--audit", "--audit does not go with --multiclass"),
        (CLASSES, "--multiclass 3 --dotproduct aa", "--predict mean --raw", "--raw and --predict do not go together"),
        (NUMBERS, "--dotproduct aa", "--predict mean", "--predict mean is for models of --dotproduct and --multiclass"),
        (NUMBERS, "--dotproduct aa", "--audit", "--audit does not go with --dotproduct"),
        (CLASSES, "--oaa 3", "--scores --raw", "--scores and --raw do not go together"),
        (NUMBERS, "", "--audit -p -", "--audit writes to standard output: name a file for -p"),
    ],
)
def test_answers_that_a_model_lacks_are_refused_with_the_reason(text, options, shown, said, predicted):
    assert said in predicted(text, options, *shown.split(), status=2).stderr


@pytest.mark.parametrize(
    "options", ["", "--predict_only_model", "-q aa", "--l1 1e-4", "--active --simulation", "--bfgs --passes 3"]
)
def test_an_audit_names_the_terms_that_make_up_the_sum(options, predicted, tmp_path):
    predicted(NUMBERS, options, "-r", "sums")
    sums = [float(line.split()[0]) for line in (tmp_path / "sums").read_text().splitlines()]
    lines = predicted(NUMBERS, options, "--audit").lines
    assert len(lines) == 2 * len(sums) and lines[0].split()[1] == "t"
    for total, line in zip(sums, lines[1::2], strict=True):
        terms = [item.rsplit(":", 3) for item in line.strip().split("\t")]
        assert sum(float(value) * float(weight) for _, _, value, weight in terms) == pytest.approx(total, abs=1e-4)
        moved = [abs(float(value) * float(weight)) for _, _, value, weight in terms]
        assert moved == pytest.approx(sorted(moved, reverse=True), rel=1e-5)
    assert {"a^x", "a^y", "Constant"} <= {item.split(":")[0] for item in lines[1].strip().split("\t")}


@pytest.mark.parametrize("options", ["--oaa 3", "--multiclass 3"])
def test_an_audit_of_classes_has_a_line_for_each(options, predicted):
    raw = [float(word.split(":")[1]) for word in predicted(CLASSES, options, "--raw").lines[1].split()]
    lines = predicted(CLASSES, options, "--audit").lines[6:12]
    for total, line in zip(raw, lines[1::2], strict=True):
        terms = [item.rsplit(":", 3) for item in line.strip().split("\t")]
        assert sum(float(value) * float(weight) for _, _, value, weight in terms) == pytest.approx(total, abs=1e-4)


def test_an_audit_may_stand_beside_predictions_in_a_file(predicted, tmp_path):
    plain = predicted(NUMBERS, LOGISTIC).stdout
    assert predicted(NUMBERS, LOGISTIC, "--audit", "-p", "p").stdout.count("\ta^y:") == 18
    assert (tmp_path / "p").read_text() == plain


def test_groups_are_audited_line_by_line(predicted):
    assert predicted(GROUPS, "--csoaa_ldf m", "--audit").stdout.count("\ta^z:") == 18


def test_models_of_named_labels(vwlite, write):
    write("d", "red |w a\nblue |w b\ngreen |w c\n" * 5)
    vwlite("l1", "d", "-f", "l", "--model", "multinomial", "--quiet")
    vwlite("aso", "train", "d", "-f", "t", "--quiet")
    for model, shown in (("l", "--scores"), ("l", "--audit"), ("t", "--audit"), ("t", "--jsonl")):
        done = vwlite("predict", "-i", model, "d", shown, status=2)
        assert f"{shown} does not go with a model of named labels" in done.stderr
    vwlite("predict", "-i", "t", "d", "-p", "p", "-r", "r")
    shown = vwlite("predict", "-i", "t", "d", "--scores").lines[0].split()
    assert [word.partition(":")[0] for word in shown] == ["red", "blue", "green", "red"]


def test_the_log_loss_of_classes_needs_no_option_of_training(vwlite, write):
    write("d", CLASSES)
    reports = []
    for more in ((), ("--probabilities",)):
        vwlite("train", "d", "-f", "m", "--quiet", "--oaa", "3", *LOGISTIC.split(), *more)
        reports.append(json.loads(vwlite("evaluate", "-i", "m", "d", "--json", "-").stdout)["result"])
    assert reports[0] == reports[1] and 0 < reports[0]["log_loss"] < 2


def test_scores_beside_t_as_vw_has_them(vwlite, write):
    write("d", CLASSES)
    for more in ((), ("--scores",)):
        vwlite("vw", "d", "-f", "m", "--quiet", "--oaa", "3", *more)
        lines = vwlite("vw", "-t", "-i", "m", "d", "--scores", "-p", "-", "--quiet").lines
        assert [word.partition(":")[0] for word in lines[1].split()] == ["1", "2", "3"]
    vwlite("vw", "d", "-f", "n", "--quiet")
    plain = vwlite("vw", "-t", "-i", "n", "d", "-p", "-", "--quiet").stdout
    assert vwlite("vw", "-t", "-i", "n", "d", "--scores", "-p", "-", "--quiet").stdout == plain != ""


WITH_LABELS = {  # options: lines, what stands behind predictions, the labels in JSON
    "": ("1 |a x\n-2.5 t1|a y\n|a z\n", ["1", "-2.500000", "nan"], [1, -2.5, None]),
    "--oaa 3": ("1 |a x\n3 t1|a y\n|a z\n", ["1", "3", "unknown"], [1, 3, None]),
    "--oaa 2 --named_labels one,two": ("one |a x\ntwo t1|a y\n|a z\n", ["one", "two", "unknown"], ["one", "two", None]),
    "--multilabel_oaa 3": ("0,2 |a x\n, t1|a y\n|a z\n", ["0,2", ",", "unknown"], [[0, 2], [], None]),
    "--outputs 2": ("1,2 |a x\n3,4 t1|a y\n|a z\n", ["1 2", "3 4", "nan nan"], [[1, 2], [3, 4], None]),
}


@pytest.mark.parametrize("options", WITH_LABELS)
def test_labels_stand_behind_predictions(options, vwlite, write):
    text, behind, labels = WITH_LABELS[options]
    vwlite("train", write("d", text), "-f", "m", "--quiet", *options.split())
    plain = [line.removesuffix("t1").strip() or "," for line in vwlite("predict", "-i", "m", "d").lines]
    behind[1] += " t1"
    expected = [f"{prediction} {other}" for prediction, other in zip(plain, behind, strict=True)]
    assert vwlite("predict", "-i", "m", "d", "--with-labels").lines == expected
    predictions = [json.loads(line) for line in vwlite("predict", "-i", "m", "d", "--with-labels", "--jsonl").lines]
    assert [prediction["label"] for prediction in predictions] == labels and predictions[1]["tag"] == "t1"


def test_named_labels_stand_behind_predictions(vwlite, write):
    vwlite("l1", write("d", "u |a x\nv t1|a y\n\nu |a x\n"), "-f", "m", "--model", "crf", "--quiet")
    write("t", "v |a x\nother t1|a y\n|a y\n\nu |a x\n")
    plain = [line.removesuffix(" t1") for line in vwlite("predict", "-i", "m", "t").lines]
    labels = [" v", " other t1", " unknown", "", " u"]
    expected = list(map("".join, zip(plain, labels, strict=True)))
    assert vwlite("predict", "-i", "m", "t", "--with-labels").lines == expected


def test_labels_are_not_shown_where_there_is_none_to_show(vwlite, write):
    vwlite("train", write("d", "1:1 2:3 |a x\n"), "-f", "m", "--csoaa", 2, "--quiet")
    for more in ([], ["--jsonl"]):
        stderr = vwlite("predict", "-i", "m", "d", "--with-labels", *more, status=2).stderr
        assert "--with-labels is for labels that are numbers, classes or sets" in stderr
    vwlite("train", write("n", "1 |a x\n"), "-f", "n.m", "--quiet")
    for other in ("--audit", "--confidence"):
        stderr = vwlite("predict", "-i", "n.m", "n", "--with-labels", other, status=2).stderr
        assert f"--with-labels and {other} do not go together" in stderr


def test_importance_to_stands_beside_predictions(predicted, vwlite, tmp_path):
    lines = predicted(NUMBERS, LOGISTIC, "--importance-to", 0.75).lines
    model = Model.load(tmp_path / "m")
    p, told = model.predict("|a x:2 y"), model.importance_to("1 |a x:2 y\n|a x:2 y\n-1 |a x:2 y", 0.75)
    assert lines[0] == f"{p[0]:.6f} {told[0]:.6f} t" and told[0] == told[1] and math.isinf(told[2])
    stdout = vwlite("predict", "-i", "m", "-", "--importance-to", 0.25, "--raw", "--jsonl", stdin="-1 |a y\n").stdout
    report, (raw,) = json.loads(stdout), model.importance_to("-1 |a y", 0.25, raw=True).tolist()
    assert report["importance"] == (pytest.approx(raw) if math.isfinite(raw) else None)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--confidence",), "do not go together"),
        (("--with-labels",), "do not go together"),
        (("--levels", "-1,1"), "without --levels"),
    ],
)
def test_importance_to_does_not_go_with(more, said, predicted):
    assert said in predicted(NUMBERS, "", "--importance-to", 0.5, *more, status=2).stderr
