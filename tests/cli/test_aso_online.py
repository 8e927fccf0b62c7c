"""``vwlite aso learn --online``, and ``-i`` with a Theta that keeps its weights."""

import json

import numpy as np
import pytest

from tests.cli.test_aso import bare, documents
from vwlite.features.theta import load_theta
from vwlite.storage import model_file

ONLINE = ("--online", "--warmup", "60", "--aux", "freq-k:2", "--dim", "3", "--quiet")


def growing(count, seed):
    """Later lines have words that earlier ones have not."""
    rng = np.random.default_rng(seed)
    lines = bare(documents(count, seed)).splitlines()
    return "".join(f"{line} n{rng.integers(1 + number // 40)}\n" for number, line in enumerate(lines))


@pytest.fixture(autouse=True)
def files(write, monkeypatch):
    monkeypatch.setattr("vwlite.solvers.aso.online.SPAN", 32)
    monkeypatch.setattr("vwlite.solvers.aso.solver.SPAN", 32)
    write("un.vw", growing(300, 1))
    write("few.vw", documents(12, 2))
    write("test.vw", documents(60, 3))


def learn(vwlite, *words, out="theta", **more):
    return vwlite("aso", "learn", *words, "-f", out, **more)


@pytest.mark.parametrize(
    "options", [(), ("--idf", "--aux", "mask:v", "--min-count", "3"), ("--no-positive", "--no-unit")]
)
@pytest.mark.parametrize("cut", [60, 61, 92, 200])
def test_two_texts_are_learned_as_one(vwlite, write, tmp_path, options, cut):
    how = (*ONLINE, "--keep-weights", *options)
    learn(vwlite, "un.vw", *how)
    lines = (tmp_path / "un.vw").read_text().splitlines(True)
    write("one.vw", "".join(lines[:cut]))
    write("two.vw", "".join(lines[cut:]))
    learn(vwlite, "one.vw", *how, out="other")
    learn(vwlite, "two.vw", "-i", "other", "--quiet", "--keep-weights", out="other")
    assert (tmp_path / "other").read_bytes() == (tmp_path / "theta").read_bytes()


def test_theta_is_used_like_any_other(vwlite, tmp_path):
    done = learn(vwlite, "un.vw", *ONLINE[:-1], "--json", "facts")
    assert "300 examples, 240 learned as they came" in done.stderr and "are left out" in done.stderr
    facts = json.loads((tmp_path / "facts").read_text())
    assert facts["examples"] == 300 and sum(facts["problems"]) == len(facts["listed"]) > 5
    assert any(name.startswith("n") for name in load_theta(tmp_path / "theta")[0].words.names)
    assert vwlite("aso", "inspect", "theta", "--problems").lines[0].startswith("kind")
    vwlite("aso", "train", "few.vw", "--theta", "theta", "-f", "model", "--quiet")
    scores = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert scores["accuracy"] > 0.9
    learn(vwlite, "un.vw", *ONLINE, "--keep-weights", out="kept")
    one, other = load_theta(tmp_path / "theta")[0], load_theta(tmp_path / "kept")[0]
    assert one.matrix.tobytes() == other.matrix.tobytes()
    assert "u_0" in model_file.load(tmp_path / "kept").arrays


def test_a_text_that_ends_in_the_beginning_is_learned_in_memory(vwlite, tmp_path):
    options = ("--aux", "freq-k:2", "--dim", "3", "--quiet")
    learn(vwlite, "un.vw", *options)
    learn(vwlite, "un.vw", "--online", *options, out="other")
    one, other = load_theta(tmp_path / "theta")[0], load_theta(tmp_path / "other")[0]
    assert one.matrix == pytest.approx(other.matrix, abs=1e-5) and one.words.names == other.words.names


def test_room_for_features(vwlite, tmp_path):
    done = learn(vwlite, "un.vw", *ONLINE[:-1], "--max-features", "23")
    assert "there were --max-features 23" in done.stderr
    assert len(load_theta(tmp_path / "theta")[0].words) == 23


def test_features_that_few_examples_have_are_told(vwlite):
    done = vwlite("aso", "learn", "un.vw", "--aux", "freq", "--min-count", "40", "-f", "theta")
    assert "that fewer than 40 examples have are left out" in done.stderr


def test_features_of_examples_that_are_not_asked_for_are_none_that_few_have(vwlite, write):
    lines = [f"|w {a} |v {b} |k {k}\n" for a, b, k in ("abx", "bcx", "acx", "dey", "efy", "dfy")]
    write("two.vw", "".join(lines * 20))
    done = vwlite("aso", "learn", "two.vw", "--aux", "mask:v", "--where", "k=x", "-f", "theta")
    assert "left out" not in done.stderr


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--aux", "freq", "--warmup", "9"), 2, "--warmup does nothing without --online"),
        (("--aux", "freq", "--keep-weights"), 2, "--keep-weights does nothing without --online or -i"),
        (("--online", "--aux", "top-k:1", "--quiet"), 2, "not top-k:1"),
        (("--online", "--aux", "freq", "--where", "w=ship"), 2, "--where does not go with --online"),
        (("--online", "--aux", "freq", "--iterations", "2"), 2, "--iterations does not go with --online"),
        (("-i", "plain"), 2, "has no weights to continue with"),
        (("-i", "kept", "--dim", "4"), 2, "--dim contradicts kept"),
        (("-i", "kept", "--aux", "freq"), 2, "--aux contradicts kept"),
        (("-i", "kept", "--loss_function", "hinge"), 2, "--loss_function contradicts kept"),
        (("-i", "kept", "--passes", "2"), 2, "--passes does not go with -i"),
        (("-i", "nothing"), 66, "nothing"),
        (("--online", "--aux", "freq", "--max-memory", "1e-6"), 2, "--max-memory"),
    ],
)
def test_wrong_options_are_refused(vwlite, options, status, said):
    learn(vwlite, "un.vw", "--aux", "freq", "--quiet", out="plain")
    learn(vwlite, "un.vw", *ONLINE, "--keep-weights", out="kept")
    assert said in learn(vwlite, "un.vw", *options, status=status).stderr


def test_damaged_weights_are_refused(vwlite, tmp_path):
    learn(vwlite, "un.vw", *ONLINE, "--keep-weights", out="kept")
    model = model_file.load(tmp_path / "kept")
    told = model.header["stream"]
    parts = told["parts"]
    headers = [
        {"since": 4096},
        {"parts": [{**parts[0], "number": 9}]},
        {"parts": [{**parts[0], "scale": 0}]},
        {"parts": [{**parts[0], "names": []}]},
        {"options": {"aux": ["what"]}},
        {"options": {}},
        {"waiting_spaces": 3},
    ]
    for changed in headers:
        model_file.save(tmp_path / "bad", {**model.header, "stream": {**told, **changed}}, model.arrays)
        assert learn(vwlite, "un.vw", "-i", "bad", status=76)
    for name, value in (
        ("u_0", model.arrays["u_0"][:-1]),
        ("source_0", model.arrays["source_0"] + 1),
        ("presence", model.arrays["presence"][:-1]),
        ("new_key", np.array([2, 1], np.uint32)),
    ):
        model_file.save(tmp_path / "bad", model.header, {**model.arrays, name: np.ascontiguousarray(value)})
        assert learn(vwlite, "un.vw", "-i", "bad", status=76), name
