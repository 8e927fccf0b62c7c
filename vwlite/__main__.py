"""``python -m vwlite``."""

from vwlite.cli import program

if __name__ == "__main__":
    program()
