"""What the header of a model and of a checkpoint holds: declared here, and checked before anything reads it.

The fields of ``config``, ``features`` and ``l1`` are declared by the configuration classes they are made into.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from vwlite.config_check import Between, Double, JsonObject, built, contents_of, require
from vwlite.data.blocks import TextDigest
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners import learner_class
from vwlite.learners.abilities import SizedByHeader
from vwlite.learners.base import Learner
from vwlite.options import Config, Option, options_of
from vwlite.storage import model_file
from vwlite.training.counters import Counters

Natural = Annotated[int, Between(0, 2**63 - 1)]
Byte = Annotated[int, Between(0, 2**8 - 1)]
Word = Annotated[int, Between(0, 2**32 - 1)]
Number = Double | Literal["inf", "-inf", "nan"]  # as ``vwlite.learners.base.plain`` has it
Counts = dict[str, Double | Literal["inf", "-inf"] | None]  # of ``vwlite.training.counters.Counters``
Kind = Literal["vw", "svmlight", "csv", "tsv", "jsonl", "arrow", "parquet", "dsjson", "json"]


class DecisionOrder(TypedDict):
    """See ``vwlite.learners.class_costs``."""

    rows: Natural
    counts: list[Natural]
    labels: list[Natural]


class Node(TypedDict):
    """A learner within a learner."""

    scalars: dict[str, Number]
    start_time: NotRequired[Double]
    norms: NotRequired[list]
    label_order: NotRequired[DecisionOrder]
    chance: NotRequired[Annotated[int, Between(0, 2**64 - 1)]]


class Input(TypedDict):
    """A file that has been learned; of ledgers of format 1, a ``digest`` in place of ``text``."""

    path: str
    size: NotRequired[Natural | None]
    mtime_ns: NotRequired[int]
    ctime_ns: NotRequired[int]
    inode: NotRequired[int]
    etag: NotRequired[str]
    settled: NotRequired[bool]
    digest: NotRequired[str | None]
    text: NotRequired[TextDigest | None]
    lines: NotRequired[Natural | None]
    whole: NotRequired[bool]


class InputRead(Input):
    """A file that a stopped run has read, and how far."""

    settled: bool
    text: TextDigest | None


class LedgerFile(TypedDict):
    """See ``vwlite.training.ledger``."""

    format: Natural
    models: dict[str, list[Input]]


class Run(TypedDict):
    """How far a stopped run has come; see ``vwlite.training.checkpoint``."""

    told: dict
    inputs: list[InputRead | None]
    partials: list[Natural]
    passes_done: Natural
    failures: Natural
    fresh: bool
    rows: Natural
    checksum: Word
    counters: Counts
    totals: Counts | None
    sightings: list[Byte]
    matched: list[list[Natural]]
    known: list[Input]
    best: dict[str, str]


class Header(Node):
    """The header of a learner of ``vwlite.learners``."""

    learner: str
    config: dict
    features: dict
    counters: Counts
    negative_label: Double | None
    seen: list[Byte]
    passes: Natural
    resumable: bool
    kind: Kind
    columns: NotRequired[str]
    names: bool
    nodes: NotRequired[list[Node]]
    run: NotRequired[Run]
    rounds: NotRequired[dict]
    crr: NotRequired[dict]
    l1: NotRequired[dict]
    als: NotRequired[dict]
    dual: NotRequired[dict]
    ksvm: NotRequired[dict]
    theta: NotRequired[dict]


class LogLinear(TypedDict):
    """The header of a log-linear model: of two classes, which is a ``Header`` as well, or of labels with names."""

    learner: str
    labels: NotRequired[list[str]]
    features: dict
    counters: Counts
    negative_label: Double | None
    seen: list[Byte]
    passes: Natural
    kind: Kind
    columns: NotRequired[str]
    names: bool
    l1: dict
    theta: NotRequired[dict]


class PositionHeader(TypedDict):
    """See ``vwlite.solvers.aso.sgd.Position``."""

    passes: Annotated[int, Between(0, 2**53)]
    steps: Annotated[int, Between(0, 2**53)]


class TargetHeader(TypedDict):
    """The header of a model of ``vwlite aso train``; with Theta's fields if it has one."""

    classes: list[str]
    several: bool
    spaces: list[str]
    config: dict
    sequences: NotRequired[dict]
    position: NotRequired[PositionHeader]
    kind: NotRequired[Kind]
    columns: NotRequired[str]


class TasksHeader(TypedDict):
    """The header of a model of ``vwlite aso tasks``."""

    task: str
    tasks: list[str]
    spaces: list[str]
    config: dict
    objectives: list[Double]
    kind: NotRequired[Kind]
    columns: NotRequired[str]


def data_of(header: Mapping[str, Any]) -> dict[str, str]:
    """Return how the data of a model were read, where its header says so."""
    return {name: str(header[name]) for name in ("kind", "columns") if name in header}


class Stored(NamedTuple):
    """A model's header, its learner's class, and the options it was made with."""

    header: JsonObject
    kind: type[Learner]
    config: Any
    features: FeatureConfig


def read_stored(path: str) -> Stored:
    """The header of a learner's model, without its arrays. Raises ModelError, InputMissing."""
    return check_header(path, model_file.read_header(path))


def check_header(path: str, header: JsonObject) -> Stored:
    """The checked header of the file ``path``. Raises ModelError if it is not as declared."""
    kind = learner_class(str(header.get("learner")))
    with contents_of(path, "a model of this version's learners"):
        require(header, Header, "header")
        check_counts(header)
        config = kind.config_type.restore(header["config"], {})
        if issubclass(kind, SizedByHeader):
            kind.check_size(header, config)
        features = built(FeatureConfig, header["features"])
    return Stored(header, kind, config, features)


@contextmanager
def of_the_model(path: str) -> Iterator[None]:
    """A context in which UsageError becomes ModelError, since the options are those of the model."""
    try:
        yield
    except UsageError as error:
        raise ModelError(f"{path} cannot be used: {error}") from error


def check_counts(header: JsonObject) -> None:
    """Raises ModelError for counters that are none, ValueError where one that every model has is missing."""
    Counters().restore(header["counters"])
    for name in Counters().totals():
        if name not in header["counters"]:
            raise ValueError(f"counters.{name} is missing")


def check_features(path: str, features: FeatureConfig, typed: Mapping[str, Any]) -> None:
    """Raises UsageError when ``typed``, fields of ``FeatureConfig``, differ from those of the model ``path``."""
    for name, value in typed.items():
        check(path, options_of(FeatureConfig)[name], value, getattr(features, name))


def check_learner(path: str, config: Config, typed: Mapping[str, Any]) -> None:
    """The same for options of the learner, for a model that is to learn on."""
    for name, option in options_of(type(config)).items():
        if option.settled and name in typed:
            check(path, option, typed[name], getattr(config, name))


def check_shape(path: str, config: Config, typed: Mapping[str, Any]) -> None:
    """The same for options that say what the weights are of, which no model can do with another value of."""
    for name, option in options_of(type(config)).items():
        if option.shape and name in typed:
            check(path, option, typed[name], getattr(config, name) or False)


def check_loss(path: str, config: Any, typed: Mapping[str, Any]) -> None:
    """The same for options of the loss, by the names of the fields of ``LossConfig``."""
    for name, value in typed.items():
        if name == "limited":
            if not config.loss.soft:
                raise UsageError(f"--logistic_min and --logistic_max contradict {path}, which was made without them")
            continue
        check(path, options_of(type(config.loss))[name], value, getattr(config.loss, name))


def check(path: str, option: Option, value: Any, old: Any) -> None:
    if value == old or (is_repeated(option, value) and sorted(value) == sorted(old)):
        return
    made = f"with {as_typed(option, old)}" if old or (old == 0 and old is not False) else "without it"
    raise UsageError(f"{as_typed(option, value)} contradicts {path}, which was made {made}")


def as_typed(option: Option, value: Any) -> str:
    if value is True:
        return option.display_name
    values = [f"{x:g}" if isinstance(x, float) else str(x) for x in (value if isinstance(value, tuple) else (value,))]
    if not is_repeated(option, value):
        values = [",".join(values)]
    return " ".join(f"{option.display_name} {x}" for x in values)


def is_repeated(option: Option, value: Any) -> bool:
    """Whether several values were typed one by one; else they are in an order that matters."""
    return isinstance(value, tuple) and option.read_as != "per_output"
