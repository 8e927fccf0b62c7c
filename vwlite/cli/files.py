"""The types of options whose values name files, and what is looked at in all of them before a command begins.

A command says what it reads and what it writes by these types alone, so that no file is forgotten.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from vwlite.errors import UsageError
from vwlite.numerals import read_decimal
from vwlite.storage.atomic_file import is_replaceable
from vwlite.storage.output_checks import BEST, CACHE, CHECKPOINT, LEDGER, LOCK, STDOUT, File, check

KINDS = {LOCK: "lock", CHECKPOINT: "checkpoint", BEST: "best pass", LEDGER: "ledger", CACHE: "cache"}
BY_TARGET = (LOCK, BEST)  # these are beside what a link points to

METAVARS = {"model": "MODEL", "Theta": "THETA"}


class FileName(click.ParamType):
    """The name of a file; ``kind`` is what it holds, ``beside`` what ends the names of those that come with it."""

    name = "file"

    def __init__(self, kind: str, *beside: str) -> None:
        self.kind, self.beside = kind, beside
        self.metavar = METAVARS.get(kind, "FILE")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Raises UsageError for the empty name, which Vowpal Wabbit takes."""
        if not value and not lenient(ctx):
            raise UsageError(f"{spelled(param)} is empty, as a variable that is not set: name a file")
        return value

    def path(self, value: str) -> str | None:
        """The file that a value names, if it names one."""
        return value or None

    def files(self, value: str, option: str) -> Iterator[File]:
        """The file and those beside it."""
        path = self.path(value)
        if path is None:
            return
        yield File(path, self.kind, self.called(option, value))
        for ending in self.beside if self.has_others(path) else ():
            name = f"{os.path.realpath(path) if ending in BY_TARGET else path}{ending}"
            yield File(name, KINDS[ending], f"the {KINDS[ending]} of {option} {path}", beside=True)

    def called(self, option: str, value: str) -> str:
        raise NotImplementedError

    def has_others(self, path: str) -> bool:
        return True


class Reads(FileName):
    def called(self, option: str, value: str) -> str:
        of_option = option.startswith("-") and self.kind != "input"
        return f"the {self.kind} of {option}" if of_option else f"the {self.kind}"


class Writes(FileName):
    """``stdout``: ``-`` is standard output."""

    def __init__(self, kind: str, *beside: str, stdout: bool = False) -> None:
        super().__init__(kind, *beside)
        self.stdout = stdout

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "-" and not self.stdout and not lenient(ctx):
            raise UsageError(f"{spelled(param)} - would be a file called -: name a file, or /dev/stdout")
        return super().convert(value, param, ctx)

    def called(self, option: str, value: str) -> str:
        return f"{option} {value}"

    def has_others(self, path: str) -> bool:
        return path != "-" and is_replaceable(path)


class JsonFile(Writes):
    def __init__(self) -> None:
        super().__init__("JSON", stdout=True)


class Predictions(Writes):
    def __init__(self, *beside: str) -> None:
        super().__init__("predictions", *beside, stdout=True)

    def path(self, value: str) -> str | None:
        return "-" if value in STDOUT else super().path(value)


class Difficulty(Reads):
    """What may be ``margin:MODEL``."""

    def __init__(self) -> None:
        super().__init__("model of margins")
        self.metavar = "WHAT"

    def path(self, value: str) -> str | None:
        return value.partition(":")[2] or None if value.startswith("margin:") else None


class Held(Reads):
    """A number, or a file."""

    def __init__(self) -> None:
        super().__init__("held-out data")
        self.metavar = "X|N|FILE"

    def path(self, value: str) -> str | None:
        try:
            read_decimal(value)
        except ValueError:
            return value
        return None


def lenient(ctx: click.Context | None) -> bool:
    return getattr(ctx and ctx.command, "lenient", False)


def spelled(param: click.Parameter | None) -> str:
    """An option as it is typed, an argument as --help shows it."""
    if isinstance(param, click.Option):
        return param.opts[0]
    return param.human_readable_name.strip("[].") if param else "the name"


def guard(ctx: click.Context) -> None:
    """Look at all files that a command line names. Raises UsageError and OutputError, as ``check``."""
    reads, writes = files_of(ctx.command.params, ctx.params)
    check(reads, writes, links=lenient(ctx))
    report = ctx.params.get("json_path")
    if ctx.params.get("force"):
        if not report:
            raise UsageError("--force does nothing without --json")
    elif report and report != "-" and is_replaceable(report):
        from vwlite.cli.jsonfile import check_own

        check_own(report)


def files_of(params: list[click.Parameter], values: Mapping[str, Any]) -> tuple[list[File], list[File]]:
    """What a command reads, and what it writes."""
    reads: list[File] = []
    writes: list[File] = []
    for param in params:
        if isinstance(param.type, FileName):
            into = writes if isinstance(param.type, Writes) else reads
            given = values.get(param.name)
            for value in (given,) if isinstance(given, str) else given or ():
                into += param.type.files(value, spelled(param))
    cache = cache_of(values)
    if cache and values.get("cache_file") is None:
        writes.append(File(cache, "cache", "the cache of -c", beside=True))
    if values.get("save_per_pass") and values.get("model"):
        writes += models_of_passes(values["model"], [*reads, *writes])
    return reads, writes


def cache_of(options: Mapping[str, Any]) -> str | None:
    """The file of the cache, None for none."""
    if options.get("cache_file") is not None or not options.get("cache"):
        return options.get("cache_file")
    first = (*options.get("files", ()), "-")[0]
    return CACHE if first == "-" else f"{first}{CACHE}"


def models_of_passes(model: str, files: list[File]) -> list[File]:
    """``MODEL.1``, ``MODEL.2`` and so forth: those that are there, and those that others have the names of."""
    folder, name = os.path.split(model)
    numbered = re.compile(re.escape(name) + r"\.[0-9]+")
    here = os.path.realpath(folder)
    names = {os.path.basename(file.path) for file in files if os.path.realpath(os.path.dirname(file.path)) == here}
    if os.path.isdir(here):
        names.update(os.listdir(here))
    found = sorted(filter(numbered.fullmatch, names))
    called = f"the model of a pass of -f {model}"
    return [File(os.path.join(folder, one), "model", called, beside=True) for one in found]
