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
    message = "".join(f"{1 if a + random.normal(0, 9) > b else -1} |a x{a} |b y{b}\n" for a, b in draws)
    (tmp_path / "t.vw").write_text(message)
    (tmp_path / "held.vw").write_text(message[: len(message) // 4])
    return message


def test_rounds_are_those_of_shard_and_merge(run_cli, run_here, tmp_path, text):
    run_cli("train", "t.vw", "-f", "m", "--workers", "2", "--shards", "3", "--rounds", "2", "-q", "ab", "--quiet")
    for number, base, options in ((1, [], ["-q", "ab"]), (2, ["-i", "m1"], [])):
        deltas = [f"{shard}.delta" for shard in (1, 2, 3)]
        for shard, delta in enumerate(deltas, 1):
            run_here("train", "t.vw", "--shard", f"{shard}/3", *base, "-f", delta, *options)
        run_here("merge", *(["--base", "m1"] if base else []), *deltas, "-f", f"m{number}")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "m2").read_bytes()
    assert (tmp_path / "m.ledger").exists() and not (tmp_path / "m.ckpt").exists()


def test_rounds_are_shown_and_reported(run_cli, tmp_path, text):
    options = ["--workers", "2", "--shards", "4", "--rounds", "2", "--holdout", "held.vw", "--json", "report"]
    done = run_cli("train", "t.vw", "-f", "m", "--loss_function", "logistic", *options)
    stderr = done.stderr.splitlines()
    assert "averages of so little are poor" in stderr[0] and stderr[1].split()[0] == "round"
    assert [line.split()[0] for line in stderr[2:]] == ["1", "2"]
    report = json.loads((tmp_path / "report").read_text())
    assert (report["examples"], report["passes"], report["lines"], report["shards"]) == (6000, 2, 3000, 4)
    assert [entry["number"] for entry in report["rounds"]] == [1, 2]
    assert report["holdout_loss"] == min(entry["holdout_loss"] for entry in report["rounds"])
    run_cli("train", "t.vw", "-i", "m", "-f", "m", "--skip-seen", "--workers", "2", "--json", "report")
    assert json.loads((tmp_path / "report").read_text())["examples"] == 0


def test_l_bfgs_follows_the_rounds(run_cli, tmp_path, text):
    options = ["--loss_function", "logistic", "--workers", "2", "--shards", "4", "--rounds", "1"]
    then = ["--then-bfgs", "8", "--l2", "1e-4", "--holdout", "held.vw"]
    done = run_cli("train", "t.vw", "-f", "m", *options, *then, "--json", "report")
    before, after = (float(done.stderr.splitlines()[-1].split()[place]) for place in (-2, 3))
    report = json.loads((tmp_path / "report").read_text())
    assert report["bfgs"]["passes"] == 8 and report["bfgs"]["kept"] and report["holdout_loss"] < 0.99 * before
    assert after == pytest.approx(report["holdout_loss"], abs=1e-6)
    measured = run_cli("evaluate", "-i", "m", "held.vw").stdout.splitlines()
    loss = next(line.split()[1] for line in measured if line.startswith("loss"))
    assert float(loss) == pytest.approx(after, abs=1e-6)
    assert not (tmp_path / "m.ckpt").exists()


REFUSED = {
    ("--then-bfgs", "5"): "--then-bfgs does nothing without --workers",
    ("--workers", "2", "--then-bfgs", "1"): "--then-bfgs",
    ("--workers", "2", "--then-bfgs", "5", "--oaa", "3"): "one set of weights: it does not go with --oaa",
    ("--workers", "2", "--bfgs"): "--then-bfgs sums gradients over shards",
    ("--shards", "4"): "--shards does nothing without --workers",
    ("--workers", "4", "--shards", "2"): "--shards 2 is too few for --workers 4",
    ("--workers", "2", "--shard", "1/2"): "drop one",
    ("--workers", "2", "--lrq", "ab2"): "latent vectors from different starts",
    ("--workers", "2", "--passes", "3"): "--passes does not go with shards",
    ("--workers", "2", "--checkpoint-every", "1m"): "--checkpoint-every does nothing with shards",
    ("--workers", "2", "--dotproduct", "ab"): "--dotproduct does not go with shards",
    ("--workers", "2", "-p", "p"): "--predictions does not go with shards",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_options_that_do_not_go_with_shards_are_refused(run_here, text, options):
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
        stderr = run.stderr.read()
    assert run.returncode == 130 and "m.ckpt keeps round" in stderr and "Traceback" not in stderr
    assert "going on after round" in run_cli(*command, "--resume").stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["held.vw", "m", "m.ledger", "t.vw", "whole", "whole.ledger"]


@pytest.fixture
def scheduler(monkeypatch):
    """The address of a Dask scheduler with two workers."""
    pytest.importorskip("dask", reason="pip install 'vwlite[dask]'")
    import distributed

    monkeypatch.setattr("vwlite.distributed.engines.PATIENCE", 2)
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(2, **options) as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
def test_a_dask_scheduler_makes_the_same_bytes(scheduler, run_here, tmp_path, text):
    (tmp_path / "t.vw").write_text(text)
    command = ("train", "t.vw", "--shards", "3", "--rounds", "2", "--quiet", "-f")
    run_here(*command, "local", "--workers", "2")
    run_here(*command, "cluster", "--scheduler", scheduler.scheduler_address)
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "local").read_bytes()
    import vwlite

    vwlite.train("t.vw", shards=3, rounds=2, scheduler=scheduler.scheduler_address, final_regressor="python")
    assert (tmp_path / "python").read_bytes() == (tmp_path / "local").read_bytes()


@pytest.mark.filterwarnings("ignore")
def test_workers_of_another_version_and_none(scheduler, run_here, tmp_path, text):
    import distributed

    (tmp_path / "t.vw").write_text(text)
    command = ("train", "t.vw", "-f", "m", "--scheduler", scheduler.scheduler_address)
    with distributed.Client(scheduler) as client:
        client.run(exec, "from vwlite.distributed import engines; engines.__version__ = '9.9'")
    stderr = run_here(*command, status=70).stderr
    assert "the Dask worker tcp://" in stderr and "has vwlite 9.9, this is" in stderr
    scheduler.scale(0)
    scheduler.sync(scheduler._correct_state)
    assert "has no worker" in run_here(*command, status=70).stderr
    assert not (tmp_path / "m").exists()


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_is_an_error(run_here, tmp_path, text, monkeypatch):
    pytest.importorskip("dask", reason="pip install 'vwlite[dask]'")
    monkeypatch.setattr("vwlite.distributed.engines.PATIENCE", 1)
    (tmp_path / "t.vw").write_text(text)
    (tmp_path / "file.json").write_text("{}")
    for address in ("tcp://127.0.0.1:9", "nonsense://x", "file.json"):
        stderr = run_here("train", "t.vw", "-f", "m", "--scheduler", address, status=70).stderr
        assert f"there is no Dask scheduler at {address}: " in stderr


def test_without_dask_the_extra_is_named(run_here, tmp_path, text, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    (tmp_path / "t.vw").write_text(text)
    stderr = run_here("train", "t.vw", "-f", "m", "--scheduler", "tcp://127.0.0.1:9", status=69).stderr
    assert "pip install 'vwlite[dask]'" in stderr


@pytest.mark.parametrize(("held", "finite"), [("|a x1\n", False), ("1e30 |a x1\n", False), ("1 |a x1\n", True)])
def test_a_held_out_file_without_a_loss_decides_nothing(held, finite, run_here, tmp_path, text):
    (tmp_path / "held.vw").write_text(held)
    options = ("--workers", "1", "--shards", "1", "--rounds", "6", "--holdout", "held.vw", "--json", "report")
    stderr = run_here("train", "t.vw", "-f", "m", *options).stderr
    report = json.loads((tmp_path / "report").read_text())
    assert ("so the model is that of the last round" in stderr) is not finite
    assert finite or (report["best_round"], report["holdout_loss"]) == (6, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", "2"), "--scheduler has its own: drop one"),
        (("--shard", "1/2"), "--workers and --scheduler all of them: drop one"),
    ],
)
def test_one_place_to_learn(options, said, run_here, tmp_path, text):
    (tmp_path / "t.vw").write_text(text)
    assert said in run_here("train", "t.vw", "-f", "m", "--scheduler", "tcp://a:1", *options, status=2).stderr
