"""Model files of log-linear models. Two classes make an ordinary linear model; labels by name, one of their own."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vwlite.config_check import JsonObject, built, check_types, contents_of, require
from vwlite.data.config import InputConfig
from vwlite.errors import ModelError
from vwlite.features.config import FeatureConfig
from vwlite.features.name_index import NameIndex, name_index_from_arrays
from vwlite.features.theta import FeatureMap
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.options import OptionValues
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.passes import Trained
from vwlite.solvers.loglinear.problems import FeatureLabelIndex, Pairs
from vwlite.storage import model_file
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Arrays
from vwlite.training.counters import Counters
from vwlite.training.model_header import LogLinear

CHAIN = "l1"  # the learner of models whose labels are names


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """What a model says of its training."""

    examples: float
    passes: int
    cumulative_penalty: float
    objective: float | None
    seen: tuple[int, ...]
    kind: str
    negative_label: float | None
    columns: str = ""

    def __post_init__(self) -> None:
        check_types(self)


@dataclass(slots=True)
class LoadedModel:
    """A model to predict with or to go on from. ``pairs`` are of named labels, ``slots`` uint32[n] of two classes."""

    path: str
    past: TrainingRecord
    config: L1Config
    features: FeatureConfig
    pairs: Pairs | None
    slots: np.ndarray | None
    table: np.ndarray  # float64[2, weights]: weights and memory; of a mean this and the last weights
    names: NameIndex | None
    theta: FeatureMap | None = None

    @property
    def weights(self) -> np.ndarray:
        return self.table[0]


@dataclass(slots=True)
class ModelContext:
    """What else a model says of its training."""

    config: L1Config
    features: FeatureConfig
    seen: set[int]
    input: InputConfig  # as it was read
    examples: int
    negative_label: float | None = None
    names: NameIndex | None = None
    theta: FeatureMap | None = None


def header_of(about: ModelContext, trained: Trained) -> JsonObject:
    counters = Counters()
    counters.example_number = about.examples
    last = trained.history[-1] if trained.history else {}
    return {
        "features": about.features.header(),
        "counters": counters.state(),
        "negative_label": about.negative_label,
        "seen": sorted(about.seen),
        "passes": trained.passes,
        "resumable": not about.config.dual,
        **about.input.kept,
        "names": about.names is not None,
        "l1": {
            **options_of(about.config),
            "due": trained.cumulative_penalty,
            "objective": last.get("objective"),
            "active": int(np.count_nonzero(trained.table[0])),
        },
    }


def options_of(config: L1Config) -> OptionValues:
    """What a model keeps of its options; those that came later where they do something, as models were before."""
    later = {"average": config.average, "average_after": config.average, "group": config.group, "trace": config.trace}
    later |= dict.fromkeys(("loss", "cost", "aggressiveness", "gap"), config.loss != "log")
    later["warm_passes"] = False
    later["l2"] = config.loss != "log" or config.l2 > 0
    return {name: value for name, value in asdict(config).items() if name != "passes" and later.get(name, True)}


Content = tuple[JsonObject, Arrays]  # header and arrays of a model file


def binary_content(about: ModelContext, trained: Trained, slots: np.ndarray) -> Content:
    """An ordinary model of logistic loss, which says in addition how to go on."""
    learner = Gd(GdConfig(loss=LossConfig("logistic"), link="logistic", sgd=True), about.features.bits)
    learner.weights[slots, 0] = trained.table[0]
    learner.set(time=float(about.examples * trained.passes))
    arrays = {**learner.tables(False), "l1_slot": slots, "l1_table": trained.table}
    return {**learner.header(), **header_of(about, trained)}, with_names(arrays, about.names)


def chain_content(about: ModelContext, trained: Trained, pairs: Pairs) -> Content:
    """A model of named labels."""
    header = {"learner": CHAIN, "labels": pairs.names, **header_of(about, trained)}
    arrays = {"weight": trained.table[0], "memory": trained.table[1]}
    for name, family in (("state", pairs.state), ("edge", pairs.edges)):
        arrays |= {f"{name}_feature": family.features, f"{name}_start": family.start, f"{name}_label": family.label}
    if about.config.order == 2:
        arrays["history"] = pairs.histories
    if about.theta:
        more, tables = about.theta.content()
        header, arrays = {**header, **more}, {**arrays, **tables}
    return header, with_names(arrays, about.names)


def with_names(arrays: Arrays, names: NameIndex | None) -> Arrays:
    return arrays if names is None else {**arrays, **names.arrays()}


def load(path: str) -> LoadedModel:
    """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
    loaded = model_file.load(path)
    header, arrays = loaded.header, loaded.arrays
    if "l1" not in header:
        raise ModelError(f"{path} was not made by 'vwlite l1' (its learner is {header.get('learner')!a})")
    with contents_of(path, "a log-linear model of this version"):
        require(header, LogLinear, "header")
        Counters().restore(header["counters"])
        options = {k: v for k, v in header["l1"].items() if k not in ("due", "objective", "active")}
        config, features, past = built(L1Config, options), built(FeatureConfig, header["features"]), record_of(header)
        names = name_index_from_arrays(arrays, features.bits) if header["names"] else None
        if config.model == "binary":
            slots = numbers(arrays, "l1_slot", np.uint32, (-1,))
            table = numbers(arrays, "l1_table", np.float64, (2, len(slots)))
            if int(slots.max(initial=0)) >= 1 << features.bits:
                raise ValueError("its weights do not fit its features")
            return LoadedModel(path, past, config, features, None, slots, table, names)
        families = (read_family(arrays, name) for name in ("state", "edge"))
        labels = names_of(header["labels"])
        pairs = Pairs(labels, *families, config.sequences, read_histories(arrays, config, len(labels)))
        table = np.stack([numbers(arrays, column, np.float64, (pairs.weights,)) for column in ("weight", "memory")])
        check(pairs)
        theta = FeatureMap.of(header, arrays) if "theta" in header else None
        return LoadedModel(path, past, config, features, pairs, None, table, names, theta)


def record_of(header: JsonObject) -> TrainingRecord:
    record = header["l1"]
    return TrainingRecord(
        examples=header["counters"]["example_number"],
        cumulative_penalty=record["due"],
        objective=record["objective"],
        seen=tuple(header["seen"]),
        **{name: header[name] for name in ("passes", "kind", "negative_label")},
        columns=header.get("columns", ""),
    )


def read_family(arrays: dict[str, np.ndarray], name: str) -> FeatureLabelIndex:
    features = numbers(arrays, f"{name}_feature", np.uint32, (-1,))
    start = numbers(arrays, f"{name}_start", np.int64, (len(features) + 1,))
    label = numbers(arrays, f"{name}_label", np.uint32, (-1,))
    sizes = np.diff(start)
    if start[0] != 0 or start[-1] != len(label) or (sizes < 0).any():
        raise ValueError(f"its {name} features do not fit together")
    if len(np.unique(features)) < len(features):
        raise ValueError(f"one of its {name} features is there twice")
    return FeatureLabelIndex(features, np.repeat(np.arange(len(features)), sizes), label)


def read_histories(arrays: dict[str, np.ndarray], config: L1Config, labels: int) -> np.ndarray:
    if config.order == 1:
        return np.zeros(0, np.uint32)
    histories = numbers(arrays, "history", np.uint32, (-1,))
    if (np.diff(histories.astype(np.int64)) <= 0).any() or (histories >= labels**2).any():
        raise ValueError("its pairs of labels are not in order")
    return histories


def names_of(labels: Any) -> list[str]:
    if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
        raise ValueError("the names of its labels are none")
    if len(set(labels)) < len(labels):
        raise ValueError("two of its labels have the same name")
    return labels


def check(pairs: Pairs) -> None:
    """Raises ValueError for labels that the kernel must not see."""
    labels = pairs.labels
    if not labels or (pairs.label >= labels).any() or (pairs.edge_label >= labels**2).any():
        raise ValueError("a label has no name")
