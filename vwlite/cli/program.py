"""How a process of the command line begins and ends."""

import os
import signal
import sys

from vwlite.cli import stop


def program() -> None:
    """The entry point: runs ``vwlite.cli.root.main`` and exits without the interpreter's own shutdown.

    Until ``main`` installs its signal handlers, SIGINT ends the process without a traceback. Garbage collection is made
    rare, and is skipped at the end, because collecting the imported modules takes longer than many runs.
    """
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    import contextlib
    import gc
    import warnings

    from vwlite.cli.root import main

    sys.unraisablehook = report_unraisable
    gc.set_threshold(100_000)
    if not sys.warnoptions:  # non-finite results are reported where they matter
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        main()
    except SystemExit as end:
        from vwlite.interrupts import remove_folders

        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        remove_folders()
        os._exit(end.code)
    except BaseException as error:  # main handles no signals before it begins and after it ends
        end_by_signal(error)
        raise


def report_unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """Report an error as Python does, but for signals that come where no error can be raised, as in a callback while
    modules are imported: they end the process, as they do elsewhere where nothing is half done.
    """
    end_by_signal(lost.exc_value)
    sys.__unraisablehook__(lost)


def end_by_signal(error: BaseException | None) -> None:
    """End the process if the error is a signal's."""
    from vwlite.interrupts import SIGINT, Interrupted, remove_folders

    if isinstance(error, KeyboardInterrupt):
        stop(SIGINT, None)
    if isinstance(error, Interrupted):
        remove_folders()
        os.write(2, f"vwlite: {error}\n".encode())
        os._exit(128 + error.number)
