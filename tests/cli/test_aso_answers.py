"""``predict``, ``evaluate`` and ``inspect`` of the scores of a model of ``vwlite aso train``."""

import json

import numpy as np
import pytest

from tests.cli.test_aso import TOPICS, documents, learn
from vwlite.solvers.aso.model_file import load_target


@pytest.fixture(autouse=True)
def files(write):
    write("un.vw", "".join(line.split(" ", 1)[1] for line in documents(150, 1).splitlines(keepends=True)))
    write("few.vw", documents(12, 2))
    write("test.vw", documents(60, 3))
    write("many.vw", documents(60, 4, several=True))


def train(vwlite, *options, data="few.vw"):
    vwlite("aso", "train", data, "-f", "model", "--quiet", *options)


def answers(vwlite, *options, data="test.vw"):
    """Read of each line its name, its numbers by class, and its tag."""
    result = []
    for line in vwlite("predict", "-i", "model", data, *options).lines:
        name, *pairs, tag = line.split()
        result.append((name, {key: float(value) for key, value in (pair.rsplit(":", 1) for pair in pairs)}, tag))
    return result


def test_scores_stand_beside_the_name_of_the_largest_and_are_those_of_the_arrays(vwlite, tmp_path):
    learn(vwlite)
    train(vwlite, "--theta", "theta")
    target = load_target(str(tmp_path / "model"))
    place = {name: number for number, name in enumerate(target.words.names)}
    theta, space = target.theta, target.words.spaces
    lines = (tmp_path / "test.vw").read_text().splitlines()
    for (name, scores, tag), line in zip(answers(vwlite, "--scores"), lines, strict=True):
        assert name == max(scores, key=scores.get) and tag == line.split()[1][1:].partition("|")[0]
        assert list(scores) == ["sea", "sport"]
        x = np.zeros(len(place))
        parts = line.split("|")[1:]
        words = [word for part in parts for word in part.split()[1:]]
        length = np.sqrt(sum(words.count(word) ** 2 for word in set(words)))
        for word in words:
            if word in place:
                x[place[word]] += 1 / length
        actual, begin = x @ target.weights.w + target.weights.bias, 0
        for number, values in enumerate(theta.values):
            rows = np.zeros((len(place), len(values)))
            for at, (group, word) in enumerate(zip(theta.group, theta.words.names, strict=True)):
                if group == number:
                    rows[place[word]] = theta.matrix[at, : len(values)]
            z = x @ rows
            z *= target.config.theta_scale / max(np.linalg.norm(z), 1e-12)
            actual = actual + z @ target.weights.v[begin : begin + len(values)]
            begin += len(values)
        assert np.allclose(actual, list(scores.values()), atol=1e-5) and len(space) == 2
    assert vwlite("predict", "-i", "model", "test.vw", "--raw").stdout.startswith("sea:")


def share_of(f, loss):
    return 1 / (1 + np.exp(-f)) if loss == "logistic" else (np.clip(f, -1, 1) + 1) / 2


@pytest.mark.parametrize("loss", ["modified_huber", "logistic", "squared"])
def test_probabilities_add_up_to_1_and_follow_the_scores(vwlite, loss):
    train(vwlite, "--loss_function", loss)
    scored = answers(vwlite, "--scores")
    for (name, shares, _), (_, scores, _) in zip(answers(vwlite, "--probabilities"), scored, strict=True):
        expected = {key: share_of(score, loss) for key, score in scores.items()}
        total = sum(expected.values())
        expected = {key: share / total if total else 0.5 for key, share in expected.items()}
        assert shares == pytest.approx(expected, abs=1e-4)
        assert name in TOPICS and sum(shares.values()) == pytest.approx(1, abs=1e-5)


def test_probabilities_of_lists_are_one_a_label(vwlite):
    train(vwlite, "--multilabel", data="many.vw")
    for (name, shares, _), (_, scores, _) in zip(
        answers(vwlite, "--probabilities", data="many.vw"), answers(vwlite, "--scores", data="many.vw"), strict=True
    ):
        assert shares == pytest.approx({key: (np.clip(f, -1, 1) + 1) / 2 for key, f in scores.items()}, abs=1e-5)
        assert name == ",".join(key for key, share in shares.items() if share > 0.5)


def test_confidence_is_the_distance_of_the_two_best(vwlite):
    train(vwlite)
    shown = [line.split() for line in vwlite("predict", "-i", "model", "test.vw", "--confidence").lines]
    for (name, margin, tag), (best, scores, other) in zip(shown, answers(vwlite, "--scores"), strict=True):
        high, low = sorted(scores.values(), reverse=True)
        assert (name, tag) == (best, other) and float(margin) == pytest.approx(high - low, abs=1e-4)


def test_top_shows_the_largest(vwlite):
    train(vwlite)
    for name, shown, _ in answers(vwlite, "--scores", "--top", "1"):
        assert list(shown) == [name]
    assert answers(vwlite, "--probabilities", "--top", "9") == [
        (name, dict(sorted(shares.items(), key=lambda pair: -pair[1])), tag)
        for name, shares, tag in answers(vwlite, "--probabilities")
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scores", "--probabilities"), "do not go together"),
        (("--scores", "--confidence"), "do not go together"),
        (("--top", "2"), "--top goes with"),
        (("--scores", "--top", "0"), "--top takes 1 or more"),
        (("--jsonl",), "does not go with a model of named labels"),
    ],
)
def test_options_that_do_not_go_together_are_refused(vwlite, options, said):
    train(vwlite)
    assert said in vwlite("predict", "-i", "model", "test.vw", *options, status=2).stderr


def test_top_is_for_these_models(vwlite, write):
    write("numbers.vw", "1 |a b\n-1 |a c\n")
    vwlite("train", "numbers.vw", "--loss_function", "logistic", "-f", "linear", "--quiet")
    for shown, said in (("--quiet", "--top goes with"), ("--probabilities", "--top is for")):
        assert said in vwlite("predict", "-i", "linear", "numbers.vw", shown, "--top", "2", status=2).stderr


def test_hinge_tells_no_probabilities(vwlite):
    train(vwlite, "--loss_function", "hinge")
    assert "hinge" in vwlite("predict", "-i", "model", "test.vw", "--probabilities", status=2).stderr
    assert "hinge" in vwlite("evaluate", "-i", "model", "test.vw", "--metric", "log_loss", status=2).stderr
    assert len(answers(vwlite, "--scores")) == 60


ASKED = "examples,accuracy,micro_f1,macro_precision,macro_recall,macro_f1,auc,log_loss,per_class,confusion_matrix"


def test_metrics_of_classes(vwlite, write):
    train(vwlite)
    write("test.vw", documents(60, 3) + "land 'l|w ball\n")
    report = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--metric", ASKED, "--json", "-").stdout)["result"]
    true = [line.split()[0] for line in (documents(60, 3) + "land 'l|w ball\n").splitlines()]
    said, shares = answers(vwlite, "--scores"), answers(vwlite, "--probabilities")
    right = [name == label for (name, _, _), label in zip(said, true, strict=True)]
    assert report["examples"] == 61 and report["accuracy"] == pytest.approx(sum(right) / 61) == report["micro_f1"]
    chances = [share.get(label, 0) for (_, share, _), label in zip(shares, true, strict=True)]
    losses = -np.log(np.clip(chances, 2**-23, 1 - 2**-23))
    assert report["log_loss"] == pytest.approx(np.mean(losses), rel=1e-4)
    areas = []
    for name in ("sea", "sport"):
        inside = [scores[name] for (_, scores, _), label in zip(said, true, strict=True) if label == name]
        outside = [scores[name] for (_, scores, _), label in zip(said, true, strict=True) if label != name]
        areas.append(np.mean([(a > b) + (a == b) / 2 for a in inside for b in outside]))
    assert report["auc"] == pytest.approx(np.mean(areas), abs=1e-6)
    assert [row["class"] for row in report["per_class"]] == ["sea", "sport", "land"]
    assert report["macro_f1"] == pytest.approx(np.nan_to_num([row["f1"] or 0 for row in report["per_class"]]).mean())
    assert np.sum(report["confusion_matrix"]["weight"]) == 61
    unasked = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)["result"]
    assert list(unasked) == ["examples", "accuracy", "majority_accuracy", "micro_f1"]


def test_metrics_of_lists(vwlite):
    train(vwlite, "--multilabel", data="many.vw")
    message = "micro_f1,macro_f1,hamming_loss,auc,log_loss"
    report = json.loads(vwlite("evaluate", "-i", "model", "many.vw", "--metric", message, "--json", "-").stdout)[
        "result"
    ]
    true = [set(line.split()[0].split(",")) for line in documents(60, 4, several=True).splitlines()]
    shares = answers(vwlite, "--probabilities", data="many.vw")
    wrong = [
        (share > 0.5) != (key in names)
        for (_, by_class, _), names in zip(shares, true, strict=True)
        for key, share in by_class.items()
    ]
    assert list(report) == message.split(",") and report["hamming_loss"] == pytest.approx(np.mean(wrong))
    assert report["auc"] > 0.9 and 0 <= report["log_loss"] < 1


def test_inspect_shows_the_rows_of_theta_of_each_class(vwlite, tmp_path):
    learn(vwlite, "--dim", "3")
    train(vwlite, "--theta", "theta")
    target = load_target(str(tmp_path / "model"))
    inspection = json.loads(vwlite("inspect", "model", "--top", "2", "--json", "-").stdout)["result"]["shared"]["sea"]
    groups = zip(target.theta.names, target.theta.values, strict=True)
    names = [f"{group}/{row + 1}" for group, values in groups for row in range(len(values))]
    best = np.argsort(-np.abs(target.weights.v[:, 0]), kind="stable")[:2]
    assert [entry["row"] for entry in inspection] == [names[at] for at in best]
    assert [entry["weight"] for entry in inspection] == [float(target.weights.v[at, 0]) for at in best]
    assert f"of Theta: {inspection[0]['row']}:" in vwlite("inspect", "model", "--top", "2").stdout
