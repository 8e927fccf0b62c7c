"""``--negatives`` and its options, and ``--confidence-rate``, as they are typed."""

import pytest

LINES = "".join(f"1 |user u{u} |item i{i} |genre g{i % 3}\n" for u in range(8) for i in range(u % 3, 9, 2))
DYADS = ("--dotproduct", "user,item", "--rank", "3", "--loss_function", "logistic", "--quiet")
DRAWN = ("--negatives", "2", "--negatives-of", "item,genre", "--negative-label", "-1", "--negative-weight", "0.5")


@pytest.fixture
def data(write):
    return write("data", LINES)


def test_what_people_chose_is_learned_beside_what_they_did_not(data, vwlite):
    vwlite("train", data, "-f", "all", *DYADS)
    vwlite("train", data, "-f", "drawn", *DYADS, *DRAWN)
    usual, drawn = ([float(line) for line in vwlite("predict", "-i", model, data).lines] for model in ("all", "drawn"))
    assert max(drawn) < min(usual)  # to which everything is wanted
    vwlite("vw", data, "-f", "of-vw", *DYADS, *DRAWN)
    assert len(vwlite("predict", "-i", "of-vw", data).lines) == len(usual)


def test_nothing_to_draw_from_is_told(vwlite, write):
    options = [option for option in DYADS if option != "--quiet"]
    done = vwlite("train", write("one", "1 |user u |item i\n" * 3), *options, *DRAWN)
    assert "--negatives: nothing was drawn" in done.stderr


def test_confidences_are_in_proportion_to_the_rate(data, vwlite):
    vwlite("train", data, "-f", "m", *DYADS, "--negatives", 2)
    predictions = [
        [float(line.split()[1]) for line in vwlite("predict", "-i", "m", data, "--confidence", *more).lines]
        for more in ((), ("--confidence-rate", "0.2"), ("--confidence-rate", "0.1"))
    ]
    assert predictions[0] == predictions[1] and predictions[2] == pytest.approx(
        [2 * prediction for prediction in predictions[0]], rel=1e-4
    )
    vwlite("train", data, "-f", "m", *DYADS, "--negatives", 2, "--confidence-rate", "0.1")
    kept = [float(line.split()[1]) for line in vwlite("predict", "-i", "m", data, "--confidence").lines]
    assert kept == predictions[2]
    vwlite("vw", data, "-f", "v", *DYADS, "--confidence-rate", "0.1")
    stderr = vwlite("predict", "-i", "m", data, "--confidence-rate", 1, status=2).stderr
    assert "--confidence-rate does nothing without --confidence" in stderr
