"""The types of options whose values name files, and what is looked at in all of them before a command begins."""

import os
from collections.abc import Iterable
from typing import Any

import click

from vwlite.api import option_values
from vwlite.data.config import named_kind
from vwlite.errors import UsageError
from vwlite.options import read_decimal
from vwlite.storage.atomic_file import is_replaceable
from vwlite.storage.named_files import (
    DATA,
    DifficultyModel,
    FileToRead,
    FileToWrite,
    LandmarkFile,
    NamedFile,
    NamesFile,
    PredictionFile,
    SchedulerFile,
    expand_name,
    files_of,
)
from vwlite.storage.output_checks import check, is_url

METAVARS = {"model": "MODEL", "mask": "MODEL", "Theta": "THETA"}


class FileName(NamedFile, click.ParamType):
    """The name of a file; empty ones and others that cannot be meant are refused, but by ``vwlite vw``."""

    name = "file"

    def __init__(self, kind: str, *beside: str) -> None:
        super().__init__(kind, *beside)
        self.metavar = METAVARS.get(kind, "FILE")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Raises UsageError."""
        if not is_lenient(ctx):
            self.check(value, spelling_of(param))
        return value


class Reads(FileName, FileToRead):
    pass


class Writes(FileName, FileToWrite):
    """``stdout``: ``-`` is standard output."""

    def __init__(self, kind: str, *beside: str, stdout: bool = False) -> None:
        super().__init__(kind, *beside)
        self.stdout = stdout


class JsonFile(Writes):
    def __init__(self) -> None:
        super().__init__("JSON", stdout=True)


class Predictions(PredictionFile, Writes):
    def __init__(self, *beside: str) -> None:
        super().__init__("predictions", *beside, stdout=True)


class Difficulty(DifficultyModel, Reads):
    def __init__(self) -> None:
        super().__init__("model of difficulty")
        self.metavar = "WHAT"


class Landmarks(LandmarkFile, Reads):
    """``KERNEL:FILE``, or ``KERNEL:N``."""

    def __init__(self) -> None:
        super().__init__("file of landmarks")
        self.metavar = "KERNEL:FILE|N"


class ClassNames(NamesFile, Reads):
    """Names separated by commas, or ``@FILE``."""

    def __init__(self) -> None:
        super().__init__("file of names")
        self.metavar = "NAME,...|@FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not is_lenient(ctx) and isinstance(value, str):
            self.check(value, spelling_of(param))
        try:
            return option_values.words(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Scheduler(SchedulerFile, Reads):
    def __init__(self) -> None:
        super().__init__("scheduler's file")
        self.metavar = "ADDRESS"


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


class People(Reads):
    """A file, or a feature as ``namespace=name``."""

    def __init__(self) -> None:
        super().__init__("input")
        self.metavar = "FILE|NS=NAME"

    def path(self, value: str) -> str | None:
        return None if is_feature(value) else super().path(value)


PATH, NAME = "{}", "{/}"  # of ``predict --each``: what stands for the input's path, for its name without the folder


def output_of(path: str, pattern: str) -> str:
    """The file of predictions that ``--each`` has for an input."""
    return os.path.basename(path).join(part.replace(PATH, path) for part in pattern.split(NAME))


def expand(ctx: click.Context) -> None:
    """Put the files in the place of folders and patterns where any number of files of data may stand.

    What an earlier ``--each`` wrote beside files found there is left out. Raises InputMissing as
    ``vwlite.storage.named_files.expand_name``.
    """
    each = ctx.params.get("each")
    for param in ctx.command.params:
        kind, values = param.type, ctx.params.get(param.name or "")
        if isinstance(kind, FileToRead) and kind.kind in DATA and isinstance(values, tuple):
            paths = ([value] if kind.path(value) is None else expand_name(value) for value in values)
            ctx.params[param.name or ""] = tuple(file for files in paths for file in without_outputs(files, each))


def without_outputs(files: list[str], each: str | None) -> list[str]:
    """The files but for those that ``--each`` names for others among them, unless their names are those of data."""
    outputs = {output for file in files if each and (output := output_of(file, each)) != file}
    return [file for file in files if file not in outputs or named_kind((file,))]


def is_feature(value: str) -> bool:
    """Whether it is ``namespace=name``; the path of a URL may have parts like that."""
    return "=" in value and not is_url(value)


def is_lenient(ctx: click.Context | None) -> bool:
    return getattr(ctx and ctx.command, "lenient", False)


def spelling_of(param: click.Parameter | None, ctx: click.Context | None = None) -> str:
    """An option as it is typed or, in ``ctx``, the variable that sets it; an argument as --help shows it."""
    if ctx and param and ctx.get_parameter_source(param.name or "") == click.core.ParameterSource.ENVIRONMENT:
        return f"${param.envvar}"
    if isinstance(param, click.Option):
        return param.opts[0]
    return param.human_readable_name.strip("[].") if param else "the name"


def check_named_files(ctx: click.Context, others: Iterable[tuple[NamedFile, Any, str]] = ()) -> None:
    """Look at all files that a command line names, and at ``others``, as ``files_of`` has them.

    Raises UsageError and OutputError, as ``check``.
    """
    files = [param for param in ctx.command.params if isinstance(param.type, FileName)]
    named = [(param.type, ctx.params.get(param.name or ""), spelling_of(param, ctx)) for param in files]
    check(*files_of([*named, *others], ctx.params), links=is_lenient(ctx), prints=True)
    report = ctx.params.get("json_path")
    if ctx.params.get("force"):
        if not report:
            raise UsageError("--force does nothing without --json")
    elif report and report != "-" and is_replaceable(report):
        from vwlite.cli.output import check_own

        check_own(report)
