"""``vwlite evaluate``."""

import json
import math
import re
from pathlib import Path

import pytest

from vwlite.evaluation.metric_table import TABLE
from vwlite.learners.losses import LOSSES

DATA = "".join(f"{1 if n % 3 else 0} {1 + n % 2} |a x{n % 3} y{n % 4}\n" for n in range(30))


@pytest.fixture(autouse=True)
def model(vwlite, write):
    """A logistic model of ``data.vw``."""
    write("data.vw", DATA)
    vwlite("train", "data.vw", "-f", "model", "--loss_function", "logistic", "--quiet")


def report(vwlite, *options):
    return json.loads(vwlite("evaluate", "-i", "model", *options, "--json", "-").stdout)["result"]


def test_metrics_are_those_of_the_predictions(vwlite):
    figures = report(vwlite, "data.vw")
    predictions = [float(line) for line in vwlite("predict", "-i", "model", "data.vw").lines]
    labels = [(line.startswith("1"), float(line.split()[1])) for line in DATA.splitlines()]
    rows = [(p, *label) for p, label in zip(predictions, labels, strict=True)]
    weight = sum(w for *_, w in rows)
    log_loss = -sum(w * math.log(p if positive else 1 - p) for p, positive, w in rows) / weight
    accuracy = sum(w for p, positive, w in rows if (p > 0.5) == positive) / weight
    assert figures["log_loss"] == pytest.approx(log_loss, abs=1e-5) == pytest.approx(figures["loss"], abs=1e-5)
    assert figures["accuracy"] == pytest.approx(accuracy)
    assert 0.5 < figures["auc"] <= 1


def test_table_on_stdout_and_json_in_a_file(vwlite, tmp_path):
    done = vwlite("evaluate", "--initial_regressor", "model", "-d", "data.vw", "--json", "scores.json", "--quiet")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert {"accuracy", "auc", "log_loss"} <= set(scores)
    assert f"{scores['auc']:.6g}"[:6] in done.stdout and "accuracy" in done.stdout
    assert done.stderr == ""


def test_metric_selects_what_is_reported(vwlite):
    assert set(report(vwlite, "data.vw", "--metric", "auc,log_loss")) >= {"auc", "log_loss"}
    assert "accuracy" not in report(vwlite, "data.vw", "--metric", "auc,log_loss")


def test_an_unknown_metric_is_answered_with_the_known(vwlite):
    done = vwlite("evaluate", "-i", "model", "data.vw", "--metric", "nonsense", status=2)
    assert done.stderr.startswith("vwlite: ") and "nonsense" in done.stderr and "auc" in done.stderr


def test_regression_has_errors_instead(vwlite, write):
    write("numbers.vw", DATA + "2 |a x0\n")
    vwlite("train", "numbers.vw", "-f", "model", "--quiet")
    figures = report(vwlite, "numbers.vw")
    assert {"mse", "mae"} <= set(figures) and "auc" not in figures
    done = vwlite("evaluate", "-i", "model", "numbers.vw", "--metric", "auc", status=2)
    has = "there are loss, matching_loss, best_constant_loss, mse, rmse, mae, r2, mean_label, mean_prediction, "
    has += "calibration_bins, ece"
    assert done.stderr == f"vwlite: metric 'auc' needs binary labels, -1 and 1 or 0 and 1; {has}\n"
    assert figures["mse"] == pytest.approx(figures["loss"], abs=1e-6)


TEXT, SEQUENCE = "{0} |f x{2}\n", "t{0} |f x{2}\n\n"
NOT_THERE = "a model of this kind has"
ALWAYS, TOKENS = ("examples", "weight"), ("sequences", "tokens")


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_log_loss_says_which_models_have_it(loss, vwlite):
    """The message does not list it among the metrics."""
    vwlite("train", "data.vw", "-f", "model", "--quiet", "--loss_function", loss)
    stderr = vwlite("evaluate", "-i", "model", "data.vw", "--metric", "log_loss", status=2).stderr
    needed, _, has = stderr.partition("; there are ")
    assert needed == "vwlite: metric 'log_loss' needs probabilities, those of a model of --loss_function logistic"
    names = has.strip().split(", ")
    assert "auc" in names and "accuracy" in names and "log_loss" not in names
    vwlite("evaluate", "-i", "model", "data.vw", "--metric", ",".join(names))
    done = vwlite("evaluate", "-i", "model", "data.vw", "--metric", "auc,log_loss,accuracy", "--json", "-", status=2)
    assert done.stderr == stderr
    assert [*json.loads(done.stdout)["result"]] == ["examples", "weight", "auc", "accuracy"]
    assert "nonsense" in vwlite("evaluate", "-i", "model", "data.vw", "--metric", "auc,nonsense", status=2).stderr
    vwlite("train", "data.vw", "-f", "model", "--quiet", "--loss_function", "logistic")
    vwlite("evaluate", "-i", "model", "data.vw", "--metric", "log_loss")


@pytest.mark.parametrize(
    ("train", "text", "metrics", "kept", "reason"),
    [
        ("train d --oaa auto", TEXT, "log_loss,accuracy", ["accuracy"], "log_loss is of probabilities, and"),
        ("train d --ect 2", TEXT, "accuracy,recall@2,macro_f1", ["accuracy", "macro_f1"], f"recall@2: {NOT_THERE}"),
        ("train d --oaa auto", TEXT, "mse,accuracy,ndcg@3", ["accuracy"], f"--metric mse: {NOT_THERE}"),
        ("train d --outputs 2", "{0},{1} |f x{2}\n", "auc,rmse", ["rmse"], f"--metric auc: {NOT_THERE}"),
        ("train d", TEXT, "log_loss,mse", [*ALWAYS, "mse"], "metric 'log_loss' needs binary labels, -1 and 1"),
        ("train d", TEXT, "log_loss,matching_loss", [*ALWAYS, "matching_loss"], "metric 'log_loss' needs binary"),
        ("train d --levels 1,2", TEXT, "auc,mae_raw", [*ALWAYS, "mae_raw"], "metric 'auc' needs binary labels"),
        ("l1 d --model multinomial", TEXT, "mse,accuracy", ["examples", "accuracy"], f"mse: {NOT_THERE}"),
        ("l1 d --model crf", SEQUENCE, "auc,accuracy", [*TOKENS, "accuracy"], f"auc: {NOT_THERE}"),
        ("l1 d --model crf", SEQUENCE, "conll,accuracy", [*TOKENS, "accuracy"], "there are no phrases to count"),
        ("l1 d --model crf --loss mira", SEQUENCE, "log_loss,accuracy", [*TOKENS, "accuracy"], "m has no log_loss"),
        ("aso train d", TEXT, "mse,accuracy", ["accuracy"], f"--metric mse: {NOT_THERE}"),
        ("aso train d --loss_function hinge", TEXT, "log_loss,accuracy", ["accuracy"], "hinge have none"),
        ("aso train d --sequences", SEQUENCE, "conll,accuracy", ["accuracy"], "there are no phrases to count"),
        ("aso tasks d", "{0} t{1}|f x{2}\n", "auc,mse", ["mse"], f"--metric auc: {NOT_THERE}"),
        ("cluster d -k 2", TEXT, "accuracy,purity", ["purity"], f"--metric accuracy: {NOT_THERE}"),
        ("train d --cb 2", "{0}:1:0.5 |f x{2}\n", "auc,loss", None, "--metric auc does not go with a policy"),
    ],
)
def test_a_metric_that_a_model_does_not_have_is_an_error_behind_the_others(
    train, text, metrics, kept, reason, vwlite, write
):
    write("d", "".join(text.format(n % 2 + 1, 2 - n % 2, n % 3) for n in range(30)))
    vwlite(*train.split(), "-f", "m", "--quiet")
    how = ("evaluate", "-i", "m", "d", "--metric")
    done, written = vwlite(*how, metrics, "--json", "-", status=2), vwlite(*how, metrics, "--json", "j", status=2)
    there = [*json.loads(done.stdout)["result"]]
    assert there == (kept or there) and reason in done.stderr
    assert [*json.loads(Path("j").read_text())["result"]] == there and there[-1] in written.stdout
    absent = [name for name in metrics.split(",") if name not in there]
    assert done.stderr.count("\n") == len(absent)
    done = vwlite(*how, ",".join(absent), "--json", "none", status=2)
    assert reason.split(":")[0] in done.stderr and done.stdout == "" and not Path("none").exists()


def test_unlabelled_lines_do_not_count(vwlite, write):
    write("more.vw", DATA + "|a x1\n\n|a x2 y7\n")
    assert report(vwlite, "more.vw") == report(vwlite, "data.vw")


def test_data_without_labels_are_an_error(vwlite, write):
    done = vwlite("evaluate", "-i", "model", write("none.vw", "|a x\n\n"), status=65)
    assert done.stderr == "vwlite: there is no labelled example to measure the model on\n"


KINDS = {  # of models: the options that learn one, lines without a label, lines without weight
    "oaa": ("--oaa 3", "|a x", "1 0 |a x"),
    "filter_tree": ("--filter_tree 3", "|a x", "1 0 |a x"),
    "scoring tree": ("--filter_tree 3 --scoring", "|a x", "1 0 |a x"),
    "lfl": ("--multiclass 3 --dotproduct a,b --rank 1", "|a x |b y", "1 0 |a x |b y"),
    "csoaa": ("--csoaa 3", "|a x", "|a x"),
    "multilabel": ("--multilabel_oaa 3", "|a x", "|a x"),
}


@pytest.mark.parametrize("metric", [(), ("--metric", "accuracy"), ("--metric", "rmse")])
@pytest.mark.parametrize("kind", KINDS)
def test_no_labelled_example_for_models_of_classes(kind, metric, vwlite, write):
    options, *lines = KINDS[kind]
    label = "1:0 2:1 3:1" if kind == "csoaa" else "1"
    vwlite("train", write("one.vw", f"{label} |a x |b y\n"), "-f", "classes", *options.split(), "--quiet")
    for line in lines:
        done = vwlite("evaluate", "-i", "classes", write("none.vw", line + "\n"), *metric, status=65)
        assert done.stderr == "vwlite: there is no labelled example to measure the model on\n"


def test_levels_of_examples_without_weight(vwlite, write):
    vwlite("train", write("one.vw", "1 |a x\n2 |a y\n"), "-f", "levels", "--levels", "1,2", "--quiet")
    write("none.vw", "1 0 |a x\n2 0 |a y\n")
    report = json.loads(vwlite("evaluate", "-i", "levels", "none.vw", "--json", "-").stdout)["result"]
    assert report["weight"] == 0 and report["accuracy"] is None and report["rmse_raw"] is None


def test_options_of_reading_are_taken(vwlite, write):
    write("head.vw", "".join(DATA.splitlines(keepends=True)[:12]))
    head = report(vwlite, "head.vw")
    assert report(vwlite, "data.vw", "--examples", "12") == head != report(vwlite, "data.vw")
    assert report(vwlite, "head.vw", "--threads", "2", "--block-size", "9") == head
    write("data.svm", "1 3:1\n0 4:1\n")
    write("svm.vw", "1 | 3\n0 | 4\n")
    assert report(vwlite, "--format", "svmlight", "data.svm") == report(vwlite, "svm.vw")


def test_malformed_lines_are_left_out_and_kept_in_a_file(vwlite, write, tmp_path):
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
    ("line", "message"),
    [
        ("2 |a x\n", "label 2 does not fit --loss_function logistic: labels must be 0/1 or -1/1"),
        ("-1 |a x\n", "label -1 after 0/1 labels: use either 0/1 or -1/1, not both"),
    ],
)
def test_labels_must_suit_the_loss(line, message, vwlite, write):
    done = vwlite("evaluate", "-i", "model", write("wrong.vw", line), status=65)
    assert done.stderr.startswith(f"vwlite: wrong.vw:1: {message}")


def test_labels_between_the_classes_are_measured_on_the_scale_of_probabilities(vwlite, write):
    write("data.vw", "0.5 |a x\n-0.5 |a y\n1 |a z\n")
    options = ("--loss_function", "logistic", "--logistic_min", "-1", "--logistic_max", "1", "--quiet")
    vwlite("train", "data.vw", "-f", "model", *options)
    figures = report(vwlite, "data.vw")
    errors = [float(line) - label for line, label in zip(predicted(vwlite), (0.75, 0.25, 1), strict=True)]
    assert figures["mse"] == pytest.approx(sum(error**2 for error in errors) / 3, abs=1e-6) and "auc" not in figures
    assert figures["mean_label"] == pytest.approx(2 / 3)


def test_signs_have_an_auc_too(vwlite):
    vwlite("train", "data.vw", "-f", "model", "--loss_function", "logistic", "--quiet")
    area = report(vwlite, "data.vw")["auc"]
    vwlite("train", "data.vw", "-f", "model", "--loss_function", "logistic", "--binary", "--quiet")
    figures = report(vwlite, "data.vw")
    assert figures["auc"] == area and "log_loss" not in figures
    assert figures["mse"] == pytest.approx(4 * (1 - figures["accuracy"]))


def test_missing_files_are_told_by_their_status(vwlite):
    assert vwlite("evaluate", "-i", "absent", "data.vw", status=66).stdout == ""
    assert vwlite("evaluate", "-i", "model", "absent", status=66).stdout == ""
    assert vwlite("evaluate", "-i", "model", "data.vw", "--json", "nofolder/j", status=73).stderr.startswith("vwlite: ")


def test_rankings_within_queries(vwlite, write):
    write("graded.vw", "2 'a|a x1\n0 'a|a x0\n1 'b|a x1\n0 'b|a x0\n")
    figures = report(vwlite, "graded.vw", "--metric", "map,ndcg@1", "--qid", "tag")
    assert (figures["queries"], figures["map"]) == (2, pytest.approx(1.0))
    assert report(vwlite, "data.vw", "--qid", "none")["queries"] == 1
    assert "no example has a tag" in vwlite("evaluate", "-i", "model", "data.vw", "--qid", "tag", status=65).stderr


QUERIES = "2 'a |x r s\n0 'a |x s\n1 'b |x r\n0 'b |x t\n0 'c |x t\n1 'c |x s\n"


def test_intervals_and_another_model(vwlite, write):
    write("queries", QUERIES)
    vwlite("train", "queries", "-f", "one")
    vwlite("train", "queries", "-f", "other", "--ignore", "x")
    command = ("evaluate", "-i", "one", "queries", "--metric", "mrr,gauc,ndcg@2", "--qid", "tag", "--quiet")
    done = json.loads(vwlite(*command, "--bootstrap", "200", "--against", "other", "--json", "-").stdout)["result"]
    assert (done["queries"], done["mrr"], done["gauc"]) == (3, 1, 1)
    assert [row["metric"] for row in done["intervals"]] == ["mrr", "gauc", "ndcg@2"]
    assert all(row["low"] == row["high"] == 1 for row in done["intervals"])
    mrr, gauc, _ = done["against"]
    assert (mrr["against"], gauc["against"]) == (0.75, 0.5)  # all predictions are equal
    assert (mrr["difference"], gauc["difference"]) == (0.25, 0.5)
    again = vwlite(*command, "--bootstrap", "200", "--against", "other", "--json", "-").stdout
    assert done == json.loads(again)["result"]
    assert "gauc      0.5         0.5" in vwlite(*command, "--against", "other").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--metric mse --bootstrap 10", "--bootstrap is for metrics of rankings"),
        ("--gain linear", "--gain is for metrics of rankings"),
        ("--discount log2", "--discount is for metrics of rankings"),
        ("--metric mse --against one", "--against is for metrics of rankings"),
        ("--metric mse --qid tag", "--qid is for the metrics map, ndcg"),
        ("--metric map --qid tag --against classes", "--against does not go with a model of classes"),
        ("--metric p@0", "p@0"),
        ("--metric map --qid tag --gain cubic", "'cubic' is not one of exp2, linear"),
    ],
)
def test_options_of_rankings_that_do_not_fit(options, message, vwlite, write):
    write("queries", QUERIES)
    write("two", "1 |x r\n2 |x s\n")
    vwlite("train", "queries", "-f", "one")
    vwlite("train", "two", "--oaa", "2", "-f", "classes")
    done = vwlite("evaluate", "-i", "one", "queries", *options.split(), status=2)
    assert message in done.stderr


def test_another_model_needs_data_that_can_be_read_twice(vwlite, write):
    write("queries", QUERIES)
    vwlite("train", "queries", "-f", "one")
    done = vwlite("evaluate", "-i", "one", "--metric", "map", "--against", "one", stdin=QUERIES, status=2)
    assert "standard input" in done.stderr


def test_sides_of_two_classes(vwlite, write):
    answers = [float(line) > 0.5 for line in predicted(vwlite)]
    turned = [(positive ^ (n % 5 == 0), weight) for n, (positive, weight) in enumerate(labels())]
    features = [line.partition("|")[2] for line in DATA.splitlines()]
    write("data.vw", "".join(f"{y:d} {w} |{x}\n" for (y, w), x in zip(turned, features, strict=True)))
    figures = report(vwlite, "data.vw")
    rows = list(zip(answers, turned, strict=True))
    both, predicted_positive, positive = (sum(w for answer, (y, w) in rows if test(answer, y)) for test in (
        lambda answer, y: answer and y, lambda answer, y: answer, lambda answer, y: y,
    ))  # fmt: skip
    assert 0 < both < min(predicted_positive, positive)
    assert (figures["precision"], figures["recall"]) == pytest.approx((both / predicted_positive, both / positive))
    assert figures["f1"] == pytest.approx(2 * both / (predicted_positive + positive))
    (_, wrong), (missed, right) = figures["confusion_matrix"]["weight"]
    assert (wrong, missed, right) == (predicted_positive - both, positive - both, both)


def predicted(vwlite, *options):
    return vwlite("predict", "-i", "model", "data.vw", *options).lines


def labels():
    return [(line.startswith("1"), float(line.split()[1])) for line in DATA.splitlines()]


def pairs_in_order(scores, rows):
    """The AUC by its definition."""
    right = pairs = 0
    for score, (positive, weight) in zip(scores, rows, strict=True):
        for other, (also, w) in zip(scores, rows, strict=True):
            if positive and not also:
                right += weight * w * ((score > other) + (score == other) / 2)
                pairs += weight * w
    return right / pairs


@pytest.mark.parametrize(
    ("loss", "low"), [(loss, low) for loss in LOSSES for low in ("-1", "0") if (loss, low) != ("poisson", "-1")]
)
def test_metrics_of_order_go_by_raw_predictions_whatever_the_loss(loss, low, vwlite, write, tmp_path):
    write("data.vw", "".join(f"{1 if n % 3 else low} {1 + n % 2} |a x{n % 3}:{n % 7} y{n % 4}\n" for n in range(30)))
    more = {"squared": ("--max_prediction", "0.1"), "expectile": ("--expectile_q", "0.2")}
    more["truncated"] = ("--loss_scale", "3")
    options = more.get(loss, ())
    vwlite("train", "data.vw", "-f", "model", "--loss_function", loss, "--quiet", *options)
    predicted(vwlite, "-r", "raw", "-p", "p")
    scores = [float(line) for line in (tmp_path / "raw").read_text().split()]
    figures = report(vwlite, "data.vw", "--metric", "AUC,auc_loss,PR-AUC")
    assert list(figures)[2:] == ["auc", "auc_loss", "pr_auc"]
    assert figures["auc"] == pytest.approx(pairs_in_order(scores, labels()), abs=1e-12)
    assert figures["auc"] + figures["auc_loss"] == 1 and len(set(scores)) > 10


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
def test_equal_labels_have_no_auc(loss, vwlite, write):
    vwlite("train", "data.vw", "-f", "model", "--loss_function", loss, "--quiet")
    write("ones.vw", "1 |a x1\n1 |a x2\n")
    figures = report(vwlite, "ones.vw", "--metric", "auc,pr_auc")
    assert figures == {"examples": 2, "weight": 2, "auc": None, "pr_auc": None}
    assert vwlite("evaluate", "-i", "model", "ones.vw", "--metric", "AUC").lines[-1].split() == ["auc", "n.a."]


def test_the_help_lists_every_metric(vwlite):
    stdout = vwlite("evaluate", "--help").stdout
    assert all(re.search(rf"^  {re.escape(row.name)}\s", stdout, re.M) for row in TABLE)


def test_hinge_has_nearly_the_area_of_logistic_loss_on_adult(vwlite, data_dir):
    """More than a quarter of the margins are beyond the range of labels and clipped."""
    files = [data_dir / "a9a" / name for name in ("a9a.gz", "a9a.t.gz")]
    area = {}
    for loss in ("hinge", "logistic"):
        options = ("--format", "svmlight", "--loss_function", loss, "--passes", "3", "--holdout_off", "--quiet")
        vwlite("train", files[0], "-f", "model", *options)
        area[loss] = report(vwlite, files[1], "--metric", "auc")["auc"]
    assert area == {"hinge": pytest.approx(0.9008, abs=2e-4), "logistic": pytest.approx(0.9019, abs=2e-4)}


@pytest.mark.parametrize("learner", ["--oaa auto", "--multiclass auto", "--oaa 2 --named_labels yes,no"])
def test_two_named_classes_have_an_area_under_the_curve(vwlite, write, learner):
    text = [f"{'yes' if n * 37 % 11 > 4 else 'no'} {1 + n % 3} |f a{n % 5} b{n % 7}:{n % 4}\n" for n in range(80)]
    write("d.vw", "".join(text))
    vwlite("train", "d.vw", "-f", "m", *learner.split(), "--quiet")
    report = json.loads(vwlite("evaluate", "-i", "m", "d.vw", "--json", "-", "--quiet").stdout)
    lines = vwlite("predict", "-i", "m", "d.vw", "--scores").stdout.splitlines()
    pairs = [dict(part.rsplit(":", 1) for part in line.split()) for line in lines]
    second, first = ("no", "yes") if "yes,no" in learner else ("yes", "no")
    margin = [float(row[second]) - float(row[first]) for row in pairs]
    words = [line.split() for line in text]
    rows = [(label == second, float(weight), score) for (label, weight, *_), score in zip(words, margin, strict=True)]
    above = [(w * v, (m > k) + (m == k) / 2) for yes, w, m in rows if yes for no, v, k in rows if not no]
    area = sum(weight * share for weight, share in above) / sum(weight for weight, _ in above)
    assert report["auc"] == pytest.approx(area, abs=1e-5) and "auc_loss" not in report
    done = vwlite("evaluate", "-i", "m", "d.vw", "--metric", "auc_loss,pr_auc", "--quiet").stdout.split()
    assert done[::2] == ["auc_loss", "pr_auc"] and float(done[1]) == pytest.approx(1 - area, abs=1e-5)
