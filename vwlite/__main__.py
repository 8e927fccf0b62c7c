"""``python -m vwlite``."""

from vwlite.cli import main

if __name__ == "__main__":
    main()
