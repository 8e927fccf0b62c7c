"""``python -m vwlite``."""

import os
import sys


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder was deleted
        return ""


if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] in ("", current_folder()):
        del sys.path[0]  # modules in the folder of the data must not be imported; this runs before any other import
    from vwlite.cli.program import program

    program()
