"""``vwlite aso learn --online --resume``: a stopped run ends with the bytes of one that was not."""

import os
import signal

import pytest

from tests.cli.test_aso_online import ONLINE, growing, learn
from vwlite.solvers.aso.online import Stream
from vwlite.storage import model_file

KEPT = (*ONLINE, "--keep-weights")


@pytest.fixture(autouse=True)
def files(write, monkeypatch):
    monkeypatch.setattr("vwlite.solvers.aso.online.SPAN", 32)
    monkeypatch.setattr("vwlite.solvers.aso.solver.SPAN", 32)
    write("un.vw", growing(300, 1))
    write("more.vw", growing(200, 2))


@pytest.fixture
def stopped(monkeypatch):
    """Learning that a signal stops within the step of this number."""

    def stop(vwlite, number, *words, **more):
        step, left = Stream.step, [number]

        def counted(stream, corpus):
            if not left[0]:
                os.kill(os.getpid(), signal.SIGTERM)
            left[0] -= 1
            step(stream, corpus)

        with monkeypatch.context() as patch:
            patch.setattr(Stream, "step", counted)
            return learn(vwlite, *words, status=143, **more)

    return stop


@pytest.mark.parametrize("options", [(), ("--idf", "--aux", "mask:v", "--min-count", "3", "--max-features", "30")])
def test_a_stopped_run_that_went_on_with_another_goes_on(vwlite, tmp_path, stopped, options):
    learn(vwlite, "un.vw", *KEPT, *options, out="begun")
    learn(vwlite, "more.vw", "-i", "begun", "--keep-weights", "--quiet")
    how = ("-i", "begun", "--keep-weights")
    stopped(vwlite, 4, "more.vw", *how, out="other")
    done = learn(vwlite, "more.vw", *how, "--resume", out="other")
    assert "going on from other.ckpt" in done.stderr
    assert (tmp_path / "other").read_bytes() == (tmp_path / "theta").read_bytes()


def test_pipes_are_read_again(vwlite, tmp_path, stopped):
    text = (tmp_path / "un.vw").read_text()
    learn(vwlite, "un.vw", *KEPT)
    stopped(vwlite, 5, *KEPT, out="other", stdin=text)
    done = learn(vwlite, *KEPT[:-2], "--keep-weights", "--resume", out="other", stdin=text)
    assert "going on from other.ckpt" in done.stderr
    assert (tmp_path / "other").read_bytes() == (tmp_path / "theta").read_bytes()
    stopped(vwlite, 5, *KEPT, out="other", stdin=text)
    short = "".join(text.splitlines(True)[:100])
    assert "shorter" in learn(vwlite, *KEPT, "--resume", out="other", stdin=short, status=76).stderr


def test_where_there_is_nothing_to_go_on_from(vwlite, tmp_path):
    done = learn(vwlite, "un.vw", *KEPT[:-2], "--keep-weights", "--resume", out="other")
    assert "there is no other.ckpt to resume" in done.stderr
    learn(vwlite, "un.vw", *KEPT)
    assert (tmp_path / "other").read_bytes() == (tmp_path / "theta").read_bytes()


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--dim", "4"), 2, "dim was ['3'] there and is ['3', '4'] here"),
        (("--warmup", "61"), 2, "warmup was 60 there and is 61 here"),
        (("--passes", "2"), 2, "passes was 5 there and is 2 here"),
        (("more.vw",), 76, "the input has changed"),
    ],
)
def test_another_command_is_refused(vwlite, stopped, options, status, said):
    stopped(vwlite, 5, "un.vw", *ONLINE)
    assert said in learn(vwlite, "un.vw", *ONLINE, *options, "--resume", status=status).stderr


def test_changed_text_and_damage_are_refused(vwlite, tmp_path, stopped, write):
    stopped(vwlite, 5, "un.vw", *ONLINE)
    model = model_file.load(tmp_path / "theta.ckpt")
    state = model.header["run"]["state"]
    of_state = [{"state": {**state, "before": before}} for before in (-1, 10**6)]
    for changed in (*of_state, {"inputs": 3}, {"told": 3}):
        run = {**model.header["run"], **changed}
        model_file.save(tmp_path / "theta.ckpt", {**model.header, "run": run}, model.arrays)
        assert learn(vwlite, "un.vw", *ONLINE, "--resume", status=76), changed
    header = {name: value for name, value in model.header.items() if name != "run"}
    model_file.save(tmp_path / "theta.ckpt", header, model.arrays)
    assert "not a checkpoint" in learn(vwlite, "un.vw", *ONLINE, "--resume", status=76).stderr
    model_file.save(tmp_path / "theta.ckpt", model.header, model.arrays)
    write("un.vw", growing(300, 3))
    assert "the input has changed" in learn(vwlite, "un.vw", *ONLINE, "--resume", status=76).stderr
