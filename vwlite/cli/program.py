"""How a process of the command line begins and ends."""

import os
import signal
import sys

from vwlite.cli.stopping import stop


def program() -> None:
    """The process that the user starts: ``vwlite.cli.root.main``, and an end without the interpreter's own.

    Until that hears signals, SIGINT ends the process without a traceback of what was being imported. Collecting what is
    imported, again and again and once more at the end, takes longer than many runs.
    """
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    import contextlib
    import gc
    import warnings

    from vwlite.cli.root import main

    gc.set_threshold(100_000)
    if not sys.warnoptions:  # what is not finite is told in words where it matters
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        main()
    except SystemExit as end:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(end.code)
