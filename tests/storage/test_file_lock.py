"""One writer per model."""

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest

from vwlite.errors import Locked, OutputError
from vwlite.storage.output_checks import lock

HOLD = """
import os, sys
from vwlite.storage.output_checks import lock
with lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of ``m`` until its standard input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "m")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_lock_file_comes_and_goes(tmp_path):
    with lock(str(tmp_path / "m")):
        assert (tmp_path / "m.lock").read_text() == f"{os.getpid()}\n"
    assert os.listdir(tmp_path) == []


def test_the_lock_file_goes_after_a_failure_too(tmp_path):
    with pytest.raises(KeyboardInterrupt), lock(str(tmp_path / "m")):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_held_lock_is_refused_with_its_holder(tmp_path, holder):
    message = rf"m is locked by another training \(process {holder.pid}\); --lock-wait waits for it"
    with pytest.raises(Locked, match=message), lock(str(tmp_path / "m")):
        pass
    with pytest.raises(Locked, match=r"still locked .* after 0\.01 seconds"):
        lock(str(tmp_path / "m"), wait=0.01).__enter__()
    assert (tmp_path / "m.lock").exists()


def test_waiting_ends_when_the_holder_ends(tmp_path, holder):
    release = threading.Timer(0.05, holder.stdin.close)
    release.start()
    with lock(str(tmp_path / "m"), wait=60):
        assert (tmp_path / "m.lock").read_text() == f"{os.getpid()}\n"
    assert holder.wait() == 0


def test_a_killed_holder_holds_nothing(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert (tmp_path / "m.lock").exists()
    with lock(str(tmp_path / "m")):
        assert (tmp_path / "m.lock").read_text() == f"{os.getpid()}\n"
    assert os.listdir(tmp_path) == []


def test_an_unknown_holder_is_not_named(tmp_path):
    with lock(str(tmp_path / "m")):
        (tmp_path / "m.lock").write_text("")
        with pytest.raises(Locked, match="by another training; --lock-wait"):
            lock(str(tmp_path / "m")).__enter__()


def test_a_lock_file_taken_away_is_not_removed_twice(tmp_path):
    with lock(str(tmp_path / "m")):
        os.unlink(tmp_path / "m.lock")
        (tmp_path / "m.lock").write_text("another's")
    assert (tmp_path / "m.lock").read_text() == "another's"


def test_a_link_and_its_target_share_the_lock(tmp_path):
    (tmp_path / "link").symlink_to("m")
    with lock(str(tmp_path / "m")), pytest.raises(Locked):
        lock(str(tmp_path / "link")).__enter__()


def test_only_one_of_many_is_ever_inside(tmp_path):
    inside, most, rounds = 0, 0, 0
    guard = threading.Lock()

    def work():
        nonlocal inside, most, rounds
        for _ in range(10):
            with lock(str(tmp_path / "m"), wait=60):
                with guard:
                    inside += 1
                    most = max(most, inside)
                    rounds += 1
                os.stat(tmp_path / "m.lock")
                with guard:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, rounds) == (1, 40)
    assert os.listdir(tmp_path) == []


def test_devices_need_no_lock():
    with lock("/dev/null"), lock("/dev/null"):
        assert not os.path.exists("/dev/null.lock")


def test_a_folder_that_is_not_there_is_explained(tmp_path):
    with pytest.raises(OutputError, match="there is no folder"):
        lock(str(tmp_path / "gone" / "m")).__enter__()


def test_a_file_system_without_locks_is_no_obstacle(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with lock(str(tmp_path / "m")):
        assert (tmp_path / "m.lock").exists()


def test_pauses_between_tries_stay_short(tmp_path, monkeypatch):
    clock, pauses = [0.0], []

    def sleep(seconds):
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with lock(str(tmp_path / "m")), pytest.raises(Locked):
        lock(str(tmp_path / "m"), wait=5).__enter__()
    assert sum(pauses) == pytest.approx(5)
    assert max(pauses) == 0.2


@pytest.mark.parametrize("call", ["fcntl.flock", "os.fstat", "os.write"])
def test_a_lock_that_fails_is_not_left(tmp_path, monkeypatch, call):
    def fail(*arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(call, fail)
        with pytest.raises(OutputError, match="Input/output error"):
            lock(str(tmp_path / "m")).__enter__()
    assert os.listdir(tmp_path) == []
