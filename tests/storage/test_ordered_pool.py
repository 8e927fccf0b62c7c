"""Work ahead of its turn: the results of ``map``, no more of them than asked for, and errors in their places."""

import itertools
import queue
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.storage.ordered_pool import AHEAD, in_order


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 4))
def test_results_have_the_order_of_the_source(delays, threads):
    def work(given):
        number, delay = given
        time.sleep(delay / 2000)
        return number

    assert list(in_order(enumerate(delays), work, threads)) == list(range(len(delays)))


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_errors_come_in_their_places(threads):
    def source():
        yield from range(7)
        raise OSError("the source")

    actual = []
    with pytest.raises(OSError, match="the source"):
        actual.extend(in_order(source(), str, threads))
    assert actual == list("0123456")
    actual = []
    with pytest.raises(ZeroDivisionError):
        actual.extend(in_order(iter([1, 2, 0, 4]), lambda x: 4 // x, threads))
    assert actual == [4, 2]


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_is_made_than_there_are_places(threads):
    made = []
    results = in_order(iter(range(100)), made.append, threads)
    next(results)
    time.sleep(0.05)
    assert len(made) <= threads + AHEAD
    results.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_results_do_not_wait_for_the_source(threads):
    """Nor does whoever leaves while somebody waits for it."""
    more = threading.Event()

    def source():
        yield from (1, 2)
        more.wait(20)
        yield 3
        more.wait(20)

    begin = time.perf_counter()
    results = in_order(source(), str, threads)
    assert [next(results), next(results)] == ["1", "2"] and not more.is_set()
    more.set()
    assert next(results) == "3"
    more.clear()
    results.close()
    assert time.perf_counter() - begin < 10
    more.set()


def test_the_source_is_gone_through_by_helpers():
    """One at a time, and never by the caller, who would miss results meanwhile."""
    inside, who = threading.Lock(), set()

    def source():
        for number in range(200):
            assert inside.acquire(blocking=False)
            who.add(threading.current_thread().name)
            time.sleep(number % 3 / 5000)
            inside.release()
            yield number

    assert list(in_order(source(), int, 3)) == list(range(200))
    assert who == {"ahead"}


def test_an_empty_queue_of_the_source_is_its_own_matter():
    def source():
        yield 1
        raise queue.Empty

    with pytest.raises(queue.Empty):
        list(in_order(source(), str, 2))


def test_the_caller_works_while_it_waits():
    """The only helper is busy until the caller has worked on the next piece."""
    free = threading.Event()

    def work(number):
        if threading.current_thread() is threading.main_thread():
            free.set()
        elif number == 0:
            assert free.wait(10)
        return threading.current_thread() is threading.main_thread()

    assert any(in_order(iter(range(9)), work, 1))


def test_an_interrupt_does_not_wait_for_its_turn():
    stuck = threading.Event()

    def work(number):
        if threading.current_thread() is threading.main_thread():
            stuck.set()
            raise KeyboardInterrupt
        stuck.wait(10)

    with pytest.raises(KeyboardInterrupt):
        list(in_order(iter(range(9)), work, 1))


def test_a_source_without_end_is_left():
    before = threading.active_count()
    results = in_order(itertools.count(), str, 2)
    assert list(itertools.islice(results, 50)) == [str(number) for number in range(50)]
    results.close()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before  # an earlier helper may have left, too


@pytest.mark.parametrize("most", range(4))
def test_without_threads_the_caller_does_the_work(most, monkeypatch):
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    assert list(in_order(iter(range(20)), str, 3)) == list(map(str, range(20)))
    for thread in started:
        thread.join(5)
        assert not thread.is_alive()


def test_an_interrupt_while_threads_start_leaves_none(monkeypatch):
    start, started = threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        if len(started) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(in_order(itertools.count(), str, 3))
    for thread in started:
        thread.join(5)
        assert not thread.is_alive()
