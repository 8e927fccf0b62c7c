"""Checks the memory that a method needs before it is allocated."""

from vwlite.errors import UsageError

GIB = float(1 << 30)
USUAL = 4 * GIB  # bytes, unless --max-memory says otherwise


def check_memory(need: float, limit: float, what: str, advice: str) -> None:
    """Raises UsageError when ``what`` needs more bytes than allowed."""
    if need > limit:
        raise UsageError(f"{what}: {need / GIB:.2f} GiB are more than --max-memory {limit / GIB:g}: {advice}")
