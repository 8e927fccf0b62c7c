"""Runs the command line inside this process: as exact as a process of its own, and a hundred times as fast."""

import contextlib
import signal
import sys
from dataclasses import dataclass
from unittest.mock import patch

from click.testing import CliRunner

from vwlite import interrupts
from vwlite.cli.root import main
from vwlite.cli.signals import SIGNALS


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    stdout: str
    stderr: str
    output: str  # both, as they came

    @property
    def returncode(self):
        return self.status

    @property
    def lines(self):
        return self.stdout.splitlines()


def call(folder, *arguments, stdin=b"", status=0):
    """Runs ``vwlite ARGUMENTS`` in a folder; the exit status must be ``status`` unless that is None."""
    before, handlers = sys.argv, {number: signal.getsignal(number) for number in SIGNALS}
    package = getattr(sys.modules["__main__"], "__package__", None)
    sys.argv, sys.modules["__main__"].__package__ = ["vwlite", *map(str, arguments)], None
    data = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        with contextlib.chdir(folder), CliRunner().isolation(data) as streams:
            code = status_of(main)
            sys.stderr.flush()
            sys.stdout.flush()
            done = Done(code, *(stream.getvalue().decode("utf-8", "surrogateescape") for stream in streams))
    finally:
        sys.argv, sys.modules["__main__"].__package__ = before, package
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        interrupts.clear_request()
    message = f"vwlite {' '.join(map(str, arguments))} exited {done.status}: {done.stderr}{done.stdout}"
    assert status is None or done.status == status, message
    return done


def status_of(function):
    try:
        function()
    except SystemExit as left:
        return left.code
    raise AssertionError("a command ends by SystemExit")


class Drawn:
    """In place of a bar on the screen."""

    def __init__(self, total, unit, delay):
        self.total, self.unit, self.delay, self.n, self.closed = total, unit, delay, 0, False

    def update(self, more):
        assert not self.closed
        self.n += more

    @property
    def format_dict(self):
        return {"elapsed": 0}

    def write(self, text, **more):
        """A line above the bar."""

    def close(self):
        self.closed = True


@contextlib.contextmanager
def bars_on_a_terminal():
    """The bars that commands draw while this is entered, as if standard error were a terminal."""
    drawn = []

    def draw(self, total, unit, unit_scale=True):
        self.bar = Drawn(total, unit, self.delay)
        drawn.append(self.bar)

    with (
        patch("vwlite.cli.output.Console.draw", draw),
        patch("vwlite.cli.output.is_terminal", lambda stream: stream is sys.stderr),
    ):
        yield drawn
