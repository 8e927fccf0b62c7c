"""Stopped at any batch and resumed, a run leaves the very files that it leaves when nobody stops it."""

import json

import pytest

from vwlite import interrupts
from vwlite.cli.signals import Interrupts
from vwlite.data.batch import INNER
from vwlite.interrupts import Interrupted
from vwlite.storage.model_file import load
from vwlite.training import ledger
from vwlite.training.trainer import Trainer

LINES = [
    f"{n * n % 7 % 2} 't{n} |user u{n % 5} age:0.{1 + n % 9} |item i{n % 7}{' x' * (n % 3)}"
    f"{f' |late l{n % 2}' if n > 25 else ''}\n"
    for n in range(60)
]
GROUPS = [
    ("shared |s s\n" if n % 4 else "") + f"1:{n % 2} 't{n} |a x{n % 5}\n2:{(n + 1) % 2} |a y{n % 3} |b q\n\n"
    for n in range(40)
]
SMALL = ("--block-size", 400, "--threads", 1)  # nine batches

RUNS = {  # what ``battery`` has not
    "predictions": "-p p -r r --loss_function logistic",
    "passes": "--passes 4 --holdout_off --decay_learning_rate 0.8",
    "held out": "--passes 4 --holdout_period 3 --early_terminate 1 -p p",
    "held out after": "--holdout_after 30",
    "cache": "--passes 3 --cache_file c",
    "shuffled": "--passes 3 --shuffle",
    "shuffled first": "--shuffle-first --passes 3 --seed 2 --names",
    "names": "--names --readable_model r.txt --invert_hash h.txt",
    "names of pairs": "--names -q ui --passes 3",
    "dyadic": "--dotproduct user,item --rank 3 --passes 4",
    "dyadic, own order": "--dotproduct ui --rank 2 --passes 2 --no-shuffle --cache_file c",
    "examples": "--examples 37 --passes 2",
    "going on": "-i before -q ui",
    "going on, shuffled": "-i before -q ui --passes 2 --shuffle",
    "groups": "--csoaa_ldf mc -q sa --passes 3 -p p -r r --loss_function logistic",
    "groups, differences": "--wap_ldf m -q ::",
    "saved per pass": "--passes 3 --holdout_off --save_per_pass",
    "average, held out": "--average --average_after 9 --sgd -l 0.1 --passes 3 --early_terminate 1 -p p",
    "hard first": "--curriculum anti --curriculum-start 0.5 --lrq ui2 --lrqdropout --passes 3 --holdout_off",
    "a sample in steps": "--curriculum easy --curriculum-steps 9 --curriculum-weights linear --curriculum-sample "
    "--passes 3 --names",
    "in random portions": "--curriculum random --passes 4 --cache_file c",
    "features of Theta": "--theta theta -q ut --passes 3 --holdout_off",
}
GIVEN = ("before", "theta")  # a model, and a Theta


@pytest.fixture
def stop(monkeypatch):
    """Has the ``number``-th look for signals, from 0, find one; None: none does."""

    def at(number):
        left = iter(range(10**9 if number is None else number))

        def check(self):
            if next(left, None) is None:
                raise Interrupted(15)

        monkeypatch.setattr(Interrupts, "check", check)

    return at


@pytest.fixture
def files(tmp_path):
    (tmp_path / "data.vw").write_text("".join(LINES))
    return tmp_path


def left_by(folder):
    """Everything but the inputs, a cache, and in the ledger the time its data were changed, which links change."""
    left = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (*GIVEN, "data.vw", "c")}
    if "model.ledger" in left:
        entries = ledger.read(str(folder / "model"))
        left["model.ledger"] = [{name: entry[name] for name in ("path", "size", "text", "lines")} for entry in entries]
    return left


def in_folder(run_here, files, name, *arguments, **more):
    folder = files / name
    folder.mkdir(exist_ok=True)
    (folder / "data.vw").exists() or (folder / "data.vw").hardlink_to(files / "data.vw")
    for name in GIVEN:
        if name in arguments and not (folder / name).exists():
            (folder / name).hardlink_to(files / name)
    return run_here("train", "data.vw", "-f", "model", *arguments, *SMALL, cwd=folder, **more)


@pytest.mark.parametrize("name", RUNS)
def test_stopped_anywhere_and_resumed(name, run_here, files, stop, monkeypatch):
    options = RUNS[name].split()
    monkeypatch.setattr("vwlite.data.shuffle.ROWS", 16)
    stop(None)
    run_here("train", "data.vw", "-f", "before", "-q", "ui", "--examples", 20)
    if "theta" in options:
        run_here("aso", "learn", "data.vw", "-f", "theta", "--aux", "mask:user", "--dim", "2", "--quiet")
    if name.startswith("groups"):
        (files / "data.vw").write_text("".join(GROUPS))
    in_folder(run_here, files, "whole", *options)
    whole = left_by(files / "whole")
    assert "model" in whole
    stops = 0
    for number in range(0, 40, 5 if "passes" in RUNS[name] else 3):
        stop(number)
        place = f"stopped{number}"
        done = in_folder(run_here, files, place, *options, status=None)
        if done.returncode == 0:
            break
        stops += 1
        assert done.returncode == 143
        kept = left_by(files / place)
        assert "model.ckpt" in kept and "model" not in kept
        stop(None)
        in_folder(run_here, files, place, *options, "--resume")
        assert left_by(files / place) == whole, number
    assert stops > 1


@pytest.mark.parametrize("options", ["--weight idf --min_df 2 --value log --unit --passes 3", "--weight degree -p p"])
def test_stopped_while_terms_are_counted_or_later(options, run_here, files, stop):
    """Counting comes before anything is learned: a run that is stopped at it leaves nothing, and begins anew."""
    options = options.split()
    stop(None)
    in_folder(run_here, files, "whole", *options)
    whole, kept = left_by(files / "whole"), []
    for number in range(0, 60, 4):
        stop(number)
        place = f"stopped{number}"
        if in_folder(run_here, files, place, *options, status=None).returncode == 0:
            break
        left = left_by(files / place)
        assert "model" not in left
        kept.append("model.ckpt" in left)
        stop(None)
        in_folder(run_here, files, place, *options, "--resume")
        assert left_by(files / place) == whole, number
    assert not kept[0] and kept[-1] and kept == sorted(kept)


@pytest.mark.parametrize("name", RUNS)
def test_stopped_between_two_rows_and_resumed(name, run_here, files, monkeypatch):
    """The signal finds a kernel at work: the listeners then take the rows before it."""
    options, steps, step = RUNS[name].split(), iter(range(3)), Trainer.step

    def half(self, batch, begin, end):
        if next(steps, None) is not None or end - begin < 2:
            return step(self, batch, begin, end)
        ends = [row for row in range(begin + 1, end) if not batch.flags[row - 1] & INNER]

        def stopped(batch, plan, results, begin, end):
            done = type(self.learner).run(self.learner, batch, plan, results, begin, ends[len(ends) // 2])
            interrupts.STOP[0] = 15
            return done

        with monkeypatch.context() as patch:
            patch.setattr(self.learner, "run", stopped)
            return step(self, batch, begin, end)

    monkeypatch.setattr("vwlite.data.shuffle.ROWS", 16)
    run_here("train", "data.vw", "-f", "before", "-q", "ui", "--examples", 20)
    if "theta" in options:
        run_here("aso", "learn", "data.vw", "-f", "theta", "--aux", "mask:user", "--dim", "2", "--quiet")
    if name.startswith("groups"):
        (files / "data.vw").write_text("".join(GROUPS))
    in_folder(run_here, files, "whole", *options)
    monkeypatch.setattr(Trainer, "step", half)
    assert "model.ckpt keeps" in in_folder(run_here, files, "stopped", *options, status=143).stderr
    monkeypatch.setattr(Trainer, "step", step)
    in_folder(run_here, files, "stopped", *options, "--resume")
    assert left_by(files / "stopped") == left_by(files / "whole")


@pytest.mark.parametrize("name", ["passes", "dyadic", "predictions"])
def test_stopped_again_and_again(name, run_here, files, stop):
    options = RUNS[name].split()
    stop(None)
    in_folder(run_here, files, "whole", *options)
    for number in range(2, 99, 3):  # the batches passed over are looked between as well
        stop(number)
        if in_folder(run_here, files, "often", *options, "--resume", status=None).returncode == 0:
            break
        stop(None)
    assert left_by(files / "often") == left_by(files / "whole")


def test_a_pipe_is_passed_over_too(run_here, files, stop):
    text = "".join(LINES)
    stop(3)
    run_here("train", "-f", "piped", *SMALL, stdin=text, status=143)
    stop(None)
    assert (
        "not what the stopped run read"
        in run_here(
            "train", "-f", "piped", "--resume", *SMALL, stdin=text[::-1].replace("\n", "\n0 |") + "\n", status=None
        ).stderr
    )
    assert "fewer than" in run_here("train", "-f", "piped", "--resume", stdin=LINES[0], status=76).stderr
    run_here("train", "-f", "piped", "--resume", stdin=text)
    run_here("train", "data.vw", "-f", "model")
    assert (files / "piped").read_bytes() == (files / "model").read_bytes()


def test_checkpoints_by_the_clock(run_here, files):
    """Nothing remains of them, and they change nothing; killed, a run would go on from the last one."""
    run_here("train", "data.vw", "-f", "model")
    run_here("train", "data.vw", "-f", "other", "--checkpoint-every", "0s", *SMALL)
    assert (files / "other").read_bytes() == (files / "model").read_bytes()
    left = sorted(path.name for path in files.iterdir())
    assert left == ["data.vw", "model", "model.ledger", "other", "other.ledger"]


def test_a_checkpoint_is_a_model(run_here, files, stop):
    stop(4)
    run_here("train", "data.vw", "-f", "model", "--checkpoint-every", "2h", *SMALL, status=143)
    rows = load(files / "model.ckpt").header["run"]["rows"]
    assert 0 < rows < len(LINES)
    stop(None)
    run_here("train", "data.vw", "-f", "head", "--examples", rows)
    predicted = [run_here("predict", "-i", name, "data.vw").stdout for name in ("model.ckpt", "head")]
    assert predicted[0] == predicted[1] != ""
    run_here("train", "data.vw", "-i", "model.ckpt", "-f", "more")
    assert "run" not in load(files / "more").header


def test_divergence_keeps_the_last_good_checkpoint(run_here, files):
    wild = "".join(LINES) + "1e38 |a b:1e30\n-1e38 |a b:1e30 c:1e38\n" * 40
    (files / "data.vw").write_text(wild)
    done = run_here("train", "data.vw", "-f", "model", "--sgd", "-l", 1e9, "--checkpoint-every", 0, *SMALL, status=None)
    assert done.returncode == 70 and "model.ckpt keeps what was learned" in done.stderr
    assert not (files / "model").exists()
    run_here("predict", "-i", "model.ckpt", "data.vw")


REFUSALS = {  # how the second run differs: status, what is said
    "-l 0.1": (2, "learning_rate was None there and is 0.1 here"),
    "-q ui": (2, "quadratic was [] there and is ['ui'] here"),
    "--passes 2": (2, "passes was 1 there and is 2 here"),
    "-p p": (2, "predictions was None there and is p here"),
}


@pytest.mark.parametrize("options", REFUSALS)
def test_another_command_is_refused(options, run_here, files, stop):
    stop(3)
    run_here("train", "data.vw", "-f", "model", *SMALL, status=143)
    stop(None)
    status, said = REFUSALS[options]
    assert said in run_here("train", "data.vw", "-f", "model", *options.split(), "--resume", status=status).stderr
    assert (files / "model.ckpt").exists()


def test_changed_inputs_and_foreign_checkpoints_are_refused(run_here, files, stop):
    stop(3)
    run_here("train", "data.vw", "-f", "model", *SMALL, status=143)
    stop(None)
    (files / "data.vw").write_text("".join(LINES[1:]))
    assert "the input has changed" in run_here("train", "data.vw", "-f", "model", "--resume", status=76).stderr
    run_here("train", "data.vw", "-f", "other")
    (files / "other").rename(files / "model.ckpt")
    assert "not a checkpoint" in run_here("train", "data.vw", "-f", "model", "--resume", status=76).stderr
    (files / "model.ckpt").write_bytes(b"PK\3\4")
    run_here("train", "data.vw", "-f", "model", "--resume", status=76)
    (files / "model.ckpt").unlink()
    said = "there is no model.ckpt to resume: training starts from the beginning"
    assert said in run_here("train", "data.vw", "-f", "model", "--resume").stderr


@pytest.mark.parametrize("passes", [1, 3])
def test_a_resumed_run_refuses_data_that_have_changed(passes, run_here, files, stop):
    command = ("train", "data.vw", "-f", "model", "--passes", passes, *SMALL)
    stop(3 if passes == 1 else 12)
    run_here(*command, status=143)
    stop(None)
    other = LINES[7].replace("user u2", "user v2")  # of the same size and label
    assert other != LINES[7]
    (files / "data.vw").write_text("".join([*LINES[:7], other, *LINES[8:]]))
    assert "the input has changed" in run_here(*command, "--resume", status=76).stderr
    (files / "data.vw").write_text("".join([*LINES, "1 |new line\n"]))  # appended, before or after all was read
    run_here(*command, "--resume", status=0 if passes == 1 else 76)
    (files / "data.vw").unlink()
    (files / "data.vw").write_text("".join(LINES))  # as after the machine died
    run_here(*command, "--resume")


def test_lost_predictions_are_said(run_here, files, stop):
    stop(5)
    run_here("train", "data.vw", "-f", "model", "-p", "p", *SMALL, status=143)
    stop(None)
    (files / "p.ckpt").write_bytes((files / "p.ckpt").read_bytes()[:-1])
    done = run_here("train", "data.vw", "-f", "model", "-p", "p", "--resume", status=76)
    assert "p.ckpt lacks predictions" in done.stderr
    assert not (files / "p").exists()


def test_nothing_to_resume_and_nothing_resumed_are_said(run_here, files, stop):
    assert "training starts from the beginning" in run_here("train", "data.vw", "-f", "model", "--resume").stderr
    stop(3)
    run_here("train", "data.vw", "-f", "model", *SMALL, status=143)
    stop(None)
    assert "--resume would have continued" in run_here("train", "data.vw", "-f", "model").stderr
    assert not (files / "model.ckpt").exists()


def test_the_report_of_a_resumed_run_is_the_whole_run_s(run_here, files, stop):
    text = "".join(LINES[:30]) + "x1 |broken\n" + "".join(LINES[30:])
    (files / "data.vw").write_text(text)
    options = ("--max-bad-ratio", 0.1, "--bad-lines", "bad", "--json")
    run_here("train", "data.vw", "-f", "model", *options, "whole.json")
    stop(6)
    run_here("train", "data.vw", "-f", "model", *options, "half.json", *SMALL, status=143)
    stop(None)
    run_here("train", "data.vw", "-f", "model", *options, "half.json", "--resume")
    whole, half = (json.loads((files / f"{name}.json").read_text())["result"] for name in ("whole", "half"))
    assert half == whole and half["bad_lines"] == 1
    assert (files / "bad").read_text() == "x1 |broken\n"


def test_ten_minutes_are_a_length_of_time(run_here, files):
    for typed in ("90", "90s", "10m", "1.5h"):
        run_here("train", "data.vw", "-f", "model", "--checkpoint-every", typed)
    assert (
        "no length of time"
        in run_here("train", "data.vw", "-f", "model", "--checkpoint-every", "soon", status=2).stderr
    )
