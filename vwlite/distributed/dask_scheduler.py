"""The workers of a Dask scheduler, reached by its address (extra ``dask``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from vwlite.distributed.engines import OnDask
from vwlite.distributed.plan import Shard
from vwlite.errors import ExtraMissing, VwliteError, WorkerLost
from vwlite.version import __version__

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
            yield from super().run(work, base, [placed(shard) for shard in shards], how, check)
        except VwliteError:
            raise
        except Exception:  # of many types, as calls of a client that is closed fail anywhere
            if self.client.status == "running":
                raise
            raise WorkerLost(f"the Dask scheduler at {self.address} is gone") from None

    def close(self) -> None:
        self.client.close()


def placed(shard: Shard) -> Shard:
    """The shard with whole paths: workers run in other folders."""
    pieces = (piece._replace(path=os.path.abspath(piece.path)) for piece in shard.pieces)
    return shard._replace(pieces=tuple(pieces))


def client_of(address: str) -> Any:
    """Raises ExtraMissing; WorkerLost where nobody answers."""
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
    for worker, found in client.run(version_here, on_error="return").items():
        if isinstance(found, BaseException):
            raise WorkerLost(f"the Dask worker {worker} cannot import vwlite {__version__}: {found}")
        if found != __version__:
            raise WorkerLost(f"the Dask worker {worker} has vwlite {found}, this is {__version__}")


def version_here() -> str:
    return __version__
