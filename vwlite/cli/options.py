"""Options, in families: a command takes the families it needs, and no option is spelled twice."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from vwlite.cli.files import (
    ClassNames,
    Difficulty,
    FileName,
    Held,
    JsonFile,
    Landmarks,
    Predictions,
    Reads,
    Scheduler,
    Writes,
)
from vwlite.cli.parser import (
    Choice,
    ClassCount,
    ClassWeights,
    DataOption,
    Decays,
    Duration,
    Finite,
    LabelWeights,
    Levels,
    PerOutput,
    Whole,
)
from vwlite.data.config import CACHE_BESIDE, BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.features.config import LEARNED, OF_THETA, RANDOM, TABLE, WEIGHTING, FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.configs.base import LearnerConfig
from vwlite.learners.losses import LossConfig, TransferConfig
from vwlite.options import GIB, USUAL_MEMORY, MemoryConfig, Option, options_of
from vwlite.storage.output_checks import CHECKPOINT, LEDGER, LOCK
from vwlite.training.config import INITIAL, CheckpointConfig, CurriculumConfig, OutputConfig, RunConfig

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def family(heading: str, *options: Decorator) -> Decorator:
    """Make one decorator out of many, listed in --help in the order given, under ``heading`` if it is not empty."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            known = len(getattr(function, "__click_params__", ()))
            function = option(function)
            for param in function.__click_params__[known:] if heading else ():  # type: ignore[attr-defined]
                param.heading = heading
        return function

    return decorate


def flag(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, is_flag=True, help=help, **more)


def number(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=Finite(), metavar="X", help=help, **more)


def count(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=Whole(), metavar="N", help=help, **more)


def list_option(*names: str, help: str, metavar: str, **more: Any) -> Decorator:
    return click.option(*names, type=str, metavar=metavar, multiple=True, help=f"{help} Repeatable.", **more)


def file(type: FileName, *names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=type, metavar=type.metavar, help=help, **more)


def option_of_field(option: Option, shown: str | None = None) -> Decorator:
    """The option of a command line that a configuration's field declares; ``shown``: its default in words."""
    shown = option.default_text if shown is None else shown
    help = f"{option.help}{' Repeatable.' if option.is_repeatable else ''}{f' [default: {shown}]' if shown else ''}"
    more: dict[str, Any] = {"help": help, "hidden": option.hidden, "required": option.required}
    if option.type == "bool":
        either = "/" in option.spelled[0]
        more |= {"default": None} if either else {"is_flag": True}
    else:
        kind = type_of(option)
        metavar = option.metavar or getattr(kind, "metavar", None) or METAVARS.get(type(kind))
        metavar = "NAME" if option.meanings else metavar
        more |= {"type": kind, "metavar": metavar, "multiple": option.is_repeatable}
        has_default = option.default != "" and not option.required
        if has_default and option.shown is None and option.type in ("int", "float", "str"):
            more["default"] = option.default
    return family(option.section, keep_declaration(option, click.option(*option.spelled, option.key, **more)))


def keep_declaration(declared: Option, option: Decorator) -> Decorator:
    """Lets the option of the command line know its declaration."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function = option(function)
        function.__click_params__[-1].declared = declared  # type: ignore[attr-defined]
        return function

    return decorate


def type_of(option: Option) -> click.ParamType:
    if option.writes:
        return Predictions(*option.beside) if option.writes == "predictions" else Writes(option.writes, *option.beside)
    if option.reads:
        return Reads(option.reads, *option.beside)
    return Choice(option.choices) if option.choices else READ_AS[option.read_as or option.type]


READ_AS: dict[str, click.ParamType] = {  # of an option's annotation or ``read_as``
    "float": Finite(),
    "int": Whole(),
    "str": click.STRING,
    "tuple[str, ...]": click.STRING,
    "names": ClassNames(),
    "classes": ClassCount(),
    "class_weights": ClassWeights(),
    "label_weights": LabelWeights(),
    "levels": Levels(),
    "decays": Decays(),
    "per_output": PerOutput(),
    "difficulty": Difficulty(),
    "landmarks": Landmarks(),
    "scheduler": Scheduler(),
    "duration": Duration(),
    "held": Held(),
    "progress": click.STRING,
    "units": click.STRING,
}
METAVARS = {Finite: "X", Whole: "N"}


def options_in(
    config: type, section: str = "", only: Collection[str] = (), **changes: Mapping[str, Any]
) -> Decorator:
    """The options of a configuration that stand in this section, or those named put there.

    ``changes``: what is declared otherwise for a command.
    """
    known = options_of(config)
    members = [known[name] for name in only] or [option for option in known.values() if option.section == section]
    chosen = [option for option in members if only or not option.vw_only]
    placed = [option._replace(section=section, **changes.get(option.name, {})) for option in chosen]
    return family("", *map(option_of_field, placed))


def options_of_vw_alone(config: type) -> Decorator:
    return family("", *(option_of_field(option) for option in options_of(config).values() if option.vw_only))


def json_option(help: str) -> Decorator:
    """``--json FILE`` and ``--force``."""
    json = file(JsonFile(), "--json", "json_path", help=help)
    force = flag("--force", help="Let --json replace a file that vwlite did not write.")
    return lambda function: json(force(function))


memory_option = options_in(MemoryConfig, only=("max_memory",))
usual_memory_option = options_in(
    MemoryConfig, only=("max_memory",), max_memory={"default": USUAL_MEMORY / GIB, "shown": None}
)
data_files = click.argument("files", nargs=-1, type=Reads("input"), metavar="[FILE]...")
data_options = family(
    "Input",
    file(
        Reads("input"), "-d", "--data", help="Input file, - for stdin; the same as a bare FILE. Repeatable.",
        multiple=True, cls=DataOption,
    ),
    options_in(InputConfig, "Input"),
)
test_options = options_in(InputConfig, "Input")
cache_options = family(
    "Cache",
    option_of_field(CACHE_BESIDE),
    options_in(InputConfig, "Cache"),
)
bad_line_options = options_in(BadLinesConfig, "Malformed lines")
cache_options_without_k = family(  # where -k is something else
    "Cache", option_of_field(CACHE_BESIDE), options_in(InputConfig, "Cache", kill_cache={"spelled": ("--kill_cache",)})
)
table_options = family("", options_in(FeatureConfig, TABLE), options_in(MemoryConfig, TABLE))
feature_options = options_in(FeatureConfig, "Features")
feature_options_without_constant = options_in(  # where there is none; typed, it is refused with the reason
    FeatureConfig, "Features", noconstant={"hidden": True}
)
weighting_options = options_in(FeatureConfig, WEIGHTING)
random_options = options_in(FeatureConfig, RANDOM)
learned_options = options_in(FeatureConfig, LEARNED)
theta_options = options_in(FeatureConfig, OF_THETA)
class_weights = options_in(InputConfig, "Classes")
restart_options = options_in(CheckpointConfig, "Stopping and going on")
restart_options_without_i = options_in(  # where there is no model to go on from
    CheckpointConfig, "Stopping and going on", only=("every", "resume", "lock_wait")
)
names_option = options_in(OutputConfig, only=("names",))
progress_options = options_in(OutputConfig, "Progress", only=("progress", "quiet"))
bar_options = options_in(OutputConfig, "Progress", only=("bar",))


def quiet(help: str = options_of(OutputConfig)["quiet"].help) -> Decorator:
    return options_in(OutputConfig, only=("quiet",), quiet={"help": help})


def solver_output(**changes: Any) -> Decorator:
    """``-f`` of a run that can be stopped, with the files beside its model, and ``-i``."""
    model = {"beside": (LOCK, CHECKPOINT, LEDGER), **changes}
    initial = option_of_field(INITIAL._replace(section=""))
    return family("", options_in(OutputConfig, only=("model",), model=model), initial)


def output(*names: str, section: str = "", **changes: Mapping[str, Any]) -> Decorator:
    """Options of a run's outputs; where a run is never stopped, no other files come with them."""
    alone = {name: {"beside": (), **changes.get(name, {})} for name in names}
    return options_in(OutputConfig, section, names, **alone)


# What the first screens of --help have in common, by task.
MODEL = ("model", "initial", "names")
FROM_WHAT = ("kind", "columns", "quadratic", "ngram", "bits")
OUTPUT = ("json_path", "quiet")
NIGHTLY = ("skip_seen", "resume")


def options_of_learners(vw: bool = False) -> Decorator:
    """Declare all options of learners and losses, with the defaults that they have with other learners, or vw's."""
    by_name: dict[str, tuple[Option, dict[str, str]]] = {}
    for config in (LossConfig, *(() if vw else (TransferConfig,)), *config_classes()):
        of_learner = issubclass(config, LearnerConfig)
        selected_by, together = (config.selected_by, config.selected_together) if of_learner else ((), ())
        elsewhere = [option for name, option in options_of(FeatureConfig).items() if name in selected_by]
        for option in (*elsewhere, *options_of(config).values()):
            if option.vw_only and not vw:
                continue
            first, others = by_name.setdefault(option.key, (option, {}))
            if option.default_text not in ("", first.default_text, *others):
                learner = " and ".join(f"--{name}" for name in together or selected_by[:1])
                text = option.default_text
                others[text] = text if " with --" in text else f"with {learner}: {text}"
    return family(
        "",
        *(
            option_of_field(option, (vw and option.vw_shown) or defaults_text(option, others))
            for option, others in by_name.values()
        ),
    )


def defaults_text(option: Option, others: dict[str, str]) -> str:
    """The default of a plain learner, then those with others."""
    return "; ".join(filter(None, [option.default_text, *others.values()]))


pass_options = family(
    "",
    options_in(RunConfig, "Passes"),
    options_in(HoldoutConfig, "Passes"),
    options_in(InputConfig, "Passes"),
)
curriculum_options = options_in(CurriculumConfig, "Curriculum")
