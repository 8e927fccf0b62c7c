"""``vwlite l1 --solver fista``, ``--group``: the weights of a feature vanish together, ``--trace``: few directions."""

import json

import numpy as np
import pytest

from vwlite.solvers.loglinear.model_file import load

NAMED = "".join(f"{['red', 'blue', 'green'][n % 3]} |w {'abc'[n % 3]} {'defg'[n * n % 4]}\n" for n in range(90))
TAGS = {"the": "B-NP", "cat": "I-NP", "sat": "O", "dog": "I-NP", "a": "B-NP", "ran": "O"}
SENTENCES = "".join(
    "".join(f"{TAGS[word]} |w {word} |p {word[0]}\n" for word in sentence.split()) + "\n"
    for sentence in ["the cat sat", "a dog ran", "the dog sat the cat", "ran", "a cat"] * 8
)
MODELS = pytest.mark.parametrize("model", ["crf", "multinomial"])


@pytest.fixture
def l1(vwlite, write):
    write("multinomial.vw", NAMED)
    write("crf.vw", SENTENCES)

    def run(model, *options, **more):
        out = () if {"-f"} & set(options) else ("-f", "m")
        return vwlite("l1", f"{model}.vw", "--model", model, "--quiet", *out, *options, **more)

    return run


def figures(done):
    return json.loads(done.stdout)


@MODELS
@pytest.mark.parametrize("solver", [("--solver", "fista"), ("-l", "0.3")])
def test_the_weights_of_a_feature_vanish_together(model, solver, l1, vwlite, header):
    options = (*solver, "--dense-pairs", "--l1", "3")
    l1(model, *options, "-f", "single")
    assert "group" not in header("single")["l1"]
    l1(model, *options, "--group")
    loaded = load("m")
    state = (loaded.weights[: loaded.pairs.first_edge] != 0).reshape(-1, loaded.pairs.labels)
    transitions = (loaded.weights[loaded.pairs.first_transition :] != 0).reshape(-1, loaded.pairs.labels)
    for rows in filter(len, (state, transitions)):
        assert (rows.any(1) == rows.all(1)).all()
    assert 0 < state.any(1).sum() < len(state)
    assert figures(vwlite("inspect", "m", "--json", "-"))["active_features"] == state.any(1).sum()
    assert header("m")["l1"]["group"]


def test_fista_goes_on_from_where_it_stopped(l1, vwlite, tmp_path):
    options = ("--solver", "fista", "--group", "--l1", "0.5")
    l1("multinomial", *options, "--passes", "3", "-f", "half")
    vwlite("l1", "multinomial.vw", "-i", "half", "-f", "whole", "--json", "more.json", "--quiet")
    l1("multinomial", *options, "--json", "at-once.json")
    more, once = (json.loads((tmp_path / name).read_text()) for name in ("more.json", "at-once.json"))
    assert more["history"][0]["pass"] == 4
    assert more["objective"] == pytest.approx(once["objective"], rel=2e-3)


@MODELS
def test_going_on_is_exact(model, l1, vwlite, tmp_path):
    l1(model, "--group", "--passes", "5", "-f", "half")
    vwlite("l1", f"{model}.vw", "-i", "half", "--passes", "4", "-f", "whole", "--quiet")
    l1(model, "--group", "--passes", "9", "-f", "m")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "m").read_bytes()


@MODELS
def test_steps_come_near_the_optimum(model, l1, vwlite):
    l1(model, "--group", "--dense-pairs", "--l1", "2", "--solver", "fista", "-f", "best")
    l1(model, "--group", "--dense-pairs", "--l1", "2", "--passes", "60", "-l", "1", "--decay_learning_rate", "0.9")
    best, inspection = (figures(vwlite("inspect", name, "--json", "-")) for name in ("best", "m"))
    assert best["objective"] * 1.02 <= inspection["objective"] <= best["objective"] * 0.998
    assert inspection["active_features"] <= 1.3 * best["active_features"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--solver owlqn --group", "--group needs --solver fista or sgd"),
        ("--penalty naive --group", "--group needs --penalty cumulative"),
        ("--penalty none --average --group", "--group needs --penalty cumulative"),
        ("--trace 1", "--trace needs --dense-pairs"),
        ("--trace 1 --dense-pairs", "--trace needs --solver fista"),
        ("--trace 1 --dense-pairs --solver fista --group", "--trace and --group are two penalties"),
        ("--trace 1 --dense-pairs --solver fista --l1 1", "--trace is a penalty of its own: drop --l1"),
        ("--trace -1", "--trace"),
    ],
)
def test_wrong_options_are_refused(options, message, l1):
    assert message in l1("multinomial", *options.split(), status=2).stderr


def test_trace_is_of_several_labels(l1, vwlite, write):
    assert "it needs --model multinomial" in l1("crf", "--trace", "1", status=2).stderr
    write("binary.vw", "1 |w a\n-1 |w b\n")
    assert "it needs --model multinomial" in vwlite("l1", "binary.vw", "--trace", "1", status=2).stderr


def test_a_trace_norm_leaves_few_directions(l1, vwlite, header):
    options = ("--dense-pairs", "--solver", "fista", "--noconstant", "--tolerance", "1e-5")
    ranks = []
    for trace in ("0.1", "1000"):
        l1("multinomial", *options, "--trace", trace)
        metrics = figures(vwlite("inspect", "m", "--json", "-"))
        singular = np.linalg.svd(load("m").weights.reshape(-1, 3), compute_uv=False)
        assert metrics["norms"]["trace"] == pytest.approx(singular.sum(), rel=1e-6)
        assert metrics["trace"] == float(trace) and "l1" not in metrics
        assert metrics["rank"] == np.count_nonzero(singular > 1e-7 * singular[0])
        ranks.append(metrics["rank"])
    assert ranks == [2, 0]  # of three labels two directions matter


def test_one_penalty_takes_the_place_of_another(l1, vwlite, header):
    l1("multinomial", "--dense-pairs", "--solver", "fista", "--group", "--l1", "2", "-f", "rows")
    steps = (("rows", "--trace", "3"), ("trace", "--l1", "0.5"))
    for (before, *options), after in zip(steps, ("trace", "single"), strict=True):
        vwlite("l1", "multinomial.vw", "-i", before, *options, "-f", after, "--quiet")
    assert "group" not in header("trace")["l1"] and header("trace")["l1"]["trace"] == 3
    assert "trace" not in header("single")["l1"] and header("single")["l1"]["l1"] == 0.5


def test_two_classes_have_one_weight_a_feature(vwlite, write):
    write("binary.vw", "1 |w a\n-1 |w b\n")
    for solver in ("fista", "sgd"):
        stderr = vwlite("l1", "binary.vw", "--group", "--solver", solver, status=2).stderr
        assert "with two classes a feature has one weight, and --l1 is there" in stderr
