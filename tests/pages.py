"""The pages that people read (README.md, docs/, the home page) and the shell commands in them."""

import doctest
import os
import re
import shlex
import subprocess
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from in_process import call

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
HOME = PROJECT / "docs" / "site" / "home.md"  # the site's first page
HOW_TO = sorted((PROJECT / "docs" / "how-to").glob("*.md"))
PAGES = [README, *sorted((PROJECT / "docs").glob("*.md")), HOME, *HOW_TO]
UNRUN = "<!-- not run: "  # the line above a block that is not run; the reason follows
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
FRAME_PACKAGES = ("polars", "pyarrow")
PLAIN = re.compile(r"vwlite [^|&;<>()$`\\*?~#\n\[\]{}!]*")  # a command that means the same without a shell
BLOCK = re.compile(rf"^({UNRUN}.+ -->\n)?```console\n(.*?)^```$", re.M | re.S)


@dataclass
class Step:
    """A command of a page, with the output that the page shows."""

    command: str
    expected: str

    def agrees(self, output):
        """Whether ``output`` matches the page, where a line ``...`` matches any number of lines."""
        lines = (re.escape(line) if line != "...\n" else "(.*\n)*?" for line in self.expected.splitlines(keepends=True))
        return re.fullmatch("".join(lines), output) is not None


def blocks(page):
    """The console blocks of a page that are run, each a list of Steps."""
    for unrun, text in BLOCK.findall(page.read_text()):
        if not unrun:
            parts = re.split(r"^\$ ", text, flags=re.M)
            assert parts[0] == "", f"{page.name}: a console block begins with a command: {parts[0]!r}"
            yield [Step(*part.partition("\n")[::2]) for part in parts[1:]]


def session(page):
    """The Python blocks of a page as one doctest: each block can use the names of those before it.

    A block that imports a data frame's package is left out where that, or pyarrow, is not installed.
    """
    blocks = PYTHON.findall(page.read_text())
    if not all(find_spec(name) for name in FRAME_PACKAGES):
        blocks = [block for block in blocks if "import polars" not in block]
    text = "\n".join(blocks)
    return doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)


def run(steps, folder, env):
    """Runs the commands of a block one after the other; yields each Step with what a terminal would show.

    ``cat FILE`` writes a FILE that is not there yet. A status other than 0 ends the block with an AssertionError,
    unless the next command is ``echo $?``.
    """
    status = 0
    for step, next_step in zip(steps, [*steps[1:], None], strict=True):
        if step.command.startswith("cat ") and not (file := folder / step.command.split()[1]).exists():
            file.write_text(step.expected)
            continue
        status, output = (run_here if PLAIN.fullmatch(step.command) else run_by_shell)(step, folder, env, status)
        may_fail = next_step is not None and next_step.command == "echo $?"
        assert status == 0 or may_fail, f"{step.command} exited {status}: {output}"
        yield step, output


def run_by_shell(step, folder, env, before):
    """The status of a command, which may ask for that of the one ``before``, and what a terminal would show."""
    done = subprocess.run(
        ["sh", "-c", f"(exit {before}); {step.command}"],
        **{"cwd": folder, "env": env, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
    )
    return done.returncode, done.stdout


def run_here(step, folder, env, before):
    """The same of a command that needs no shell, in this process, where its two streams are apart."""
    with patch.dict(os.environ, COLUMNS=env["COLUMNS"]), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # as the program does
        done = call(folder, *shlex.split(step.command)[1:], status=None)
    told = (done.output, done.stderr + done.stdout, done.stdout + done.stderr)
    return done.status, next(filter(step.agrees, told), done.output)
