"""``vwlite l1 --model tree``: labels of tokens that name their parents."""

import json

import numpy as np
import pytest

from vwlite.storage import model_file

# A token has the label that its parent's tells: the words of all but the roots say nothing, nor does their order.
BELOW = {"A": "B", "B": "C", "C": "A"}
SHAPES = [(-1, 0, 0, 1), (2, 2, -1, 0), (1, -1, 1, 1), (-1,), (3, 0, 0, -1), (-1, 0, 1, 2)]
METHODS = ["", "--loss perceptron", "--loss mira", "--loss margin --l1 0.1 -l 0.1", "--solver owlqn", "--penalty naive"]
METHODS += ["--loss margin --l2 0.1", "--loss margin --l2 0.1 --cost zero-one"]
EDGES = [f"--edge p --loss {loss}" for loss in ("log", "mira", "margin --l2 1")]


def tree(parents, root):
    labels = {}
    for _ in parents:  # as deep as may be
        for number, parent in enumerate(parents):
            if parent < 0:
                labels[number] = root
            elif parent in labels:
                labels[number] = BELOW[labels[parent]]
    lines = (
        f"{labels[number]} 'n{number}{f'^n{parent}' if parent >= 0 else ''} |w {'x' if parent >= 0 else root} |p q\n"
        for number, parent in enumerate(parents)
    )
    return "".join(lines) + "\n"


TREES = "".join(tree(SHAPES[number % 6], "ABC"[number % 3 if number < 9 else number // 2 % 3]) for number in range(36))


@pytest.fixture(autouse=True)
def files(write):
    write("trees.vw", TREES)


def learn(vwlite, *options, text="trees.vw", status=0):
    model = () if "-f" in options else ("-f", "m")
    return vwlite("l1", text, "--model", "tree", "--quiet", *model, *options, status=status)


def figures(vwlite, *options):
    return json.loads(vwlite("evaluate", "-i", "m", "trees.vw", *options, "--json", "-").stdout)


@pytest.mark.parametrize("method", METHODS)
def test_parents_tell_what_is_below_them(method, vwlite, header):
    learn(vwlite, "--passes", "40", *method.split())
    assert figures(vwlite)["accuracy"] == 1
    assert header("m")["l1"]["model"] == "tree"
    answers = vwlite("predict", "-i", "m", "trees.vw").lines
    assert answers[:5] == ["A n0", "B n1^n0", "B n2^n0", "C n3^n1", ""]


def test_probabilities_and_log_loss(vwlite):
    learn(vwlite, "--l1", "0.1")
    assert figures(vwlite, "--metric", "log_loss")["log_loss"] < 0.5
    lines = vwlite("predict", "-i", "m", "trees.vw", "--probabilities").lines
    shares = [float(share.partition(":")[2]) for share in lines[1].split()[1:4]]
    assert lines[1].startswith("B A:") and lines[1].endswith(" n1^n0") and sum(shares) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("method", [*METHODS, *EDGES])
def test_a_chain_written_as_a_tree_gives_the_bytes_of_the_chain(method, vwlite, write):
    words = "".join(f"{label} |w w{n % 5} |p p{n % 3}\n" + "\n" * (n % 4 == 3) for n, label in enumerate("ABBCA" * 12))
    tokens, number = [], 0
    for line in words.splitlines():
        tag = f"'{number}^{number - 1}" if number else "'0"
        tokens.append(line.replace(" |w", f" {tag} |w"))
        number = number + 1 if line else 0
    write("chains.vw", words)
    write("as-trees.vw", "\n".join(tokens) + "\n")
    learn(vwlite, *method.split(), text="as-trees.vw")
    vwlite("l1", "chains.vw", "--model", "crf", "--quiet", "-f", "c", *method.split())
    one, other = model_file.load("m").arrays, model_file.load("c").arrays
    assert {name: array.tobytes() for name, array in one.items()} == {n: a.tobytes() for n, a in other.items()}
    answers = vwlite("predict", "-i", "m", "as-trees.vw").lines
    assert [answer.partition(" ")[0] for answer in answers] == vwlite("predict", "-i", "c", "chains.vw").lines


@pytest.mark.parametrize("method", ["", "--edge p", "--loss margin -l 0.1 --l1 0.1", "--penalty naive", "--group"])
def test_a_continued_run_has_the_bytes_of_a_single_one(method, vwlite, tmp_path):
    learn(vwlite, *method.split(), "--passes", "5", "-f", "half")
    vwlite("l1", "trees.vw", "-i", "half", "-f", "whole", "--quiet", "--passes", "4")
    learn(vwlite, *method.split(), "--passes", "9")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_part_may_be_held_out(vwlite):
    learn(vwlite, "--holdout", "0.2", "--holdout-metric", "accuracy")
    assert figures(vwlite)["accuracy"] > 0.9


def test_the_terms_of_an_answer_have_those_of_the_parent(vwlite):
    learn(vwlite, "--l1", "0.1", "--names")
    assert "after A" in vwlite("explain", "-i", "m", "trees.vw").stdout
    facts = json.loads(vwlite("inspect", "m", "--json", "-").stdout)
    assert facts["model"] == "tree" and facts["active_transitions"] > 0


def test_a_malformed_leaf_is_left_out_but_no_parent(vwlite, write):
    learn(vwlite)
    malformed = ("predict", "-i", "m", "--max-bad-ratio", "1")
    write("leaf.vw", "A 'a |w A\nB 'b^a |w:1e |w x\nB 'c^a |w x\n\n")
    assert vwlite(*malformed, "leaf.vw").lines == ["A a", "nan", "B c^a", ""]
    write("root.vw", "A 'a |w:1e A\nB 'b^a |w x\nB 'c^a |w x\n\n")
    stderr = vwlite(*malformed, "root.vw", status=65).stderr
    assert "root.vw:2: no token of its tree has the id of its parent, 'a'" in stderr


NO_TREES = {  # text: what is said
    "A 'a |w x\nB 'b^c |w x\n": "text.vw:2: no token of its tree has the id of its parent, 'c'",
    "A 'a |w x\n\nA 'a |w x\nB 'b |w x\n": "text.vw:4: a tree has one root, and 'a' has no parent either",
    "A 'a |w x\nB 'b^c |w x\nB 'c^b |w x\n": "the parents of its tree lead around in a circle",
    "A 'a |w x\nB |w x\n": "text.vw:2: a token of a tree has a tag, 'id^parent, or 'id where it is the root",
    "A 'a |w x\nB 'a^a |w x\n": "text.vw:2: a token before it in its tree has the id 'a' too",
}


@pytest.mark.parametrize("text", NO_TREES)
def test_wrong_trees_are_refused_with_their_line(text, vwlite, write):
    write("text.vw", text)
    assert NO_TREES[text] in learn(vwlite, text="text.vw", status=65).stderr
    learn(vwlite)
    assert NO_TREES[text] in vwlite("predict", "-i", "m", "text.vw", status=65).stderr


DAMAGE = {
    "order": lambda header, arrays: header["l1"].update(order=2),
    "a model of no name": lambda header, arrays: header["l1"].update(model="bush"),
    "too few weights": lambda header, arrays: arrays.update(weight=arrays["weight"][:-1]),
    "no transitions": lambda header, arrays: header["l1"].update(model="multinomial"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_is_refused(damage, vwlite):
    learn(vwlite)
    content = model_file.load("m")
    header, arrays = dict(content.header), {name: np.array(array) for name, array in content.arrays.items()}
    DAMAGE[damage](header, arrays)
    model_file.save("m", header, arrays)
    assert "m is not a log-linear model of this version" in vwlite("predict", "-i", "m", "trees.vw", status=76).stderr


REFUSED = {  # options: what is said
    "--order 2": "--order 2 is of labels along a sequence: it needs --model crf",
    "--trace 1 --dense-pairs --solver fista": "--trace is of the weights of several labels: it needs --model multinom",
}


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_are_refused(options, vwlite):
    assert REFUSED[options] in learn(vwlite, *options.split(), status=2).stderr


def test_a_model_keeps_its_structure(vwlite):
    vwlite("l1", "trees.vw", "--model", "crf", "--quiet", "-f", "m")
    assert "contradicts" in learn(vwlite, "-i", "m", status=2).stderr
