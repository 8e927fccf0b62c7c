"""Passes with held-out examples: the model that stands there is replaced once, at the end, by the best pass's."""

import json
import os
import random

import pytest

from vwlite.cli.signals import Interrupts
from vwlite.interrupts import Interrupted
from vwlite.training.model_writer import ModelWriter

DRAW = random.Random(1)
LABELS = [DRAW.choice((-1, 1)) for _ in range(60)]  # nothing to be learned but by heart
LINES = [f"{label} |user u{n % 5} |item i{n % 7} x{n % 31}\n" for n, label in enumerate(LABELS)]
RULES = ("--label-units", "raw", "--early_terminate", 2, "--holdout_period", 3)
PASSES = ("--passes", 6, *RULES)  # the second is the best, the fourth the last
FILES = ("-f", "model", "--readable_model", "r.txt", "--invert_hash", "h.txt")
SMALL = ("--block-size", 400, "--threads", 1)  # several batches a pass


@pytest.fixture
def data(write):
    return write("data.vw", "".join(LINES))


@pytest.fixture
def stop(monkeypatch):
    """Has the ``number``-th look for signals, from 0, find one."""

    def at(number):
        left = iter(range(number))

        def check(self):
            if next(left, None) is None:
                raise Interrupted(15)

        monkeypatch.setattr(Interrupts, "check", check)

    return at


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("data.vw", "model.ledger")}


def test_a_divergence_leaves_the_standing_model(vwlite, data, tmp_path):
    vwlite("train", data, *FILES, "-q", "ui")
    before = content(tmp_path)
    done = vwlite("train", data, *FILES, "--passes", 4, "--decay_learning_rate", 1e20, status=None)
    assert done.status == 70
    assert content(tmp_path) == before


@pytest.mark.parametrize("outputs", [FILES, FILES[:2], FILES[2:4], FILES[4:]], ids=len)
def test_the_best_pass_is_what_remains(outputs, vwlite, data, tmp_path):
    vwlite("train", data, *outputs)
    for path in outputs[1::2]:
        (tmp_path / path).chmod(0o640)
    done = vwlite("train", data, *outputs, *PASSES)
    assert done.stderr.count("\nfinished run") == 1
    left = content(tmp_path)
    assert left.keys() == {*outputs[1::2]}
    vwlite("train", data, *FILES, *PASSES, "--save_per_pass")
    best = content(tmp_path)
    assert best["model"] == best["model.2"] != best["model.4"] and "model.5" not in best
    assert all(left[path] == best[path] and (tmp_path / path).stat().st_mode & 0o777 == 0o640 for path in outputs[1::2])


@pytest.mark.parametrize("options", [(), ("--checkpoint-every", "0s")])
def test_stopped_anywhere_the_standing_files_stay(options, vwlite, data, tmp_path, stop, monkeypatch):
    vwlite("train", data, *FILES, *PASSES)
    best = content(tmp_path)
    vwlite("train", data, *FILES, "-q", "ui")
    standing = content(tmp_path)
    assert standing["model"] != best["model"]
    stops = 0
    for number in range(2, 60, 4):
        with monkeypatch.context() as patch:
            patch.setattr(Interrupts, "check", Interrupts.check)
            stop(number)
            status = vwlite("train", data, *FILES, *PASSES, *SMALL, *options, status=None).status
        if status == 0:
            break
        stops += 1
        assert status == 143
        kept = content(tmp_path)
        names = {"model.ckpt"} | ({f"{path}.ckpt.best" for path in FILES[1::2]} & kept.keys())
        assert kept == {**standing, **{name: kept[name] for name in names}}, number
        vwlite("train", data, *FILES, *PASSES, *SMALL, "--resume")
        assert content(tmp_path) == best, number
        vwlite("train", data, *FILES, "-q", "ui")
    assert stops > 3 and "model.ckpt.best" in names


def test_nobody_else_is_believed_or_overwritten_under_the_kept_name(vwlite, data, tmp_path, stop, monkeypatch):
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / "model.ckpt.best").symlink_to("other")
    command = ("train", data, "-f", "model", *PASSES, *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(Interrupts, "check", Interrupts.check)
        stop(12)
        vwlite(*command, status=143)
    kept = tmp_path / "model.ckpt.best"
    assert not kept.is_symlink() and (tmp_path / "other").read_bytes() == b"other"
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to("elsewhere")
    done = vwlite(*command, "--resume", status=76)
    assert "model.ckpt.best, of the best pass, is gone or was changed: start again" in done.stderr
    assert not os.path.lexists(tmp_path / "model")


def test_a_device_gets_the_best_text_once(vwlite, data, tmp_path):
    vwlite("train", data, "--readable_model", "r.txt", *PASSES)
    with open(tmp_path / "piped", "w") as out:
        path = f"/dev/fd/{out.fileno()}"
        vwlite("train", data, "--readable_model", path, *PASSES)
    assert (tmp_path / "piped").read_bytes() == (tmp_path / "r.txt").read_bytes()


def test_other_outputs_are_no_resumption(vwlite, data, stop, monkeypatch):
    command = ("train", data, "-f", "model", *PASSES, *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(Interrupts, "check", Interrupts.check)
        stop(12)
        vwlite(*command, status=143)
    assert "whose outputs were model" in vwlite(*command, "--readable_model", "r", "--resume", status=2).stderr


def test_a_run_that_is_stopped_after_its_last_pass_makes_no_more(vwlite, data, tmp_path, monkeypatch):
    run = ("train", data, *FILES, *PASSES)
    vwlite(*run)
    whole = content(tmp_path)
    name_best = ModelWriter.name_best

    def stop_once(self):
        monkeypatch.setattr(ModelWriter, "name_best", name_best)
        raise Interrupted(15)

    monkeypatch.setattr(ModelWriter, "name_best", stop_once)
    assert "--resume goes on with it" in vwlite(*run, status=143).stderr
    stderr = vwlite(*run, "--resume").stderr
    assert "passes used = 4\n" in stderr
    assert content(tmp_path) == whole


FEW = "1 |f f1 f2:0.5\n2 |f f1 f2:1\n3 |f f2:1.5\n2.5 |f f1 f2:1.1\n"
TENTH = "".join("|f f1\n" if number % 10 == 9 else line for number, line in enumerate(FEW.splitlines(True) * 5))
NOTHING = "note: no labelled example was held out, so the model is that of the last pass\n"


@pytest.mark.parametrize("learner", ["", "--bfgs", "--ftrl", "--coin", "--dotproduct ff", "--nn 3", "--outputs 1"])
@pytest.mark.parametrize(("text", "held"), [(FEW, ""), (FEW, "--holdout_after 4"), (TENTH, "")], ids=len)
def test_where_nothing_is_held_out_the_last_pass_is_kept(text, held, learner, vwlite, write, tmp_path):
    command = ("train", write("few.vw", text), "--passes", 9, *learner.split())
    vwlite(*command, "-f", "all", "--holdout_off")
    done = vwlite(*command, "-f", "model", *held.split(), "--json", "report")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "all").read_bytes()
    assert done.stderr.count(NOTHING) == 1
    assert json.loads((tmp_path / "report").read_text())["holdout_loss"] is None


def test_l_bfgs_comes_to_the_least_squares_of_few_lines(vwlite, write):
    data = write("few.vw", FEW)
    vwlite("train", data, "-f", "model", "--bfgs", "--passes", 60, "--termination", 1e-12, "--quiet")
    slope, middle = (0.145 / 0.3) / (0.062 / 0.3), 5.5 / 3  # of the lines with f1; the other one is met exactly
    expected = [middle + slope * (value - 2.6 / 3) if value != 1.5 else 3 for value in (0.5, 1, 1.5, 1.1)]
    predictions = [float(line) for line in vwlite("predict", "-i", "model", data).stdout.split()]
    assert predictions == pytest.approx(expected, abs=1e-4)


def test_one_pass_that_holds_nothing_out_says_so(vwlite, data):
    assert vwlite("train", data, "--holdout_after", 60).stderr.count(NOTHING) == 1
    assert NOTHING not in vwlite("train", data, "--holdout_after", 59).stderr
    assert vwlite("train", data, "--holdout_after", 60, "-f", "model", "--quiet").stderr == ""


@pytest.mark.parametrize("command", ["train", "vw -c -k"])
def test_an_infinite_loss_held_out_decides_nothing(command, vwlite, write):
    lines = ["1e20 |f a\n" if number % 10 == 9 else f"{number % 3} |f a\n" for number in range(30)]
    huge, rest = write("huge.vw", "".join(lines)), write("rest.vw", "".join(lines).replace("1e20 |f a\n", ""))
    command = (*command.split(), "--passes", 8)
    stderr = vwlite(*command, huge, "-f", "model").stderr
    assert "passes used = 8\n" in stderr
    assert "note: the held-out loss is infinite, so the model is that of the last pass\n" in stderr
    vwlite(*command, rest, "-f", "other", "--holdout_off")
    predictions, wanted = (vwlite("predict", "-i", name, rest).stdout for name in ("model", "other"))
    assert predictions == wanted
