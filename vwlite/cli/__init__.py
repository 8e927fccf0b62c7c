"""The command line: a thin face over the library; with what SIGINT does until a run listens to it."""

import os
import sys


def stop(number: int, frame: object) -> None:
    """End the process as ``main`` answers SIGINT."""
    if sys.stderr is not None:
        os.write(2, b"vwlite: interrupted\n")
    os._exit(128 + number)
