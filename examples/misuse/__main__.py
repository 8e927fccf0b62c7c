"""What vwlite, and vw, do with what should not happen: prints examples/misuse/table.md.

python examples/misuse --vw 'python3 -m vowpalwabbit' > examples/misuse/table.md

Every case is a command in a folder of its own. Without --vw that column is left out; --only takes a part of a title.
"""

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from cases import CASES
from tool import Tool
from trials import TRIALS

HEAD = """# Misuse

What became of commands and data that should not have come: **exit status**, what happened to the model, and the line
that says most about it. Made by `python examples/misuse --vw 'python3 -m vowpalwabbit'` (vowpalwabbit 9.11 from PyPI).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vwlite", default=f"{shlex.quote(sys.executable)} -m vwlite", help="command of vwlite")
    parser.add_argument("--vw", help="command of Vowpal Wabbit, such as 'python3 -m vowpalwabbit'")
    parser.add_argument("--trials", type=int, default=200, help="kills and flipped bits; stops are a quarter of them")
    parser.add_argument("--only", default="", help="part of the titles to run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = [Tool("vwlite", options.vwlite, Path(folder))]
        if options.vw:
            tools.append(Tool("vw", options.vw, Path(folder)))
        print(HEAD)
        print(f"| | {' | '.join(tool.name for tool in tools)} |\n|---|{'---|' * len(tools)}", flush=True)
        wanted = [title for title in [*CASES, *TRIALS] if options.only in title]
        for title in wanted:
            outcomes = []
            for tool in tools:
                if title in CASES:
                    outcomes.append(tool.outcome(CASES[title]))
                else:
                    outcomes.append(TRIALS[title](tool, options.trials))
            print(f"| {' | '.join(cell(text) for text in (title, *outcomes))} |", flush=True)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
