"""Options, in families: a command takes the families it needs, and no option is spelled twice."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from vwlite.cli.files import Difficulty, FileName, JsonFile, Reads, Writes
from vwlite.cli.parser import Choice, ClassWeights, DataOption, Finite, Names, Whole
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.features.config import TABLE, FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.configs.multiline import LdfConfig
from vwlite.learners.configs.per_class import ManyConfig
from vwlite.learners.losses import LossConfig
from vwlite.options import Option, options_of
from vwlite.training.config import CurriculumConfig, RunConfig

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def family(heading: str, *options: Decorator) -> Decorator:
    """One decorator out of many, listed in --help in the order given, under ``heading`` if it is not empty."""

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


def text(*names: str, help: str, metavar: str, **more: Any) -> Decorator:
    return click.option(*names, type=str, metavar=metavar, help=help, **more)


def listed(*names: str, help: str, metavar: str, **more: Any) -> Decorator:
    return click.option(*names, type=str, metavar=metavar, multiple=True, help=f"{help} Repeatable.", **more)


def file(type: FileName, *names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=type, metavar=type.metavar, help=help, **more)


def declared(one: Option, shown: str | None = None) -> Decorator:
    """The option of a command line that a configuration's field declares; ``shown``: its default in words."""
    shown = one.default_text if shown is None else shown
    help = f"{one.help}{' Repeatable.' if repeatable(one) else ''}{f' [default: {shown}]' if shown else ''}"
    more: dict[str, Any] = {"help": help, "hidden": one.hidden}
    if one.type == "bool":
        either = "/" in one.spelled[0]
        more |= {"default": None} if either else {"is_flag": True}
    else:
        kind = type_of(one)
        metavar = one.metavar or getattr(kind, "metavar", None) or METAVARS.get(type(kind))
        more |= {"type": kind, "metavar": metavar, "multiple": repeatable(one)}
        if one.shown is None and one.type in ("int", "float", "str") and one.default != "":
            more["default"] = one.default
    return family(one.section, click.option(*one.spelled, one.key, **more))


def type_of(one: Option) -> click.ParamType:
    if one.writes:
        return Writes(one.writes)
    return Choice(one.choices) if one.choices else READ_AS[one.read_as or one.type]


READ_AS: dict[str, click.ParamType] = {  # of an option's annotation or ``read_as``
    "float": Finite(),
    "int": Whole(),
    "str": click.STRING,
    "tuple[str, ...]": click.STRING,
    "names": Names(),
    "class_weights": ClassWeights(),
    "difficulty": Difficulty(),
}
METAVARS = {Finite: "X", Whole: "N"}


def repeatable(one: Option) -> bool:
    return one.type == "tuple[str, ...]" and not one.read_as


def options_in(
    config: type, section: str = "", only: Collection[str] = (), **changes: Mapping[str, Any]
) -> Decorator:
    """The options of a configuration that stand in this section, some declared otherwise for a command."""
    found = [one for one in options_of(config).values() if one.section == section and not one.vw_only]
    chosen = [one._replace(**changes.get(one.name, {})) for one in found if not only or one.name in only]
    return family("", *map(declared, chosen))


def options_of_learners(vw: bool = False) -> Decorator:
    """All options of learners and losses, with all the defaults of one that several learners have, or vw's."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for config in (LossConfig, *config_classes()):
        asked_by = getattr(config, "asked_by", ())
        elsewhere = [one for name, one in options_of(FeatureConfig).items() if name in asked_by]
        for one in (*elsewhere, *options_of(config).values()):
            defaults = found.setdefault(one.key, (one, [one.default_text]))[1]
            if one.default_text != defaults[0]:
                text = f"--{asked_by[0]}: {one.default_text}" if len(asked_by) == 1 else one.default_text
                defaults += [text] if text not in defaults else []
    shown = [(one, (vw and one.vw_shown) or "; ".join(filter(None, defaults))) for one, defaults in found.values()]
    return family("", *(declared(one, text) for one, text in shown))


def options_of_vw_alone(config: type) -> Decorator:
    return family("", *(declared(one) for one in options_of(config).values() if one.vw_only))


def json_option(help: str) -> Decorator:
    """``--json FILE`` and ``--force``."""
    json = file(JsonFile(), "--json", "json_path", help=help)
    force = flag("--force", help="Let --json replace a file that vwlite did not write.")
    return lambda function: json(force(function))


max_memory = number("--max-memory", "memory", help="GiB that weights may take.", default=4.0, show_default=True)
data_files = click.argument("files", nargs=-1, type=Reads("input"), metavar="[FILE]...")
data_options = family(
    "Input",
    file(
        *(Reads("input"), "-d", "--data"), help="Input file, - for stdin; the same as a bare FILE. Repeatable.",
        multiple=True, cls=DataOption,
    ),
    options_in(InputConfig, "Input"),
)
cache_options = family(
    "Cache",
    flag("-c", "--cache", help="Keep the parsed data in FILE.cache for later passes and runs."),
    file(Writes("cache"), "--cache_file", help="Keep it there instead."),
    options_in(InputConfig, "Cache"),
)
bad_line_options = options_in(BadLinesConfig, "Malformed lines")
table_options = options_in(FeatureConfig, TABLE)
feature_options = options_in(FeatureConfig, "Features")
L1_MODELS = click.Choice(["binary", "multinomial", "crf"])
label_options = family(
    "Labels",
    *(declared(options_of(ManyConfig)[name]) for name in ("oaa", "csoaa", "multilabel_oaa", "named_labels")),
    declared(
        options_of(LdfConfig)["csoaa_ldf"]._replace(
            help="Lines 'class:cost | features', a blank line after each group."
        )
    ),
    click.option(
        "--l1", type=L1_MODELS,
        help="As 'vwlite l1 --model': -1/1 or 0/1; names; names along a sequence (an empty line ends one).",
    ),
)
class_weights = options_in(InputConfig, "Classes")
pass_options = family(
    "",
    options_in(RunConfig, "Passes"),
    options_in(HoldoutConfig, "Passes"),
    options_in(InputConfig, "Passes"),
)
curriculum_options = options_in(CurriculumConfig, "Curriculum")
lock_option = number(
    "--lock-wait", help="Seconds to wait while another process trains the same model. [default: 0]", default=0.0
)
progress_options = family(
    "Progress",
    text("-P", "--progress", help="Print a row every N examples or X.Y-fold. [default: 2.0]", metavar="N|X.Y"),
    flag("--quiet", help="Print nothing but errors."),
)
bar_options = family(
    "Progress",
    click.option("--bar/--no-bar", default=None, help="A bar on a terminal. [default: when the input's size is known]"),
)
