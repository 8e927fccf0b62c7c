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
    assert [set(answer) for answer in answers] == [{"prediction", "tag"}, {"prediction"}, {"prediction", "tag"}]
    for answer, words in zip(answers, shown, strict=True):
        assert [f"{answer['prediction']:.6f}", *([answer["tag"]] if "tag" in answer else [])] == words


def test_malformed_lines_have_null_for_a_prediction(predict):
    answers, shown = predict("|w x\n|w x:nan\n|w y\n", status=65)
    assert [answer["prediction"] is None for answer in answers] == [False, True, False]
    assert [words == ["nan"] for words in shown] == [False, True, False]


def test_raw_predictions_and_confidences_are_members(predict):
    answers, shown = predict(LINES, "--raw")
    expected = [float(words[0]) for words in shown]
    assert [round(answer["raw"], 5) for answer in answers] == pytest.approx(expected, abs=1e-5)
    answers, shown = predict(LINES, "--confidence")
    pairs = [[answer["prediction"], answer["confidence"]] for answer in answers]
    assert pairs == [pytest.approx([float(word) for word in words[:2]], abs=1e-5) for words in shown]


def test_classes_are_numbers_or_names(predict):
    answers, shown = predict(CLASSES, train="classes.vw --oaa 3")
    assert [[str(answer["prediction"]), *filter(None, [answer.get("tag")])] for answer in answers] == shown
    answers, _ = predict(CLASSES, train="classes.vw --multiclass 3 --named_labels 1,2,3")
    assert {answer["prediction"] for answer in answers} <= {"1", "2", "3"}


@pytest.mark.parametrize("option", ["--probabilities", "--scores", "--raw"])
def test_numbers_of_all_classes(option, predict):
    answers, shown = predict(CLASSES, option, train="classes.vw --oaa 3 --loss_function logistic")
    for answer, words in zip(answers, shown, strict=True):
        pairs = [word.split(":") for word in words if ":" in word]
        assert answer[option[2:]] == pytest.approx({name: float(value) for name, value in pairs}, abs=1e-4)


def test_sets_of_labels_are_lists(predict):
    answers, _ = predict("1,2 |w x\n", train="classes.vw --multilabel_oaa 4")
    assert isinstance(answers[0]["prediction"], list)


def test_a_tag_that_is_not_ascii(predict):
    assert predict("'\u00fc|w x\n")[0][0]["tag"] == "\u00fc"


def test_options_that_do_not_go_with_it_are_refused(vwlite, write):
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
