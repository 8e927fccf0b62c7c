"""``vwlite aso train -i``."""

import json

import numpy as np
import pytest

from tests.cli.test_aso import documents, same
from vwlite.solvers.aso.model_file import load_target
from vwlite.storage import model_file


@pytest.fixture(autouse=True)
def files(write):
    few = documents(40, 2)
    write("few.vw", few)
    write("land.vw", documents(30, 5) + "".join(f"land |w tree rock x{number} |v x1\n" for number in range(15)))
    write("test.vw", documents(60, 3))
    write("many.vw", documents(60, 4, several=True))
    write("bio.vw", "B-A |w x\nI-A |w y\n\nO |w z\nB-A |w x\n\n" * 9)


def train(vwlite, *words, out="model", **more):
    return vwlite("aso", "train", *words, "-f", out, "--quiet", **more)


def accuracy(vwlite, model, data):
    return json.loads(vwlite("evaluate", "-i", model, data, "--json", "-").stdout)["accuracy"]


@pytest.mark.parametrize(
    "options",
    [
        ("few.vw",), ("few.vw", "--theta", "theta"), ("few.vw", "--idf", "--lambda", "0.001", "--seed", "3"),
        ("many.vw", "--multilabel", "--loss_function", "logistic"), ("bio.vw", "--sequences"),
    ],
)  # fmt: skip
def test_the_same_text_again_is_what_more_passes_are(vwlite, tmp_path, options):
    vwlite("aso", "learn", "test.vw", "--aux", "freq-k:2", "--dim", "3", "--idf", "-f", "theta", "--quiet")
    train(vwlite, *options, "--passes", "7")
    train(vwlite, *options, "--passes", "3", out="other")
    train(vwlite, options[0], "-i", "other", "--passes", "4", "--threads", "1", out="other")
    assert same(tmp_path, "model", "other")


def test_other_text_is_learned_from_and_its_words_are_known(vwlite, tmp_path, write):
    train(vwlite, "few.vw")
    write("later.vw", "sport |w bat pitch\nsea |w tide buoy\n" * 20)
    before = accuracy(vwlite, "model", "test.vw")
    train(vwlite, "later.vw", "-i", "model", out="more", stdin=None)
    assert accuracy(vwlite, "more", "later.vw") == 1 and accuracy(vwlite, "more", "test.vw") >= before - 0.05
    old, new = load_target(tmp_path / "model"), load_target(tmp_path / "more")
    assert set(new.words.names) == {*old.words.names, "bat", "pitch", "tide", "buoy"}
    assert new.position.passes == 40 and new.position.steps == 20 * 40 + 20 * 40
    assert json.loads(vwlite("inspect", "more", "--json", "-").stdout)


def test_new_classes_need_the_option_and_are_learned(vwlite, tmp_path):
    train(vwlite, "few.vw")
    done = train(vwlite, "land.vw", "-i", "model", out="more", status=65)
    assert "no class land: --new-classes" in done.stderr and not (tmp_path / "more").exists()
    train(vwlite, "land.vw", "-i", "model", "--new-classes", out="more")
    assert load_target(tmp_path / "more").classes.names == ["sea", "sport", "land"]
    assert accuracy(vwlite, "more", "land.vw") == 1 and accuracy(vwlite, "more", "test.vw") > 0.9


def test_classes_without_new_examples_keep_their_weights_but_for_what_tells_against_them(vwlite, tmp_path, write):
    train(vwlite, "few.vw")
    write("odd.vw", "land |w rock\nair |w cloud\n")
    train(vwlite, "odd.vw", "-i", "model", "--new-classes", "--passes", "1", out="more")
    old, new = load_target(tmp_path / "model"), load_target(tmp_path / "more")
    assert new.classes.names == ["sea", "sport", "air", "land"]
    place = new.words.find(old.words.key)
    assert np.allclose(new.weights.w[place, :2], old.weights.w, rtol=0.01) and not new.weights.w[place, 2:].any()
    assert (new.weights.bias[2:] > -1).all()


@pytest.mark.parametrize(
    ("begun", "options", "status", "said"),
    [
        (("few.vw",), ("--lambda", "1e-3"), 2, "--lambda does not go with -i"),
        (("few.vw",), ("--theta", "model"), 2, "--theta does not go with -i"),
        (("few.vw",), ("--folds", "3"), 2, "--folds does not go with -i"),
        (("few.vw",), ("--multilabel",), 2, "--multilabel does not go with -i"),
        (("few.vw",), ("--sequences",), 2, "--sequences does not go with -i"),
        (("few.vw",), ("--idf",), 2, "--idf does not go with -i"),
        (("few.vw",), ("--max-memory", "1e-9"), 2, "--max-memory"),
        (("many.vw", "--multilabel", "--threshold", "tuned"), (), 2, "cannot be trained further"),
        (("bio.vw", "--sequences", "--decode", "viterbi"), (), 2, "cannot be trained further"),
    ],
)
def test_wrong_options_are_refused(vwlite, begun, options, status, said):
    train(vwlite, *begun)
    assert said in train(vwlite, begun[0], "-i", "model", *options, out="more", status=status).stderr


def test_new_classes_need_a_model(vwlite):
    assert "--new-classes does nothing without -i" in train(vwlite, "few.vw", "--new-classes", status=2).stderr


def test_other_models_and_damage(vwlite, tmp_path, write):
    write("none.vw", "|w a b\n")
    train(vwlite, "few.vw")
    assert "no labelled example" in train(vwlite, "none.vw", "-i", "model", out="more", status=65).stderr
    assert train(vwlite, "few.vw", "-i", "nothing", out="more", status=66)
    model = model_file.load(tmp_path / "model")
    for position in ({"passes": -1, "steps": 1}, {"passes": 1}, {"passes": 1, "steps": 2**62}, []):
        model_file.save(tmp_path / "bad", {**model.header, "position": position}, model.arrays)
        assert train(vwlite, "few.vw", "-i", "bad", out="more", status=76)


def test_labels_that_are_no_phrases_are_refused(vwlite, write):
    write("tags.vw", "B-A |w x\n\nNN |w q\n\n" * 9)
    train(vwlite, "bio.vw", "--sequences")
    done = train(vwlite, "tags.vw", "-i", "model", "--new-classes", out="more", status=2)
    assert "--decode bio needs labels O, B-X and I-X" in done.stderr
