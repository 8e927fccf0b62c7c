"""Work done ahead of its turn in threads, its results in order."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any


def in_order(source: Iterator[Any], work: Callable[[Any], Any], threads: int) -> Iterator[Any]:
    """``map(work, source)``, worked in ``threads`` beside the caller's, and one more that goes through ``source``.

    At most ``threads + 3`` results are made ahead of the caller. An exception of the source comes after the results
    before it, one of the work in its place.
    """
    return _ahead(source, work, threads) if threads else map(work, source)


def _ahead(source: Iterator[Any], work: Callable[[Any], Any], threads: int) -> Iterator[Any]:
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: queue.Queue[Any] = queue.Queue(threads + 1)
    stop = threading.Event()

    def feed() -> None:
        last: Any = None
        try:
            for given in source:
                waiting.put(pool.submit(work, given))
                if stop.is_set():
                    return
        except BaseException as error:
            last = error
        waiting.put(last)

    with ThreadPoolExecutor(threads, "ahead") as pool:
        feeder = threading.Thread(target=feed, name="feed", daemon=True)
        feeder.start()
        try:
            while isinstance(result := waiting.get(), Future):
                yield result.result()
            if result is not None:
                raise result
        finally:
            stop.set()
            while not waiting.empty():  # a feeder that waits for room must see the flag
                waiting.get()
