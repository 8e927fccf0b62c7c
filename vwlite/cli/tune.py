"""``vwlite tune``."""

import shlex
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS, command_of
from vwlite.cli.settings import plain_name
from vwlite.data.config import InputConfig
from vwlite.evaluation.config import TuneConfig

WITH, COMMAND, TUNED = "--with", "--command", ("train", "l1", "crr", "aso")


class TuneCommand(Command):
    """Takes the options of the command that is tuned as well: they go where ``--with`` has them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words, left, fixed = list(args), [], []
        name = TUNED[0]
        for word, after in pairwise([*words, ""]):
            option, equals, value = word.partition("=")
            if plain_name(option) == plain_name(COMMAND):
                name = value if equals else after
        own = flags_of(self)
        others = flags_of(command_of(name)) if name in TUNED else {}
        while words:
            word = words.pop(0)
            if word == "--":
                left += [word, *words]
                break
            flags = own if option_in(word, own) else others
            option = option_in(word, flags)
            whole = [word, *words[:1]] if option and option == plain_name(word) and not flags[option] else [word]
            del words[: len(whole) - 1]
            if option == plain_name(WITH):
                fixed.append(whole[1] if whole[1:] else word.partition("=")[2])
            elif option and flags is others:
                fixed.append(shlex.join(whole))
            else:
                left += whole
        return super().parse_args(ctx, [*([WITH, " ".join(fixed)] if fixed else []), *left])


def option_in(word: str, flags: Collection[str]) -> str:
    """The one of the options that a word is, or begins with; empty where it is none of them."""
    if not word.startswith("-"):
        return ""
    candidates = (plain_name(word.partition("=")[0]), plain_name(word[:2]) if word[1:2] != "-" else "")
    return next((candidate for candidate in candidates if candidate in flags), "")


def flags_of(command: click.Command) -> dict[str, bool]:
    """The options of a command, in the spelling of ``plain_name``, and whether each is a flag."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {
        plain_name(name): bool(option.is_flag or option.count)
        for option in options
        for name in (*option.opts, *option.secondary_opts)
    }


@click.command("tune", cls=TuneCommand, context_settings=SETTINGS, short_help="Search for the best options.")
@options.data_files
@options.options_in(TuneConfig)
@options.options_in(InputConfig, only=("kind", "columns"))
@options.output("model", model={"help": "Keep the best model there."})
@options.json_option("Write all trials as JSON; - is stdout.")
@options.quiet("Print nothing but the command line found.")
def command(**arguments: Any) -> int:
    """Search for the options of 'vwlite train', l1, crr or aso train that do best on held-out data, and print them.

    \b
    vwlite tune clicks.vw --loss_function logistic --metric log_loss
    vwlite tune train.vw --test held.vw --metric accuracy --vary "l 0.01..10"
    vwlite tune train.vw --test held.vw --vary "q off|ui" --vary "l2 off|1e-8|1e-6" --trials 9
    vwlite tune clicks.csv --columns "label=click user=age,city" --test held.csv --vary "l 0.1..5"
    vwlite tune train.vw --test held.vw --command l1 --model crf --metric f1 --vary "l 0.05..1"
    vwlite tune labeled.vw --command aso --theta theta --metric accuracy --vary "theta-scale 0.1..1"

    Options of the command hold for every trial, typed as they are or in --with. Without --vary its rates and penalties
    are varied, without --test every fifth example, sequence or query of text is set aside to measure on.

    Options to vary may be named with or without their dashes. Values are drawn at random: low..high by the
    logarithm (whole numbers evenly), a|b|c one of them; 'off' leaves an option out, 'on' is a flag. All
    trials make a few passes, the best third of them is trained with three times as many, and so forth. What
    is printed did best of all that was tried, with these options and this number of passes; the defaults
    (what --with leaves untouched) are tried too, with one pass and with any number the others make. The
    same seed gives the same answer, whatever the number of jobs.
    """
    from vwlite.cli.runs.tune import run

    return run(arguments)
