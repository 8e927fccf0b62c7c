"""--outputs K on the command line: lists of numbers as labels, predictions and metrics of each output, refusals."""

import json

import numpy as np
import pytest

NO_SHARING = "--no-shared_rates"
RAW = ("--label-units", "raw")


def planted(noise=0.1):
    """400 rows of 4 inputs and 3 outputs, which are linear but for noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    return x, x @ rng.normal(size=(4, 3)) + rng.normal(size=3) + noise * rng.normal(size=(400, 3))


def text_of(x, y):
    features = [" ".join(f"{place}:{value:.6g}" for place, value in enumerate(row)) for row in x]
    labels = [",".join("" if value != value else f"{value:.6g}" for value in row) for row in y]
    return "".join(f"{label} 't{n} |f {row}\n" for n, (label, row) in enumerate(zip(labels, features, strict=True)))


def table(lines):
    return np.array([line.split()[:3] for line in lines], float)


@pytest.mark.parametrize("options", ["--shared_rates", NO_SHARING])
def test_fifty_passes_come_near_least_squares(vwlite, write, options):
    x, y = planted()
    write("d", text_of(x, y))
    vwlite("train", "d", "--outputs", 3, "-f", "m", "--passes", 50, "--holdout_off", "--quiet", options, *RAW)
    rows = table(vwlite("predict", "d", "-i", "m").lines)
    inputs = np.column_stack([x, np.ones(len(x))])
    best = inputs @ np.linalg.lstsq(inputs, y, rcond=None)[0]
    assert np.sqrt(np.square(rows - y).mean()) < 1.01 * np.sqrt(np.square(best - y).mean())


@pytest.mark.parametrize("options", ["", "--passes 4", "--ftrl", "--l1 1e-4 --l2 1e-3 -q ff", "--sgd -l 0.05"])
def test_predictions_are_those_of_a_run_for_each_output(vwlite, write, options):
    x, y = planted()
    y[::7, 1] = np.nan
    write("d", text_of(x, y))
    options = [*options.split(), "--no-shuffle", "--holdout_off", "--quiet"]
    vwlite("train", "d", "--outputs", 3, NO_SHARING, "-b", 12, "-f", "m", "-p", "p", "-r", "r", *options)
    made = [[line.split() for line in vwlite("predict", "d", "-i", "m", *raw).lines] for raw in ((), ("--raw",))]
    for output in range(3):
        write("one", text_of(x, y[:, [output]]))
        vwlite("train", "one", "-b", 10, "-f", "one.m", *options)
        for lines, raw in zip(made, ((), ("--raw",)), strict=True):
            expected = [line.split() for line in vwlite("predict", "one", "-i", "one.m", *raw).lines]
            assert [[line[output], line[3]] for line in lines] == expected


def test_units_of_the_labels_of_each_output_are_shown(vwlite, write):
    x, y = planted()
    write("d", text_of(x, y * [1, 1000, 1]))
    lines = vwlite("train", "d", "--outputs", 3, "--named_outputs", "a,b,c", "-f", "m").stderr.splitlines()
    facts = dict(line.split(None, 1) for line in vwlite("inspect", "m").lines if line.startswith("label_"))
    means, spreads = facts["label_mean"].split(), facts["label_spread"].split()
    shown = zip("abc", means, spreads, strict=True)
    assert lines[-1] == "labels: " + "; ".join(f"{name} mean {mean}, spread {spread}" for name, mean, spread in shown)
    assert np.array(spreads, float) == pytest.approx(y.std(axis=0) * [1, 1000, 1], rel=0.3)


def test_progressive_predictions_stand_with_their_tags(vwlite, write, tmp_path):
    write("d", "1,-2 'a |f x\n,4 2 'b |f x y:2\n|f y\n,, |f x\n,3 'c |f y\n")
    done = vwlite("train", "d", "--outputs", 2, "-p", "p", "-r", "r", "--max-bad-ratio", 1)
    assert "d:4:1: 2 outputs expected, 3 found" in done.stderr
    assert [line.split()[2:] for line in (tmp_path / "p").read_text().splitlines()] == [["a"], ["b"], [], ["c"]]
    assert [len(line.split()) for line in (tmp_path / "r").read_text().splitlines()] == [3, 3, 2, 3]
    assert "1,.." in done.stderr and "unknown,.." in done.stderr


def test_metrics_of_each_output_and_their_means(vwlite, write):
    x, y = planted()
    y[::3, 2] = np.nan
    write("d", text_of(x, y))
    vwlite("train", "d", "--outputs", 3, "--named_outputs", "price,days,rating", "-f", "m", "--quiet")
    report = json.loads(vwlite("evaluate", "d", "-i", "m", "--json", "-").stdout)
    answers = [json.loads(line) for line in vwlite("predict", "d", "-i", "m", "--jsonl").lines]
    actual = np.array([[answer["prediction"][name] for name in ("price", "days", "rating")] for answer in answers])
    assert answers[3]["tag"] == "t3" and report["examples"] == 400
    error = actual - y
    for place, row in enumerate(report["outputs"]):
        own, labels = error[:, place][~np.isnan(error[:, place])], y[:, place][~np.isnan(y[:, place])]
        assert row["output"] == ("price", "days", "rating")[place]
        assert row["weight"] == len(own)
        assert row["loss"] == pytest.approx(np.square(own).mean(), rel=1e-4)
        assert row["mae"] == pytest.approx(np.abs(own).mean(), rel=1e-4)
        assert row["r2"] == pytest.approx(1 - np.square(own).mean() / labels.var(), rel=1e-4)
    for name in ("loss", "r2", "mae", "rmse"):
        assert report[name] == pytest.approx(np.mean([row[name] for row in report["outputs"]]))
    stdout = vwlite("evaluate", "d", "-i", "m", "--metric", "mae,outputs").stdout
    assert "loss" in stdout and "rating" in stdout and not stdout.startswith("examples")
    assert "has examples, weight, loss" in vwlite("evaluate", "d", "-i", "m", "--metric", "auc", status=2).stderr
    assert "model of several outputs" in vwlite("evaluate", "d", "-i", "m", "--qid", "f", status=2).stderr


def test_weights_stand_by_output(vwlite, write):
    write("d", text_of(*planted()))
    vwlite("train", "d", "--outputs", 3, "--named_outputs", "a,b,c", "-f", "m", "--quiet", "--names")
    report = json.loads(vwlite("inspect", "m", "--top", 5, "--by-class", "--json", "-").stdout)
    assert [row["class"] for row in report["top"]] == ["a"] * 5 + ["b"] * 5 + ["c"] * 5
    assert {row["name"] for row in report["top"][:5]} == {"Constant", "f^0", "f^1", "f^2", "f^3"}
    assert "b  sum" in vwlite("explain", "d", "-i", "m").stdout


def test_a_list_of_another_length_ends_the_run_where_all_are(vwlite, write):
    write("d", "1,2 |f x\n" * 5)
    done = vwlite("train", "d", "--outputs", 3, "-f", "m", "--quiet", status=65)
    assert "3 outputs expected, 2 found" in done.stderr


def test_quantiles_have_their_shares_and_do_not_cross(vwlite, write):
    """400 rows whose spread grows with the input, so that straight quantiles cross left of 0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    y = 2 * x + np.exp(x / 2) * rng.exponential(size=x.shape)
    write("d", text_of(x, np.repeat(y, 3, axis=1)))
    how = ("--outputs", 3, "--loss_function", "quantile", "--quantile_tau", "0.1,0.5,0.9", "--bfgs", "--passes", 60)
    actual = {}
    for name, more in {"free": (), "sorted": ("--monotone",)}.items():
        vwlite("train", "d", *how, "-f", name, "--holdout_off", "--termination", 0, "--quiet", *more)
        actual[name] = table(vwlite("predict", "d", "-i", name).lines)
    np.testing.assert_allclose((y <= actual["free"]).mean(axis=0), [0.1, 0.5, 0.9], atol=0.01)
    assert (np.diff(actual["free"]) < 0).any()
    np.testing.assert_array_equal(actual["sorted"], np.sort(actual["free"], axis=1))
    losses = [json.loads(vwlite("evaluate", "d", "-i", name, "--json", "-").stdout)["loss"] for name in actual]
    assert losses[1] < losses[0]


def test_quantiles_are_kept_in_their_order(vwlite, write):
    write("d", "1,2 |f x\n")
    quantiles = ("--loss_function", "quantile", "--quantile_tau")
    vwlite("train", "d", "--outputs", 2, "-f", "m", "--quiet", *quantiles, "0.1,0.9")
    vwlite("train", "d", "-i", "m", "-f", "m", "--quiet", *quantiles, "0.1,0.9")
    for other in ("0.9,0.1", "0.5"):
        stderr = vwlite("train", "d", "-i", "m", "--quiet", *quantiles, other, status=2).stderr
        assert f"--quantile_tau {other} contradicts m, which was made with --quantile_tau 0.1,0.9" in stderr


REFUSED = {
    "--outputs 2 --loss_function quantile --quantile_tau 0.1,0.5,0.9": "--quantile_tau has 3 numbers for 2 outputs",
    "--outputs 2 --quantile_tau 0.1,0.5": "--quantile_tau does nothing without --loss_function quantile",
    "--outputs 2 --loss_function quantile --quantile_tau 0.9,0.1 --monotone": "--quantile_tau must be ascending",
    "--loss_function quantile --quantile_tau 0.1,0.9": "--quantile_tau takes several numbers beside --outputs only",
    "--outputs 2 --loss_function quantile --quantile_tau 0.1,1.9": "--quantile_tau takes a number from 0 to 1, not 1.9",
    "--outputs 2 --loss_function quantile --quantile_tau 0.1,x": "'x' is not a finite number",
    "--monotone": "--monotone needs --outputs",
    "--outputs 3 --loss_function logistic": "takes losses of numbers, not --loss_function logistic",
    "--outputs 3 --coin": "--coin and --outputs do not go together",
    "--outputs 3 --oaa 3": "--oaa and --outputs do not go together",
    "--outputs 3 --levels 1..5": "--levels does not go with --outputs",
    "--outputs 3 --binary": "--binary does not go with --outputs",
    "--shared_rates": "--shared_rates needs --outputs",
    "--outputs 3 --ftrl --shared_rates": "--ftrl does not go with --shared_rates",
    "--outputs 3 --named_outputs a,b": "--named_outputs has 2 names for 3 outputs",
    "--outputs 9 -b 3": "9 outputs need more than the 8 slots of -b 3",
}


@pytest.mark.parametrize("options", REFUSED)
def test_options_that_do_not_go_together_are_refused(vwlite, write, options):
    write("d", "1,2,3 |f x\n")
    assert REFUSED[options] in vwlite("train", "d", "--quiet", *options.split(), status=2).stderr


def test_a_model_keeps_how_rates_are_shared(vwlite, write):
    write("d", "1,2 |f x\n")
    vwlite("train", "d", "--outputs", 2, "-f", "m", "--quiet")
    vwlite("train", "d", "-i", "m", "-f", "m", "--quiet", "--shared_rates")
    done = vwlite("train", "d", "-i", "m", "--quiet", NO_SHARING, status=2)
    assert "contradicts m" in done.stderr


def test_vw_logs_lists_that_are_none(vwlite, write):
    write("d", "1,2 |f x\n1,2,3 |f x\n")
    done = vwlite("vw", "d", "--outputs", 3, "-p", "p")
    assert "3 outputs expected, 2 found" in done.stdout + done.stderr
