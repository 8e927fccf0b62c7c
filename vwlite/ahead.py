"""Work done ahead of its turn in threads, its results in order."""

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

AHEAD = 4  # results made before they are asked for, beside one for every thread


def in_order(source: Iterator[Any], work: Callable[[Any], Any], threads: int, ahead: int = AHEAD) -> Iterator[Any]:
    """``map(work, source)``, worked in ``threads`` beside the caller's, and one more that goes through ``source``.

    The caller's thread works too where it would wait. At most ``threads + ahead`` results are made ahead of it. An
    exception of the source comes after the results before it, one of the work in its place.
    """
    return _ahead(source, work, threads, ahead) if threads else map(work, source)


class Task:
    """One piece of work; ``done`` is held until its result or error is there."""

    __slots__ = ("done", "error", "given", "result")

    def __init__(self, given: Any) -> None:
        self.given, self.result = given, None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self, work: Callable[[Any], Any]) -> None:
        try:
            self.result = work(self.given)
        except BaseException as error:
            self.error = error
        self.done.release()


def _ahead(source: Iterator[Any], work: Callable[[Any], Any], threads: int, ahead: int) -> Iterator[Any]:
    tasks: SimpleQueue[Task | BaseException | None] = SimpleQueue()  # in order, then how the source ended
    todo: SimpleQueue[Task | None] = SimpleQueue()  # those that nobody has begun
    places: SimpleQueue[None] = SimpleQueue()  # one for every result that may be made
    stopped = threading.Event()

    def feed() -> None:
        last: BaseException | None = None
        try:
            for given in source:
                places.get()
                if stopped.is_set():
                    return
                task = Task(given)
                todo.put(task)
                tasks.put(task)
        except BaseException as error:
            last = error
        tasks.put(last)

    def help_out() -> None:
        while (task := todo.get()) is not None:
            task.run(work)

    helpers = [threading.Thread(target=help_out, name="ahead") for _ in range(threads)]
    for _ in range(threads + ahead):
        places.put(None)
    started: list[threading.Thread] = []
    try:
        for thread in (*helpers, threading.Thread(target=feed, name="feed", daemon=True)):
            thread.start()
            started.append(thread)
    except RuntimeError:  # the system gives no more threads; nobody has gone through the source yet
        for _ in started:
            todo.put(None)
        yield from map(work, source)
        return
    try:
        while isinstance(task := tasks.get(), Task):
            while not task.done.acquire(blocking=False):
                try:
                    other = todo.get_nowait()
                except Empty:
                    task.done.acquire()
                    break
                other.run(work)
                if other.error is not None and not isinstance(other.error, Exception):
                    raise other.error  # an interrupt, whoever's turn it is
            if task.error is not None:
                raise task.error
            yield task.result
            places.put(None)
        if task is not None:
            raise task
    finally:
        stopped.set()
        places.put(None)
        _discard(todo)
        for _ in helpers:
            todo.put(None)
        for thread in helpers:
            thread.join()


def _discard(queue: SimpleQueue) -> None:
    """What nobody has begun need not be done."""
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
