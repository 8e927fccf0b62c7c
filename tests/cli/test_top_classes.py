"""``predict --top`` shows the best classes of every model that has scores or probabilities of classes."""

import json

import pytest

LINES = ["red | a b", "blue | b c", "green | c d", "red | a", "blue | b", "green 't| d e"]
NAMES = ("--named_labels", "red,green,blue")
MODELS = {
    "oaa": (["--oaa", "3", "--loss_function", "logistic"], "--probabilities"),
    "scores": (["--oaa", "3"], "--scores"),
    "multinomial": (["--multiclass", "3"], "--probabilities"),
    "classes": (["--oaa", "3", "--lrq", "ii2"], "--scores"),
}


def pairs_in(line):
    return {name: float(value) for name, _, value in (word.rpartition(":") for word in line.split() if ":" in word)}


def best(values, top, sign=-1):
    return dict(sorted(values.items(), key=lambda entry: sign * entry[1])[:top])


@pytest.fixture
def data(write):
    write("d.vw", "".join(f"{line}\n" for line in LINES))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("top", [1, 2, 9])
def test_the_best_classes_are_shown(vwlite, data, kind, top):
    options, shown = MODELS[kind]
    vwlite("train", "d.vw", *options, *NAMES, "-f", "m", "--quiet")
    every = vwlite("predict", "-i", "m", "d.vw", shown).lines
    some = vwlite("predict", "-i", "m", "d.vw", shown, "--top", str(top)).lines
    assert len(some) == len(every)
    for line, whole in zip(some, every, strict=True):
        assert list(pairs_in(line).items()) == list(best(pairs_in(whole), top).items())
    assert any(line.endswith(" t") for line in some)


def test_costs_are_best_where_they_are_least(vwlite, write):
    write("c.vw", "1:0 2:1 3:2 | a b\n1:3 2:0 3:1 | b c\n" * 5)
    vwlite("train", "c.vw", "--csoaa", "3", "-f", "m", "--quiet")
    every = vwlite("predict", "-i", "m", "c.vw", "--scores").lines
    some = vwlite("predict", "-i", "m", "c.vw", "--scores", "--top", "2").lines
    assert [list(pairs_in(line)) for line in some] == [list(best(pairs_in(line), 2, sign=1)) for line in every]


def test_labels_of_sets(vwlite, write):
    write("s.vw", "0,2 | a b\n1 | b c\n0,1 | a\n" * 5)
    vwlite("train", "s.vw", "--multilabel_oaa", "3", "-f", "m", "--quiet")
    every, some = (
        [json.loads(line)["scores"] for line in vwlite("predict", "-i", "m", "s.vw", "--scores", "--jsonl", *top).lines]
        for top in ((), ("--top", "2"))
    )
    assert [list(row.items()) for row in some] == [list(best(row, 2).items()) for row in every]


def test_objects_have_the_same_classes(vwlite, data):
    vwlite("train", "d.vw", *MODELS["oaa"][0], *NAMES, "-f", "m", "--quiet")
    some = ("predict", "-i", "m", "d.vw", "--probabilities", "--top", "2")
    for line, text in zip(vwlite(*some, "--jsonl").lines, vwlite(*some).lines, strict=True):
        shown = json.loads(line)["probabilities"]
        assert list(shown) == list(pairs_in(text)) and shown == pytest.approx(pairs_in(text), abs=1e-5)


def test_labels_of_l1_by_name(vwlite, data):
    vwlite("l1", "d.vw", "--model", "multinomial", "-f", "m", "--quiet")
    every = vwlite("predict", "-i", "m", "d.vw", "--probabilities").lines
    some = vwlite("predict", "-i", "m", "d.vw", "--probabilities", "--top", "2").lines
    for line, whole in zip(some, every, strict=True):
        assert line.split()[0] == whole.split()[0] and list(pairs_in(line)) == list(best(pairs_in(whole), 2))
    assert "--top goes with" in vwlite("predict", "-i", "m", "d.vw", "--top", "2", status=2).stderr
    assert "--top" in vwlite("predict", "-i", "m", "d.vw", "--probabilities", "--top", "0", status=2).stderr


def test_groups_of_lines_have_no_such_classes(vwlite, write):
    write("g.vw", "1:0 | a\n2:1 | b\n\n1:1 | a\n2:0 | b\n\n")
    vwlite("train", "g.vw", "--csoaa_ldf", "m", "-f", "m", "--quiet")
    assert "--top is for" in vwlite("predict", "-i", "m", "g.vw", "--scores", "--top", "1", status=2).stderr


def at_top(lines, labels, weights, most):
    """Precision and recall of the ``most`` best classes, by the text of scores."""
    hits = [len({*best(pairs_in(line), most)} & {*label}) for line, label in zip(lines, labels, strict=True)]
    right = sum(weight * hit for weight, hit in zip(weights, hits, strict=True))
    meant = sum(weight * len(label) for weight, label in zip(weights, labels, strict=True))
    return {f"p@{most}": right / sum(weights) / most, f"recall@{most}": right / meant}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("top", [1, 2, 5])
def test_precision_and_recall_of_the_best_classes(vwlite, data, write, kind, top):
    options, shown = MODELS[kind]
    vwlite("train", "d.vw", *options, *NAMES, "-f", "m", "--quiet")
    other = ["green 3 | a", "red | a b", "blue | d", "green 0 | e", "| e"]
    write("t.vw", "".join(f"{line}\n" for line in other))
    lines, labels = vwlite("predict", "-i", "m", "t.vw", shown).lines[:3], [["green"], ["red"], ["blue"]]
    done = vwlite("evaluate", "-i", "m", "t.vw", "--metric", f"p@{top},recall@{top}", "--json", "-")
    assert json.loads(done.stdout)["result"] == pytest.approx(at_top(lines, labels, [3, 1, 1], top))


def test_precision_and_recall_of_the_best_labels_of_sets(vwlite, write):
    write("d.vw", "0,2 | a b\n1 | b c\n, | c d\n1,3 | a\n2 | d\n")
    vwlite("train", "d.vw", "--multilabel_oaa", 4, "-f", "m", "--quiet", "--passes", 3, "--holdout_off")
    lines = [line for line in vwlite("predict", "-i", "m", "d.vw", "--scores").lines if ":" in line]
    labels = [["0", "2"], ["1"], [], ["1", "3"], ["2"]]
    done = vwlite("evaluate", "-i", "m", "d.vw", "--metric", "p@2,recall@2", "--json", "-")
    assert json.loads(done.stdout)["result"] == pytest.approx(at_top(lines, labels, [1] * 5, 2))


def test_answers_without_scores_have_no_best_classes(vwlite, data):
    vwlite("train", "d.vw", "--ect", 3, *NAMES, "-f", "m", "--quiet")
    stderr = vwlite("evaluate", "-i", "m", "d.vw", "--metric", "recall@2", status=2).stderr
    assert "--metric recall@2: a model of this kind has" in stderr
    assert "a tree of classes has only its answers" in stderr
