"""Labels with latent vectors on the command line: names, probabilities, answers as numbers, metrics, refusals."""

import json
import re

import numpy as np
import pytest

import vwlite as library

LINES = [f"{1 + (u * i + u) % 4} '{u}.{i} |user u{u} |item i{i}\n" for u in range(12) for i in range(9)]
NAMES = ("bad", "fair", "good", "best")
ASKED = ("--dotproduct", "user,item", "--rank", "3", "--multiclass", "4", "-l", "0.3")


@pytest.fixture
def trained(vwlite, write):
    """A model of these options, and the lines that ``predict`` writes with others."""

    def of(*options, show=(), lines=LINES):
        vwlite("train", write("data", "".join(lines)), "-f", "model", "--passes", "5", "--quiet", *ASKED, *options)
        return vwlite("predict", "-i", "model", "data", *show).lines

    return of


def shares_in(lines):
    return np.array([[float(word.split(":")[1]) for word in line.split()[:4]] for line in lines])


def test_named_labels_are_numbers_by_another_name(trained):
    named = [re.sub(r"^\d", lambda found: NAMES[int(found[0]) - 1], line) for line in LINES]
    numbers = trained("--indexing", "1"), trained("--indexing", "1", show=["--probabilities"])
    options = ("--named_labels", ",".join(NAMES))
    words, shares = trained(*options, lines=named), trained(*options, lines=named, show=["--probabilities"])
    assert [NAMES[int(line.split()[0]) - 1] for line in numbers[0]] == [line.split()[0] for line in words]
    assert np.array_equal(shares_in(numbers[1]), shares_in(shares))
    assert [word.split(":")[0] for word in shares[0].split()[:4]] == [*NAMES]


def test_answers_as_numbers_are_of_the_probabilities(trained):
    shares = shares_in(trained(show=["--probabilities"]))
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    mean, median, best = (
        [float(line.split()[0]) for line in trained(show=["--predict", how])] for how in ("mean", "median", "class")
    )
    np.testing.assert_allclose(mean, shares @ [1, 2, 3, 4], rtol=1e-5)
    assert median == ((np.cumsum(shares, axis=1) < 0.5).sum(axis=1) + 1).tolist()
    assert best == (shares.argmax(axis=1) + 1).tolist()


def test_answers_are_those_of_python(trained, tmp_path):
    texts = {how: trained("--no-shuffle", show=["--predict", how]) for how in ("mean", "median", "class")}
    model = library.load(tmp_path / "model")
    for how, lines in texts.items():
        answers = model.predict(tmp_path / "data", answer=how)
        np.testing.assert_allclose(answers, [float(line.split()[0]) for line in lines], rtol=1e-5)
    with pytest.raises(library.UsageError, match="raw and answer do not go together"):
        model.predict(tmp_path / "data", answer="mean", raw=True)
    with pytest.raises(library.UsageError, match="'mode' is not one of class, median, mean"):
        model.predict(tmp_path / "data", answer="mode")


def test_metrics_are_those_of_the_answers(trained, vwlite):
    labels = np.array([int(line[0]) for line in LINES])
    shares = shares_in(trained(show=["--probabilities"]))
    mean, median = ([float(line.split()[0]) for line in trained(show=["--predict", how])] for how in ("mean", "median"))
    names = "log_loss,accuracy,mae,rmse,mse,ece,calibration_bins"
    report = json.loads(vwlite("evaluate", "-i", "model", "data", "--metric", names, "--json", "-").stdout)
    assert report["log_loss"] == pytest.approx(-np.log(shares[np.arange(len(labels)), labels - 1]).mean(), rel=1e-4)
    assert report["accuracy"] == pytest.approx((shares.argmax(axis=1) + 1 == labels).mean())
    assert report["mae"] == pytest.approx(np.abs(labels - median).mean(), rel=1e-6)
    assert (
        report["rmse"] ** 2 == pytest.approx(report["mse"]) == pytest.approx(np.square(labels - mean).mean(), rel=1e-4)
    )
    bins = report["calibration_bins"]
    assert [row["class"] for row in bins] == [str(label) for label in (1, 2, 3, 4) for _ in range(10)]
    errors = [abs(row["mean_prediction"] - row["observed_rate"]) for row in bins]
    assert report["ece"] == pytest.approx(np.mean(errors), rel=1e-5)
    assert sum(row["weight"] for row in bins) == pytest.approx(4 * len(labels))
    usual = vwlite("evaluate", "-i", "model", "data").stdout
    assert "ece" in usual and "calibration_bins" not in usual


def test_the_expected_label_goes_to_the_true_one(trained):
    """With other losses the label becomes ever more probable, which for an inner one takes other labels along."""
    for loss, far in (("mse", 1e-4), ("log", 0.02)):
        options = ("--lfl-loss", loss, "--dot-l2", "0", "--linear-l2", "0", "--indexing", "1")
        mean = trained(*options, lines=["3 1e5 'a |user u |item i\n"], show=["--predict", "mean"])
        assert float(mean[0].split()[0]) == pytest.approx(3, abs=far)


def test_scores_are_log_odds_against_the_base(trained):
    shares = shares_in(trained("--indexing", "1", "--base-label", "2", show=["--probabilities"]))
    scores = shares_in(trained("--indexing", "1", "--base-label", "2", show=["--raw"]))
    assert not scores[:, 1].any()
    np.testing.assert_allclose(np.log(shares / shares[:, 1:2]), scores, atol=2e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--lfl-loss mse --named_labels a,b,c,d", "--lfl-loss mse needs labels that are numbers, not names"),
        ("--oaa 4", "--multiclass and --dotproduct and --oaa do not go together"),
        ("--loss_function hinge", "--dotproduct with --multiclass takes --lfl-loss log or mse, not hinge"),
        ("--dot-l2 u=0.1", "--dot-l2 u: --dotproduct has item user"),
        ("--dot-rates adaptive --dot-first-t 9", "--dot-first-t does not go with rates that are adaptive"),
        ("--active", "--active with --dotproduct and --multiclass needs --simulation"),
        ("--l2 0.1", "--l2 does not go with --dotproduct and --multiclass"),
        ("--base-label 9 --indexing 1", "--base-label 9 is no label from 1 to 4"),
        ("--rank 4096 --multiclass 17", "17 labels with vectors of length 4096 are 69,632 numbers, 0.27 MiB"),
        ("--confidence", "do not go together"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write, names_in):
    stderr = vwlite("train", write("data", "".join(LINES)), "-f", "model", *ASKED, *options.split(), status=2).stderr
    assert message in stderr and "model" not in names_in()


@pytest.mark.parametrize("option", ["--base-label 1", "--lfl-loss mse"])
def test_options_of_labels_with_vectors_need_both(option, vwlite, write):
    for asked in ("--multiclass 4", "--dotproduct ui", ""):
        stderr = vwlite("train", write("data", "".join(LINES)), *asked.split(), *option.split(), status=2).stderr
        needed = "--multiclass beside --dotproduct" if asked == "--dotproduct ui" else "--multiclass and --dotproduct"
        assert f"{option.split()[0].replace('-', '_').replace('__', '--')} needs {needed}" in stderr


def test_a_label_that_is_no_class_ends_training(vwlite, write, names_in):
    stderr = vwlite("train", write("data", "".join([*LINES, "5 |user u1\n"])), "-f", "model", *ASKED, status=65).stderr
    assert "data:109: label 5 is no class: expected whole numbers from 1 to 4" in stderr
    assert "model" not in names_in()


def test_a_model_keeps_its_labels(trained, vwlite):
    trained()
    for options, message in (
        ("--multiclass 5", "--multiclass 5 contradicts model, which was made with --multiclass 4"),
        ("--lfl-loss mse", "--lfl-loss mse contradicts model, which was made with --lfl-loss log"),
        ("--dot-rates global", "--dot-rates global contradicts model, which was made with --dot-rates adaptive"),
        ("--base-label 2", "--base-label 2 contradicts model, which was made without it"),
    ):
        stderr = vwlite("train", "data", "-i", "model", "-f", "other", *options.split(), status=2).stderr
        assert message in stderr


@pytest.mark.parametrize(
    "asked", ["--multiclass 4 --rank 2", "--filter_tree 4 --scoring --rank 2", "--filter_tree 4 --scoring --rank 0"]
)
def test_labels_are_asked_for_and_confidences_told(asked, vwlite, write):
    write("data", "".join(LINES))
    words = (*asked.split(), "--dotproduct", "user,item", "--dot-offset", "0.1", "--dot-l2", "user=0.1,item=0.01")
    stderr = vwlite("train", "data", "-f", "model", *words, "--active", "--simulation", "--mellowness", "1e-5").stderr
    assert 0 < int(re.search(r"total queries = (\d+)", stderr)[1]) < len(LINES)
    predictions = [float(line.split()[-1]) for line in vwlite("predict", "-i", "model", "data", "--confidence").lines]
    rate = ["--confidence-rate", "0.5"]
    faster = [float(line.split()[-1]) for line in vwlite("predict", "-i", "model", "data", "--confidence", *rate).lines]
    assert len(predictions) == len(LINES) and all(0 <= new <= old for new, old in zip(faster, predictions, strict=True))
    vwlite("train", "data", "-i", "model", "-f", "frozen", "--freeze", "latent", "--quiet")
