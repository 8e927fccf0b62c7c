"""What the console shows, on a terminal and elsewhere."""

import io

import pytest

from vwlite.cli.output import Console


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_bar_unless_on_a_terminal(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    console = Console(bar=True)
    console.start(1000)
    console.advance(10)
    console.line("a row")
    console.close()
    assert pipe.getvalue() == "a row\n"


@pytest.mark.parametrize(
    ("size", "enabled", "drawn"),
    [(100, None, True), (None, None, False), (None, True, True), (100, False, False)],
)
def test_bar_on_a_terminal(monkeypatch, size, enabled, drawn):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    console = Console(bar=enabled)
    console.start(size)
    console.advance(10)
    console.line("a row")
    console.close()
    assert ("B/s" in terminal.getvalue()) == drawn
    assert "a row\n" in terminal.getvalue()
