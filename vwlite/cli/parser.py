"""How vwlite reads its command lines, where that is not as click does."""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TextIO

import click

from vwlite.api import option_values
from vwlite.api.option_values import format_instead, what_instead
from vwlite.cli import output
from vwlite.cli.files import Reads, check_named_files, expand
from vwlite.cli.settings import VARIABLE, plain_name, read_settings
from vwlite.errors import VwliteError, laid_out
from vwlite.options import not_one_of, proposal_text
from vwlite.storage.output_checks import Printed

PART = "--help="  # all, or the beginning of a subject
NOWHERE = click.Context(click.Command(None))
OF_FORMATS = ("kind", "format")  # parameters whose values are formats of data
FIRST_WINS = ("learning_rate", "power_t", "l1_state", "l2_state")  # of several values, vw takes the first
ADDED_UP = ("classweight",)  # whose values it takes all


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


class ClassCount(Finite):
    """A whole number, or ``auto``."""

    name = "classes"
    metavar = "N"
    read = staticmethod(option_values.classes)


class ClassWeights(Finite):
    """``label:weight,label:weight``: pairs of numbers, the weights 0 or more."""

    name = "weights"
    read = staticmethod(option_values.class_weights)


class LabelWeights(Finite):
    """``label:weight,label:weight``, of labels that are names or numbers."""

    name = "weights"
    read = staticmethod(option_values.label_weights)


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
    screen: Mapping[str, tuple[str, ...]] = {}  # what --help shows, by task; nothing: all there is

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if self.settable:
            help = "Read options that are not typed from this TOML file, which has a table for each command."
            kind = Reads("configuration")
            more: dict[str, Any] = {"type": kind, "metavar": "FILE", "envvar": VARIABLE, "help": help}
            self.params.append(click.Option(["--config", "config_file"], **more))

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args
        parser._long_opt.update(parser._short_opt)  # else click looks for long ones that are like -b before it takes -b

        def parse_all(args: list[str]) -> Any:
            values, rest, order = parse(args)
            for option in repeated_options(order):
                self.given_again(option, values)
            for name, setting in read_settings(ctx, values).items() if self.settable else ():
                values[name] = setting.value
                ctx.meta[name] = setting.place
            return values, rest, order

        parser.parse_args = parse_all
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        output.begin(ctx, args)
        if part := next((word.removeprefix(PART) for word in args if word.startswith(PART)), ""):
            ctx.meta[PART] = part
            click.echo(self.get_help(ctx))
            ctx.exit()
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            if error.param and error.param.name in ctx.meta:
                error.message += f" ({ctx.meta[error.param.name]})"
            raise
        if not self.lenient:
            expand(ctx)
        return rest

    def given_again(self, option: click.Option, values: dict[str, Any]) -> None:
        """An option takes one value and has several, as from scripts with defaults before what is typed."""
        if declared := getattr(option, "declared", None):
            declared.check_once()
        if not values.get("quiet"):
            from vwlite.cli.output import say

            say(f"note: {option.opts[0]} is given more than once: the last one counts ({values[option.name]})")

    def invoke(self, ctx: click.Context) -> Any:
        check_named_files(ctx)
        return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(PART, "all") == "all":
            super().format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        part, sections = ctx.meta.get(PART, ""), self.sections(ctx)
        if part and part != "all":
            chosen = {name: records for name, records in sections.items() if name.lower().startswith(part.lower())}
            if not chosen:
                raise click.UsageError(f"{PART}{part}: {not_one_of(part, ['all', *map(str.lower, sections)])}", ctx)
            sections = chosen
        elif self.screen and not part:
            sections = self.first_screen(ctx)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)
        if self.screen and not part:
            formatter.write_paragraph()
            formatter.write_text(f"'{ctx.command_path} {PART}all' shows all options, {PART}PART one part of them:")
            with formatter.indentation():
                formatter.write_text(", ".join(name.lower() for name in self.sections(ctx)))

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return all options, each with its help, by heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and not isinstance(param, click.Argument):
                sections.setdefault(getattr(param, "heading", "Options"), []).append(record)
            meanings = getattr(getattr(param, "declared", None), "meanings", None)
            if meanings:
                sections["Losses"] = list(meanings.items())
        return sections

    def first_screen(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options of the short help, by task."""
        known = {param.name: param for param in self.get_params(ctx)}
        chosen = {task: [known[name] for name in names] for task, names in self.screen.items()}
        return {
            task: [(shortest_form(param), short_help(param)) for param in params] for task, params in chosen.items()
        }


def shortest_form(param: click.Parameter) -> str:
    """Return how an option is typed, in the fewest words."""
    assert isinstance(param, click.Option)
    names = sorted(param.opts, key=len)[: 2 if len(min(param.opts, key=len)) == 2 else 1]
    if param.is_flag:
        return ", ".join(names)
    metavar = "NAME" if isinstance(param.type, click.Choice) else param.make_metavar(NOWHERE)
    return f"{', '.join(names)} {metavar}"


def short_help(param: click.Parameter) -> str:
    """Return the help of an option, with the default of a learner that was not chosen."""
    declared = getattr(param, "declared", None)
    if declared is None:
        return getattr(param, "help", "") or ""
    return f"{declared.help}{f' [default: {declared.default_text}]' if declared.default_text else ''}"


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
            names = [error.option_name, *(word.partition("=")[0] for word in args if word.startswith("--"))]
            name = next(filter(what_instead, names), error.option_name)  # its own options may stand before it
            critical(f"unrecognised option '{name}'{what_instead(name)}")
        except click.UsageError as error:
            critical(error_sentence(error))
        ctx.exit(1)

    def given_again(self, option: click.Option, values: dict[str, Any]) -> None:
        raise click.UsageError(f"{option.opts[0]} is given twice: give one value")

    def settled(self, tokens: list[str]) -> list[str]:
        """The same tokens, each value after its own option: one that may repeat takes values up to the next option.

        An option may be given again with the same value.
        """
        options = {name: option for option in self.params if isinstance(option, click.Option) for name in option.opts}
        settled: list[str] = []
        first: dict[str, str] = {}
        added: dict[str, list[str]] = {}
        while tokens:
            token = tokens.pop(0)
            long = token.startswith("--")
            name, equals, value = token.partition("=") if long else (token[:2], token[2:], token[2:])
            option = options.get(name)
            if token == "--" or option is None or option.is_flag or not (equals or tokens):
                settled.append(token)
                continue
            values = [value if equals else tokens.pop(0)]
            several = option.name in ADDED_UP or (option.multiple and option.name != "data")
            while several and tokens and not looks_like_option(tokens[0]):
                values.append(tokens.pop(0))
            if option.name in ADDED_UP:
                added.setdefault(name, []).extend(values)
            elif option.multiple or option.name not in first or is_news(option, first[option.name], values[0]):
                settled += [part for value in values for part in (name, value)]
            first.setdefault(str(option.name), values[0])
        return [*(part for name, values in added.items() for part in (name, ",".join(values))), *settled]


def critical(message: str, file: TextIO | None = None) -> None:
    """``file``: standard output."""
    with suppress(OSError):  # the exit status tells it too
        print(f"[critical] vw: {laid_out(message)}", file=file)


def is_news(option: click.Option, first: str, later: str) -> bool:
    """Whether a later value of an option is another word or number than the first one, and counts to vw."""
    try:
        return option.name not in FIRST_WINS and first != later and float(first) != float(later)
    except ValueError:
        return True


def looks_like_option(token: str) -> bool:
    return token[:1] == "-" and len(token) > 1


def repeated_options(order: list[click.Parameter]) -> list[click.Option]:
    """Options that take one value and stand more than once among those typed."""
    options = [param for param in order if isinstance(param, click.Option)]
    singles = [option for option in options if not (option.multiple or option.is_flag or option.count)]
    return [option for option in dict.fromkeys(singles) if singles.count(option) > 1]


def similar_options(error: click.NoSuchOption) -> str:
    """The options of the command that the unknown one may be; empty for none."""
    params = error.ctx.command.params if error.ctx else []
    names = [name for param in params if isinstance(param, click.Option) and not param.hidden for name in param.opts]
    return proposal_text(error.option_name, names)


def of_training(error: click.NoSuchOption) -> str:
    """Tell where an option of ``vwlite train`` belongs that another command does not have; empty for another option."""
    root = error.ctx and error.ctx.find_root()
    train = root.command.get_command(root, "train") if root and isinstance(root.command, click.Group) else None
    params = train.params if train else []
    known = [plain_name(name) for param in params for name in (*param.opts, *param.secondary_opts)]
    if not error.ctx or plain_name(error.option_name) not in known:
        return ""
    params = error.ctx.command.params
    needs_model = any(param.name == "initial" and param.required for param in params)
    return f" ('vwlite train' has it{', whose options the model keeps' if needs_model else ''})"


def error_sentence(error: click.ClickException) -> str:
    """The message of click without the capital and the full stop."""
    text = error.format_message().strip()
    if isinstance(error, click.NoSuchOption):
        known = what_instead(error.option_name) or of_training(error) or similar_options(error)
        text = f"no such option {error.option_name}{known}"
    text = re.sub(r"^Invalid value for (.*?): ", lambda found: f"{found[1].split()[0].strip(chr(39))}: ", text)
    text = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return text.removesuffix(".")
