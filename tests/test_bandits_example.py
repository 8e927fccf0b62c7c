"""``examples/bandits.sh`` on a small part of its data."""

import json
import sys

import numpy as np
import pytest
from pages import PROJECT

SMALL = ("--lines", 400, "--events", 300, "--tests", 300, "--logs", 20, "--types", "mtr", "--explorers", "epsilon")


def test_the_tables(example, data_dir, tmp_path):
    done = example("bandits.sh", data_dir, *SMALL, "--sets", "mnist", "--json", "out.json")
    tables = json.loads((tmp_path / "out.json").read_text())
    assert list(tables) == ["explore", "learn", "intervals"] and done.stdout.count("| mnist: ") == 3
    by_log = tables["learn"]["mnist"]["mtr"]
    assert list(by_log) == ["uniform", "soft"] and all(row["plain"][0] < 0.8 for row in by_log.values())
    assert 0 < tables["explore"]["mnist"]["epsilon"]["0/1"][0] < 0.9
    for row in tables["intervals"]["mnist"].values():
        assert row["cv"]["coverage"] >= 0.8 and 0 < row["error"] < 0.9
        assert 0 < row["dr"]["rmse"] < row["dr"]["width"] and row["difference"]["coverage"] >= 0.8


def test_clicks(example, tmp_path):
    done = example("bandits.sh", ".", *SMALL, "--sets", "clicks", "--json", "out.json")
    (rows,) = json.loads((tmp_path / "out.json").read_text())["intervals"].values()
    assert list(rows) == ["uniform (2000)", "soft (2000)"] and done.stdout.count("| clicks: ") == 1
    for row in rows.values():
        assert row["cv"]["coverage"] >= 0.8 and -0.05 < row["error"] < 0


def test_documents(example, data_dir):
    done = example("bandits.sh", data_dir, *SMALL, "--sets", "20news", "--parts", "intervals")
    assert "| 20news: log | error | the other's | cv: coverage, width, rmse |" in done.stdout
    assert "| uniform (5000) | 0." in done.stdout


def test_actions_are_drawn_by_their_probabilities(monkeypatch):
    monkeypatch.syspath_prepend(PROJECT / "examples")
    import bandits

    probabilities = np.tile([0.5, 0.2, 0.3], (20000, 1))
    actions, probability = bandits.draw(np.random.default_rng(0), probabilities)
    assert np.bincount(actions) / len(actions) == pytest.approx(probabilities[0], abs=0.02)
    assert (probability == probabilities[0][actions]).all()
    del sys.modules["bandits"]


def test_unknown_explorers_and_missing_data_are_refused(example, tmp_path):
    assert "there is no magic: there are epsilon" in example("bandits.sh", ".", "--explorers", "magic", status=2).stderr
    assert "there is no 20news" in example("bandits.sh", ".", "--sets", "20news", status=1).stderr
