"""How vwlite reads its command lines, where that is not as click does."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import click

from vwlite.api import option_values
from vwlite.cli import run_record
from vwlite.cli.absent import format_instead, what_instead
from vwlite.cli.files import Reads, guard
from vwlite.cli.settings import VARIABLE, settings
from vwlite.errors import VwliteError
from vwlite.escapes import laid_out
from vwlite.options import called_here, not_one_of
from vwlite.storage.output_checks import Printed

OF_FORMATS = ("kind", "format")  # parameters whose values are formats of data
FIRST_WINS = ("learning_rate", "power_t")  # given twice, vw takes the first value


class Choice(click.Choice):
    """One of several words; for another the one that is most like it is proposed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            declared = getattr(param, "declared", None)
            instead = declared.instead_of(value) if declared else ""
            if param and param.name in OF_FORMATS:
                instead = format_instead(value)
            self.fail(not_one_of(value, self.choices, instead), param, ctx)


class Finite(click.ParamType):
    """A number of single precision; ``nan`` and ``inf`` are none."""

    name = "number"
    read: Callable[[Any], Any] = staticmethod(option_values.number)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Whole(Finite):
    """A whole number."""

    name = "integer"
    read = staticmethod(option_values.integer)


class Names(Finite):
    """Names separated by commas."""

    name = "names"
    read = staticmethod(option_values.words)


class ClassWeights(Finite):
    """``label:weight,label:weight``: pairs of numbers, the weights 0 or more."""

    name = "weights"
    read = staticmethod(option_values.class_weights)


class Levels(Finite):
    """``1..5`` or ``1,2,4``: numbers, ascending."""

    name = "levels"
    read = staticmethod(option_values.levels)


class Decays(Finite):
    """A number, or numbers by namespace: ``0.1``, ``user=0.1,item=0.2``."""

    name = "decays"
    read = staticmethod(option_values.decays)


class PerOutput(Finite):
    """A number, or one for each output: ``0.1,0.5,0.9``."""

    read = staticmethod(option_values.per_output)


class Duration(Finite):
    """A length of time in seconds: ``90``, ``90s``, ``10m``, ``2h``."""

    name = "time"
    read = staticmethod(option_values.duration)


class DataOption(click.Option):
    """``-d FILE``: the same as a bare FILE in its place, so that files are read in the order they were typed."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        for table in (parser._short_opt, parser._long_opt):
            for option in table.values():
                if option.obj is self:
                    option.process = lambda value, state: state.largs.append(value)


class Command(click.Command):
    """A command that takes the last of several values of one option and says so, looks at all files before it begins,
    and lists its options under headings."""

    lenient = False  # about names of files
    settable = True  # takes options from the environment and from --config
    common: tuple[str, ...] = ()  # options that --help lists first

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if self.settable:
            help = "Options that are not typed, as TOML: a table for each command."
            kind = Reads("configuration")
            more: dict[str, Any] = {"type": kind, "metavar": "FILE", "envvar": VARIABLE, "help": help}
            self.params.append(click.Option(["--config", "config_file"], **more))

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args
        parser._long_opt.update(parser._short_opt)  # else click looks for long ones that are like -b before it takes -b

        def parse_all(args: list[str]) -> Any:
            values, rest, order = parse(args)
            for option in repeated(order):
                self.given_again(option, values)
            for name, setting in settings(ctx, values).items() if self.settable else ():
                values[name] = setting.value
                ctx.meta[name] = setting.place
            return values, rest, order

        parser.parse_args = parse_all
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        run_record.begin(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            if error.param and error.param.name in ctx.meta:
                error.message += f" ({ctx.meta[error.param.name]})"
            raise

    def given_again(self, option: click.Option, values: dict[str, Any]) -> None:
        """An option takes one value and has several, as from scripts with defaults before what is typed."""
        if not values.get("quiet"):
            from vwlite.cli.console import say

            say(f"note: {option.opts[0]} is given more than once: the last one counts ({values[option.name]})")

    def invoke(self, ctx: click.Context) -> Any:
        guard(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, records in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options that --help shows, each with its help, by heading."""
        found: dict[str, list[tuple[str, str]]] = {}
        params = self.get_params(ctx)
        first = sorted((one for one in params if one.name in self.common), key=lambda one: self.common.index(one.name))
        for param in (*first, *(one for one in params if one.name not in self.common)):
            record = param.get_help_record(ctx)
            if record and not isinstance(param, click.Argument):
                heading = "Common options" if param.name in self.common else getattr(param, "heading", "Options")
                found.setdefault(heading, []).append(record)
        return found


class VwCommand(Command):
    """As Vowpal Wabbit: a failure is one ``[critical]`` line on standard output and exit status 1."""

    lenient = True
    settable = False

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Printed as error:
            critical(str(error), sys.stderr)
        except VwliteError as error:
            critical(str(error))
        except MemoryError:
            critical("not enough memory")
        return 1

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, self.settled(list(args)))
        except click.NoSuchOption as error:
            critical(f"unrecognised option '{error.option_name}'{what_instead(error.option_name)}")
        except click.UsageError as error:
            critical(sentence(error))
        ctx.exit(1)

    def given_again(self, option: click.Option, values: dict[str, Any]) -> None:
        raise click.UsageError(f"{option.opts[0]} is given twice: give one value")

    def settled(self, tokens: list[str]) -> list[str]:
        """The same tokens, each value after its own option: one that may repeat takes values up to the next option."""
        options = {name: option for option in self.params if isinstance(option, click.Option) for name in option.opts}
        settled, seen = [], set()
        while tokens:
            token = tokens.pop(0)
            long = token.startswith("--")
            name, equals, value = token.partition("=") if long else (token[:2], token[2:], token[2:])
            option = options.get(name)
            if token == "--" or option is None or option.is_flag or not (equals or tokens):
                settled.append(token)
                continue
            values = [value if equals else tokens.pop(0)]
            while option.multiple and option.name != "data" and tokens and not like_an_option(tokens[0]):
                values.append(tokens.pop(0))
            if option.name not in FIRST_WINS or option.name not in seen:
                settled += [part for value in values for part in (name, value)]
            seen.add(option.name)
        return settled


def critical(message: str, file: TextIO | None = None) -> None:
    """``file``: standard output."""
    with suppress(OSError):  # the exit status tells it too
        print(f"[critical] vw: {laid_out(message)}", file=file)


def like_an_option(token: str) -> bool:
    return token[:1] == "-" and len(token) > 1


def repeated(order: list[click.Parameter]) -> list[click.Option]:
    """Options that take one value and stand more than once among those typed."""
    singles = [one for one in order if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)]
    return [option for option in dict.fromkeys(singles) if singles.count(option) > 1]


def alike(error: click.NoSuchOption) -> str:
    """The options of the command that begin as the unknown one does, or are spelled much like it; empty for none."""
    from difflib import get_close_matches

    params = error.ctx.command.params if error.ctx else []
    names = [name for one in params if isinstance(one, click.Option) and not one.hidden for name in one.opts]
    known = {name.replace("-", "_"): name for name in names if name.startswith("--")}
    if here := called_here(error.option_name, names):
        return f" (did you mean {here}?)"
    typed = error.option_name.replace("-", "_")
    found = [name for name in known if name.startswith(typed)] or get_close_matches(typed, known, n=1)
    *others, last = [known[name] for name in found[:5]] or [""]
    return f" (did you mean {', '.join(others)}{' or ' if others else ''}{last}?)" if last else ""


def sentence(error: click.ClickException) -> str:
    """What click says, in the house's style: no capital, no full stop."""
    text = error.format_message().strip()
    if isinstance(error, click.NoSuchOption):
        text = f"no such option {error.option_name}{what_instead(error.option_name) or alike(error)}"
    text = re.sub(r"^Invalid value for (.*?): ", lambda found: f"{found[1].split()[0].strip(chr(39))}: ", text)
    text = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return text.removesuffix(".")
