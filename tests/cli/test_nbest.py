"""``vwlite predict --nbest``."""

import pytest
from l1_case import SENTENCES


@pytest.fixture(autouse=True)
def files(write):
    write("tags.vw", SENTENCES)


def crf(vwlite, *options):
    vwlite("l1", "tags.vw", "-f", "m", "--quiet", "--model", "crf", *options)


def blocks_of(done):
    """``(rank, number, lines)`` of each label sequence that ``--nbest`` writes."""
    blocks = [block.split("\n") for block in done.stdout.removesuffix("\n\n").split("\n\n")]
    return [(int(head.split(" ")[1]), float(head.split(" ")[2]), lines) for head, *lines in blocks]


@pytest.mark.parametrize("options", [(), ("--order", "2")])
def test_the_best_label_sequences_and_their_probabilities(vwlite, write, options):
    crf(vwlite, *options)
    write("two.vw", "|w the\n|w dog\n\n\n|w ran\n")
    blocks = blocks_of(vwlite("predict", "-i", "m", "two.vw", "--nbest", "99"))
    assert [rank for rank, *_ in blocks] == [*range(9), *range(3)]
    assert blocks[0][2] == ["B-NP", "I-NP"] and blocks[9][2] == ["O"]
    assert len({tuple(labels) for *_, labels in blocks[:9]}) == 9
    for chances in ([chance for _, chance, _ in part] for part in (blocks[:9], blocks[9:])):
        assert sum(chances) == pytest.approx(1, abs=1e-4) and chances == sorted(chances, reverse=True)
    assert blocks_of(vwlite("predict", "-i", "m", "two.vw", "--nbest", "2")) == [*blocks[:2], *blocks[9:11]]


def test_lines_of_the_best_label_sequences_have_tags_and_labels(vwlite, write):
    crf(vwlite)
    write("some.vw", "B-NP 'one|w the\n'two|w dog\nsat\n\nsat\n\n")
    done = vwlite("predict", "-i", "m", "some.vw", "--nbest", "1", "--with-labels", status=65)
    assert [lines for *_, lines in blocks_of(done)] == [["B-NP B-NP one", "I-NP unknown two", "nan"], ["nan"]]
    best = vwlite("predict", "-i", "m", "tags.vw").lines
    assert [
        line
        for *_, lines in blocks_of(vwlite("predict", "-i", "m", "tags.vw", "--nbest", "2"))[::2]
        for line in (*lines, "")
    ] == best


def test_the_best_label_sequences_of_a_model_without_probabilities_have_scores(vwlite):
    crf(vwlite, "--loss", "perceptron")
    scores = [score for rank, score, _ in blocks_of(vwlite("predict", "-i", "m", "tags.vw", "--nbest", "2"))]
    assert all(score >= other for score, other in zip(scores[::2], scores[1::2], strict=True)) and max(scores) > 1


def test_refusals_of_nbest(vwlite, write):
    crf(vwlite)
    for options, why in (("0", "takes 1 to"), ("2 --probabilities", "do not go together")):
        assert why in vwlite("predict", "-i", "m", "tags.vw", "--nbest", *options.split(), status=2).stderr
    crf(vwlite, "--model", "multinomial")
    assert "--top N" in vwlite("predict", "-i", "m", "tags.vw", "--nbest", "2", status=2).stderr
    write("numbers.vw", "1 |w a\n-1 |w b\n")
    vwlite("train", "numbers.vw", "-f", "m", "--quiet")
    assert "is of label sequences" in vwlite("predict", "-i", "m", "numbers.vw", "--nbest", "2", status=2).stderr
