"""Options, in families: a command takes the families it needs, and no option is spelled twice."""

from collections.abc import Callable
from typing import Any

import click

from vwlite.cli.files import Difficulty, FileName, JsonFile, Reads, Writes
from vwlite.cli.parser import Choice, ClassWeights, DataOption, Finite, Names, Whole
from vwlite.learners import config_classes
from vwlite.learners.configs.multiline import LdfConfig
from vwlite.learners.configs.per_class import ManyConfig
from vwlite.learners.losses import LossConfig
from vwlite.options import Option, options_of

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


def declared(one: Option, shown: str = "") -> Decorator:
    """The option of a command line that a configuration's field declares; ``shown``: its default in words."""
    help = f"{one.help}{' Repeatable.' if repeatable(one) else ''}{f' [default: {shown}]' if shown else ''}"
    names = (*one.spelled, one.key)
    if one.type == "bool":
        return family(one.section, click.option(*names, is_flag=True, help=help))
    kind, metavar = READ_AS[one.read_as or one.type]
    if one.choices:
        kind = Choice(one.choices)
    return family(
        one.section,
        click.option(*names, type=kind, metavar=one.metavar or metavar, multiple=repeatable(one), help=help),
    )


READ_AS: dict[str, tuple[click.ParamType, str | None]] = {  # annotation or ``read_as`` -> type, and how --help shows it
    "float": (Finite(), "X"),
    "int": (Whole(), "N"),
    "str": (click.STRING, None),
    "tuple[str, ...]": (click.STRING, None),
    "names": (Names(), None),
}


def repeatable(one: Option) -> bool:
    return one.type == "tuple[str, ...]" and not one.read_as


def options_of_learners(function: Callable[..., Any]) -> Callable[..., Any]:
    """All options of learners and losses. One that several learners have stands in --help with all its defaults."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for config in (LossConfig, *config_classes()):
        for one in options_of(config).values():
            defaults = found.setdefault(one.key, (one, [one.default_text]))[1]
            if one.default_text != defaults[0]:
                asked_by = config.asked_by
                text = f"--{asked_by[0]}: {one.default_text}" if len(asked_by) == 1 else one.default_text
                defaults += [text] if text not in defaults else []
    for one, defaults in reversed(found.values()):
        function = declared(one, "; ".join(filter(None, defaults)))(function)
    return function


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
    click.option(
        "--format",
        "kind",
        type=click.Choice(["vw", "svmlight"]),
        default="vw",
        help="Format of the text. [default: vw, or the model's]",
    ),
    count("--threads", help="Threads that parse; the result does not depend on it. [default: all cores]"),
    count("--examples", help="Read N examples at most, 0 for all. [default: 0]", default=0),
    count("--block-size", help="Bytes parsed at a time.", hidden=True),
)
cache_options = family(
    "Cache",
    flag("-c", "--cache", help="Keep the parsed data in FILE.cache for later passes and runs."),
    file(Writes("cache"), "--cache_file", help="Keep it there instead."),
    flag("-k", "--kill_cache", help="Make the cache anew even if it is up to date."),
)
bad_line_options = family(
    "Malformed lines",
    flag("--strict", help="Fail at the first malformed line."),
    number("--max-bad-ratio", help="Fail when a larger share of lines is malformed.", default=0.01, show_default=True),
    file(Writes("malformed lines"), "--bad-lines", help="Keep malformed lines there."),
)


def table_family(bits: str) -> Decorator:
    """``bits``: the default of ``-b``, in words."""
    slots = f"Bits of a slot's number: the table has 2^N slots. [default: {bits}]"
    return family(
        "Table of weights",
        count("-b", "--bit_precision", "bits", help=slots),
        click.option(
            "--hash", type=click.Choice(["strings", "all"]), help="Whether digits are numbers (strings) or names (all)."
        ),
        count("--hash_seed", help="Seed of the hash."),
    )


table_options = table_family("18")
feature_options = family(
    "Features",
    listed("-q", "--quadratic", help="Cross two namespaces: letters, ':' for any, or full names 'a,b'.", metavar="AB"),
    listed("--cubic", help="Cross three namespaces.", metavar="ABC"),
    listed("--interactions", help="Cross two or more namespaces.", metavar="ABC..."),
    flag("--permutations", help="Cross a namespace with itself in every order."),
    flag("--leave_duplicate_interactions", help="Keep interactions that differ only in order."),
    listed("--ignore", help="Drop namespaces beginning with these letters.", metavar="ABC"),
    listed("--keep", help="Drop all others.", metavar="ABC"),
    listed("--ignore_linear", help="Use them only within interactions.", metavar="ABC"),
    listed("--redefine", help="File namespaces S under letter N.", metavar="N:=S"),
    listed("--ngram", help="Add n-grams, of namespace A or of all.", metavar="[A]N"),
    listed("--skips", help="Let n-grams skip up to N features.", metavar="[A]N"),
    listed("--feature_limit", help="Keep N features of namespace A or of each.", metavar="[A]N"),
    text("--affix", help="Add prefixes (+) and suffixes (-) of length N of names, like +2a,-3b.", metavar="SPEC"),
    listed("--spelling", help="Add the spelling classes of names; _ is the anonymous namespace.", metavar="A"),
    flag("--noconstant", help="No constant feature."),
)
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
class_weights = family(
    "Classes",
    click.option("--classweight", type=ClassWeights(), metavar="L:W,...", help="Label L weighs W times as much."),
)
dot_product = family(
    "Dot products of latent vectors",
    listed("--dotproduct", help="Add the dot product of two namespaces' latent vectors.", metavar="AB|A,B"),
)
pass_options = family(
    "Passes",
    count("--passes", help="Passes over the data.", default=1, show_default=True),
    flag("--holdout_off", help="Learn from every example, also with several passes."),
    count("--holdout_period", help="Hold out every Nth line.", default=10, show_default=True),
    count("--holdout_after", help="Hold out all lines after the Nth.", default=0),
    click.option(
        "--shuffle/--no-shuffle", default=None, help="Shuffle later passes. [default: with --dotproduct, not with -p]"
    ),
    flag("--shuffle-first", help="Read all first, then learn it in random order, as sorted data need."),
    count("--early_terminate", help="Stop after N passes without gain.", default=3, show_default=True),
)
curriculum_options = family(
    "Curriculum",
    click.option(
        "--curriculum", "curriculum_order", type=click.Choice(["easy", "anti", "random"]),
        help="Begin with the easiest examples, the hardest or any; every pass admits more, in the end all.",
    ),
    file(
        *(Difficulty(), "--curriculum-by"),
        help="What makes them hard: length, rarest, margin:MODEL, value:NAMESPACE. [default: length]",
    ),
    number("--curriculum-start", help="Share of the first pass. [default: 0.25]"),
    count("--curriculum-passes", help="Pass from which on all take part. [default: half of --passes]"),
)
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
