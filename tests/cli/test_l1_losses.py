"""``vwlite l1 --loss``: what learns from the best label sequence alone."""

import json

import numpy as np
import pytest
from l1_case import SENTENCES

from vwlite.solvers.loglinear.model_file import load

MEANS = ["perceptron", "mira", "mira --cost hamming"]
MARGINS = ["margin --l2 0.1", "margin --l2 0.1 --cost zero-one", "margin --l1 0.1 -l 0.1"]
LOSSES = [*MEANS, *MARGINS]


@pytest.fixture(autouse=True)
def files(write):
    write("tags.vw", SENTENCES)


def crf(vwlite, *options, status=0):
    model = () if "-f" in options else ("-f", "m")
    return vwlite("l1", "tags.vw", "--model", "crf", "--quiet", *model, *options, status=status)


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_are_those_of_a_crf(loss, vwlite, header):
    crf(vwlite, "--loss", *loss.split(), "--names")
    assert vwlite("predict", "-i", "m", "tags.vw").lines[:5] == ["B-NP", "I-NP", "O", "", "B-NP"]
    report = json.loads(vwlite("evaluate", "-i", "m", "tags.vw", "--json", "-").stdout)
    assert report["f1"] == 100 and "log_loss" not in report
    assert header("m")["l1"]["loss"] == loss.split()[0] and header("m")["passes"] == (30 if loss in MARGINS else 10)
    facts = json.loads(vwlite("inspect", "m", "--json", "-").stdout)
    assert facts["loss"] == loss.split()[0] and facts["active"] <= facts["weights"]
    assert "w^cat" in vwlite("explain", "-i", "m", "tags.vw").stdout


def test_there_are_no_probabilities(vwlite):
    crf(vwlite, "--loss", "perceptron")
    stderr = vwlite("predict", "-i", "m", "tags.vw", "--probabilities", status=2).stderr
    assert "m has no probabilities: --loss perceptron learns labels alone" in stderr
    assert "has no log_loss" in vwlite("evaluate", "-i", "m", "tags.vw", "--metric", "log_loss", status=2).stderr
    stderr = crf(vwlite, "--loss", "mira", "--holdout", "4", "--holdout-metric", "log_loss", status=2).stderr
    assert "it is f1 or accuracy" in stderr


@pytest.mark.parametrize("options", ["--cost hamming", "--aggressiveness 0.01", "--passes 3", "--seed 4", "--edge p"])
def test_options_change_what_is_learned(options, vwlite):
    crf(vwlite, "--loss", "mira")
    crf(vwlite, "--loss", "mira", *options.split(), "-f", "n")
    assert not np.array_equal(load("m").weights, load("n").weights)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_figures_of_a_pass(loss, vwlite):
    done = crf(vwlite, "--loss", *loss.split(), "--json", "-", "--holdout", "4", "--early_terminate", "2")
    report = json.loads(done.stdout)
    assert report["loss"] == loss.split()[0] and ("penalty" in report) == ("--l1" in loss)
    assert all((entry.get("gap", -1) >= 0) == ("--l2" in loss) for entry in report["history"])
    best = report["history"][report["passes"] - 1]
    assert best["f1"] == 100 and best["objective"] <= 0 <= best["held_out"]


def test_a_small_gap_ends_the_passes(vwlite):
    wide = json.loads(crf(vwlite, "--loss", "margin", "--l2", "5", "--gap", "0.06", "--json", "-").stdout)
    near = json.loads(crf(vwlite, "--loss", "margin", "--l2", "5", "--gap", "0.005", "--json", "-").stdout)
    assert wide["passes"] < near["passes"] < 30
    assert near["history"][-1]["gap"] <= 0.005 < near["history"][-2]["gap"]
    assert near["history"][-1]["objective"] + near["history"][-1]["gap"] <= 0
    stderr = vwlite("l1", "tags.vw", "--model", "crf", "-f", "m", "--loss", "margin", "--l2", "1").stderr
    assert stderr.splitlines()[0].split() == ["pass", "L(w)/N", "active", "seconds", "gap"]


def test_an_l1_penalty_leaves_few_weights(vwlite):
    crf(vwlite, "--loss", "margin", "--l1", "0.01")
    crf(vwlite, "--loss", "margin", "--l1", "1", "-f", "n")
    assert 0 < np.count_nonzero(load("n").weights) < np.count_nonzero(load("m").weights)


def test_steps_with_an_l1_penalty_go_on_exactly(vwlite, tmp_path):
    steps = ("--loss", "margin", "--l1", "0.1", "-l", "0.1", "--edge", "p")
    crf(vwlite, *steps, "--passes", "5", "-f", "half")
    vwlite("l1", "tags.vw", "-i", "half", "-f", "whole", "--quiet", "--passes", "4")
    crf(vwlite, *steps, "--passes", "9")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "m").read_bytes()


def test_dual_variables_are_not_kept(vwlite, header):
    crf(vwlite, "--loss", "margin", "--l2", "1")
    assert not header("m")["resumable"]
    stderr = vwlite("l1", "tags.vw", "-i", "m", "-f", "n", status=2).stderr
    assert "m cannot be continued: --loss margin --l2 learns with label sequences of all examples" in stderr


def test_the_memory_of_dual_variables_is_limited(vwlite):
    run = ("--loss", "margin", "--l2", "1", "--max-memory", "0.00001")
    assert "GiB are more than --max-memory" in crf(vwlite, *run, status=2).stderr
    crf(vwlite, "--loss", "perceptron", "--max-memory", "0.00001")


@pytest.mark.parametrize("loss", MEANS)
def test_the_last_weights_go_on(loss, vwlite, write):
    crf(vwlite, "--loss", *loss.split(), "--passes", "2")
    write("more.vw", "B-VP |w jumps |p j\nO |w now |p n\n\n" * 5 + SENTENCES)
    vwlite("l1", "more.vw", "-i", "m", "-f", "n", "--quiet", "--passes", "3")
    assert load("n").config == load("m").config and load("n").past.passes == 5
    assert vwlite("predict", "-i", "n", "more.vw").lines[:2] == ["B-VP", "O"]


def test_an_l2_penalty_is_that_of_quasi_newton_steps(vwlite, tmp_path):
    crf(vwlite, "--l2", "0.3")
    crf(vwlite, "--l2", "0.3", "--l1", "0", "--solver", "owlqn", "-f", "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    weights = load("m").weights
    crf(vwlite, "--l2", "0.3", "--l1", "0.2", "-f", "n")
    assert 0 < np.count_nonzero(load("n").weights) < np.count_nonzero(weights) == len(weights)
    vwlite("l1", "tags.vw", "-i", "m", "-f", "n", "--quiet")
    np.testing.assert_allclose(load("n").weights, weights, atol=1e-3)


def test_stochastic_steps_with_an_l2_penalty_are_those_of_a_plain_loop(vwlite, write):
    """Here every weight shrinks after every step, there when it is next used."""
    rows = [(1 if n * 5 % 7 < 3 else -1, {n % 4: 1.0, 4 + n % 3: 0.5 + n % 2}) for n in range(30)]
    text = (f"{y} | {' '.join(f'{slot}:{x}' for slot, x in terms.items())}\n" for y, terms in rows)
    write("plain.vw", "".join(text))
    options = ("--noconstant", "--hash", "strings", "--no-shuffle", "--passes", "2", "-l", "0.3")
    vwlite("l1", "plain.vw", "-f", "m", "--quiet", "--l2", "3", "--solver", "sgd", *options)
    w = np.zeros(7)
    for step in range(60):
        y, terms = rows[step % 30]
        eta = 0.3 * 0.85 ** (step / 30)
        margin = y * sum(w[slot] * x for slot, x in terms.items())
        for slot, x in terms.items():
            w[slot] += eta * y * x / (1 + np.exp(margin))
        w *= np.exp(-eta * 3 / 30)
    np.testing.assert_allclose(np.sort(load("m").weights), np.sort(w), atol=1e-9)


@pytest.mark.parametrize("model", ["crf", "multinomial"])
def test_stochastic_steps_come_near_the_best_objective(model, vwlite):
    steps = ("--solver", "sgd", "--passes", "90", "--decay_learning_rate", "0.95")
    common = ("l1", "tags.vw", "--model", model, "--l2", "1", "-f", "m", "--json", "-", "--quiet")
    best, actual = (json.loads(vwlite(*common, *how).stdout) for how in ((), steps))
    assert actual["objective"] == pytest.approx(best["objective"], rel=1e-4)
    assert "penalty" not in vwlite("inspect", "m").stdout


REFUSED = {  # options: what is said
    "--loss perceptron --model multinomial": "--loss perceptron is of label sequences: it needs --model crf",
    "--loss perceptron --l1 1": "--l1 does nothing with --loss perceptron",
    "--loss mira --penalty none": "--penalty does nothing with --loss mira",
    "--loss mira -l 0.1": "-l does nothing with --loss mira",
    "--loss mira --average": "--average does nothing with --loss mira",
    "--loss perceptron --solver owlqn": "--solver does nothing with --loss perceptron",
    "--loss perceptron --group": "--group does nothing with --loss perceptron",
    "--loss margin --l1 1 --group": "--group does nothing with --loss margin",
    "--loss perceptron --cost hamming": "--cost does nothing without --loss mira or --loss margin",
    "--loss perceptron --l2 1": "--l2 does nothing without --loss log or --loss margin",
    "--loss perceptron --gap 1": "--gap does nothing without --loss margin",
    "--loss margin": "--loss margin needs --l2 above 0, or --l1",
    "--loss margin --l2 0": "--loss margin needs --l2 above 0, or --l1",
    "--loss margin --l2 -1": "--l2 takes a number of 0 or more",
    "--loss margin --l2 1 --l1 1": "--l1 does nothing with --loss margin --l2",
    "--loss margin --l2 1 -l 1": "-l does nothing with --loss margin --l2",
    "--loss margin --l1 1 --gap 0.1": "--gap does nothing with --loss margin without --l2",
    "--loss margin --l1 1 --solver owlqn": "--solver does nothing with --loss margin",
    "--l2 1 --l1 1 --solver sgd": "--l2 and --l1 together need --solver owlqn or fista",
    "--l2 1 --solver sgd --penalty clipping": "stochastic steps have one penalty",
    "--l2 1 --solver fista": "it needs --l1 above 0",
    "--loss perceptron --aggressiveness 2": "--aggressiveness does nothing without --loss mira",
    "--loss mira --aggressiveness 0": "--aggressiveness takes a number above 0",
    "--loss hinge": "'hinge' is not one of log, perceptron, mira, margin",
}


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_are_refused(options, vwlite):
    assert REFUSED[options] in crf(vwlite, *options.split(), status=2).stderr


def test_a_model_keeps_its_loss(vwlite):
    crf(vwlite, "--loss", "perceptron")
    assert "contradicts" in crf(vwlite, "-i", "m", "--loss", "mira", status=2).stderr
