"""Checks the memory that weights need before it is allocated."""

from __future__ import annotations

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

GIB = float(1 << 30)
USUAL = 4 * GIB  # bytes, where the number of weights depends on the data and --max-memory does not say otherwise


@config
class MemoryConfig(Config):
    """The memory limit, an option of several configurations."""

    max_memory: float | None = option(
        None, "GiB that weights may take; more are refused before they are allocated.", section="Table of weights",
        spelled=("--max-memory",), key="memory", above=0, shown="no limit",
    )


def check_memory(need: float, limit: float, what: str, advice: str) -> None:
    """Raises UsageError when ``what`` needs more bytes than allowed."""
    if need > limit:
        raise UsageError(f"{what}: {need / GIB:.2f} GiB are more than --max-memory {limit / GIB:g}: {advice}")
