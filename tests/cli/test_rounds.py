"""``vwlite train --workers``: rounds over shards on the processes of a machine."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest


@pytest.fixture
def text(tmp_path):
    random = np.random.default_rng(3)
    draws = random.integers(0, 30, (3000, 2))
    found = "".join(f"{1 if a + random.normal(0, 9) > b else -1} |a x{a} |b y{b}\n" for a, b in draws)
    (tmp_path / "t.vw").write_text(found)
    (tmp_path / "held.vw").write_text(found[: len(found) // 4])
    return found


def test_rounds_are_those_of_shard_and_merge(run_cli, run_here, tmp_path, text):
    run_cli("train", "t.vw", "-f", "m", "--workers", "2", "--shards", "3", "--rounds", "2", "-q", "ab", "--quiet")
    for number, base, options in ((1, [], ["-q", "ab"]), (2, ["-i", "m1"], [])):
        deltas = [f"{shard}.delta" for shard in (1, 2, 3)]
        for shard, delta in enumerate(deltas, 1):
            run_here("train", "t.vw", "--shard", f"{shard}/3", *base, "-f", delta, *options)
        run_here("merge", *(["--base", "m1"] if base else []), *deltas, "-f", f"m{number}")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "m2").read_bytes()
    assert (tmp_path / "m.ledger").exists() and not (tmp_path / "m.ckpt").exists()


def test_what_is_shown_and_reported(run_cli, tmp_path, text):
    options = ["--workers", "2", "--shards", "4", "--rounds", "2", "--holdout", "held.vw", "--json", "report"]
    done = run_cli("train", "t.vw", "-f", "m", "--loss_function", "logistic", *options)
    shown = done.stderr.splitlines()
    assert "averages of so little are poor" in shown[0] and shown[1].split()[0] == "round"
    assert [line.split()[0] for line in shown[2:]] == ["1", "2"]
    report = json.loads((tmp_path / "report").read_text())
    assert (report["examples"], report["passes"], report["lines"], report["shards"]) == (6000, 2, 3000, 4)
    assert [one["number"] for one in report["rounds"]] == [1, 2]
    assert report["holdout_loss"] == min(one["holdout_loss"] for one in report["rounds"])
    run_cli("train", "t.vw", "-i", "m", "-f", "m", "--skip-seen", "--workers", "2", "--json", "report")
    assert json.loads((tmp_path / "report").read_text())["examples"] == 0


REFUSED = {
    ("--shards", "4"): "--shards does nothing without --workers",
    ("--workers", "4", "--shards", "2"): "--shards 2 is too few for --workers 4",
    ("--workers", "2", "--shard", "1/2"): "drop one",
    ("--workers", "2", "--lrq", "ab2"): "latent vectors from different starts",
    ("--workers", "2", "--passes", "3"): "--passes does not go with shards",
    ("--workers", "2", "--checkpoint-every", "1m"): "--checkpoint-every does nothing with shards",
    ("--workers", "2", "-p", "p"): "--predictions does not go with shards",
    ("--holdout", "held.vw"): "--holdout does nothing without --workers",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_what_does_not_go_with_shards_is_refused(run_here, text, options):
    assert REFUSED[options] in run_here("train", "t.vw", "-f", "m", *options, status=2).stderr


def test_standard_input_has_no_shards(run_here):
    done = run_here("train", "-f", "m", "--workers", "2", stdin="1 |a x\n", status=2)
    assert "which <stdin> is not: write it to one first" in done.stderr


def test_an_interrupted_run_goes_on(cli_env, run_cli, tmp_path, text):
    (tmp_path / "t.vw").write_text(text * 8)
    command = ["train", "t.vw", "-f", "m", "--workers", "2", "--shards", "4", "--rounds", "6"]
    run_cli(*command[:3], "whole", *command[4:])
    hears = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), "stderr": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, "-m", "vwlite", *command], cwd=tmp_path, env=cli_env, text=True, **hears
    ) as run:
        while not (tmp_path / "m.ckpt").exists():
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        said = run.stderr.read()
    assert run.returncode == 130 and "m.ckpt keeps round" in said and "Traceback" not in said
    assert "going on after round" in run_cli(*command, "--resume").stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["held.vw", "m", "m.ledger", "t.vw", "whole", "whole.ledger"]
