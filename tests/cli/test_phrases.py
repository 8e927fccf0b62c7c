"""Phrase F1 at the command line: the scheme of the labels is guessed, told, given, and never assumed."""

import json
import shlex
from pathlib import Path

import pytest

TRAIN = "B-M |w n\nI-M |w a\nI-M |w g\nE-M |w p\n\n"
TEST = "B-M |w n\nE-M |w a\nB-M |w g\nE-M |w p\n\n"
SINGLE = "S-PER |w Ann\nS-PER |w Bob\nO |w sat\n\n"
TAGS = "DT |w the\nNN |w cat\nVB |w sat\n\n"


def tagger(vwlite, write, text, *options, model="model"):
    write("train.vw", text * 9)
    return vwlite("l1", "train.vw", "-f", model, "--model", "crf", "--l1", "0.1", *options)


def evaluate(vwlite, *options, model="model", data="test.vw", status=0):
    return vwlite("evaluate", "-i", model, data, "--json", "-", *options, status=status)


def figures(done, *names):
    report = json.loads(done.stdout)
    return [report[name] for name in names]


def test_neighbours_in_iobes_are_not_merged(vwlite, write):
    tagger(vwlite, write, TRAIN)
    write("test.vw", TEST)
    asked = ("f1", "phrases", "found", "correct", "scheme", "counting")
    assert figures(evaluate(vwlite), *asked) == [0, 2, 1, 0, "iobes", "strict"]
    assert "scheme      iobes" in vwlite("evaluate", "-i", "model", "test.vw", "--metric", "conll").stdout


def test_two_single_tokens_are_two_phrases(vwlite, write):
    tagger(vwlite, write, SINGLE)
    write("test.vw", SINGLE)
    assert figures(evaluate(vwlite), "f1", "phrases", "scheme") == [100, 2, "iobes"]


@pytest.mark.parametrize(
    ("labels", "scheme", "phrases"),
    [("b-per i-per o", "iob2", 1), ("B_PS I_PS O", "iob2", 1), ("I-X B-X O", "iob1", 2), ("U-X B-X L-X", "bilou", 2)],
)
def test_marks_in_any_spelling(labels, scheme, phrases, vwlite, write):
    text = "".join(f"{label} |w {word}\n" for label, word in zip(labels.split(), "abc", strict=True)) + "\n"
    tagger(vwlite, write, text)
    write("test.vw", text)
    expected = [1, 100, phrases, phrases, scheme]
    assert figures(evaluate(vwlite), "accuracy", "f1", "phrases", "found", "scheme") == expected


def test_labels_without_marks_have_no_phrases(vwlite, write):
    tagger(vwlite, write, TAGS)
    write("test.vw", TAGS)
    report = json.loads(evaluate(vwlite).stdout)
    assert report["accuracy"] == 1 and not {"f1", "phrases", "scheme"} & report.keys()
    stderr = evaluate(vwlite, "--metric", "accuracy,conll", status=2).stderr
    assert "no phrases to count: DT marks none; labels that mark them are like B-NP, I-NP and O" in stderr
    stderr = tagger(vwlite, write, TAGS, "--holdout", "3").stderr
    assert "the best on the held-out part by accuracy" in stderr


def test_a_given_scheme_counts_strictly(vwlite, write):
    """The tagger says I-X after O: conlleval counts a phrase, IOB2 has none."""
    tagger(vwlite, write, "O |w a\nI-X |w b\n\n" + "B-X |w c\nO |w a\n\n")
    write("test.vw", "O |w a\nB-X |w b\n\n")
    assert figures(evaluate(vwlite), "f1", "found", "counting") == [100, 1, "conlleval"]
    assert figures(evaluate(vwlite, "--scheme", "iob2"), "f1", "found", "counting") == [0, 0, "strict"]
    assert "f1" not in json.loads(evaluate(vwlite, "--scheme", "none").stdout)
    stdout = evaluate(vwlite, "--scheme", "iobes", "--metric", "conll").stdout
    assert json.loads(stdout)["scheme"] == "iobes"


def test_the_held_out_part_says_how_it_counts(vwlite, write):
    stderr = tagger(vwlite, write, TRAIN, "--holdout", "3").stderr
    assert "the best on the held-out part by phrase F1 (iobes, strict)" in stderr
    stderr = tagger(vwlite, write, TRAIN, "--holdout", "3", "--scheme", "none").stderr
    assert "the best on the held-out part by accuracy" in stderr
    write("t", TEST * 3)
    vwlite("l1", "train.vw", "-f", "m", "--model", "crf", "--holdout", "t", "--quiet", "--json", "run.json")
    last = json.loads(Path("run.json").read_text())["history"][-1]
    assert last["f1"] == 0.0


def test_tune_says_how_it_counts(vwlite, write):
    write("d", TRAIN * 9)
    options = ("--command", "l1", "--with", "--model crf", "--metric", "f1", "--vary", "l1 0.1|1", "--passes", "1")
    stderr = vwlite("tune", "d", "--test", "d", *options).stderr
    assert stderr.count("note: f1 is that of phrases (iobes, strict)") == 1
    stderr = vwlite("tune", "d", "--test", "d", *options, "--scheme", "bilou", status=2).stderr
    assert "--scheme bilou has labels of B, I, L, U and O, not E-M" in stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("evaluate -i model test.vw --scheme bilou", "--scheme bilou has labels of B, I, L, U and O, not E-M"),
        ("evaluate -i model test.vw --scheme iobes --metric accuracy", "--scheme is of phrases"),
        ("evaluate -i model test.vw --scheme none --metric conll", "no phrases to count: --scheme none"),
        ("evaluate -i classes test.vw --scheme iobes", "--scheme is of phrases"),
        ("evaluate -i linear numbers.vw --scheme iobes", "--scheme is of phrases"),
        ("l1 test.vw -f m --model crf --scheme iobes", "--scheme does nothing without --holdout"),
        ("l1 test.vw -f m --model crf --holdout 2 --holdout-metric accuracy --scheme iobes", "--scheme iobes counts"),
        ("l1 test.vw -f m --model crf --holdout 2 --holdout-metric f1 --scheme none", "it is accuracy or log_loss"),
        ("l1 test.vw -f m --model multinomial --holdout 2 --scheme iobes", "--scheme iobes counts phrases"),
        ("tune test.vw --test test.vw --vary 'l 1..2' --scheme iobes", "--scheme is of phrases"),
    ],
)
def test_a_scheme_without_phrases_is_refused(words, said, vwlite, write):
    tagger(vwlite, write, TRAIN)
    vwlite("l1", "train.vw", "-f", "classes", "--model", "multinomial", "--quiet")
    write("test.vw", TEST * 4)
    write("numbers.vw", "1 |a b\n-1 |a c\n")
    vwlite("train", "numbers.vw", "-f", "linear", "--quiet")
    assert said in vwlite(*shlex.split(words), status=2).stderr


def test_sequences_of_aso(vwlite, write):
    for name, text in (("iobes", TRAIN), ("tags", TAGS)):
        write(f"{name}.vw", text * 9)
        vwlite("aso", "train", f"{name}.vw", "-f", name, "--sequences", "--quiet")
    write("test.vw", TEST)
    assert figures(evaluate(vwlite, model="iobes"), "phrases", "correct", "scheme") == [2, 0, "iobes"]
    assert "f1" not in json.loads(evaluate(vwlite, model="tags", data="tags.vw").stdout)
    stderr = evaluate(vwlite, "--metric", "conll", model="tags", data="tags.vw", status=2).stderr
    assert "no phrases to count: DT marks none" in stderr
    stderr = evaluate(vwlite, "--scheme", "bilou", model="iobes", status=2).stderr
    assert "--scheme bilou has labels of B, I, L, U and O, not" in stderr
