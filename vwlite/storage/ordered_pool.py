"""Work done ahead of its turn in threads, its results in order."""

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

AHEAD = 4  # results made before they are asked for, beside one for every thread


def in_order(source: Iterator[Any], work: Callable[[Any], Any], threads: int, ahead: int = AHEAD) -> Iterator[Any]:
    """``map(work, source)``, where ``threads`` beside the caller's go through ``source``, one at a time, and work.

    The caller's thread works too where it would wait, but never waits for the source while there is a result. At most
    ``threads + ahead`` results are made ahead of it. An exception of the source comes after the results before it, one
    of the work in its place. Whoever leaves early leaves no thread at work, at most one that waits for the source.
    """
    if not threads:
        return map(work, source)
    crew = OrderedPool(source, work, threads + ahead)
    return crew.results(threads)


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


class OrderedPool:
    """Helpers that read and work; whoever has read a piece is the one in whose caches it is."""

    def __init__(self, source: Iterator[Any], work: Callable[[Any], Any], places: int) -> None:
        self.source, self.work = iter(source), work
        self.tasks: SimpleQueue[Task | BaseException | None] = SimpleQueue()  # in order, then how the source ended
        self.todo: SimpleQueue[Task] = SimpleQueue()  # those that nobody has begun
        self.places: SimpleQueue[None] = SimpleQueue()  # one for every result that may be made
        self.reading = threading.Lock()  # held by who goes through the source
        self.ended = self.left = False  # the source; the caller
        for _ in range(places):
            self.places.put(None)

    def results(self, threads: int) -> Iterator[Any]:
        helpers: list[threading.Lock] = []  # each one's, held while it works
        try:
            self.start_threads(threads, helpers)
            if not helpers:  # the system gives no more threads
                yield from map(self.work, self.source)
                return
            while isinstance(task := self.tasks.get(), Task):
                self.wait(task)
                if task.error is not None:
                    raise task.error
                yield task.result
                self.places.put(None)
            if task is not None:
                raise task
        finally:
            self.left = self.ended = True
            for working in helpers:
                self.places.put(None)
                with working:
                    pass

    def start_threads(self, threads: int, helpers: list[threading.Lock]) -> None:
        """As many as the system gives."""
        for _ in range(threads):
            working = threading.Lock()
            thread = threading.Thread(target=self.help_out, args=(working,), name="ahead", daemon=True)
            helpers.append(working)
            try:
                thread.start()
            except RuntimeError:
                helpers.pop()
                return

    def wait(self, task: Task) -> None:
        """Until it is done; meanwhile, others are worked on."""
        while not task.done.acquire(blocking=False):
            try:
                other = self.todo.get_nowait()
            except Empty:
                task.done.acquire()
                return
            other.run(self.work)
            if other.error is not None and not isinstance(other.error, Exception):
                raise other.error  # an interrupt, whoever's turn it is

    def help_out(self, working: threading.Lock) -> None:
        """While a piece is worked on here, the next one is there for the caller."""
        while not self.ended:
            if self.todo.qsize() > 1 or not self.read():
                self.work_once(working)
        while self.work_once(working):
            pass

    def read(self) -> bool:
        """Go on with the source; False where that cannot be now, and there is something to work on."""
        wait = self.todo.empty()
        if not self.reading.acquire(blocking=wait):
            return False
        try:
            if not self.take_place(wait):
                return False
            if not self.ended:
                self.read_piece()
            return True
        finally:
            self.reading.release()

    def take_place(self, wait: bool) -> bool:
        try:
            self.places.get(block=wait)
        except Empty:
            return False
        return True

    def read_piece(self) -> None:
        """Or the source's end."""
        try:
            task = Task(next(self.source))
        except BaseException as error:
            self.ended = True
            self.tasks.put(None if isinstance(error, StopIteration) else error)
        else:
            self.todo.put(task)  # first, so that it is there for whoever waits for it
            self.tasks.put(task)

    def work_once(self, working: threading.Lock) -> bool:
        with working:
            if self.left:
                return False
            try:
                task = self.todo.get_nowait()
            except Empty:
                return False
            task.run(self.work)
            return True
