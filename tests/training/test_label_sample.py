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
from vwlite.training.label_sample import LabelSample

X, Y = friedman(1500)
Y = Y.astype(np.float32)


def told(folder, y, *options, weight=None):
    (folder / "data").write_text(lines_of(X, y, weight))
    done = call(folder, "train", "data", "-f", "model", "--json", "run.json", *options)
    found = json.loads((folder / "run.json").read_text())["result"]
    lines = dict(line.split(" = ") for line in done.stderr.splitlines() if " = " in line)
    assert float(lines["best constant's loss"]) == pytest.approx(found["best_constant_loss"], abs=1e-6)
    assert float(lines["best constant"]) == pytest.approx(found["best_constant"], abs=1e-6)
    return found, done.stderr


def test_of_squared_errors_it_is_the_variance(tmp_path):
    weight = np.arange(len(Y)) % 4
    found, _ = told(tmp_path, Y + 100, weight=weight)
    label = (Y + 100).astype(np.float32).astype(float)
    mean = np.average(label, weights=weight)
    assert found["best_constant_loss"] == pytest.approx(np.average((label - mean) ** 2, weights=weight), rel=1e-5)


@pytest.mark.parametrize("block", ["1000", "100000"])
@pytest.mark.parametrize(
    ("loss", "best"),
    [("absolute", lambda y: np.abs(y - np.median(y)).mean()), ("expectile --expectile_q 0.5", lambda y: y.var() / 2)],
)
def test_of_other_losses_it_is_that_of_all_labels(loss, best, block, tmp_path):
    found, _ = told(tmp_path, Y, "--loss_function", *loss.split(), "--block-size", block)
    assert found["best_constant_loss"] == pytest.approx(best(Y.astype(float)), rel=1e-5)


def test_held_out_examples_and_later_passes_are_left_out(tmp_path):
    found, _ = told(tmp_path, Y, "--passes", "3")
    kept = Y[np.arange(len(Y)) % 10 != 9].astype(float)
    assert found["best_constant_loss"] == pytest.approx(kept.var(), rel=1e-5)


@pytest.mark.parametrize("most", [100, 1000])
def test_of_many_labels_some_are_kept(most, monkeypatch):
    monkeypatch.setattr(label_sample, "MOST", most)
    learner = SimpleNamespace(config=GdConfig(loss=LossConfig("absolute")), counted=lambda batch: batch)
    sample = LabelSample(learner)
    sample.begin_pass(1)
    labels = np.tile(np.arange(8, dtype=np.float32), 3000)  # a stride would see some of them only
    for part in np.split(labels, 24):
        rows = SimpleNamespace(label=part, importance=np.ones(len(part), np.float32))
        sample.batch(rows, SimpleNamespace(holdout_mask=None), 0, len(part))
        assert most / 4 < sample.size <= most
    assert sample.best[1] == pytest.approx(2, rel=0.2)


def test_a_run_that_loses_to_it_says_so(tmp_path):
    said = "note: always predicting the best constant has a smaller loss, "
    assert said in told(tmp_path, 1000 * Y, "--label-units", "raw")[1]
    assert said not in told(tmp_path, 1000 * Y)[1]


def test_after_a_resumption_nothing_is_known_of_labels_before():
    sample = LabelSample(SimpleNamespace(config=GdConfig()))
    sample.restore({})
    assert sample.best is None
