"""Calls and commands in forks of this process, which has imported everything, so that no call changes the state, the
memory or the streams of the next one.
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
    """``status``: the exit status, or minus the number of a signal. ``peak``: bytes of new memory that were written."""

    status: int
    output: str
    peak: int = 0


@cache
def imported() -> None:
    """Import all modules but those whose optional packages are missing."""
    for module in pkgutil.walk_packages(vwlite.__path__, "vwlite."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


def call(function: Callable[[], int | None], memory: int = MEMORY, stdout: str | None = None) -> Done:
    """Call ``function`` in a fork, in this folder. Its result is the status; an exception is printed and gives 1.

    ``stdout``: the file to which standard output is appended.
    """
    imported()
    output = os.memfd_create("output")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        gc.freeze()  # what this process has is neither looked through nor copied
        try:
            out = os.open(stdout, os.O_WRONLY | os.O_APPEND) if stdout else output
            status = limited(function, memory, (os.open(os.devnull, os.O_RDONLY), out, output), writer)
        finally:
            os._exit(status)
    os.close(writer)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(output, "rb") as file, open(reader, "rb") as peak:
        file.seek(0)
        return Done(ended, file.read().decode("utf-8", "replace"), int(peak.read() or 0))


def limited(function: Callable[[], int | None], memory: int, streams: tuple[int, ...], writer: int) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
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
