"""The list of commands, which are imported when they are called, and what becomes of errors."""

import contextlib
import errno
import importlib
import io
import os
import signal
import sys
from typing import Any

import click

from vwlite.cli import stop
from vwlite.cli.settings import plain_name
from vwlite.cli.signals import forward_signals, interrupt
from vwlite.errors import InputDamaged, OutOfMemory, OutputError, VwliteError, escaped, laid_out
from vwlite.interrupts import Interrupted
from vwlite.version import __version__

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: its threads cost start-up time

# name -> what the list of commands says of it; the command is vwlite.cli.<name>.command
COMMANDS = {
    "train": "Learn a model from text.",
    "check": "Validate text and say what is in it.",
    "predict": "Predict with a model.",
    "serve": "Predict over HTTP.",
    "explain": "Show why examples got their scores.",
    "recommend": "List the items that a person would rate highest.",
    "evaluate": "Measure a model on labelled text.",
    "inspect": "Show what is in a model.",
    "report": "Draw runs, from their JSON.",
    "simulate": "Play a bandit with labelled text.",
    "tune": "Search for the best options.",
    "crr": "Learn to rank and to predict at once.",
    "l1": "Learn sparse log-linear models.",
    "pca": "Find principal components of text.",
    "project": "Write examples as principal components.",
    "landmarks": "Choose lines for --landmarks.",
    "cut": "Cut a graph into clusters.",
    "cluster": "Find clusters of text by k-means.",
    "convert": "Turn other formats into text.",
    "aso": "Learn what many problems have in common.",
    "lm": "Learn vectors of words from plain text.",
    "merge": "Make one model of several.",
    "vw": "Take vw's command line, and behave like it.",
    "samples": "Write the data files of the manual's pages.",
    "help": "Show the help of a command.",
    "completion": "Print what makes a shell complete command lines.",
}


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "token_normalize_func": plain_name}


class Group(click.Group):
    """A group of commands; called without any, it shows its help and fails."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args and not context.resilient_parsing:
            complain(context.get_help())
            context.exit(2)
        return super().parse_args(context, args)


class Lazy(Group):
    """A group that knows its commands' names and imports only the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"vwlite.cli.{name}").command

    def shell_complete(self, context: click.Context, incomplete: str) -> list[Any]:
        """Propose as click does, but without importing the commands whose names are proposed."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, context, incomplete)

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """Find a command as click does, but an unknown one is answered with the nearest known one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {name!r} ({hint})", context)
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> Any:
        """Run a command as click does, but for broken pipes, of which click would make exit code 1."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
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

    Data goes to standard output, everything else to standard error. 'vwlite help COMMAND' shows a command's options.
    """


def command_of(name: str) -> click.Command:
    """Return a command that ``vwlite tune`` tunes: of a group the one that learns from labels."""
    command: click.Command = importlib.import_module(f"vwlite.cli.{name}").command
    return command.commands["train"] if isinstance(command, click.Group) else command


def main() -> None:
    """Run the command line; errors become one line and an exit code (see ``vwlite.errors``)."""
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale, names are shown
            stream.reconfigure(errors="backslashreplace")
    before = signal.getsignal(signal.SIGINT)
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, interrupt)
        forward_signals()
        if before == stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = call_command()
    except (click.ClickException, VwliteError, MemoryError) as error:
        status = report_error(error)
    except click.exceptions.Exit as error:
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("vwlite: interrupted")
        status = 130
    except Interrupted as signalled:
        signal.setitimer(signal.ITIMER_REAL, 0)
        complain(f"vwlite: {escaped(str(signalled))}")
        status = 128 + signalled.number
    except StreamLost as lost:
        status = exit_without_output(lost.args[0])
    except OSError as error:
        status = exit_code_of(error)
    if before == stop:
        signal.signal(signal.SIGINT, stop)
    leave(status if isinstance(status, int) else 0)


def call_command() -> Any:
    """The result of the command line. Python 3.11 makes another error of a signal that comes while it makes a class."""
    try:
        return cli(prog_name="vwlite", standalone_mode=False) or 0
    except RuntimeError as error:
        if isinstance(error.__cause__, KeyboardInterrupt | Interrupted):
            raise error.__cause__ from None
        raise


def usage_message(error: click.ClickException) -> str:
    """The message on a wrong command line, with a pointer to the help; the list of commands when nothing was typed."""
    from vwlite.cli.parser import error_sentence

    context, names = getattr(error, "ctx", None), list[str]()
    while context and context.parent:
        names.append(context.info_name)
        context = context.parent
    command = " ".join(["vwlite", *reversed(names)])
    return f"{error_sentence(error)} ('{command} --help' lists what there is)"


class StreamLost(Exception):
    """The reader of standard output went away; the OSError is the argument."""


def complain(line: str) -> None:
    """Print a message on standard error, if that takes it: the exit status tells it too."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


class StandardOutput(io.FileIO):
    """Remembers whether writing has ``failed``: an error does not say of what it is."""

    failed = False

    def write(self, data: Any) -> int | None:
        try:
            return super().write(data)
        except OSError:
            self.failed = True
            raise


def open_streams() -> None:
    """Have nothing that is opened later take the number of a standard stream that is closed; writing to that fails."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)
    raw = sys.stdout and getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
    if raw is None or isinstance(raw, io.FileIO):  # no object in memory, as test runners have
        at_once = raw is not None and (raw is sys.stdout.buffer or raw.isatty())  # python -u, a terminal
        stream = io.BufferedWriter(StandardOutput(1, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(stream, getattr(sys.stdout, "encoding", None), line_buffering=at_once)
    if sys.stderr is None:  # print would take standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def report_error(error: Exception) -> int:
    """Say what ended a command; the exit code."""
    line, status = sentence_of(error)
    complain(f"vwlite: {line}")
    return status


def sentence_of(error: Exception) -> tuple[str, int]:
    """The message and the exit code of an error that ends a command. Raises the error itself if it is a bug's."""
    if isinstance(error, click.ClickException):
        return laid_out(usage_message(error)), error.exit_code
    if isinstance(error, VwliteError):
        return escaped(str(error)), error.exit_code
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        why = str(error) if isinstance(error, MemoryError) else ""
        return f"not enough memory{f': {why}' if why else ''}", OutOfMemory.exit_code
    if isinstance(error, OSError) and is_of_writing(error):
        name = escaped(str(error.filename or "a temporary file"))
        return f"cannot write {name}: {error.strerror}", OutputError.exit_code
    if isinstance(error, OSError):
        return f"{escaped(str(error.filename or 'a file'))}: {error.strerror or error}", InputDamaged.exit_code
    raise error


def is_of_writing(error: OSError) -> bool:
    """Whether only writing meets it: there is no room, or no folder for temporary files."""
    return error.errno in NO_ROOM or (error.errno == errno.ENOENT and error.filename is None)


def exit_code_of(error: OSError) -> int:
    """The exit code for a failure of the system that has no sentence of its own, be it of standard output."""
    if error.errno != errno.ENOMEM and getattr(getattr(sys.stdout.buffer, "raw", None), "failed", False):
        return exit_without_output(error)
    return report_error(error)


def exit_without_output(error: OSError) -> int:
    """The exit code when standard output cannot be written; what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, BrokenPipeError):
        return 141
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    complain(f"vwlite: cannot write to standard output: {reason}")
    return OutputError.exit_code


def leave(status: int) -> None:
    """Exit; a reader that has closed standard output turns success into 141."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        status = status or exit_without_output(error)
    sys.exit(status)
