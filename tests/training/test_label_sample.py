"""The loss of the best constant in the summary of ``vwlite train``."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from friedman import friedman, lines_of
from in_process import call

from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig
from vwlite.training import label_sample
from vwlite.training.label_sample import Labels, LabelSample

X, Y = friedman(1500)
Y = Y.astype(np.float32)


def told(folder, y, *options, weight=None):
    (folder / "data").write_text(lines_of(X, y, weight))
    done = call(folder, "train", "data", "-f", "model", "--json", "run.json", *options)
    report = json.loads((folder / "run.json").read_text())["result"]
    lines = dict(line.split(" = ") for line in done.stderr.splitlines() if " = " in line)
    assert float(lines["best constant's loss"]) == pytest.approx(report["best_constant_loss"], abs=1e-6)
    assert float(lines["best constant"]) == pytest.approx(report["best_constant"], abs=1e-6)
    return report, done.stderr


def test_of_squared_errors_it_is_the_variance(tmp_path):
    weight = np.arange(len(Y)) % 4
    actual, _ = told(tmp_path, Y + 100, weight=weight)
    label = (Y + 100).astype(np.float32).astype(float)
    mean = np.average(label, weights=weight)
    assert actual["best_constant_loss"] == pytest.approx(np.average((label - mean) ** 2, weights=weight), rel=1e-5)


@pytest.mark.parametrize("block", ["1000", "100000"])
@pytest.mark.parametrize(
    ("loss", "best"),
    [("absolute", lambda y: np.abs(y - np.median(y)).mean()), ("expectile --expectile_q 0.5", lambda y: y.var() / 2)],
)
def test_of_other_losses_it_is_that_of_all_labels(loss, best, block, tmp_path):
    actual, _ = told(tmp_path, Y, "--loss_function", *loss.split(), "--block-size", block)
    assert actual["best_constant_loss"] == pytest.approx(best(Y.astype(float)), rel=1e-5)


def test_held_out_examples_and_later_passes_are_left_out(tmp_path):
    actual, _ = told(tmp_path, Y, "--passes", "3")
    kept = Y[np.arange(len(Y)) % 10 != 9].astype(float)
    assert actual["best_constant_loss"] == pytest.approx(kept.var(), rel=1e-5)


@pytest.mark.parametrize("most", [100, 1000])
def test_of_many_labels_some_are_kept(most, monkeypatch):
    monkeypatch.setattr(label_sample, "MOST", most)
    sample = Labels(LossConfig("absolute"))
    labels = np.tile(np.arange(8, dtype=np.float32), 3000)  # a stride would see some of them only
    for part in np.split(labels, 24):
        sample.add(part, np.ones(len(part), np.float32), np.ones(len(part), bool))
        assert most / 4 < sample.size <= most
    assert sample.best[1] == pytest.approx(2, rel=0.2)


@pytest.mark.parametrize("options", [(), ("--passes", "3"), ("--passes", "3", "--loss_function", "absolute")])
def test_a_run_that_loses_to_it_says_so(options, tmp_path):
    message = "note: always predicting the best constant has a smaller loss, "
    assert message in told(tmp_path, 1000 * Y, "--label-units", "raw", *options)[1]
    assert message not in told(tmp_path, 1000 * Y, *options)[1]


@pytest.mark.parametrize("options", [(), ("--passes", "2", "--loss_function", "quantile", "--quantile_tau", "0.2,0.5")])
def test_of_several_outputs_it_is_the_sum_over_them(options, tmp_path):
    y = np.column_stack([1000 * Y, Y])
    y[::3, 1] = np.nan
    rows = lines_of(X, Y).splitlines()
    labels = [",".join("" if label != label else repr(float(label)) for label in row) for row in y]
    (tmp_path / "data").write_text("".join(f"{a} |{b.split('|')[1]}\n" for a, b in zip(labels, rows, strict=True)))
    done = call(tmp_path, "train", "data", "--outputs", "2", "--label-units", "raw", "--json", "run.json", *options)
    report = json.loads((tmp_path / "run.json").read_text())["result"]
    kept = y if not options else y[np.arange(len(y)) % 10 != 9]
    parts = [column[~np.isnan(column)] for column in kept.T]
    if options:
        taus = zip((0.2, 0.5), parts, strict=True)
        errors = [(tau, part - np.quantile(part, tau, method="lower")) for tau, part in taus]
        expected = sum(np.maximum(tau * error, (tau - 1) * error).sum() for tau, error in errors)
    else:
        expected = sum(part.var() * len(part) for part in parts)
    assert report["best_constant"] is None
    assert report["best_constant_loss"] == pytest.approx(expected / len(kept), rel=1e-4)
    assert "note: always predicting the best constant has a smaller loss, " in done.stderr


def test_after_a_resumption_nothing_is_known_of_labels_before():
    sample = LabelSample(SimpleNamespace(config=GdConfig(), outputs=()))
    sample.restore({})
    assert sample.best is None
