"""``--bfgs`` learns with every loss, and refuses options that have no effect on it."""

import json
import re

import pytest

LINES = "".join(f"{1 if (n * n + n // 3) % 7 > 2 else -1} |w a{n % 7} b{n % 3} c:{n % 5 / 2}\n" for n in range(60))
LOSSES = (
    "hinge", "absolute", "tanh", "geman_mcclure", "quantile", "truncated --loss_scale 1.5", "modified_huber", "lp",
    "exponential", "squared", "logistic",
)


def losses_of(done):
    """The average losses in the rows of the progress table."""
    return [float(row[1]) for row in re.findall(r"^ *(\d+) ([0-9.]+) ", done.stderr, re.M)]


@pytest.mark.parametrize("regularisation", ["", "--l2 1"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_learned(vwlite, write, weights, loss, regularisation):
    write("d", LINES)
    options = f"--bfgs --passes 25 --holdout_off --loss_function {loss} {regularisation}"
    done = vwlite("train", "d", "-f", "m", *options.split())
    losses = losses_of(done)
    assert min(losses) < 0.9 * losses[0] and len(weights("m")) > 5
    assert "the gradient is 0" not in done.stderr


def test_a_loss_that_is_flat_where_learning_begins_is_refused(vwlite, write, names_in):
    write("d", "70 |w a\n71 |w b\n")
    options = "--bfgs --passes 9 --holdout_off --quiet --loss_function truncated"
    refused = vwlite("train", "d", "-f", "m", *options.split(), status=65)
    assert "--loss_function truncated is flat at every example" in refused.stderr
    assert names_in() == ["d"]


IDLE = {
    "--bfgs": "--sgd --adaptive --normalized --invariant --sparse_l2=1 -l1 --power_t=1 --initial_t=1 "
    "--decay_learning_rate=1 --shuffle --shuffle-first",
    "--conjugate_gradient": "--hessian_on --mem=3 -l1 --l1=1",
    "--coin": "-l1 --power_t=1 --initial_t=2 --decay_learning_rate=0.5 --sgd --adaptive --initial_weight=1 -C1",
    "--filter_tree=2 --pistol": "-l1 --normalized",
}


@pytest.mark.parametrize(("rule", "option"), [(rule, option) for rule in IDLE for option in IDLE[rule].split()])
def test_options_without_effect_are_refused(vwlite, write, names_in, rule, option):
    write("d", LINES)
    refused = vwlite("train", "d", "-f", "m", *rule.split(), "--passes", "3", option, status=2).stderr
    name = option.split("=")[0] if option[:2] == "--" else option[:2]
    assert refused == f"vwlite: {name} does nothing with {rule.split()[-1]}: drop one of the two\n"
    assert names_in() == ["d"]


@pytest.mark.parametrize("option", ["--sgd", "--adaptive", "--sparse_l2=1"])
def test_vw_mode_has_no_other_update_beside_it(vwlite, write, option):
    write("d", LINES)
    done = vwlite("vw", "d", "-c", "--passes", "3", "--bfgs", option, status=1)
    assert done.stdout.endswith(f"[critical] vw: unrecognised option '{option.split('=')[0]}'\n")


def test_l1_leaves_few_weights(vwlite, write, weights):
    write("d", LINES)
    counts = []
    for penalty in ("0.01", "5", "20"):
        options = ("--bfgs", "--passes", "30", "--holdout_off", "--quiet", "--l1", penalty)
        vwlite("train", "d", "-f", "m", "--loss_function", "logistic", *options)
        counts.append(len(weights("m")))
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[2]
    refused = vwlite("train", "d", "-f", "n", "--loss_function", "hinge", *options, status=2).stderr
    assert refused == "vwlite: --l1 with --bfgs needs a loss without kinks, which hinge is not: drop one of the two\n"


def test_a_model_refuses_options_without_effect(vwlite, write):
    write("d", LINES)
    vwlite("train", "d", "-f", "m", "--bfgs", "--passes", "3", "--quiet")
    refused = vwlite("train", "d", "-i", "m", "-f", "n", "--passes", "3", "-l", "3", status=2).stderr
    assert "-l does nothing with --bfgs" in refused
    refused = vwlite("train", "d", "-f", "n", "--bfgs", "--passes", "3", "--curriculum", "easy", status=2).stderr
    assert "--curriculum does not go with --bfgs" in refused


def test_continued_training_starts_at_the_weights_of_the_model(vwlite, write):
    write("d", LINES)
    options = ("--passes", "30", "--holdout_off", "--termination", "1e-9")
    vwlite("train", "d", "-f", "m", "--bfgs", "--l2", "1", *options)
    first = losses_of(vwlite("train", "d", "-i", "m", "-f", "n", *options))
    assert len(first) <= 3 and first[0] == pytest.approx(first[-1], abs=2e-5)


def test_rejected_steps_do_not_count_as_passes_without_gain(vwlite, write):
    """The held-out loss is that of the weights that are saved, never of a rejected step."""
    write("d", LINES)
    options = "--bfgs --passes 25 --loss_function hinge --l2 0.1 --holdout_period 4 --early_terminate 2"
    vwlite("train", "d", "-f", "m", *options.split(), "--json", "j")
    held = "".join(LINES.splitlines(True)[3::4])
    write("held", held)
    measured = json.loads(vwlite("evaluate", "-i", "m", "held", "--metric", "loss", "--json", "-").stdout)
    with open("j") as file:
        assert json.load(file)["holdout_loss"] == pytest.approx(measured["loss"], rel=1e-5)


def test_hinge_separates_adult(vwlite, data_dir):
    folder, options = data_dir / "a9a", "--bfgs --loss_function hinge --l2 1 --passes 30 --holdout_off --quiet"
    vwlite("train", folder / "a9a.gz", "--format", "svmlight", "-f", "m", *options.split())
    report = vwlite("evaluate", "-i", "m", folder / "a9a.t.gz", "--metric", "accuracy", "--json", "-").stdout
    assert json.loads(report)["accuracy"] > 0.845


def test_batch_optimisation_takes_each_class_to_its_minimum(vwlite, write):
    rows = [(1 + n * 7 % 3, n * 5 % 4, n * 11 % 6) for n in range(60)]
    write("classes.vw", "".join(f"{c} |w a{a} b{b} c{(c + b) % 4}\n" for c, a, b in rows))
    command = ("--bfgs", "--loss_function", "logistic", "--l2", "1", "--holdout_off", "--quiet", "-f", "m")
    vwlite("train", "classes.vw", "--oaa", "3", "--passes", "50", *command)
    predictions = vwlite("predict", "-i", "m", "classes.vw", "--raw").lines
    scores = [[float(word.partition(":")[2]) for word in line.split()] for line in predictions]
    for number in range(3):
        write("one.vw", "".join(f"{1 if c == number + 1 else -1} |w a{a} b{b} c{(c + b) % 4}\n" for c, a, b in rows))
        vwlite("train", "one.vw", "--passes", "50", *command)
        alone = [float(line) for line in vwlite("predict", "-i", "m", "one.vw", "--raw").lines]
        assert [row[number] for row in scores] == pytest.approx(alone, abs=1e-5)
    done = vwlite("train", "classes.vw", "--oaa", "3", "--passes", "99", *command[:-3], "-f", "n")
    assert int(done.stderr.partition("passes used = ")[2].split()[0]) < 30  # ends when all classes have converged


def test_vw_mode_has_oaa_with_bfgs(vwlite, write):
    write("classes.vw", "".join(f"{1 + n % 3} |w a{n % 3} b{n * 7 % 5}\n" for n in range(60)))
    options = ("--oaa", "3", "--bfgs", "--l2", "0.1", "--passes", "20", "-c", "--quiet", "-f", "m")
    vwlite("vw", "classes.vw", *options)
    predictions = vwlite("vw", "classes.vw", "-t", "-i", "m", "--quiet", "-p", "-").lines
    assert predictions == [str(1 + n % 3) for n in range(60)]
