"""``vwlite predict --jsonl``: the numbers of the text, with names."""

import json

import pytest

LINES = "1 'a|w x:0.5 y\n-1 |w y\n1 'b|w z\n"
CLASSES = "1 'a|w x\n2 |w y\n3 |w z\n" * 4


@pytest.fixture
def predict(vwlite, write):
    """The objects that ``predict --jsonl OPTIONS`` writes for ``text``, and the words of the lines without it."""
    write("data.vw", LINES)
    write("classes.vw", CLASSES)

    def run(text, *options, train="data.vw --loss_function logistic", status=0):
        vwlite("train", *train.split(), "-f", "model", "--quiet")
        given = ("predict", "-i", "model", "--quiet", *options)
        done = vwlite(*given, "--jsonl", stdin=text, status=status)
        lines = vwlite(*given, stdin=text, status=status).lines
        return [json.loads(line) for line in done.lines], [line.split() for line in lines]

    return run


def test_predictions_and_tags(predict):
    answers, shown = predict(LINES)
    assert [set(one) for one in answers] == [{"prediction", "tag"}, {"prediction"}, {"prediction", "tag"}]
    for one, words in zip(answers, shown, strict=True):
        assert [f"{one['prediction']:.6f}", *([one["tag"]] if "tag" in one else [])] == words


def test_malformed_lines(predict):
    answers, shown = predict("|w x\n|w x:nan\n|w y\n", status=65)
    assert (
        [one["prediction"] is None for one in answers] == [words == ["nan"] for words in shown] == [False, True, False]
    )


def test_what_is_asked_for(predict):
    answers, shown = predict(LINES, "--raw")
    assert [round(one["raw"], 5) for one in answers] == pytest.approx([float(words[0]) for words in shown], abs=1e-5)
    answers, shown = predict(LINES, "--confidence")
    pairs = [[one["prediction"], one["confidence"]] for one in answers]
    assert pairs == [pytest.approx([float(word) for word in words[:2]], abs=1e-5) for words in shown]


def test_classes(predict):
    answers, shown = predict(CLASSES, train="classes.vw --oaa 3")
    assert [[str(one["prediction"]), *filter(None, [one.get("tag")])] for one in answers] == shown
    answers, _ = predict(CLASSES, train="classes.vw --multiclass 3 --named_labels 1,2,3")
    assert {one["prediction"] for one in answers} <= {"1", "2", "3"}


@pytest.mark.parametrize("option", ["--probabilities", "--scores", "--raw"])
def test_numbers_of_all_classes(option, predict):
    answers, shown = predict(CLASSES, option, train="classes.vw --oaa 3 --loss_function logistic")
    for one, words in zip(answers, shown, strict=True):
        pairs = [word.split(":") for word in words if ":" in word]
        assert one[option[2:]] == pytest.approx({name: float(value) for name, value in pairs}, abs=1e-4)


def test_sets(predict):
    answers, _ = predict("1,2 |w x\n", train="classes.vw --multilabel_oaa 4")
    assert isinstance(answers[0]["prediction"], list)


def test_a_tag_that_is_not_ascii(predict):
    assert predict("'\u00fc|w x\n")[0][0]["tag"] == "\u00fc"


def test_what_does_not_go_with_it(vwlite, write):
    write("data.vw", LINES)
    write("groups.vw", "1:1 |w x\n2:0 |w y\n\n")
    vwlite("train", "data.vw", "-f", "model")
    vwlite("train", "groups.vw", "--csoaa_ldf", "multiline", "-f", "groups")
    vwlite("l1", "data.vw", "--model", "multinomial", "-f", "named", "--passes", 1)
    predict = ("predict", "data.vw", "--jsonl", "-i")
    assert "--jsonl and --audit do not go together" in vwlite(*predict, "model", "--audit", status=2).stderr
    assert "--jsonl and -r do not go together" in vwlite(*predict, "model", "-r", "raw", status=2).stderr
    assert "--jsonl does not go with groups of lines" in vwlite(*predict, "groups", status=2).stderr
    assert "--jsonl does not go with a model of named labels" in vwlite(*predict, "named", status=2).stderr
