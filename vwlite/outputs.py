"""Before anything is learned: can the results be written, and is none of them an input?"""

import os
from collections.abc import Iterable

from vwlite.atomic import check_writable
from vwlite.errors import UsageError


def check_outputs(
    files: Iterable[str | None], sources: Iterable[str], streams: Iterable[str | None] = ()
) -> None:
    """``files`` will appear whole, ``streams`` are written as results come; None is no output, ``-`` is
    standard output.

    Raises OutputError for a file that cannot be written, UsageError for two of the same name and for one among
    ``sources``.
    """
    files = [path for path in files if path]
    named = [*files, *(path for path in streams if path)]
    for path in files:
        if path != "-":
            check_writable(path)
    targets = ["-" if path == "-" else os.path.realpath(path) for path in named]
    if len(set(targets)) < len(targets):
        raise UsageError("two outputs have the same name")
    inputs = {os.path.realpath(path) for path in sources if path != "-"}
    for path, target in zip(named, targets, strict=True):
        if target in inputs:
            raise UsageError(f"{path} is the input and would be overwritten: give the output another name")
