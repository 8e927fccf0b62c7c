"""A parallel ``map``: threads compute results ahead of the caller, who gets them in order."""

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

AHEAD = 4  # results computed before the caller asks for them, beside one for each thread


def in_order(
    source: Iterator[Any], function: Callable[[Any], Any], threads: int, ahead: int = AHEAD
) -> Iterator[Any]:
    """``map(function, source)``, computed by ``threads`` threads beside the caller's.

    The threads take turns to read ``source``, never two at a time. The caller's thread computes results too while it
    would otherwise wait, but it never waits for the source while a result is ready. At most ``threads + ahead`` results
    are computed before the caller asks for them. An exception of the source is raised after the results of the items
    before it, an exception of ``function`` in place of its result. When the caller closes the iterator early, no
    thread goes on computing, and at most one is left waiting for the source.
    """
    if not threads:
        return map(function, source)
    return OrderedPool(source, function, threads + ahead).results(threads)


class Task:
    """One item of the source; the lock ``done`` is released once its result or error is set."""

    __slots__ = ("done", "error", "item", "result")

    def __init__(self, item: Any) -> None:
        self.item, self.result = item, None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self, function: Callable[[Any], Any]) -> None:
        try:
            self.result = function(self.item)
        except BaseException as error:
            self.error = error
        self.done.release()


class OrderedPool:
    """Threads that read items and compute their results.

    The thread that has read an item usually computes its result as well, since the item is in that processor's caches.
    """

    def __init__(self, source: Iterator[Any], function: Callable[[Any], Any], max_ahead: int) -> None:
        self.source, self.function = iter(source), function
        # Tasks in order, then the end of the source: its exception, or None where it had no more items.
        self.tasks: SimpleQueue[Task | BaseException | None] = SimpleQueue()
        self.unstarted: SimpleQueue[Task] = SimpleQueue()  # the tasks that no thread has begun
        self.permits: SimpleQueue[None] = SimpleQueue()  # one for every result that may still be computed ahead
        self.reading = threading.Lock()  # held by the thread that reads the source
        self.source_ended = self.closed = False
        for _ in range(max_ahead):
            self.permits.put(None)

    def results(self, threads: int) -> Iterator[Any]:
        workers: list[threading.Lock] = []  # a lock for each thread, which holds it while it computes
        try:
            self.start_threads(threads, workers)
            if not workers:  # the system gives no more threads
                yield from map(self.function, self.source)
                return
            while isinstance(task := self.tasks.get(), Task):
                self.wait(task)
                if task.error is not None:
                    raise task.error
                yield task.result
                self.permits.put(None)
            if task is not None:
                raise task
        finally:
            self.closed = self.source_ended = True
            for computing in workers:
                self.permits.put(None)  # wakes a thread that waits for one
                with computing:  # waits until the thread has finished its task
                    pass

    def start_threads(self, threads: int, workers: list[threading.Lock]) -> None:
        """Start as many threads as the system allows, at most ``threads``."""
        for _ in range(threads):
            computing = threading.Lock()
            thread = threading.Thread(target=self.run_worker, args=(computing,), name="ahead", daemon=True)
            workers.append(computing)
            try:
                thread.start()
            except RuntimeError:
                workers.pop()
                return

    def wait(self, task: Task) -> None:
        """Compute tasks that no thread has begun until ``task`` is done."""
        while not task.done.acquire(blocking=False):
            try:
                another = self.unstarted.get_nowait()
            except Empty:
                task.done.acquire()
                return
            another.run(self.function)
            if another.error is not None and not isinstance(another.error, Exception):
                raise another.error  # an interrupt of this thread, which must not wait for its task's turn

    def run_worker(self, computing: threading.Lock) -> None:
        """Read an item, compute a result, and so on. Items are read ahead, so that the caller finds work too."""
        while not self.source_ended:
            if self.unstarted.qsize() > 1 or not self.read():
                self.compute_one(computing)
        while self.compute_one(computing):
            pass

    def read(self) -> bool:
        """Read an item. False without waiting if that is impossible now while a task could be computed instead."""
        wait = self.unstarted.empty()
        if not self.reading.acquire(blocking=wait):
            return False
        try:
            if not self.take_permit(wait):
                return False
            if not self.source_ended:
                self.read_item()
            return True
        finally:
            self.reading.release()

    def take_permit(self, wait: bool) -> bool:
        try:
            self.permits.get(block=wait)
        except Empty:
            return False
        return True

    def read_item(self) -> None:
        """Make a task of the next item, or note that the source has ended."""
        try:
            task = Task(next(self.source))
        except BaseException as error:
            self.source_ended = True
            self.tasks.put(None if isinstance(error, StopIteration) else error)
        else:
            self.unstarted.put(task)  # before ``tasks``: the caller may wait for it at once, and then computes it
            self.tasks.put(task)

    def compute_one(self, computing: threading.Lock) -> bool:
        """Compute a task that no thread has begun; False where there is none."""
        with computing:
            if self.closed:
                return False
            try:
                task = self.unstarted.get_nowait()
            except Empty:
                return False
            task.run(self.function)
            return True
