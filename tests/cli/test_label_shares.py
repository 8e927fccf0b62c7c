"""Labels that are distributions, --multiclass K --label_shares; --smoothing."""

import json

import numpy as np
import pytest

LOUD = ("--multiclass", "3", "--label_shares")
ASKED = (*LOUD, "--quiet")
WORDS = [f"'t{n} |w a{n % 5} b{n % 3}\n" for n in range(60)]


def shares_of(lines):
    return np.array([[float(word.split(":")[1]) for word in line.split()[:3]] for line in lines])


@pytest.mark.parametrize("form", ["{}:1", "{}:0.5", "{}:3"])
@pytest.mark.parametrize("options", ["", "--average", "--smoothing 0.2", "--passes 3"])
def test_a_class_alone_and_all_of_the_share_are_the_same(vwlite, write, tmp_path, form, options):
    write("alone", "".join(f"{n % 3 + 1} {line}" for n, line in enumerate(WORDS)))
    write("shares", "".join(f"{form.format(n % 3 + 1)} {line}" for n, line in enumerate(WORDS)))
    for name in ("alone", "shares"):
        vwlite("train", name, "-f", f"{name}.m", *ASKED, *options.split())
    assert (tmp_path / "alone.m").read_bytes() == (tmp_path / "shares.m").read_bytes()
    vwlite(
        "train",
        "alone",
        "-f",
        "plain",
        "--no-shuffle",
        *(word for word in ASKED if "shares" not in word),
        *options.split(),
    )
    scores = [vwlite("predict", "alone", "-i", name, "--scores").stdout for name in ("plain", "shares.m")]
    assert scores[0] == scores[1]


def test_probabilities_become_the_mean_label(vwlite, write):
    """A row counts as two examples with the shares as their importance."""
    shares = {"a": (0.7, 0, 0.3), "b": (0.1, 0.6, 0.3), "c": (0, 0.5, 0.5)}
    text = {word: " ".join(f"{n + 1}:{x}" for n, x in enumerate(of) if x) for word, of in shares.items()}
    write("shares", "".join(f"{label} |w {word}\n" for word, label in text.items()))
    write("alone", "".join(f"{n + 1} {x} |w {word}\n" for word, of in shares.items() for n, x in enumerate(of) if x))
    options = ("--multiclass", 3, "--passes", 400, "--holdout_off", "--noconstant", "--quiet", "--cache_file")
    vwlite("train", "shares", "-f", "m", *options, "c1", "--label_shares")
    vwlite("train", "alone", "-f", "n", *options, "c2")
    write("asked", "".join(f"|w {word}\n" for word in shares))
    for model in ("m", "n"):
        predictions = shares_of(vwlite("predict", "asked", "-i", model, "--probabilities").lines)
        np.testing.assert_allclose(predictions, [*shares.values()], atol=0.02)
    report = json.loads(vwlite("evaluate", "shares", "-i", "m", "--json", "-").stdout)
    assert 0 <= report["log_loss"] < 0.01  # the divergence


def test_names_and_shares(vwlite, write):
    write("d", "".join(f"cat:{1 + n % 2} dog:1 {line}" for n, line in enumerate(WORDS)))
    vwlite("train", "d", "-f", "m", "--named_labels", "cat,dog,bird", *ASKED)
    assert {line.split()[0] for line in vwlite("predict", "d", "-i", "m").lines} == {"cat"}


def test_smoothing_learns_less_of_a_class(vwlite, write):
    write("d", "".join(f"{n % 3 + 1} |w a{n % 3}\n" for n in range(300)))
    sure = []
    for smoothing in (0, 0.3):
        vwlite(
            "train",
            "d",
            "-f",
            "m",
            "--multiclass",
            3,
            "--smoothing",
            smoothing,
            "--passes",
            20,
            "--quiet",
            "--holdout_off",
        )
        sure.append(shares_of(vwlite("predict", "d", "-i", "m", "--probabilities").lines).max(axis=1).mean())
    assert sure[0] > 0.95 and sure[1] == pytest.approx(1 - 0.3 + 0.1, abs=0.02)


WRONG = {
    "1:-1 2:2": "label 1:-1 2:2 has a share below 0",
    "4:1": "label 4:1 names no class: expected whole numbers from 1 to 3",
    "1:0": "the shares of label 1:0 add up to 0, not a number above 0",
    "1:x": "bad label word '1:x': expected class:share words like 1:0.7 3:0.3",
    "1:inf": "bad label word '1:inf'",
}


@pytest.mark.parametrize("label", WRONG)
def test_malformed_labels_are_told(vwlite, write, label):
    write("d", f"3 |w a\n{label} |w b\n")
    done = vwlite("train", "d", "-f", "m", *LOUD, "--max-bad-ratio", 1)
    assert f"d:2:1: {WRONG[label]}" in done.stderr
    assert "1 of 2 lines were malformed" in done.stderr


def test_strict_shares_add_up_to_one(vwlite, write):
    write("d", "1:0.7 3:0.3 |w a\n1:0.7 3:0.30005 |w b\n1:0.7 3:0.2 |w c\n2 |w a\n")
    done = vwlite("train", "d", "-f", "m", *LOUD, "--strict_shares", "--max-bad-ratio", 1)
    assert "d:3:1: the shares of label 1:0.7 3:0.2 add up to 0.9, not 1 within 0.0001" in done.stderr
    assert "1 of 4 lines were malformed" in done.stderr


REFUSED = {
    "--multiclass 3 --strict_shares": "--strict_shares needs --label_shares",
    "--multiclass 3 --smoothing 0.1 --loss_function logistic": "--smoothing needs --loss_function multinomial",
    "--multiclass 3 --label_shares --loss_function crammer_singer": "--label_shares needs --loss_function multinomial",
    "--multiclass 3 --smoothing 1": "--smoothing takes a number of 0 or more and below 1, not 1",
    "--multiclass 3 --nn 2 --smoothing 0.1": "--smoothing does not go with --nn",
    "--oaa 3 --label_shares": "--label_shares needs --multiclass",
}


@pytest.mark.parametrize("options", REFUSED)
def test_options_that_do_not_go_together_are_refused(vwlite, write, options):
    write("d", "1 |w a\n")
    assert REFUSED[options] in vwlite("train", "d", "--quiet", *options.split(), status=2).stderr
