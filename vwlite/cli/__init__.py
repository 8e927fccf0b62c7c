"""The command line: a thin face over the library. Commands are imported when they are called."""

import contextlib
import gc
import importlib
import os
import signal
import sys
from typing import Any

import click

from vwlite.errors import VwliteError
from vwlite.interrupts import Interrupted
from vwlite.version import __version__

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: its threads cost start-up time

# name -> what the list of commands says of it; the command is vwlite.cli.<name>.command
COMMANDS = {
    "train": "Learn a model from text.",
    "check": "Validate text and say what is in it.",
    "predict": "Predict with a model.",
    "evaluate": "Measure a model on labelled text.",
    "inspect": "Show what is in a model.",
    "tune": "Search for the best options.",
    "crr": "Learn to rank and to predict at once.",
    "l1": "Learn sparse log-linear models.",
    "convert": "Turn other formats into text.",
    "aso": "Learn what many problems have in common.",
    "vw": "Take vw's command line, and behave like it.",
}


def plain(name: str) -> str:
    """Option names may be typed with ``-`` or ``_`` between words."""
    return name.replace("-", "_")


SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "token_normalize_func": plain}


class Lazy(click.Group):
    """A group that knows its commands' names and imports only the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"vwlite.cli.{name}").command

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """As click does, but an unknown command is answered with the nearest known one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {name!r} ({hint})", context)
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> Any:
        """As click does, but for broken pipes, of which click would make exit code 1."""
        try:
            return super().invoke(context)
        except OSError as error:
            raise StreamLost(error) from error

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings=SETTINGS)
@click.version_option(__version__, message="vwlite %(version)s")
def cli() -> None:
    """Online learning from Vowpal Wabbit text.

    \b
    vwlite train train.vw -f model --loss_function logistic
    vwlite predict -i model test.vw > predictions
    zcat big.vw.gz | vwlite train -f model

    Data goes to standard output, everything else to standard error. 'vwlite COMMAND --help' shows a command's options.
    """


def program() -> None:
    """The process that the user starts: ``main``, and an end without the interpreter's own.

    Collecting what is imported, again and again and once more at the end, takes longer than many runs.
    """
    gc.set_threshold(100_000)
    try:
        main()
    except SystemExit as end:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(end.code)


def main() -> None:
    """Run the command line; errors become one line and an exit code (see ``vwlite.errors``)."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale, names are shown
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is None:  # closed; print would take standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        status = cli(standalone_mode=False) or 0
    except click.ClickException as error:
        status = error.exit_code
        print(f"vwlite: {usage(error)}", file=sys.stderr)
    except click.exceptions.Exit as error:
        status = error.exit_code
    except VwliteError as error:
        print(f"vwlite: {error}", file=sys.stderr)
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("vwlite: interrupted", file=sys.stderr)
        status = 130
    except Interrupted as signalled:
        print(f"vwlite: {signalled}", file=sys.stderr)
        status = 128 + signalled.number
    except StreamLost as lost:
        status = lost_stream(lost.args[0])
    except OSError as error:  # of printing --help
        status = lost_stream(error)
    except MemoryError as error:
        print(f"vwlite: not enough memory{f': {error}' if str(error) else ''}", file=sys.stderr)
        status = 1
    leave(status if isinstance(status, int) else 0)


def usage(error: click.ClickException) -> str:
    """What is wrong with the command line, and where to look it up; the list of commands when nothing was typed."""
    from vwlite.cli.parser import sentence

    context = getattr(error, "ctx", None)
    command = f"vwlite {context.info_name}" if context and context.parent else "vwlite"
    return f"{sentence(error)} ('{command} --help' lists what there is)"


class StreamLost(Exception):
    """Writing to standard output or error failed; the OSError is the argument."""


def interrupt(number: int, frame: object) -> None:
    raise Interrupted(number)


def lost_stream(error: OSError) -> int:
    """The exit code when standard output cannot be written; what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, BrokenPipeError):
        return 141
    print(f"vwlite: cannot write to standard output: {error.strerror}", file=sys.stderr)
    return 74


def leave(status: int) -> None:
    """Exit; a reader that has closed standard output turns success into 141."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        status = status or lost_stream(error)
    sys.exit(status)
