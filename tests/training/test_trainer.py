"""Whole runs over small files against the plain twin ``oracle.driver``: every prediction, row and sum."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle.driver import run
from oracle.options import Options
from vwtext import feature_config, gd_config, joined, sequences

from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.storage import model_file
from vwlite.training.config import OutputConfig, ProgressRule, RunConfig
from vwlite.training.counters import parse_progress
from vwlite.training.listener import Display
from vwlite.training.model_loader import start
from vwlite.training.run_report import HEADER
from vwlite.training.train import train

FEATURES = [b" " + name for name in b"a b c d:2 a:-1.5 b:0.1 e:3 |y |yes |z".split()]
ROW_STARTS = (*"0123456789", "n.a.", "unknown")  # other lines tell what never matched
LABELS = {"hinge": b"1 -1", "logistic": b"1 -1 1", "poisson": b"0 1 2 7.5"}
TAGS = [b"", b"", b" 0", b" 2", b" 0.5 1", b" 'tag", b" 3 -0.5 'some-tag"]


class Lines(Display):
    """Keeps what a run shows."""

    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(text)


@st.composite
def runs(draw):
    """Lines and options of a run."""
    loss = draw(st.sampled_from(["squared", "squared", "logistic", "hinge", "quantile", "poisson"]))
    labels = LABELS.get(loss, b"0 1 2 -3.5").split()
    head = st.one_of(joined(st.sampled_from(labels), st.sampled_from(TAGS)), st.sampled_from([b"", b"'tag"]))
    line = st.one_of(*[joined(head, st.just(b" |x"), sequences(FEATURES, most=4))] * 5, st.just(b""))
    options = draw(
        st.builds(
            Options,
            bits=st.just(12),
            loss=st.just(loss),
            link=st.sampled_from(["identity", "logistic"]),
            rules=st.sampled_from([frozenset(), frozenset({"sgd"}), frozenset({"adaptive"})]),
            learning_rate=st.sampled_from([None, 0.1, 1.3]),
            decay_learning_rate=st.sampled_from([1.0, 0.9, 0.1]),
            l1=st.sampled_from([0.0, 0.0, 1e-3]),
            l2=st.sampled_from([0.0, 0.0, 1e-3]),
            interactions=st.sampled_from([[], [b"xy"], [b"::"]]),
            test_only=st.sampled_from([False, False, False, True]),
            own=st.just(True),
            passes=st.integers(1, 5),
            holdout_off=st.booleans(),
            holdout_period=st.sampled_from([10, 2, 3]),
            holdout_after=st.sampled_from([0, 0, 0, 4]),
            early_terminate=st.integers(1, 3),
            examples=st.sampled_from([None, None, 5]),
            progress=st.sampled_from([None, "1", "3", "1.5", "0.5"]),
        )
    )
    first = labels[0] + b" |x a"  # a run without anything to learn from is an error
    return [first, *draw(st.lists(line, max_size=14))], options


def config_of(options, folder, **input):
    rule = parse_progress(options.progress)[0] if options.progress else ProgressRule()
    return RunConfig(
        input=InputConfig(paths=(str(folder / "data.vw"),), examples=options.examples or 0, **input),
        features=feature_config(options),
        learner=gd_config(options),
        output=OutputConfig(
            model=str(folder / "model"),
            predictions=str(folder / "predictions"),
            raw_predictions=str(folder / "raw"),
            progress=rule,
        ),
        holdout=HoldoutConfig(
            off=options.holdout_off,
            period=options.holdout_period,
            after=options.holdout_after,
            early_terminate=options.early_terminate,
        ),
        passes=options.passes,
        learning=not options.test_only,
    )


@contextlib.contextmanager
def folder_with(lines):
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "data.vw").write_bytes(b"".join(line + b"\n" for line in lines))
        yield Path(name)


def trained(config, *more):
    """The result of a run and what it showed."""
    shown = Lines()
    return train(config, *more, display=shown), "".join(f"{line}\n" for line in shown.lines)


def twin_of(lines, options):
    with np.errstate(all="ignore"):
        result = run(lines, options)
    columns = (result.gd.w, result.gd.g, result.gd.n)
    assume(all(np.isfinite(column).all() for column in columns))  # or the run ends with an error
    assume(options.rules != {"sgd"} or all(abs(p.raw) < 1e4 for made in result.predictions for p in made))
    return result


@settings(max_examples=30)
@given(runs(), st.sampled_from([16, 64, 1 << 20]), st.integers(1, 2))
def test_run_is_the_twins(problem, block_size, threads):
    lines, options = problem
    expected = twin_of(lines, options)
    with folder_with(lines) as folder:
        done, said = trained(config_of(options, folder, block_size=block_size, threads=threads))
        written = (folder / "predictions").read_text().splitlines()
        weights = model_file.load(folder / "model", want=("weights.w",)).arrays["weights.w"]
    made = [prediction for made in expected.predictions for prediction in made]
    assert written == [prediction.text() for prediction in made]
    table, _, summary = said.partition("\nfinished run\n")
    rows = table.partition(HEADER)[2].splitlines()
    assert [row for row in rows if row.startswith(ROW_STARTS)] == expected.progress
    told = dict(line.split(" = ") for line in summary.splitlines())
    of_labels = {"best constant", "best constant's loss"} - expected.summary.keys()  # see test_label_sample.py
    assert {name: value for name, value in told.items() if name not in of_labels} == expected.summary
    assert done.passes == len(expected.predictions)
    np.testing.assert_array_equal(weights, expected.saved.w)
    np.testing.assert_array_equal(done.parts.learner.weights[:, 0], expected.gd.w)


@settings(max_examples=15)
@given(runs(), st.data())
def test_stopping_and_going_on_gives_the_same_predictions_and_weights(problem, data):
    lines, options = problem
    options.passes, options.holdout_after, options.examples, options.test_only = 1, 0, None, False
    options.decay_learning_rate = 1.0  # decays between the two runs
    assume(len(lines) > 1)
    cut = data.draw(st.integers(1, len(lines) - 1))
    twin_of(lines, options)
    with folder_with(lines) as folder:
        config = config_of(options, folder)
        trained(config)
        predictions, whole = (folder / "predictions").read_bytes(), model_file.load(folder / "model")
        (folder / "data.vw").write_bytes(b"".join(line + b"\n" for line in lines[:cut]))
        trained(config)
        first = (folder / "predictions").read_bytes()
        (folder / "data.vw").write_bytes(b"".join(line + b"\n" for line in lines[cut:]))
        trained(*start(config, str(folder / "model")))
        assert first + (folder / "predictions").read_bytes() == predictions
        resumed = model_file.load(folder / "model")
    assert resumed.arrays["weights"].values.tobytes() == whole.arrays["weights"].values.tobytes()
    assert resumed.header["scalars"] == whole.header["scalars"]
    assert resumed.header["seen"] == whole.header["seen"]


def test_early_termination_leaves_the_best_pass_in_place():
    # The held-out line contradicts what is learned, so every pass is worse than the first.
    lines = [b"1 |x a"] * 9 + [b"-1 |x a"]
    options = Options(passes=9, early_terminate=2, bits=12, learning_rate=0.01)
    expected = run(lines, options)
    assert len(expected.predictions) == 3
    with folder_with(lines) as folder:
        done, said = trained(config_of(options, folder))
        weights = model_file.load(folder / "model", want=("weights.w",)).arrays["weights.w"]
    np.testing.assert_array_equal(weights, expected.saved.w)
    assert not np.array_equal(weights, expected.gd.w)
    assert done.stopped_early
    assert "passes used = 3\n" in said


def test_a_run_over_nothing_predicts_nothing():
    with folder_with([]) as folder:
        done, said = trained(config_of(Options(bits=4, test_only=True), folder))
        assert (folder / "predictions").read_bytes() == b""
    assert "number of examples = 0\n" in said
    assert not done.parts.learner.weights.any()


@pytest.mark.parametrize("passes", [1, 3])
def test_no_temporary_cache_stays_behind(passes, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "data.vw").write_bytes(b"1 |x a\n" * 20)
    trained(config_of(Options(bits=4, passes=passes), tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.vw", "model", "predictions", "raw"]
