"""``python -m vwlite``."""

import os
import sys


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is there no more
        return ""


if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] in ("", current_folder()):
        del sys.path[0]  # what lies beside the data is no library; nothing else is imported before
    from vwlite.cli.program import program

    program()
