"""When signals are heard."""

import os
import signal
import threading

import pytest

from vwlite.interrupts import SIGNALS, Interrupted, Interrupts


@pytest.fixture(autouse=True)
def usual_handlers():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_at_once_where_nothing_is_half_done(number):
    with Interrupts(), pytest.raises(Interrupted) as raised:
        os.kill(os.getpid(), number)
    assert raised.value.number == number


def test_put_off_while_busy_the_second_not():
    with Interrupts() as interrupts:
        interrupts.check()
        with interrupts.undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted, match="terminated") as raised:
            interrupts.check()
        assert raised.value.number == signal.SIGTERM
        with interrupts.undisturbed(), pytest.raises(Interrupted, match="interrupted"):
            os.kill(os.getpid(), signal.SIGINT)


def test_ignored_signals_stay_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts():
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_other_threads_change_no_handlers():
    def enter():
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGTERM))

    seen = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]
