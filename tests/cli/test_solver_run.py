"""Runs of solvers that are stopped, wherever that is, and go on with ``--resume`` to the bytes of one run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pkgutil import resolve_name

import numpy as np
import pytest

from vwlite.interrupts import STOP, Interrupted
from vwlite.solvers.crr import train as crr
from vwlite.solvers.lm import solver as lm
from vwlite.storage import model_file
from vwlite.training.listener import DisplayMonitor
from vwlite.training.solver_run import RunMonitor

TEXTS = 300
COMMANDS = {
    "pca": ["pca", "--dim", "3", "--passes", "4", "-b", "10", "--center", "--names"],
    "pca-idf": ["pca", "--dim", "2", "-b", "10", "--weight", "idf", "--min_df", "1", "--unit"],
    "cluster": ["cluster", "-k", "5", "-b", "10", "--passes", "6", "--trim", "0.05"],
    "cluster-starts": ["cluster", "-k", "4", "-b", "10", "--restarts", "3", "--spherical", "--seeding", "random"],
    "cluster-batch": ["cluster", "-k", "4", "-b", "10", "--batch", "40", "--passes", "3", "--restarts", "2"],
    "cluster-sparse": ["cluster", "-k", "4", "-b", "10", "--batch", "40", "--passes", "2", "--sparse_means", "1.5"],
    "cluster-soft": ["cluster", "-k", "4", "-b", "10", "--soft", "0.5", "--passes", "5"],
    "cluster-cut": ["cluster", "-k", "3", "-b", "10", "--cut", "--restarts", "2"],
    "l1": ["l1", "--passes", "6", "--names"],
    "l1-held": ["l1", "--passes", "8", "--holdout", "5", "--early_terminate", "2", "--penalty", "clipping"],
    "l1-mean": ["l1", "--passes", "5", "--penalty", "none", "--average"],
    "l1-owlqn": ["l1", "--solver", "owlqn", "--passes", "12", "--warm_passes", "2", "--holdout", "5"],
    "l1-named": ["l1", "--model", "multinomial", "--passes", "4", "--curriculum", "easy"],
    "l1-fista": ["l1", "--model", "multinomial", "--solver", "fista", "--group", "--passes", "8"],
    "l1-crf": ["l1", "--model", "crf", "--passes", "4", "--holdout", "5", "--holdout-metric", "accuracy"],
    "l1-mira": ["l1", "--model", "crf", "--loss", "mira", "--passes", "3"],
    "l1-margin": ["l1", "--model", "crf", "--loss", "margin", "--l2", "1", "--passes", "5", "--holdout", "5"],
    "l1-tree": ["l1", "--model", "tree", "--passes", "3"],
    "aso-learn": ["aso", "learn", "--aux", "freq-k:2", "--aux", "mask:w", "--dim", "3", "--iterations", "3"],
    "aso-learn-once": ["aso", "learn", "--aux", "freq", "--dim", "3", "--idf"],
    "aso-online": ["aso", "learn", "--online", "--aux", "freq", "--dim", "3", "--warmup", "60", "--keep-weights"],
    "aso-train": ["aso", "train", "--passes", "3"],
    "aso-cotrain": ["aso", "cotrain", "--unlabeled", "other.vw", "--pool", "80", "--step", "20", "--holdout", "0.2"],
    "aso-tasks": ["aso", "tasks", "--task", "w", "--dim", "1", "--iterations", "4", "--centre"],
    "aso-tasks-signs": ["aso", "tasks", "--task", "w", "--loss_function", "logistic", "--tolerance", "0"],
    "crr": ["crr", "--steps", "3000", "-b", "10", "--names", "--alpha", "0.3", "-q", "ab"],
    "crr-l1": ["crr", "--steps", "2000", "-b", "10", "--rate", "constant", "--l1", "0.003", "--weight", "idf"],
    "crr-average": ["crr", "--steps", "2000", "-b", "10", "--average", "--project", "--pair-buffer", "5"],
    "crr-curriculum": [
        "crr", "--steps", "2000", "-b", "10", "--curriculum", "easy", "--curriculum-steps", "400", "--calibrate",
    ],
    "crr-far-pairs": [
        "crr", "--steps", "1500", "-b", "10", "--curriculum", "easy", "--curriculum-steps", "400", "--qid", "none",
        "--curriculum-by", "difference", "--loss_function", "logistic", "--logistic_min", "0", "--logistic_max", "2",
    ],
    "crr-queries": ["crr", "--steps", "1500", "-b", "10", "--pairs", "lambda-ndcg", "--calibrate", "--alpha", "0.2"],
    "lm": ["lm", "train", "--passes", "3", "--window", "3", "--dim", "5", "--hidden", "6", "--initial_t", "90"],
    "lm-curriculum": [
        "lm", "train", "--passes", "2", "--window", "2", "--dim", "4", "--hidden", "9", "--curriculum", "20",
        "--tokens", "blanks", "--vocabulary", "40",
    ],
    "crr-landmarks": ["crr", "--steps", "1500", "-b", "12", "--pairs", "all", "--landmarks", "rbf:landmarks.vw"],
}  # fmt: skip
KERNELS = {  # where the last step stands
    "vwlite._native.crr.take_steps": 5, "vwlite._native.query_steps.take_steps": 5,
    "vwlite._native.window_network.learn": 7,
}  # fmt: skip
OF_SIGNS = ("l1", "l1-held", "l1-mean", "l1-owlqn", "aso-tasks", "aso-tasks-signs")
OF_NAMES = ("l1-named", "l1-fista", "l1-crf", "l1-mira", "l1-margin", "l1-tree", "aso-train", "aso-cotrain")
LABELS = {**dict.fromkeys(OF_SIGNS, "binary"), **dict.fromkeys(OF_NAMES, "named")}


def label_of(command, first, draw):
    """The label of a line whose first word is ``first``."""
    if draw.random() < 0.1:
        first = draw.choice("abcd")
    return {"binary": "1 " if first[0] < "c" else "-1 ", "named": f"{first[0]} "}.get(LABELS.get(command, ""), "")


@pytest.fixture
def text(tmp_path, name):
    draw, words = random.Random(3), [f"{letter}{number}" for letter in "abcd" for number in range(12)]
    name = name.removesuffix(" -i")
    lines = []
    for number in range(TEXTS):
        chosen = draw.choices(words, k=draw.randint(2, 8))
        tag = f"'{number}{f'^{number - 1}' if number and number % 7 != 1 else ''}" if "tree" in name else ""
        own = f"|w t{number % 3} " if "aso" in name else ""
        label = f"{draw.randrange(3)} 'q{number // 7}" if "crr" in name else label_of(name, chosen[0], draw)
        lines.append(f"{label}{tag}{own}| {' '.join(chosen)}")
        if number % 7 == 0 and "crr" not in name:
            lines.append("")
    (tmp_path / "text.vw").write_text("\n".join(lines) + "\n")
    bare = [line[line.index("|") :] for line in lines if line]
    (tmp_path / "other.vw").write_text("\n".join(bare) + "\n")
    (tmp_path / "landmarks.vw").write_text("\n".join(bare[:20]) + "\n")
    return str(tmp_path / "text.vw")


@pytest.fixture
def name():
    return "crr"


@pytest.fixture(autouse=True)
def short_spans(monkeypatch):
    monkeypatch.setattr("vwlite.solvers.aso.online.SPAN", 32)
    monkeypatch.setattr("vwlite.solvers.aso.solver.SPAN", 32)


ON_A_MODEL = [
    "pca", "cluster", "crr", "crr-l1", "crr-average", "crr-curriculum", "crr-queries", "l1", "l1-crf", "lm",
    "aso-train",
]


class Stops:
    """Counts the moments at which a run can be stopped, and stops it at one of them."""

    def __init__(self, monkeypatch):
        self.moment, self.at = 0, None
        for kind, name in ((DisplayMonitor, "step"), (RunMonitor, "save_if_due")):
            monkeypatch.setattr(kind, name, self.counted(getattr(kind, name)))
        for name, place in KERNELS.items():
            monkeypatch.setattr(name, self.cut_short(resolve_name(name), place))
        monkeypatch.setattr(crr, "CHUNK", 300)
        monkeypatch.setattr(crr, "FEW", 100)
        monkeypatch.setattr(lm, "AT_ONCE", 600)

    def counted(self, method):
        def count(monitor, *given, **named):
            method(monitor, *given, **named)
            self.moment += 1
            if self.moment == self.at:
                raise Interrupted(15)

        return count

    def cut_short(self, kernel, place):
        """Makes half of the steps where it is stopped, as a kernel does after a signal."""

        def run(*given):
            self.moment += 1
            if self.moment != self.at:
                return kernel(*given)
            given = list(given)
            given[place] = (given[place - 1] + given[place]) // 2
            done = kernel(*given)
            STOP[0] = 15
            return done

        return run

    def __call__(self, at):
        self.moment, self.at = 0, at


@pytest.mark.parametrize("name", [*COMMANDS, *(f"{name} -i" for name in ON_A_MODEL)])
def test_a_stopped_run_goes_on_to_the_same_bytes(name, vwlite, tmp_path, text, monkeypatch):
    command = [*COMMANDS[name.removesuffix(" -i")], text, "--quiet"]
    if name.endswith(" -i"):
        vwlite(*command, "-f", "begun")
        (tmp_path / "begun.ledger").unlink()
        command += ["-i", "begun"]
    stops = Stops(monkeypatch)
    vwlite(*command, "-f", "whole", "--json", "whole.json")
    moments = stops.moment
    assert moments > 3
    draw, resumed = random.Random(name), 0
    for at in sorted(draw.sample(range(1, moments), min(3, moments - 1))):
        stops(at)
        assert vwlite(*command, "-f", "model", status=143).stderr.startswith("vwlite: terminated")
        assert not (tmp_path / "model").exists()
        resumed += (tmp_path / "model.ckpt").exists()
        stops(None)
        vwlite(*command, "-f", "model", "--resume", "--json", "resumed.json")
        assert history(tmp_path / "resumed.json") == history(tmp_path / "whole.json")
        assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
        assert not (tmp_path / "model.ckpt").exists()
        (tmp_path / "model").unlink()
    assert resumed


@pytest.mark.parametrize("name", ["aso-cotrain", "aso-tasks", "aso-train", "aso-learn"])
def test_without_a_checkpoint_a_run_begins_at_the_start(name, vwlite, tmp_path, text):
    done = vwlite(*COMMANDS[name], text, "-f", "model", "--resume", "--checkpoint-every", "1h", "--lock-wait", "1")
    assert "there is no model.ckpt to resume" in done.stderr
    before = (tmp_path / "model").read_bytes()
    vwlite(*COMMANDS[name], text, "-f", "model", "--quiet")
    assert (tmp_path / "model").read_bytes() == before


LEARNING_ON = ("crr", "pca", "cluster", "l1", "l1-crf", "aso-train")


@pytest.mark.parametrize("name", LEARNING_ON)
def test_files_learned_before_are_skipped(name, vwlite, tmp_path, text):
    command = [*COMMANDS[name], "-i", "model", "-f", "model", "--skip-seen"]
    assert "training starts from the beginning" in vwlite(*command, text).stderr
    before = (tmp_path / "model").read_bytes()
    assert ": skipped" in vwlite(*command, text, "--json", "run.json").stderr
    assert (tmp_path / "model").read_bytes() == before
    assert json.loads((tmp_path / "run.json").read_text())["result"]["lines"] == 0
    more = tmp_path / "more.vw"
    more.write_text("\n".join((tmp_path / "text.vw").read_text().splitlines()[:150]) + "\n")
    vwlite(*COMMANDS[name], "-i", "model", "-f", "other", str(more))
    vwlite(*command, text, str(more), "--lock-wait", "1")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "other").read_bytes() != before


@pytest.mark.parametrize("name", (*LEARNING_ON[:-1], "aso-online"))
def test_checkpoints_are_written_by_time(name, vwlite, tmp_path, text, monkeypatch):
    saved = []
    monkeypatch.setattr(RunMonitor, "save", lambda monitor: saved.append(monitor.solver.state()))
    vwlite(*COMMANDS[name], text, "-f", "model", "--checkpoint-every", "0")
    assert len(saved) > 1


@pytest.mark.parametrize("name", LEARNING_ON[:4])
def test_a_stopped_run_is_known_by_its_command_and_data(name, vwlite, tmp_path, text, monkeypatch):
    stops = Stops(monkeypatch)
    command = [*COMMANDS[name], text, "-f", "model"]
    vwlite(*command)
    last = stops.moment
    (tmp_path / "model").unlink()
    stops(last - 1)
    assert "model.ckpt keeps what was learned, --resume goes on with it" in vwlite(*command, status=143).stderr
    stops(None)
    assert "quadratic was" in vwlite(*command, "--resume", "-q", "ab", status=2).stderr
    whole = (tmp_path / "model.ckpt").read_bytes()
    (tmp_path / "model.ckpt").write_bytes(whole[: len(whole) // 2])
    assert "model.ckpt" in vwlite(*command, "--resume", status=76).stderr
    (tmp_path / "model.ckpt").write_bytes(whole)
    with open(text, "a") as file:
        file.write("1 | new\n")
    assert "the input has changed" in vwlite(*command, "--resume", status=76).stderr
    assert "--resume would have continued from model.ckpt" in vwlite(*command).stderr
    assert not (tmp_path / "model.ckpt").exists()


@pytest.mark.parametrize("name", ["l1"])
def test_a_pipe_must_bring_the_same_data(name, vwlite, tmp_path, text, monkeypatch):
    stops, data = Stops(monkeypatch), (tmp_path / "text.vw").read_bytes()
    command = [*COMMANDS["l1"], "-f", "model"]
    vwlite(*command, stdin=data)
    whole = (tmp_path / "model").read_bytes()
    stops(stops.moment - 1)
    vwlite(*command, stdin=data, status=143)
    stops(None)
    done = vwlite(*command, "--resume", stdin=data.replace(b"-1 ", b"1 ", 1), status=76)
    assert "the input is not what the stopped run read" in done.stderr
    vwlite(*command, "--resume", stdin=data)
    assert (tmp_path / "model").read_bytes() == whole


@pytest.mark.parametrize(
    "command", ["crr --steps 2000000 --qid none -b 10 text.vw", "lm train --passes 60 --dim 30 text.vw"]
)
def test_a_terminated_process(command, vwlite, tmp_path, text, cli_env):
    """The signal comes while a kernel runs, which returns soon."""
    command = [*command.split(), "--quiet"]
    stopped = [sys.executable, "-m", "vwlite", *command, "-f", "model", "--checkpoint-every", "0.01s"]
    with subprocess.Popen(stopped, cwd=tmp_path, env=cli_env, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "model.ckpt").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        stderr = process.stderr.read()
    assert (process.returncode, stderr[:18]) == (143, "vwlite: terminated")
    state = model_file.read_header("model.ckpt")["run"]["state"]
    assert state["steps"] > 0
    vwlite(*command, "-f", "model", "--resume")
    vwlite(*command, "-f", "whole")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("name", ["pca", "cluster", "crr", "lm"])
def test_a_run_that_is_stopped_while_it_writes_its_model(name, vwlite, tmp_path, text, monkeypatch):
    def save(path, *given, **named):
        if path == "model":
            raise Interrupted(15)
        write(path, *given, **named)

    command, write = [*COMMANDS[name], text, "--quiet"], model_file.save
    vwlite(*command, "-f", "whole")
    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", save)
        done = vwlite(*command, "-f", "model", status=143)
    assert done.stderr == "vwlite: terminated; model.ckpt keeps what was learned, --resume goes on with it\n"
    vwlite(*command, "-f", "model", "--resume")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_second_signal_leaves_no_checkpoint_of_what_is_half_done(vwlite, tmp_path, text, monkeypatch):
    def learn(*given):
        nonlocal calls
        done, calls = take_steps(*given), calls + 1
        if calls == 3:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
        return done

    command, calls, take_steps = [*COMMANDS["crr"], text, "--quiet"], 0, crr.kernel.take_steps
    monkeypatch.setattr(crr, "CHUNK", 300)
    vwlite(*command, "-f", "whole")
    with monkeypatch.context() as patched:
        patched.setattr(crr.kernel, "take_steps", learn)
        done = vwlite(*command, "-f", "model", "--checkpoint-every", "0s", status=143)
    assert "model.ckpt keeps what was learned" in done.stderr
    assert model_file.read_header("model.ckpt")["run"]["state"] == {"steps": 600}
    vwlite(*command, "-f", "model", "--resume")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("name", ["pca", "cluster", "crr-l1", "lm"])
def test_checkpoints_that_are_damaged(name, vwlite, text, monkeypatch):
    command = [*COMMANDS[name], text, "--quiet", "-f", "model"]
    stops = Stops(monkeypatch)
    vwlite(*command)
    stops(stops.moment - 2)
    vwlite(*command, status=143)
    stops(None)
    whole = model_file.load("model.ckpt")
    for header, arrays, statuses in damaged(whole.header, dict(whole.arrays)):
        model_file.save("model.ckpt", header, arrays)
        done = vwlite(*command, "--resume", status=None)
        assert done.status in statuses, done.stderr
        assert len(done.stderr.splitlines()) == (done.status == 76)


def damaged(header, arrays):
    """Each part of a checkpoint wrong in several ways, and what that may lead to: of some numbers nobody can tell."""
    for name, array in arrays.items():
        yield header, {other: value for other, value in arrays.items() if other != name}, (76,)
        yield header, {**arrays, name: array[:-1].copy()}, (76,)
        yield header, {**arrays, name: array.astype(np.int64)}, (76,)
    run = header["run"]
    for name in run["state"]:
        for value, statuses in (("x", (76,)), (-1, (0, 76)), (2**60, (0, 76))):
            yield {**header, "run": {**run, "state": {**run["state"], name: value}}}, arrays, statuses


@pytest.mark.parametrize("name", ["pca", "cluster", "crr"])
def test_landmarks_that_have_changed(name, vwlite, text, monkeypatch, write):
    command = [*COMMANDS[name], text, "--quiet", "-b", "12", "--landmarks", "linear:landmarks.vw", "-f", "model"]
    stops = Stops(monkeypatch)
    vwlite(*command)
    stops(stops.moment - 2)
    vwlite(*command, status=143)
    stops(None)
    write("landmarks.vw", "| a1\n")
    assert "landmarks_digest was" in vwlite(*command, "--resume", status=2).stderr


def history(path):
    entries = json.loads(path.read_text())["history"]
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in entries]
