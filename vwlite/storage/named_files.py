"""What the values of options name: files that are read and written, and those that come with them.

A command says what it reads and what it writes by these classes alone, so that no file is forgotten.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vwlite.errors import InputMissing, UsageError
from vwlite.options import Option
from vwlite.storage.atomic_file import is_replaceable
from vwlite.storage.output_checks import BEST, CACHE, CHECKPOINT, LEDGER, LOCK, STANDARD_INPUT, STDOUT, File, is_url

KINDS = {LOCK: "lock", CHECKPOINT: "checkpoint", BEST: "best pass", LEDGER: "ledger", CACHE: "cache"}
DATA = ("input", "data", "test data", "held-out data", "labelled data")  # kinds that may be URLs
BY_TARGET = (LOCK, BEST)  # these are beside what a link points to
OF_PREDICTIONS = ("margin", "loss")  # difficulties of examples that a model's predictions tell
SHARD = "shard"  # the option with which a model's file is to hold a delta


MAGIC = re.compile(r"[*?\[]")  # what a pattern of names has


def expand_name(name: str) -> list[str]:
    """The files that the name of data stands for, sorted by their names: those in a folder, or those that a pattern of
    the shell (``days/*.gz``, ``**`` for folders within folders) matches; otherwise the name itself.

    Hidden files are left out, and what vwlite writes beside data and models. Raises InputMissing where there is none.
    """
    if name == "-" or is_url(name):
        return [name]
    if os.path.isdir(name):
        try:
            there = [entry for entry in os.scandir(name) if not entry.name.startswith(".") and not entry.is_dir()]
        except OSError as error:
            raise InputMissing(f"cannot read the folder {name}: {error.strerror}") from None
        listed = [entry.path for entry in there if entry.is_file() or entry.is_symlink()]  # no pipes or devices
        paths = sorted(path for path in listed if not path.endswith(tuple(KINDS)))
        if not paths:
            raise InputMissing(f"the folder {name} has no file to read (hidden files and folders in it do not count)")
        return paths
    if not MAGIC.search(name) or os.path.lexists(name):
        return [name]
    from glob import glob  # which few command lines need

    paths = sorted(path for path in glob(name, recursive=True) if not path.endswith(tuple(KINDS)))
    if not paths:
        raise InputMissing(f"no file matches {name}")
    files = (file for path in paths for file in expand_name(path))
    return list({os.path.normpath(file): file for file in files}.values())  # ``**`` matches folders and their files


class NamedFile:
    """``kind`` is what the file holds, its role in the run; ``beside`` ends the names of those that come with it."""

    def __init__(self, kind: str, *beside: str) -> None:
        self.kind, self.beside = kind, beside

    def check(self, value: str, option: str) -> None:
        """Raises UsageError for the empty name, which Vowpal Wabbit takes."""
        if not value:
            raise UsageError(f"{option} is empty, as a variable that is not set: name a file")

    def check_local(self, path: str, option: str) -> None:
        """Raises UsageError for a URL where none can be."""
        raise NotImplementedError

    def path(self, value: str) -> str | None:
        """The file that a value names, if it names one."""
        return value or None

    def values(self, given: Any) -> Iterable[str]:
        """Yield the values of an option one by one."""
        return (given,) if isinstance(given, str) else given or ()

    def files(self, value: str, option: str) -> Iterator[File]:
        """The file and those beside it. Raises UsageError as ``check_local``."""
        path = self.path(value)
        if path is None:
            return
        self.check_local(path, option)
        yield File(path, self.role(path), self.called(option, value))
        for ending in self.beside if self.has_others(path) else ():
            name = f"{os.path.realpath(path) if ending in BY_TARGET else path}{ending}"
            yield File(name, KINDS[ending], f"the {KINDS[ending]} of {option} {path}", beside=True)

    def role(self, path: str) -> str:
        return self.kind

    def called(self, option: str, value: str) -> str:
        """The file's name in messages."""
        raise NotImplementedError

    def has_others(self, path: str) -> bool:
        return True


class FileToRead(NamedFile):
    def check_local(self, path: str, option: str) -> None:
        if is_url(path) and self.kind not in DATA:
            raise UsageError(f"{option} {path}: only data are read from URLs; copy the {self.kind} to a local file")

    def role(self, path: str) -> str:
        if self.kind != "model":
            return self.kind
        from vwlite.storage.archive_reader import is_delta  # it imports NumPy, which --help need not

        return "delta" if is_delta(path) else "model"

    def called(self, option: str, value: str) -> str:
        role = self.role(self.path(value) or "")
        return f"the {role} of {option}" if option[0] in "-$" and role != "input" else f"the {role}"


class FileToWrite(NamedFile):
    stdout = False  # whether ``-`` is standard output

    def check(self, value: str, option: str) -> None:
        if value == "-" and not self.stdout:
            raise UsageError(f"{option} - would be a file called -: name a file, or /dev/stdout")
        super().check(value, option)

    def check_local(self, path: str, option: str) -> None:
        if is_url(path):
            raise UsageError(f"{option} {path}: only data are read from URLs; write to a local file, and copy that")

    def called(self, option: str, value: str) -> str:
        return f"{option} {value}"

    def has_others(self, path: str) -> bool:
        return path != "-" and is_replaceable(path)


class PredictionFile(FileToWrite):
    stdout = True

    def path(self, value: str) -> str | None:
        return "-" if value in STDOUT else super().path(value)


class DifficultyModel(FileToRead):
    """A value that may be ``margin:MODEL`` or ``loss:MODEL``."""

    def path(self, value: str) -> str | None:
        kind, _, model = value.partition(":")
        return model or None if kind in OF_PREDICTIONS else None


class LandmarkFile(FileToRead):
    """A value ``KERNEL:FILE``, or ``KERNEL:N``, which names no file."""

    def path(self, value: str) -> str | None:
        path = value.partition(":")[2]
        return None if path.isdecimal() else path or None


class NamesInFile(tuple[str, ...]):
    """Names that stand in the file ``path``."""

    path: str

    @classmethod
    def of(cls, names: Iterable[str], path: str) -> NamesInFile:
        names_in_file = cls(names)
        names_in_file.path = path
        return names_in_file


class NamesFile(FileToRead):
    """A value of names, or of a file with one in each line."""

    def values(self, given: Any) -> Iterable[str]:
        return (given.path,) if isinstance(given, NamesInFile) else ()


class SchedulerFile(FileToRead):
    """A value that may be an address."""

    def path(self, value: str) -> str | None:
        return value if os.path.isfile(value) else None


OTHERS: dict[str, NamedFile] = {  # by ``read_as``
    "scheduler": SchedulerFile("scheduler's file"),
    "difficulty": DifficultyModel("model of difficulty"),
    "landmarks": LandmarkFile("file of landmarks"),
    "names": NamesFile("file of names"),
}


def file_named_by(option: Option) -> NamedFile | None:
    """The kind of file that an option's value names; None: no file."""
    if option.writes:
        return (PredictionFile if option.writes == "predictions" else FileToWrite)(option.writes, *option.beside)
    if option.reads:
        return FileToRead(option.reads, *option.beside)
    return OTHERS.get(option.read_as)


def files_of(named: Iterable[tuple[NamedFile, Any, str]], values: Mapping[str, Any]) -> tuple[list[File], list[File]]:
    """The files that a run reads, and those that it writes.

    ``named``: what may be named, by a value or several, and the option as it is typed. ``values``: of all options.
    Raises UsageError for URLs where none can be.
    """
    reads: list[File] = [STANDARD_INPUT] if values.get("files") == () else []
    writes: list[File] = []
    for kind, given, option in named:
        into = writes if isinstance(kind, FileToWrite) else reads
        if into is writes and kind.kind == "model" and values.get(SHARD):
            kind = FileToWrite("delta", LOCK)
        for value in kind.values(given):
            into += kind.files(value, option)
    cache = cache_of(values)
    if cache and values.get("cache_file") is None:
        writes.append(File(cache, "cache", "the cache of -c", beside=True))
    if values.get("save_per_pass") and values.get("model"):
        writes += models_of_passes(values["model"], [*reads, *writes])
    return reads, writes


def cache_of(options: Mapping[str, Any]) -> str | None:
    """The file of the cache, None for none. Raises UsageError."""
    if options.get("cache_file") is not None or not options.get("cache"):
        return options.get("cache_file")
    first = (*options.get("files", ()), "-")[0]
    if is_url(first):
        raise UsageError(f"-c would write the cache beside the data {first}: name a local file by --cache_file")
    return CACHE if first == "-" else f"{first}{CACHE}"


def models_of_passes(model: str, files: list[File]) -> list[File]:
    """``MODEL.1``, ``MODEL.2`` and so forth: those that are there, and those that others have the names of."""
    folder, name = os.path.split(model)
    numbered = re.compile(re.escape(name) + r"\.[0-9]+")
    here = os.path.realpath(folder)
    names = {os.path.basename(file.path) for file in files if os.path.realpath(os.path.dirname(file.path)) == here}
    if os.path.isdir(here):
        names.update(os.listdir(here))
    numbered_names = sorted(filter(numbered.fullmatch, names))
    called = f"the model of a pass of -f {model}"
    return [File(os.path.join(folder, file), "model", called, beside=True) for file in numbered_names]
