"""Options, each declared once: as a field of the configuration that it belongs to.

Command lines and their help, the checks of values and of what is typed beside ``-i`` are read from these fields.
Numbers, in options and in text, are ASCII digits with a sign, a point, an exponent: Python's own ``int`` and ``float``
read other digits, blanks, underscores between digits, ``nan`` and ``inf`` besides.
Nothing here needs click, NumPy or a kernel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from vwlite.errors import UsageError

OptionValues = Mapping[str, Any]  # of options, by name: their types are checked where a configuration is made of them
AUTO = "auto"  # in place of a number of classes: as many as the labels are


class Option(NamedTuple):
    """The declaration of an option. ``low`` and ``high`` are among its values, ``above`` and ``below`` are not."""

    help: str
    section: str = ""  # of --help
    spelled: tuple[str, ...] = ()  # as it is typed; messages use the first
    key: str = ""  # its name among the arguments of a command
    metavar: str = ""
    unit: str = ""  # what a whole number counts
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    meanings: Mapping[str, str] | None = None  # of the choices, where these are listed apart
    elsewhere: tuple[tuple[str, str], ...] = ()  # values that are no choices, and the options that have them
    read_as: str = ""  # how values are read, where the annotation does not tell: names, class_weights, per_output
    reads: str = ""  # the value names a file that has this
    writes: str = ""  # the value names a file for this
    beside: tuple[str, ...] = ()  # what ends the names of the files that come with it
    letters: bool = False  # values name namespaces by the first byte of their names
    needs: tuple[str, ...] = ()  # keys of options: without any of them it does nothing; or "name=value" of a field
    shown: str | None = None  # the default in words, "" for none; None: the field's default
    settled: bool = False  # a model keeps it: another value beside -i is refused when the model is to learn on
    shape: bool = False  # another value beside -i is always refused: the weights would mean nothing
    needed: bool = False  # the field's default is no value: it only stands for one that is not given
    required: bool = False  # by a command
    vw_only: bool = False
    vw_shown: str | None = None  # vw's default in words, where it is another
    in_vw_models: str = "kept"  # or forgotten; resumable: kept where learning can go on; added: to what is typed
    hidden: bool = False
    once: str = ""  # what to do in place of typing it again, where another value would not mean to replace the first
    # of the field
    name: str = ""
    type: str = ""  # its annotation, of one value where there may be several, without "| None"
    default: Any = None

    @property
    def display_name(self) -> str:
        return self.spelled[0].partition("/")[0]

    @property
    def is_repeatable(self) -> bool:
        """Whether each further value is added to those before."""
        return self.type == "tuple[str, ...]" and not self.read_as

    @property
    def default_text(self) -> str:
        if self.shown is not None:
            return self.shown
        if self.type in ("int", "float"):
            return "" if self.default is None else f"{self.default:g}"
        return (self.default or "") if self.type == "str" else ""

    @property
    def bounds_text(self) -> str:
        """Which numbers the option takes."""
        low, high = self.low, self.high
        if self.type == "int":
            unit = f" {self.unit}" if self.unit else ""
            if high is None:
                return f"{low} or more{unit}"
            return f"{low} {'or' if high - low == 1 else 'to'} {high}{unit}"
        begin = f"of {low:g} or more" if low is not None else f"above {self.above:g}" if self.above is not None else ""
        if high is None and self.below is None:
            return f"a number {begin}" if begin else "a finite number"
        if low is not None and high is not None:
            return f"a number from {low:g} to {high:g}"
        end = f"up to {high:g}" if high is not None else f"below {self.below:g}"
        return f"a number {begin} and {end}"

    def check(self, value: Any) -> None:
        """Raises UsageError for a value, of the declared type, that the option does not take."""
        if isinstance(value, tuple) and self.read_as == "per_output":
            for one in value:
                self.check(one)
            return
        if value == self.default and not self.needed:
            return
        if self.choices and isinstance(value, str) and value not in self.choices:
            raise UsageError(f"{self.display_name}: {not_one_of(value, self.choices, self.instead_of(value))}")
        if self.type in ("int", "float") and isinstance(value, int | float) and not self.within(value):
            text = value if self.type == "int" else f"{value:g}"
            raise UsageError(f"{self.display_name} takes {self.bounds_text}, not {text}")

    def instead_of(self, value: str) -> str:
        """As ``not_one_of`` has it; empty where no other option has the value."""
        replacement = dict(self.elsewhere).get(value, "")
        return f": {replacement} is it" if replacement else ""

    def check_once(self) -> None:
        """Raises UsageError where the option may not be given again."""
        if self.once:
            raise UsageError(f"{self.display_name} is given twice: {self.once}")

    def within(self, value: float) -> bool:
        return (
            -math.inf < value < math.inf
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


def not_one_of(value: Any, choices: Collection[str], instead: str = "") -> str:
    """That a value is not among ``choices``, with what to use ``instead`` or the one that is spelled most like it."""
    from difflib import get_close_matches

    near = [] if instead else get_close_matches(SYNONYMS.get(str(value), str(value)), choices, n=1)
    return f"{value!r} is not one of {', '.join(choices)}{f' (did you mean {near[0]}?)' if near else instead}"


def option(default: Any, help: str, **declared: Any) -> Any:
    """A field of a configuration that is an option; ``declared`` as ``Option`` has it.

    It is spelled ``--`` and the field's name unless ``spelled`` says otherwise, and known to commands by that name
    unless ``key`` does.
    """
    return field(default=default, metadata={"option": Option(help, **declared)})


def again(config: type, name: str, default: Any, **declared: Any) -> Any:
    """The option ``name`` of another configuration, with a default of its own."""
    return field(default=default, metadata={"option": options_of(config)[name]._replace(**{"shown": None, **declared})})


def check_needs(config: Config, given: Collection[str]) -> None:
    """Raises UsageError for the first of the fields ``given`` that does nothing beside the values of other fields."""
    for name, one in options_of(type(config)).items():
        values = [need.partition("=") for need in one.needs if "=" in need]
        if name in given and values and not any(getattr(config, other) == value for other, _, value in values):
            known = options_of(type(config))
            needed = " or ".join(f"{known[other].display_name} {value}" for other, _, value in values)
            raise UsageError(f"{one.display_name} does nothing without {needed}")


def options_of(config: type) -> Mapping[str, Option]:
    """The options among the fields of a configuration class, by the names of the fields."""
    return config.OPTIONS  # type: ignore[attr-defined,no-any-return]


class Config:
    """A record of options, checked when it is made and never changed.

    A dataclass whose methods are not generated for each class: a dozen of them are defined in a tenth of the time.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    OPTIONS: Mapping[str, Option] = {}

    def __init__(self, *args: Any, **values: Any) -> None:
        """Raises UsageError for a value that its option does not take, TypeError for what is no field."""
        declared = fields(self)
        values.update(zip((one.name for one in declared), args, strict=False))
        for one in declared:
            value = values.pop(one.name, one.default)
            if value is MISSING:
                value = one.default_factory() if one.default_factory is not MISSING else missing(self, one.name)
            object.__setattr__(self, one.name, value)
        if values:
            unknown = next(iter(values))
            keys = {one.key: f" (did you mean {name}?)" for name, one in self.OPTIONS.items()}
            near = keys.get(unknown) or proposal_text(unknown, [one.name for one in declared])
            raise TypeError(f"{type(self).__name__} has no field {unknown!r}{near}")
        for name, declared_option in self.OPTIONS.items():
            declared_option.check(value := getattr(self, name))
            if value == AUTO and declared_option.read_as == "classes":
                instead = "vwlite train counts the classes in its files: give their number here"
                raise UsageError(f"{declared_option.display_name} {AUTO}: {instead}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Checks beside those of single values."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.__getstate__())

    def __repr__(self) -> str:
        names = (one.name for one in fields(self))
        values = zip(names, self.__getstate__(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, one.name) for one in fields(self))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for one, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)


def missing(config: Config, name: str) -> Any:
    raise TypeError(f"{type(config).__name__} needs {name!r}")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def config(cls: type) -> Any:
    """Makes a dataclass of a class derived from ``Config``, with its ``OPTIONS``."""
    config_class = dataclass(init=False, repr=False, eq=False)(cls)
    bases = [base for base in cls.__mro__[1:] if is_dataclass(base)]

    def option_of(one: Any) -> Option:
        inherited = (options_of(of)[one.name] for of in bases if of.__dataclass_fields__.get(one.name) is one)
        return next(inherited, None) or name_option(one)

    config_class.OPTIONS = {one.name: option_of(one) for one in fields(config_class) if "option" in one.metadata}
    return config_class


PLAIN = (bool, int, float, str)  # annotations; others, as "str | None" is, are known by how they are written


def name_option(declared: Any) -> Option:
    """The option of a field, with what the field says of it."""
    one: Option = declared.metadata["option"]
    annotation = declared.type.__name__ if declared.type in PLAIN else str(declared.type)
    return one._replace(
        name=declared.name,
        type=annotation.removesuffix(" | None").removesuffix(" | tuple[float, ...]"),
        default=declared.default,
        spelled=one.spelled or (f"--{declared.name}",),
        key=one.key or declared.name,
    )


CSV = ("--format csv, which finds the delimiter", "format='csv', which finds the delimiter")
# What options are called elsewhere, each with those here, of which a command's first is proposed.
ELSEWHERE = {
    **dict.fromkeys(("epochs", "iterations", "iter", "max_iter", "n_iter", "num_iterations"), ("--passes", "passes")),
    **dict.fromkeys(("lr", "eta", "learning_rate_init"), ("-l", "learning_rate")),
    **dict.fromkeys(("load", "load_model"), ("-i", "initial_regressor")),
    **dict.fromkeys(("model", "save", "save_model"), ("-f", "-i", "final_regressor")),
    **dict.fromkeys(("o", "output"), ("-f", "-p", "final_regressor")),
    **dict.fromkeys(("input", "file", "train", "train_file"), ("-d",)),
    **dict.fromkeys(("classes", "num_class", "num_classes", "n_classes"), ("--oaa K", "oaa")),
    **dict.fromkeys(("test", "test_file", "dev", "valid", "eval_set"), ("--holdout FILE", "holdout")),
    **dict.fromkeys(("n_jobs", "jobs", "num_threads", "nthreads"), ("--threads", "threads")),
    **dict.fromkeys(("hidden", "hidden_units", "hidden_size", "layers"), ("--nn N", "nn")),
    **dict.fromkeys(("hash_bits", "num_features", "n_features", "buckets"), ("-b", "bits")),
    **dict.fromkeys(("loss", "objective", "criterion"), ("--loss_function", "loss_function")),
    **dict.fromkeys(("label", "target", "y"), ("--columns label=NAME", "columns='label=NAME'")),
    **dict.fromkeys(("sample_weight", "weight_column"), ("--columns weight=NAME", "columns='weight=NAME'")),
    **dict.fromkeys(("delimiter", "sep", "separator"), CSV),
    "dsjson": ("--format dsjson", "kind='dsjson'"),
    "early_stopping": ("--early_terminate", "early_terminate"),
    "header": ("--columns header", "columns='header'"),
    "id": ("--columns tag=NAME", "columns='tag=NAME'"),
    "no_header": ("--columns no-header", "columns='no-header'"),
    "proba": ("--probabilities",),
}
# Losses as other programs call them.
SYNONYMS = {"log": "logistic", "log_loss": "logistic", "squared_error": "squared", "mse": "squared", "mae": "absolute"}


def proposals(typed: str, known: Collection[str]) -> list[str]:
    """The options of ``known`` that an unknown option may stand for.

    That is its name here, those that begin as it does, or the one spelled most like it.
    """
    from difflib import get_close_matches

    name = typed.lstrip("-").replace("-", "_")
    if here := next((one for one in ELSEWHERE.get(name, ()) if one.replace("=", " ").split()[0] in known), ""):
        return [here]
    names = {one.lstrip("-").replace("-", "_"): one for one in known if one[:1] != "-" or one.startswith("--")}
    candidates = [one for one in names if one.startswith(name)][:5]
    return [names[one] for one in candidates or get_close_matches(name, names, n=1, cutoff=0.7)]


def proposal_text(typed: str, known: Collection[str]) -> str:
    """The ``proposals`` as a question, to stand behind the unknown option; empty for none."""
    *others, last = proposals(typed, known) or [""]
    return f" (did you mean {', '.join(others)}{' or ' if others else ''}{last}?)" if last else ""


C = TypeVar("C", bound=Config)


class Request:
    """Options as a door took them, made once; below the door configurations are taken out of it, and nothing else.

    ``values`` of all options by their keys, ``given``: those that the user gave. ``known``: all options that the door
    takes.
    """

    def __init__(self, values: Mapping[str, Any], given: Mapping[str, Any], known: Mapping[str, Option]) -> None:
        self.values, self.given, self.known = {**values, **given}, dict(given), known

    def without(self, key: str) -> Request:
        """The request without this option, which has no default."""
        given = {name: value for name, value in self.given.items() if name != key}
        return Request({**self.values, key: None}, given, self.known)

    def having(self, more: Mapping[str, Any]) -> Request:
        """The request with these options given as well."""
        return Request(self.values, {**self.given, **more}, self.known)

    def config(self, kind: type[C], **more: Any) -> C:
        """The configuration with the values asked for; ``more``: fields that are no options. Raises UsageError."""
        return kind(**{**more, **fields_of(kind, self.values)})

    def changes(self, kind: type[Config]) -> OptionValues:
        """The fields of a configuration whose options were given."""
        return fields_of(kind, self.given)

    def spelled(self, key: str) -> str:
        """An option as it is typed."""
        return self.known[key].display_name if key in self.known else f"--{key}"


def fields_of(kind: type[Config], values: Mapping[str, Any]) -> OptionValues:
    """The fields of a configuration whose options have a value."""
    fields = {one.name: values.get(one.key) for one in options_of(kind).values()}
    return {name: value for name, value in fields.items() if value is not None}


def effective(*configs: Config) -> OptionValues:
    """All options of configurations, by name."""
    pairs = ((of, name, one) for of in configs for name, one in options_of(type(of)).items())
    return {one.key: getattr(of, name) for of, name, one in pairs if not (one.vw_only or one.hidden)}


WHOLE = r"[+-]?[0-9]+"
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
DIGITS = 1000  # longer numbers are refused
FLOAT32_MAX = (2 - 2**-23) * 2.0**127  # the largest finite number of single precision: no option is beyond it
DECIMAL_BYTES = re.compile(DECIMAL.encode())
_WHOLE, _DECIMAL = re.compile(WHOLE), re.compile(DECIMAL)


def read_whole(text: str) -> int:
    """Raises ValueError."""
    if len(text) > DIGITS or not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def read_decimal(text: str) -> float:
    """Infinite beyond what a double holds. Raises ValueError."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_count(text: str) -> bool:
    """Whether it is nothing but digits."""
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


GIB = float(1 << 30)
USUAL_MEMORY = 4 * GIB  # bytes, where the number of weights depends on the data and --max-memory does not say otherwise


@config
class MemoryConfig(Config):
    """The memory limit, an option of several configurations."""

    max_memory: float | None = option(
        None, "GiB that weights may take; more are refused before they are allocated.", section="Table of weights",
        spelled=("--max-memory",), key="memory", above=0, shown="no limit",
    )

    @property
    def limit_in_bytes(self) -> float:
        return self.max_memory * GIB if self.max_memory else USUAL_MEMORY


def check_memory(need: float, limit: float, what: str, advice: str) -> None:
    """Raises UsageError when ``what`` needs more bytes than allowed."""
    if need > limit:
        raise UsageError(f"{what}: {need / GIB:.2f} GiB are more than --max-memory {limit / GIB:g}: {advice}")
