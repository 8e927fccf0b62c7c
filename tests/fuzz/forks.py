"""Calls and commands in forks of this process, which has imported everything: what one of them does to itself, to its
memory or to its streams, the next one does not meet.
"""

import gc
import importlib
import os
import pkgutil
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import vwlite

SECONDS = 5  # of processor time that a call may take
WAIT = 60  # seconds that it may take in all
MEMORY = 2 << 30  # bytes of address space that it may take


class Done(NamedTuple):
    """``status``: as of a process, of a signal negative. ``peak``: the bytes that it wrote to, beyond those it had."""

    status: int
    said: str
    peak: int = 0


@cache
def imported() -> None:
    """All modules but those that lack an extra."""
    for module in pkgutil.walk_packages(vwlite.__path__, "vwlite."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


def call(function: Callable[[], int | None], memory: int = MEMORY, stdout: str | None = None) -> Done:
    """``function`` in a fork, in this folder: its result is the status; an exception is told, with the status 1.

    ``stdout``: the file to which standard output is appended.
    """
    imported()
    said = os.memfd_create("said")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        gc.freeze()  # what this process has is neither looked through nor copied
        try:
            out = os.open(stdout, os.O_WRONLY | os.O_APPEND) if stdout else said
            status = limited(function, memory, (os.open(os.devnull, os.O_RDONLY), out, said), writer)
        finally:
            os._exit(status)
    os.close(writer)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(said, "rb") as file, open(reader, "rb") as told:
        file.seek(0)
        return Done(ended, file.read().decode("utf-8", "replace"), int(told.read() or 0))


def limited(function: Callable[[], int | None], memory: int, streams: tuple[int, ...], writer: int) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))
    Path("/proc/self/clear_refs").write_text("5")  # what was the most is forgotten
    used, start = in_memory("VmSize"), in_memory("VmRSS")
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
    spent = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (spent + SECONDS + 1, spent + SECONDS + 2))
    for number in (signal.SIGXCPU, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(WAIT)
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", RuntimeWarning)  # as the command line does
    status = 1
    try:
        status = function() or 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.write(writer, str(in_memory("VmHWM") - start).encode())
    return status


def in_memory(name: str) -> int:
    """Bytes, as ``/proc/self/status`` has them."""
    return int(re.search(rf"^{name}:\s*(\d+)", Path("/proc/self/status").read_text(), re.M)[1]) << 10


def command(words: list[str] | str, **more) -> Done:
    """``vwlite WORDS``."""

    def run() -> None:
        from vwlite.cli.root import main

        sys.argv = ["vwlite", *(words.split() if isinstance(words, str) else words)]
        main()

    return call(run, **more)
