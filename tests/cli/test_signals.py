"""The points at which signals end a run."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from vwlite.cli import program, root
from vwlite.cli.signals import SIGNALS, Interrupts, forward_signals, interrupt
from vwlite.interrupts import STOP, Interrupted, clear_request, raise_if_stopped


@pytest.fixture(autouse=True)
def usual_handlers():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_at_once_where_nothing_is_half_done(number):
    with Interrupts(), pytest.raises(Interrupted) as raised:
        os.kill(os.getpid(), number)
    assert raised.value.number == number


def test_the_first_signal_is_deferred_while_busy_and_the_second_is_not():
    with Interrupts() as interrupts:
        interrupts.check()
        with interrupts.deferred():
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted, match="terminated") as raised:
            interrupts.check()
        assert raised.value.number == signal.SIGTERM
        with interrupts.deferred(), pytest.raises(Interrupted, match="interrupted"):
            os.kill(os.getpid(), signal.SIGINT)


def test_ignored_signals_stay_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts():
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_no_lock_of_a_pool_of_threads_stays_held():
    """All tasks end, and so does the pool, at whatever call a signal comes."""
    signal.signal(signal.SIGTERM, interrupt)
    for at in range(1, 60):
        count = 0

        def called(frame, event, argument, at=at):
            nonlocal count
            count += 1
            if count == at:
                sys.setprofile(None)
                os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(Interrupted), ThreadPoolExecutor(2) as pool:
            sys.setprofile(called)
            for _ in range(3):
                pool.submit(int).result()
            time.sleep(1)  # the signal may come during this sleep


def test_other_threads_change_no_handlers():
    def enter():
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGTERM))

    seen = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_a_signal_sets_the_byte_that_kernels_read():
    """Kernels read this byte; the Python handler has not run yet."""
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(STOP[0]))
    seen = []
    forward_signals()
    try:
        assert STOP[0] == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        with pytest.raises(Interrupted, match="terminated"):
            raise_if_stopped()
        clear_request()
        raise_if_stopped()
        os.kill(os.getpid(), signal.SIGTERM)
        assert STOP[0] == signal.SIGTERM
    finally:
        signal.set_wakeup_fd(-1)
        clear_request()


@pytest.mark.parametrize(
    ("cause", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "vwlite: interrupted\n"),
        (Interrupted(signal.SIGTERM), 143, "vwlite: terminated\n"),
    ],
)
def test_a_signal_while_a_class_is_made_is_told_as_one(cause, status, message, vwlite, monkeypatch):
    """Python 3.11 turns such a signal into a RuntimeError."""
    def fail(**more):
        raise RuntimeError("Error calling __set_name__ on 'Field' instance 'ksvm' in 'KsvmConfig'") from cause

    monkeypatch.setattr(root, "cli", fail)
    assert vwlite("train", status=status).stderr == message


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, b"vwlite: interrupted\n"),
        (Interrupted(signal.SIGTERM), 143, b"vwlite: terminated\n"),
    ],
)
def test_a_signal_where_no_error_can_be_raised_ends_the_process(error, status, message, capfdbinary):
    child = os.fork()
    if not child:
        program.report_unraisable(SimpleNamespace(exc_value=error))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status
    assert capfdbinary.readouterr().err == message


def test_other_unraisable_errors_go_to_pythons_hook(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "__unraisablehook__", reported.append)
    lost = SimpleNamespace(exc_value=ValueError())
    program.report_unraisable(lost)
    assert reported == [lost]


AT_A_BAD_MOMENT = '''
import os, shutil, signal, sys
from vwlite.cli.program import program

def then_stop(function):
    def called(path, *more, **how):
        function(path, *more, **how)
        if "vwlite-" in str(path) and os.path.dirname(str(path)) == os.environ["TMPDIR"]:
            setattr({module}, {name!r}, function)
            os.kill(os.getpid(), signal.SIGTERM)
    return called

def stop_first(path, **how):
    shutil.rmtree = remove
    os.kill(os.getpid(), signal.SIGTERM)
    remove(path, **how)

remove = shutil.rmtree
{module}.{name} = {changed}
program()
'''
COMMANDS = {
    "tune": ["tune", "d", "--vary", "-l 0.1|1", "--passes", "1"],
    "folds": ["train", "d", "--folds", "2"],
    "workers": ["train", "d", "--workers", "2", "-f", "m"],
}


@pytest.mark.parametrize("moment", [("os", "mkdir", "then_stop(os.mkdir)"), ("shutil", "rmtree", "stop_first")])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_at_a_bad_moment_leaves_no_folder(moment, command, write, tmp_path, cli_env):
    """When the folder has just been made, and when it is about to be removed."""
    write("d", "".join(f"{n % 3} | x{n % 5}\n" for n in range(80)))
    (tmp_path / "tmp").mkdir()
    code = AT_A_BAD_MOMENT.format(**dict(zip(("module", "name", "changed"), moment, strict=True)))
    words = [sys.executable, "-c", code, *COMMANDS[command]]
    done = subprocess.run(words, cwd=tmp_path, env={**cli_env, "TMPDIR": str(tmp_path / "tmp")}, capture_output=True)
    assert done.returncode == 143, done.stderr
    assert list(tmp_path.glob("tmp/*")) == []
