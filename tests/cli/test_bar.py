"""The bar of commands that take long, on a terminal and elsewhere."""

import contextlib
import io
import os
import shlex
import subprocess
import sys
import termios

import pytest
from in_process import bars_on_a_terminal

DATA = "1 |user ann |item tea:2\n-1 |user bob |item tea\n"


@pytest.fixture
def train_on_a_terminal(tmp_path, cli_env):
    """Runs ``vwlite train ARGUMENTS`` with the data on standard input; returns what the terminal was sent."""

    def run(*arguments, width=80):
        screen, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, width))
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


def test_a_terminal_that_does_not_tell_its_width_has_80_columns(train_on_a_terminal, write):
    write("data.vw", DATA)
    shown = [train_on_a_terminal("data.vw", "-f", "model", "--quiet", "--bar", width=width) for width in (0, 80)]
    assert b"B/s]" in shown[0] and len(shown[0]) == len(shown[1])


def test_no_bar_without_a_terminal(vwlite, write):
    plain = vwlite("train", write("data.vw", DATA), "-f", "model")
    assert "finished run" in plain.stderr
    assert vwlite("train", "data.vw", "-f", "model", "--bar") == plain


@pytest.mark.parametrize("options", ["-c", "-c --shuffle", "--curriculum easy"])
def test_later_passes_have_bars_of_their_own(options, train_on_a_terminal, write):
    text = train_on_a_terminal(write("data.vw", DATA), "-f", "model", "--passes", "3", *options.split())
    assert b"pass 2:" in text and b"pass 3:" in text
    assert b"2.00/2.00" in text or b"0.00/2.00" in text


def test_a_run_over_a_cache_has_a_bar(train_on_a_terminal, write, vwlite):
    vwlite("train", write("data.vw", DATA), "-c", "--quiet")
    assert b"pass 1:" in train_on_a_terminal("data.vw", "-c", "-f", "model")


TWICE = DATA + DATA
BYTES = len(TWICE), "B"
RING = "".join(f"{node} |n {(node + 1) % 501}\n" for node in range(501))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("predict data.vw -i model -p answers", [BYTES]),
        ("evaluate data.vw -i model", [BYTES]),
        ("explain data.vw -i model", [BYTES]),
        ("check data.vw", [BYTES]),
        ("l1 data.vw --passes 3", [BYTES, (3, " passes")]),
        ("l1 data.vw --solver owlqn --passes 3", [BYTES, (3, " passes")]),
        ("crr data.vw --qid none --steps 9", [BYTES, (9, " steps")]),
        ("aso learn data.vw -f theta --aux mask:user --passes 2", [BYTES, (2, " passes")]),
        ("pca data.vw -f parts --dim 1 --passes 3", [(None, " lines"), (4, " lines"), (4, " lines")]),
        ("cluster data.vw -f clusters -k 2 --passes 2", [(None, " lines"), (4, " lines"), (4, " lines")]),
        ("tune data.vw --test data.vw --vary '-l 0.1..1' --trials 3 --passes 1", [(4, " trials")]),
        ("cut graph.vw -k 2 --products 3", [(len(RING), "B"), (None, " products")]),
        ("check data.vw --quiet", []),
        ("crr data.vw --qid none --steps 9 --quiet", []),
        ("l1 data.vw --quiet", []),
        ("predict data.vw -i model -p answers --quiet", []),
        ("predict - -i model -p answers", []),
    ],
)
def test_other_commands_draw_one_when_they_take_long(command, shown, vwlite, write):
    vwlite("train", write("data.vw", TWICE), "-f", "model", "--quiet")
    write("graph.vw", RING)
    with bars_on_a_terminal() as drawn:
        vwlite(*shlex.split(command), stdin=TWICE, status=None)
    assert [(bar.total, bar.unit) for bar in drawn] == shown
    assert all(bar.closed and bar.delay == 1.0 and 0 < bar.n <= (bar.total or 4) for bar in drawn)


def test_none_is_drawn_where_answers_go_to_the_terminal(vwlite, write, monkeypatch):
    vwlite("train", write("data.vw", DATA), "-f", "model", "--quiet")
    monkeypatch.setattr("vwlite.cli.output.Console.draw", lambda self, **more: pytest.fail("drawn"))
    monkeypatch.setattr("vwlite.cli.output.is_terminal", lambda stream: True)
    assert len(vwlite("predict", "data.vw", "-i", "model").lines) == 2


def test_messages_stand_above_the_bar(monkeypatch):
    from vwlite.cli.output import Console

    monkeypatch.setattr(sys, "stderr", Terminal())
    console = Console(bar=True)
    console.start(10)
    console.message("odd line")
    console.close()
    assert "vwlite: odd line\n" in sys.stderr.getvalue()
