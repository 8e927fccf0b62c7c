"""The options of ``vwlite train`` as keyword arguments and as one string, read from their declarations."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from vwlite.api.option_values import READERS, text, what_instead
from vwlite.data.config import CACHE_BESIDE, BadLinesConfig, HoldoutConfig, InputConfig, ShardConfig
from vwlite.errors import UsageError
from vwlite.evaluation.config import RankingConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.losses import LossConfig, TransferConfig, spelled_out
from vwlite.options import Option, OptionValues, options_of, proposal_text
from vwlite.storage.named_files import file_named_by
from vwlite.training.config import INITIAL, CheckpointConfig, CurriculumConfig, OutputConfig, RunConfig

log = logging.getLogger("vwlite")
OF_RUNS = (InputConfig, HoldoutConfig, CurriculumConfig, RunConfig, BadLinesConfig)
OF_FILES = ("kill_cache", "cache", "keep", "block_size")  # of the configurations of runs: they are about files
OF_CONSOLES = ("progress", "by_file", "quiet", "bar")


@cache
def declared_options(files: bool = False) -> Mapping[str, Option]:
    """The options that a model takes, or one of ``files``, by the name under which configurations are made of them."""
    options: dict[str, Option] = {}
    of_files = (CheckpointConfig, ShardConfig) if files else ()
    for config in (FeatureConfig, LossConfig, TransferConfig, *config_classes(), *OF_RUNS, *of_files):
        for option in options_of(config).values():
            hidden = option.vw_only or option.name == "shard"  # whose output is no model
            if not hidden and (files or not (config in OF_RUNS and option.name in OF_FILES)):
                options.setdefault(option.key, option)
    for option in options_of(OutputConfig).values():
        if option.name == "names" or (files and not option.vw_only and option.name not in OF_CONSOLES):
            options[option.key] = option
    return {**options, **({option.key: option for option in (CACHE_BESIDE, INITIAL)} if files else {})}


@cache
def names(files: bool) -> Mapping[str, str]:
    """The key of an option by each of its spellings as a Python name."""
    spellings = {key: key for key in declared_options(files)}
    for key, option in declared_options(files).items():
        for spelling in option.spelled:
            for name in spelling.split("/"):
                if name.startswith("--") and not name.startswith("--no-"):
                    spellings.setdefault(name[2:].replace("-", "_"), key)
    return spellings


def read_options(args: str, keywords: Mapping[str, Any], files: bool = False) -> OptionValues:
    """The options of a string, as they are typed after ``vwlite train``, and of keyword arguments, which come last.

    ``files``: those that are about files are among them. Raises UsageError for unknown ones, with those that are
    spelled much like them, and for values of another type.
    """
    options, known = dict(from_string(args, files)), declared_options(files)
    for name, value in keywords.items():
        key = names(files).get(name)
        if key is None:
            raise UsageError(f"no such option {name}{instead_of_keyword(name, files)}")
        if value is not None:
            options[key] = convert_value(known[key], value)
    given = {key: value for key, value in options.items() if value is not False or known[key].default is not False}
    return spelled_out(given)


def instead_of_keyword(name: str, files: bool) -> str:
    """Tell what to write in place of an unknown keyword argument; empty where nothing is like it."""
    if not files and (instead := IN_PYTHON.get(f"--{name}")):
        return instead
    if not files and name in names(True):
        return f": vwlite.train(FILE, {name}=...), which learns files, has it"
    return what_instead(name) or proposal_text(name, names(files))


def ranking_config(keywords: Mapping[str, Any]) -> RankingConfig:
    """The keywords of ``Model.evaluate`` that only metrics of rankings have. Raises UsageError for others."""
    known = options_of(RankingConfig)
    for name in keywords.keys() - known.keys():
        near = proposal_text(name, ("metrics", "qid", "weight", "base", "names", "namespaces", "kind", *known))
        raise UsageError(f"evaluate has no keyword {name}{near}")
    return RankingConfig(**keywords)


def convert_value(option: Option, value: Any) -> Any:
    """A keyword's value as configurations take it. Raises UsageError."""
    if option.type == "bool":
        if not isinstance(value, bool):
            raise UsageError(f"{option.display_name} takes True or False, not {value!r}")
        return value
    if option.type.startswith("tuple") and not isinstance(value, str):
        return tuple(tuple(part) if isinstance(part, list) else part for part in value)
    return reader_of(option)(value) if not option.is_repeatable else (value,)


def reader_of(option: Option) -> Callable[[Any], Any]:
    """The function that reads a value; it raises UsageError."""
    read: Callable[[Any], Any] = READERS.get(option.read_as or option.type, text)
    file = file_named_by(option)

    def value_of(value: Any) -> Any:
        try:
            result = read(value)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{option.display_name}: {error}") from None
        option.check(result)
        if file:
            file.check(result, option.display_name)
        return result

    return value_of


def from_string(args: str, files: bool = False) -> OptionValues:
    """The options of words as they are typed; of one that is given twice the last value counts, or both."""
    try:
        words = shlex.split(args)
    except ValueError as error:
        raise UsageError(f"{args!r}: {error}") from None
    options: dict[str, Any] = {}
    unused: list[str] = []
    while words:
        word = words.pop(0)
        short = word[:1] == "-" != word[1:2]
        name, equals, value = (word[:2], word[2:], word[2:]) if short else word.partition("=")
        known = spellings(files).get(plain_spelling(name))
        if known is None and not files and plain_spelling(name) in idle():
            if idle()[plain_spelling(name)] and not (equals or words):
                raise UsageError(f"option '{name}' requires an argument")
            if idle()[plain_spelling(name)] and not equals:
                words.pop(0)
            unused.append(name)
            continue
        if known is None:
            instead = "" if files else IN_PYTHON.get(plain_spelling(name), "")
            instead = instead or what_instead(name) or proposal_text(name, spellings(files))
            raise UsageError(f"no such option {name}{instead}")
        key, is_on = known
        option = declared_options(files)[key]
        if option.type == "bool":
            if equals:
                raise UsageError(f"option '{name}' does not take a value")
            options[key] = is_on
            continue
        if not equals and not words:
            raise UsageError(f"option '{name}' requires an argument")
        read = reader_of(option)(value if equals else words.pop(0))
        if key in options:
            option.check_once()
        options[key] = (*options.get(key, ()), read) if option.is_repeatable else read
    if unused:
        level = logging.INFO if "--quiet" in unused else logging.WARNING
        several = f"{', '.join(unused[:-1])} and {unused[-1]} do" if unused[1:] else f"{unused[0]} does"
        log.log(level, "%s nothing in memory", several)
    return options


IN_PYTHON = {
    **dict.fromkeys(
        ("-i", "--initial_regressor", "--initial", "--load", "--load_model"), ": Model.load(FILE) opens a model"
    ),
    **dict.fromkeys(("--final_regressor", "--model", "--save", "--save_model"), ": save(FILE) writes a model"),
    **dict.fromkeys(("-d", "--data"), ": learn(Path(FILE)) reads a file"),
}
OF_VW = {
    **dict.fromkeys(("-t", "--testonly", "--save_resume", "--preserve_performance_counters", "--no_stdin"), False),
    **dict.fromkeys(("--log_level", "--log_output", "--limit_output"), True),
}


@cache
def idle() -> Mapping[str, bool]:
    """The options of commands that a model in memory takes but has nothing to do for, and whether they have a value."""
    every = [*options_of(OutputConfig).values(), CACHE_BESIDE, *map(options_of(InputConfig).get, OF_FILES)]
    keywords = dict(OF_VW)
    for option in filter(None, every):
        for spelling in option.spelled:
            keywords.update(dict.fromkeys(map(plain_spelling, spelling.split("/")), not option.type.startswith("bool")))
    return {name: value for name, value in keywords.items() if name not in spellings(False)}


@cache
def spellings(files: bool) -> Mapping[str, tuple[str, bool]]:
    """List by spelling the option that it stands for, and whether it switches it on."""
    return {
        plain_spelling(name): (key, not (place and "/" in spelling))
        for key, option in declared_options(files).items()
        for spelling in option.spelled
        for place, name in enumerate(spelling.split("/"))
    }


def plain_spelling(name: str) -> str:
    """Names may be typed with ``-`` or ``_`` between words."""
    return name[:2] + name[2:].replace("-", "_")
