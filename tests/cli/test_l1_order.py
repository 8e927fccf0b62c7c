"""``vwlite l1 --order 2``: weights of a label after two labels."""

import json

import numpy as np
import pytest
from l1_case import SENTENCES

from vwlite.solvers.loglinear.model_file import load
from vwlite.storage import model_file

TURNS = "".join(f"{label} |w x\n" for label in "AABB" * 3) + "\n"  # a label depends on the two before it alone
METHODS = ["", *("--loss " + loss for loss in ("perceptron", "mira", "margin --l1 0.1 -l 0.1"))]
METHODS += ["--solver owlqn", "--solver fista --group"]


@pytest.fixture(autouse=True)
def files(write):
    write("tags.vw", SENTENCES)
    write("turns.vw", ("A |w first\n" + TURNS[7:]) * 10)


def crf(vwlite, *options, text="tags.vw", status=0):
    model = () if "-f" in options else ("-f", "m")
    return vwlite("l1", text, "--model", "crf", "--quiet", *model, *options, status=status)


def accuracy(vwlite, model, text):
    return json.loads(vwlite("evaluate", "-i", model, text, "--json", "-").stdout)["accuracy"]


@pytest.mark.parametrize("method", METHODS)
def test_two_labels_tell_what_one_does_not(method, vwlite, header):
    options = ("--passes", "40", *method.split())
    crf(vwlite, *options, "-f", "one", text="turns.vw")
    crf(vwlite, *options, "--order", "2", text="turns.vw")
    assert accuracy(vwlite, "one", "turns.vw") < 0.8
    assert accuracy(vwlite, "m", "turns.vw") == 1
    assert header("m")["l1"]["order"] == 2


def test_probabilities_and_log_loss_are_those_of_order_2(vwlite):
    crf(vwlite, "--order", "2", "--l1", "0.1", text="turns.vw")
    crf(vwlite, "--l1", "0.1", "-f", "one", text="turns.vw")
    actual = {
        name: json.loads(vwlite("evaluate", "-i", name, "turns.vw", "--metric", "log_loss", "--json", "-").stdout)
        for name in ("m", "one")
    }
    assert actual["m"]["log_loss"] < actual["one"]["log_loss"] / 3
    done = vwlite("predict", "-i", "m", "turns.vw", "--probabilities").lines[1].split()
    assert done[0] == "A" and 0.8 < float(done[1].removeprefix("A:")) < 1


def test_the_weights_are_told_by_name(vwlite):
    crf(vwlite, "--order", "2", "--l1", "0.1", "--names", text="turns.vw")
    facts = json.loads(vwlite("inspect", "m", "--json", "-").stdout)
    assert facts["order"] == 2 and facts["active_triples"] > 0
    assert facts["active"] >= facts["active_triples"] + facts["active_transitions"]
    assert "after A A" in vwlite("inspect", "m", "--top", "3").stdout
    crf(vwlite, "-f", "one", text="turns.vw")
    assert "order" not in json.loads(vwlite("inspect", "one", "--json", "-").stdout)


def test_the_terms_of_an_answer_have_those_of_two_labels(vwlite):
    crf(vwlite, "--order", "2", "--l1", "0.1", "--names", text="turns.vw")
    assert "after A A" in vwlite("explain", "-i", "m", "turns.vw").stdout


@pytest.mark.parametrize("method", ["", "--edge p", "--loss margin -l 0.1 --l1 0.1", "--penalty naive", "--group"])
def test_a_continued_run_has_the_bytes_of_a_single_one(method, vwlite, tmp_path):
    steps = ("--order", "2", *method.split())
    crf(vwlite, *steps, "--passes", "5", "-f", "half")
    vwlite("l1", "tags.vw", "-i", "half", "-f", "whole", "--quiet", "--passes", "4")
    crf(vwlite, *steps, "--passes", "9")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("method", ["", "--loss mira", "--penalty none --average", "--solver owlqn"])
def test_new_labels_and_pairs_of_labels_join(method, vwlite, write):
    crf(vwlite, "--order", "2", "--passes", "2", *method.split())
    write("more.vw", "B-VP |w jumps |p j\nO |w now |p n\nB-VP |w jumps |p j\n\n" * 5 + SENTENCES)
    vwlite("l1", "more.vw", "-i", "m", "-f", "n", "--quiet", "--passes", "20")
    assert len(load("n").pairs.histories) == len(load("m").pairs.histories) + 2
    assert vwlite("predict", "-i", "n", "more.vw").lines[:3] == ["B-VP", "O", "B-VP"]


DAMAGE = {
    "not in order": lambda histories, labels: histories[::-1].copy(),
    "twice": lambda histories, labels: np.repeat(histories[:1], len(histories)),
    "of no label": lambda histories, labels: histories + np.uint32(labels**2),
    "too few": lambda histories, labels: histories[:-1],
    "of another type": lambda histories, labels: histories.astype(np.float32),
    "none": None,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_is_refused(damage, vwlite):
    crf(vwlite, "--order", "2")
    content = model_file.load("m")
    arrays, make = {name: np.array(array) for name, array in content.arrays.items()}, DAMAGE[damage]
    if make is None:
        del arrays["history"]
    else:
        arrays["history"] = make(arrays["history"], len(content.header["labels"]))
    model_file.save("m", content.header, arrays)
    assert "m is not a log-linear model of this version" in vwlite("predict", "-i", "m", "tags.vw", status=76).stderr


REFUSED = {  # options: what is said
    "--order 2 --model multinomial": "--order 2 is of labels along a sequence: it needs --model crf",
    "--order 2 --model binary": "--order 2 is of labels along a sequence: it needs --model crf",
    "--order 2 --loss margin --l2 1": "--order 2 does not go with --loss margin --l2",
    "--order 3": "--order takes",
    "--order 0": "--order takes",
}


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_are_refused(options, vwlite):
    assert REFUSED[options] in crf(vwlite, *options.split(), status=2).stderr


def test_a_model_keeps_its_order(vwlite):
    crf(vwlite)
    assert "contradicts" in crf(vwlite, "-i", "m", "--order", "2", status=2).stderr
