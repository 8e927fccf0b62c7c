"""``--filter_tree K --scoring`` on the command line: scores, probabilities, costs, names, going on, sizes, refusals."""

import json
import re
import zipfile

import numpy as np
import pytest

LINES = [f"{1 + (u * i + u) % 4} '{u}.{i} |user u{u} |item i{i}\n" for u in range(12) for i in range(9)]
TREE = ("--filter_tree", "4", "--dotproduct", "user,item", "--rank", "3")
LOGISTIC = ("--loss_function", "logistic")


@pytest.fixture
def trained(vwlite, write):
    """A model of these options, and the lines that ``predict`` writes with others."""

    def of(*options, show=(), lines=LINES):
        vwlite("train", write("data", "".join(lines)), "-f", "model", "--quiet", "--scoring", *TREE, *options)
        return vwlite("predict", "-i", "model", "data", *show).lines

    return of


def shown(lines):
    return np.array([[float(word.split(":")[1]) for word in line.split()[:4]] for line in lines])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_answers_are_the_classes_of_the_largest_scores(loss, trained):
    options = ("--loss_function", loss, "--passes", "5")
    answers = [int(line.split()[0]) for line in trained(*options)]
    scores = shown(trained(*options, show=["--scores"]))
    assert answers == (scores.argmax(axis=1) + 1).tolist() and len(set(answers)) > 1
    assert shown(trained(*options, show=["--raw"])).tolist() == scores.tolist()


def test_probabilities_are_the_softmax_of_the_scores(trained, vwlite):
    scores = shown(trained(*LOGISTIC, show=["--scores"]))
    shares = shown(trained(*LOGISTIC, show=["--probabilities"]))
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, atol=2e-5)
    labels = np.array([int(line[0]) for line in LINES])
    report = json.loads(vwlite("evaluate", "-i", "model", "data", "--metric", "log_loss", "--json", "-").stdout)
    assert report["log_loss"] == pytest.approx(-np.log(expected[np.arange(len(labels)), labels - 1]).mean(), rel=1e-4)
    done = vwlite("train", "data", "-f", "other", "--scoring", *TREE, *LOGISTIC, "--probabilities")
    assert "average multiclass log loss = " in done.stderr


def test_a_linear_tree_and_one_of_costs(vwlite, write):
    write("d", "".join(f"{1 + n % 3} |a x{n % 3}\n" for n in range(90)))
    vwlite("train", "d", "-f", "m", "--quiet", "--filter_tree", "3", "--scoring", "--loss_function", "hinge")
    assert vwlite("predict", "-i", "m", "d").lines[:3] == ["1", "2", "3"]
    rows = [" ".join(f"{c}:{abs(c - 1 - n % 3)}" for c in (1, 2, 3)) + f" |a x{n % 3}\n" for n in range(90)]
    write("c", "".join(rows))
    vwlite("train", "c", "-f", "m", "--quiet", "--filter_tree", "3", "--scoring", "--costs", "--loss_function", "hinge")
    assert json.loads(vwlite("evaluate", "-i", "m", "c", "--json", "-").stdout)["loss"] == 0
    assert vwlite("predict", "-i", "m", "c").lines[:3] == ["1", "2", "3"]
    assert "costs are not probabilities" in vwlite("predict", "-i", "m", "c", "--probabilities", status=2).stderr


def test_a_model_has_a_set_of_parameters_for_each_class_in_place_of_each_contest(trained, vwlite, tmp_path):
    """A tree of K classes has K - 1 contests, so that what is written is K / (K - 1) as much."""
    trained()
    vwlite("train", "data", "-f", "nodes", "--quiet", *TREE)

    def numbers(name):
        """Count the latent numbers: those of the slots that were updated, without counts and padding."""
        with zipfile.ZipFile(tmp_path / name) as archive:
            actual = [member for member in archive.namelist() if re.search(r"latent0[ab]\.v\d*\.npy", member)]
            return sum(np.load(archive.open(member)).size for member in actual)

    updated = 12 + 9  # users and items
    assert 0.9 * 3 * 3 * updated < numbers("nodes") <= 3 * 3 * updated  # not every contest is one of everybody
    assert numbers("model") == 4 * 3 * updated + updated  # and how often they were updated


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--loss_function", "quantile"), "--scoring needs a --loss_function of two classes, like hinge"),
        (("--probabilities",), "--probabilities of --scoring needs --loss_function logistic"),
        (("--coin",), "do not go together"),
        (("--oaa", "4"), "do not go together"),
        (("--adaptive",), "--adaptive does not go with"),
        (("--levels", "1..4"), "--levels"),
        (("--dot-init", "0"), "--dot-init 0 never learns"),
        (("--shards", "2", "--workers", "1", "--no-shuffle"), "--filter_tree does not go with shards"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("data", "".join(LINES))
    assert message in vwlite("train", "data", "-f", "m", "--scoring", *TREE, *options, status=2).stderr


@pytest.mark.parametrize("option", ["--rank 3", "--dot-l2 0.1", "--min-updates 2", "--no-dot-linear"])
def test_options_of_dot_products_need_one(option, vwlite, write):
    write("data", "".join(LINES))
    done = vwlite("train", "data", "-f", "m", "--filter_tree", "4", "--scoring", *option.split(), status=2)
    assert "needs --dotproduct" in done.stderr
