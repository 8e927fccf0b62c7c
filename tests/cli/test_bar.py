"""The bar of ``vwlite train``, on a terminal and elsewhere."""

import contextlib
import os
import subprocess
import sys
import termios

import pytest

DATA = "1 |user ann |item tea:2\n-1 |user bob |item tea\n"


@pytest.fixture
def train_on_a_terminal(tmp_path, cli_env):
    """Runs ``vwlite train ARGUMENTS`` with the data on standard input; returns what the terminal was sent."""

    def run(*arguments):
        screen, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, 80))
        command = [sys.executable, "-m", "vwlite", "train", *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": terminal}
        with open(screen, "rb", buffering=0) as shown:
            process = subprocess.Popen(command, cwd=tmp_path, env=cli_env, **pipes)
            os.close(terminal)
            with process.stdin as pipe:
                pipe.write(DATA.encode())
            text = b""
            with contextlib.suppress(OSError):  # how Linux says that nobody writes to the terminal any more
                while piece := shown.read(1 << 12):
                    text += piece
            assert process.wait() == 0, text
        return text

    return run


@pytest.mark.parametrize(
    ("arguments", "drawn"),
    [
        ("data.vw", True),
        ("data.vw --no-bar", False),
        ("data.vw --quiet", False),
        ("data.vw --quiet --bar", True),
        ("-", False),
        ("- --bar", True),
    ],
)
def test_bar_on_a_terminal(arguments, drawn, train_on_a_terminal, write, names_in):
    """By default where the size of the input is known; asked for, always. The table is the same."""
    write("data.vw", DATA)
    text = train_on_a_terminal(*arguments.split(), "-f", "model")
    assert (b"B/s" in text) == drawn
    assert (b"\nnumber of examples = 2\r\n" in text.replace(b"\r\r", b"\r")) == ("--quiet" not in arguments)
    assert names_in() == ["data.vw", "model", *(["model.ledger"] if "data.vw" in arguments else [])]


def test_no_bar_without_a_terminal(vwlite, write):
    plain = vwlite("train", write("data.vw", DATA), "-f", "model")
    assert "finished run" in plain.stderr
    assert vwlite("train", "data.vw", "-f", "model", "--bar") == plain
