"""Where shards are learned: in processes of this machine, on any executor, by Dask, or one after the other here."""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np

from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.distributed.delta import Delta, Task, load
from vwlite.distributed.plan import Shard
from vwlite.distributed.task import Work, learn, write_delta
from vwlite.errors import ExtraMissing, VwliteError, WorkerLost
from vwlite.interrupts import TemporaryFolder
from vwlite.version import __version__

ATTEMPTS = 3  # at a shard, before its failures are the run's
PAUSE = 0.2  # seconds between two looks at whether the run is to stop


class Engine(Protocol):
    """Learns shards, in any order; ``retries``: how often one was begun again, so far."""

    retries: int

    def run(
        self,
        work: Work,
        base: str,
        shards: Sequence[Shard],
        how: tuple[InputConfig, BadLinesConfig],
        check: Callable[[], None],
    ) -> Iterator[Delta]:
        """The deltas that ``work`` makes of ``shards`` and the model ``base``, a path. ``check`` raises where the run
        is to stop.

        Raises what a task raises, and WorkerLost.
        """

    def close(self) -> None:
        """Let go of the workers, whatever they do."""


class Here:
    """This process."""

    retries = 0

    def run(self, work, base, shards, how, check):
        for shard in shards:
            check()
            yield work(base, shard, *how)

    def close(self) -> None:
        """Do nothing: there are no workers."""


class Lost:
    """Counts the deaths of workers by shard."""

    def __init__(self) -> None:
        self.deaths: Counter[int] = Counter()

    def add(self, shard: Shard, why: str) -> None:
        """Raises WorkerLost the third time."""
        self.deaths[shard.number] += 1
        if self.deaths[shard.number] == ATTEMPTS:
            raise WorkerLost(f"shard {shard.number} of {shard.of} was begun {ATTEMPTS} times and never ended: {why}")


class Processes:
    """Processes of this machine, which end with this one.

    A process that dies breaks the whole pool: all shards at work are begun again, those one by one, so that the one
    that kills its process is known.
    """

    def __init__(self, workers: int) -> None:
        self.workers, self.retries = workers, 0
        self.pool: ProcessPoolExecutor | None = None
        self.lifeline: Any = None
        self.folder: TemporaryFolder | None = None

    def started(self) -> ProcessPoolExecutor:
        if self.pool is None:
            spawn = get_context("spawn")
            other, self.lifeline = spawn.Pipe(duplex=False)
            self.folder = self.folder or TemporaryFolder("vwlite-")
            self.pool = ProcessPoolExecutor(self.workers, spawn, begin_worker, (other,))
        return self.pool

    def submit(self, work: Work, base: str, shard: Shard, how: Any) -> Future:
        pool = self.started()
        return pool.submit(write_delta, os.path.join(self.folder.name, str(shard.number)), work, base, shard, *how)

    def close(self) -> None:
        pool, self.pool = self.pool, None
        if pool:
            self.lifeline.close()
            pool.shutdown(wait=True, cancel_futures=True)
        folder, self.folder = self.folder, None
        if folder:
            folder.cleanup()

    def run(self, work, base, shards, how, check):
        waiting, running, lost = list(shards), {}, Lost()
        while waiting or running:
            alone = any(lost.deaths[shard.number] for shard in (*waiting, *running.values()))
            died: list[Shard] = []
            while waiting and len(running) < (1 if alone else self.workers) and not died:
                shard = waiting.pop(0)
                try:
                    running[self.submit(work, base, shard, how)] = shard
                except (BrokenProcessPool, OSError, ValueError):  # the pool breaks, and closes its files, meanwhile
                    died.append(shard)
            done, _ = wait(running, PAUSE, FIRST_COMPLETED)
            check()
            for future in done:
                shard = running.pop(future)
                try:
                    yield read(work, *future.result())
                except BrokenProcessPool:
                    died.append(shard)
            if died:
                died += running.values()
                running = {}
                self.close()
                for shard in died:
                    lost.add(shard, "its process was killed, as where memory is short")
                self.retries += len(died)
                waiting = sorted([*died, *waiting], key=lambda shard: (not lost.deaths[shard.number], shard.number))


def read(work: Work, path: str, task: Task) -> Delta:
    """The delta of ``work``, whose file is deleted and stays mapped."""
    delta = load(path, np.float32 if work is learn else np.float64)
    os.unlink(path)
    return delta._replace(task=task)


def begin_worker(lifeline: Any) -> None:
    """A worker leaves the terminal's signals to the driver, and ends when that closes the other end, or dies."""
    os.setsid()

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class OnExecutor:
    """Any executor of ``concurrent.futures``, which stays open. The base travels with each task as bytes."""

    def __init__(self, executor: Executor) -> None:
        self.executor, self.retries = executor, 0

    def shared(self, base: bytes) -> Any:
        return base

    def run(self, work, base, shards, how, check):
        with open(base, "rb") as file:
            data = file.read()
        shared, lost = self.shared(data), Lost()
        running: dict[Future, Shard] = {}
        waiting = list(shards)
        try:
            while waiting or running:
                running |= {self.executor.submit(work, shared, shard, *how): shard for shard in waiting}
                waiting = []
                done, _ = wait(running, PAUSE, FIRST_COMPLETED)
                check()
                for future in done:
                    shard = running.pop(future)
                    error = None if future.cancelled() else future.exception()
                    if isinstance(error, VwliteError):
                        raise error
                    if error is None and not future.cancelled():
                        yield future.result()
                        continue
                    lost.add(shard, f"{type(error).__name__}: {error}" if error else "it was cancelled")
                    self.retries += 1
                    waiting.append(shard)
                if waiting:
                    shared = self.shared(data)
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """The executor is its owner's."""


class OnDask(OnExecutor):
    """The cluster of a Dask client; the base is sent to each of its workers once a round."""

    def __init__(self, client: Any) -> None:
        super().__init__(client.get_executor(pure=False, retries=2))
        self.client = client

    def shared(self, base: bytes) -> Any:
        """The base as the result of a task, which Dask makes again where it dies with its worker: scattered data are
        lost then, and scattering to a worker that is just gone takes minutes.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(return_base, base, pure=False, retries=ATTEMPTS)


def return_base(base: bytes) -> bytes:
    return base


def engine_for(executor: Any) -> Engine:
    """``executor``: one of ``concurrent.futures``, a Dask client, or None for this process."""
    if executor is None:
        return Here()
    return OnDask(executor) if hasattr(executor, "scatter") else OnExecutor(executor)


PATIENCE = 15  # seconds for a scheduler to answer, and for a first worker


class OnScheduler(OnDask):
    """The cluster of a scheduler, whose address or whose file is given."""

    def __init__(self, address: str) -> None:
        """Raises ExtraMissing, and WorkerLost where there is no scheduler, no worker, or one of another version."""
        self.address, client = address, client_of(address)
        try:
            check_workers(client, address)
        except BaseException:
            client.close()
            raise
        super().__init__(client)

    def run(self, work, base, shards, how, check) -> Iterator[Any]:
        try:
            yield from super().run(work, base, [with_absolute_paths(shard) for shard in shards], how, check)
        except VwliteError:
            raise
        except Exception:  # of many types, as calls of a client that is closed fail anywhere
            if self.client.status == "running":
                raise
            raise WorkerLost(f"the Dask scheduler at {self.address} is gone") from None

    def close(self) -> None:
        self.client.close()


def with_absolute_paths(shard: Shard) -> Shard:
    """The shard with whole paths: workers run in other folders."""
    pieces = (piece._replace(path=os.path.abspath(piece.path)) for piece in shard.pieces)
    return shard._replace(pieces=tuple(pieces))


def client_of(address: str) -> Any:
    """Raises ExtraMissing; WorkerLost where there is no answer."""
    try:
        from distributed import Client
    except ImportError:
        raise ExtraMissing("--scheduler needs Dask: pip install 'vwlite[dask]'") from None
    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        return Client(**where, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # a file or an address that is none fails anywhere
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise WorkerLost(f"there is no Dask scheduler at {address}: {reason}") from None


def check_workers(client: Any, address: str) -> None:
    """Raises WorkerLost where there is no worker, or one without this version of vwlite."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise WorkerLost(f"the Dask scheduler at {address} has no worker") from None
    for worker, version in client.run(version_here, on_error="return").items():
        if isinstance(version, BaseException):
            raise WorkerLost(f"the Dask worker {worker} cannot import vwlite {__version__}: {version}")
        if version != __version__:
            raise WorkerLost(f"the Dask worker {worker} has vwlite {version}, this is {__version__}")


def version_here() -> str:
    return __version__
