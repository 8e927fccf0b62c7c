"""What would take more memory or time than anybody has is refused, with the number; the rest is bounded."""

import os
import signal
import threading

import numpy as np
import pytest

from vwlite.features.interactions import matches, resolve
from vwlite.solvers.loglinear import tagger

WIDE = "|a " + " ".join(f"f{number}" for number in range(900)) + "\n"
MANY = [("--ngram", 30, "--skips", 30), ("--cubic", "aaa"), ("-q", "::", "--ngram", 25)]


@pytest.mark.parametrize("options", MANY)
def test_a_line_that_makes_too_many_features(options, vwlite, write):
    write("narrow.vw", "1 |a x y\n-1 |a z\n")
    write("wide.vw", f"1 |a x\n1 {WIDE}")
    message = "wide.vw:2: 900 features make more than 100,000,000 with their interactions and n-grams"
    assert message in vwlite("train", "wide.vw", *options, "-f", "model", status=65).stderr
    vwlite("train", "narrow.vw", *options, "-f", "model", "--label-units", "raw")
    assert message in vwlite("predict", "-i", "model", "wide.vw", status=65).stderr
    assert message in vwlite("evaluate", "-i", "model", "wide.vw", status=65).stderr
    assert message[10:] in vwlite("vw", "-t", "-i", "model", "-d", "wide.vw", status=1).stdout


@pytest.mark.parametrize(
    "command",
    [
        "train --oaa 3", "train --dotproduct ab", "train --names", "train --csoaa_ldf m", "train --lrq aa9999",
        "l1 --model multinomial", "crr --qid none --alpha 1",
    ],
)
def test_every_learner_refuses_a_line_of_too_many_features(command, vwlite, write):
    write("wide.vw", f"1 {WIDE}0 {WIDE}".replace("0 |", "0:1 |" if "ldf" in command else "0 |"))
    options = () if "lrq" in command else MANY[1]
    assert "more than 100,000,000" in vwlite(*command.split(), *options, "wide.vw", "-f", "model", status=65).stderr


def test_long_lines_one_at_a_time_are_learned_as_ever(vwlite, write, tables):
    line = "|a " + " ".join(f"f{number}:0.5" for number in range(1500)) + "\n"  # a million pairs, and more
    write("data.vw", f"1 |a x\n1 {line}-1 |a f1 f2\n0.5 {line}1 |a f3\n")
    for options in ((), ("--sgd",), ("--dotproduct", "ab")):
        vwlite("train", "data.vw", "-q", "aa", "-f", "model", *options)
        vwlite("train", "data.vw", "-q", "aa", "-f", "single", "--block-size", 1000, "--threads", 1, *options)
        assert tables("model") == tables("single")


def test_wildcards_that_stand_for_too_many_interactions(vwlite, write):
    write("data.vw", "1 " + " ".join(f"|{letter} x" for letter in "abcdefghijkl") + "\n")
    error = vwlite("train", "data.vw", "--interactions", ":" * 12, status=2).stderr
    assert "the wildcards stand for 1,352,078 interactions of the 12 namespaces seen so far, more than 262,144" in error


def test_wildcards_of_any_order_are_looked_for_among_those_that_matched(vwlite, write):
    write("data.vw", "1 |a x y |b z\n-1 |a x\n")
    vwlite("train", "data.vw", "--interactions", ":" * 40, "-f", "model")
    assert "--interactions :c never matched" in vwlite("train", "data.vw", "--interactions", ":c").stderr


@pytest.mark.parametrize("typed", [b"::", b"a:", b":a", b"ab", b"ba", b"aa", b":::", b"a:b", b"ac:"])
def test_wildcards_stand_for_exactly_the_interactions_that_matched(typed):
    for seen in (b"", b"a", b"ab", b"abc", b"a\x84"):
        for bound in (b"ab", b"ba", b"aa", b"cc", b"aab", b"bca", b"a\x84"):
            stands = {tuple(sorted(letters)) for letters in resolve([tuple(typed)], seen, True)}
            if set(bound) <= set(seen):
                assert matches(tuple(typed), [tuple(bound)]) == (tuple(sorted(bound)) in stands), (typed, seen, bound)


SEQUENCES = "".join(f"L{n % 60} |w x{n}\n" + "\n" * (n % 5 == 4) for n in range(300))


def test_classes_of_aso_say_what_they_need(vwlite, write):
    write("data.vw", SEQUENCES.replace("\n\n", "\n"))
    stderr = vwlite("aso", "train", "data.vw", "-f", "model", "--max-memory", 1e-6, status=2).stderr
    assert "the weights of 60 classes and 300 features: 0.00 GiB are more than --max-memory" in stderr


def test_a_sequence_without_end(vwlite, write, monkeypatch):
    write("data.vw", SEQUENCES)
    vwlite("l1", "data.vw", "--model", "crf", "-f", "model", "--passes", 1)
    whole = vwlite("predict", "-i", "model", "data.vw", "--probabilities").stdout
    monkeypatch.setattr(tagger, "PIECE", 700)  # ten lines or so
    assert vwlite("predict", "-i", "model", "data.vw", "--probabilities").stdout == whole
    monkeypatch.setattr(tagger, "USUAL_MEMORY", 1e5)
    stderr = vwlite("predict", "-i", "model", stdin=SEQUENCES.replace("\n\n", "\n"), status=65).stderr
    assert "lines, with 60 labels, needs more than" in stderr and "do empty lines end the sequences?" in stderr


HEAVY = {  # minutes of work in one batch
    "train": ("1 |a " + " ".join(f"f{n}" for n in range(2000)) + "\n") * 500,
    "l1": "".join(f"L{n % 2000} |w x\n" for n in range(5000)),
}


@pytest.mark.parametrize(
    "command", ["train -q aa -f model", "train --filter_tree 9 -q aa -f model", "l1 --model crf -f model"]
)
def test_a_signal_stops_a_kernel_at_work(command, vwlite, write):
    write("data.vw", HEAVY[command.split()[0]])
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    one_batch = ("--threads", 1, "--block-size", 1 << 24)
    assert "terminated" in vwlite(*command.split(), "data.vw", *one_batch, status=143).stderr


def test_the_number_of_contests_is_no_matter_of_lists():
    from vwlite.learners.trees import draw

    contests, finals = draw(1 << 17, 2)
    assert len(contests) == 3 * (1 << 17) - 2 and len(finals) == 2 and contests.dtype == np.uint32
