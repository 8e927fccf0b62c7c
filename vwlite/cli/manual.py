"""Pages of reference made from the declarations of commands and options: man pages, and Markdown for the site.

``python -m vwlite.cli.manual FOLDER [CHANGELOG.md]`` writes the man pages, with the version's date.
"""

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import click

from vwlite.cli.files import FileName
from vwlite.cli.parser import Command
from vwlite.cli.root import COMMANDS, cli
from vwlite.version import __version__

FILES = "files"  # in place of words: what is to be typed is the name of a file


class Known(NamedTuple):
    """A command with what may be typed after it."""

    name: str  # as it is typed: "aso learn"
    context: click.Context

    @property
    def command(self) -> click.Command:
        return self.context.command

    @property
    def options(self) -> list[click.Option]:
        """The options that its help shows."""
        params = self.command.get_params(self.context)
        return [param for param in params if isinstance(param, click.Option) and not param.hidden]

    @property
    def words(self) -> list[str] | str:
        """The values that may stand beside options: the names of commands, values of arguments, or FILES."""
        if isinstance(self.command, click.Group):
            return self.command.list_commands(self.context)
        if self.name == "help":
            return list(COMMANDS)
        choices = [values_of(param) for param in self.command.params if isinstance(param, click.Argument)]
        words = [word for values in choices if values != FILES for word in values]
        return words or (FILES if FILES in choices else [])


def values_of(param: click.Parameter) -> list[str] | str:
    """The values that an option or argument takes: words, FILES, or an empty list for any value."""
    if isinstance(param.type, FileName):
        return FILES
    return list(param.type.choices) if isinstance(param.type, click.Choice) else []


def list_commands() -> list[Known]:
    """The command line itself, all commands, and those of groups, each after its group."""
    return list(commands_below(Known("", click.Context(cli, info_name="vwlite", **cli.context_settings))))


def commands_below(known: Known) -> Iterator[Known]:
    yield known
    if isinstance(known.command, click.Group):
        for name in known.command.list_commands(known.context):
            subcommand = known.command.get_command(known.context, name)
            assert subcommand is not None
            context = click.Context(subcommand, parent=known.context, info_name=name, **subcommand.context_settings)
            yield from commands_below(Known(f"{known.name} {name}".strip(), context))


EXIT = {  # as docs/exit-codes.md has it
    "0": "success",
    "2": "usage: an unknown option, or one that contradicts another or the model",
    "65": "bad data",
    "66": "an input or model does not exist",
    "69": "an optional extra is missing",
    "70": "weights or predictions are not finite numbers",
    "71": "not enough memory",
    "73": "an output cannot be written",
    "74": "an input is truncated or cannot be read",
    "75": "another process trains the same model",
    "76": "a model or cache is damaged, of another kind, or from a newer version",
    "130, 143": "stopped by SIGINT, SIGTERM",
    "141": "the reader of standard output went away",
}


class Page(NamedTuple):
    """The page of a command."""

    name: str  # "vwlite aso learn"
    about: str
    usage: str
    examples: list[str]
    text: list[str]  # paragraphs
    sections: dict[str, list[tuple[str, str]]]  # heading: options as they are typed, and their help
    below: list[tuple[str, str]]  # commands of a group

    @property
    def file(self) -> str:
        return self.name.replace(" ", "-")


def make_pages() -> list[Page]:
    """Make a page for each command, and one of the list of them."""
    return [make_page(known) for known in list_commands()]


def make_page(known: Known) -> Page:
    command, context = known.command, known.context
    parts = cleandoc(command.help or "").split("\n\n")
    examples = [line for part in parts if part.startswith("\b") for line in part.splitlines()[1:]]
    text = [" ".join(part.split()) for part in parts if not part.startswith("\b")]
    commands = known.words if isinstance(command, click.Group) else []
    groups = [(name, next(iter(text_of(command, context, name)))) for name in commands]
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    return Page(context.command_path, text[0], usage, examples, text[1:], sections_of(known), groups)


def text_of(group: click.Command, context: click.Context, name: str) -> Iterator[str]:
    subcommand = group.get_command(context, name) if isinstance(group, click.Group) else None
    yield subcommand.get_short_help_str(120) if subcommand else ""


def sections_of(known: Known) -> dict[str, list[tuple[str, str]]]:
    """The options as --help has them, under its headings."""
    if isinstance(known.command, Command):
        return known.command.sections(known.context)
    records = (option.get_help_record(known.context) for option in known.options)
    return {"Options": [record for record in records if record]}


def release_date(changelog: str, version: str = __version__) -> str:
    """The date of a version's heading, ``## [0.1.0] - 2026-01-31``; empty before it is released."""
    heading = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changelog, re.M)
    return heading[1] if heading else ""


def to_man(page: Page, date: str = "") -> str:
    """The page as roff, for man(1). ``date``: of the version, never of the day, so that a wheel has the same bytes."""
    lines = [
        f'.TH {page.file.upper()} 1 "{date}" "vwlite {__version__}" "User Commands"',
        ".ad l",  # long option values leave lines that cannot be adjusted
        ".SH NAME", escape_roff(f"{page.file} - {page.about.rstrip('.')}"),
        ".SH SYNOPSIS", f".B {escape_roff(page.usage)}",
        ".SH EXAMPLES", ".nf", *map(escape_roff, page.examples), ".fi",
        ".SH DESCRIPTION", escape_roff(page.about),
    ]
    for paragraph in page.text:
        lines += [".PP", escape_roff(paragraph)]
    if page.below:
        lines += [".SH COMMANDS", *tagged_list(page.below)]
    for heading, options in page.sections.items():
        lines += [f".SH {escape_roff(heading.upper())}", *tagged_list(options)]
    lines += [".SH EXIT STATUS", *tagged_list(list(EXIT.items()))]
    lines += [".SH SEE ALSO", escape_roff(", ".join(f"{name}(1)" for name in related_pages(page)))]
    return "\n".join(lines) + "\n"


def tagged_list(entries: list[tuple[str, str]]) -> list[str]:
    lines = ((".TP", f".B {escape_roff(name)}", escape_roff(help or "\u2014")) for name, help in entries)
    return [line for entry in lines for line in entry]


def related_pages(page: Page) -> list[str]:
    if page.below:
        return [f"{page.file}-{name}" for name, _ in page.below]
    return [page.file.rpartition("-")[0]]


def escape_roff(text: str) -> str:
    """Text that roff shows as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("\u2014", "\\(em")
    return f"\\&{escaped}" if escaped[:1] in (".", "\\") else escaped


def to_markdown(page: Page) -> str:
    """The page for the site."""
    lines = [f"# {page.name}", "", page.about, "", "```text", *(page.examples or [page.usage]), "```", ""]
    lines += [f"Usage: `{page.usage}`", ""]
    for paragraph in page.text:
        lines += [escape_markdown(paragraph), ""]
    if page.below:
        rows = (f"| {link_to(page, name)} | {escape_markdown(help)} |" for name, help in page.below)
        lines += ["| command | |", "|---|---|", *rows, ""]
    lines += [f"```{{program}} {page.name}", "```", ""]  # whose options follow, each with an anchor
    for heading, options in page.sections.items():
        lines += [f"## {heading}", ""]
        for name, help in options:
            lines += [*open_entry(page, name), escape_markdown(help), "````" if name.startswith("-") else "", ""]
    return "\n".join(lines)


def open_entry(page: Page, name: str) -> list[str]:
    """The begin of an option, with an anchor; of what is no option, such as a value, its name."""
    if not name.startswith("-"):
        return [f"`{name}`", ""]
    return [f"````{{option}} {name}", ""]


def link_to(page: Page, name: str) -> str:
    return f"[{page.name} {name}]({page.file}-{name}.md)"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, with options as code."""
    escaped = re.sub(r"([\\*_<>|\[\]`$])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--?[a-zA-Z](?:[\w-]|\\_)*)", lambda found: f"`{found[1].replace(chr(92), '')}`", escaped)


def write(folder: Path, date: str = "") -> list[Path]:
    """The man pages, as files of a folder; ``date`` as ``to_man`` has it."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in make_pages():
        path = folder / f"{page.file}.1"
        path.write_text(to_man(page, date), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]), *(release_date(Path(name).read_text(encoding="utf-8")) for name in sys.argv[2:]))
