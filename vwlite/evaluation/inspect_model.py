"""The contents of a model: facts from its header, its largest weights, their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, sides_of_pair
from vwlite.features.name_index import name_index_from_arrays
from vwlite.learners.abilities import FactoredWeights, PairFactors, WeightsByClass
from vwlite.learners.base import Learner, output_names, plain, predicting
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import MulticlassConfig, PerClassConfig
from vwlite.storage import model_file
from vwlite.storage.atomic_file import atomic_output
from vwlite.storage.weight_table import set_slots
from vwlite.training.model_loader import Restored, restore

if TYPE_CHECKING:
    from vwlite.learners.dyadic import Dyadic
    from vwlite.training.model_loader import Restored


MOST_COLUMNS = 2048  # of which the trace norm is computed
CHUNK = 4096  # rows


def norms(row: np.ndarray, column: np.ndarray, weight: np.ndarray, columns: int) -> dict[str, float]:
    """Norms of the matrix that has float64[n] ``weight`` at these places, int64[n] each, and 0 elsewhere.

    ``2,1`` is the sum of the lengths of the rows; ``trace`` that of the singular values, left out where there are more
    than MOST_COLUMNS columns; ``frobenius`` the root of the sum of squares.
    """
    order = np.argsort(row, kind="stable")
    row, column, weight = np.unique(row[order], return_inverse=True)[1], column[order], weight[order]
    lengths = np.sqrt(np.bincount(row, weight * weight))
    norms = {"2,1": float(lengths.sum())}
    if columns <= MOST_COLUMNS:
        norms["trace"] = float(singular_values(row, column, weight, columns).sum())
    return {**norms, "frobenius": float(np.sqrt(weight @ weight))}


def singular_values(row: np.ndarray, column: np.ndarray, weight: np.ndarray, columns: int) -> np.ndarray:
    """float64[columns], descending; below a 10^-8 of the largest they are rounding errors. ``row`` ascends from 0.

    They are NaN where a weight is not a finite number.
    """
    if not np.isfinite(weight).all():
        return np.full(columns, np.nan)
    gram = np.zeros((columns, columns))
    for first in range(0, int(row[-1]) + 1 if len(row) else 0, CHUNK):
        begin, end = np.searchsorted(row, (first, first + CHUNK))
        part = np.zeros((CHUNK, columns))
        part[row[begin:end] - first, column[begin:end]] = weight[begin:end]
        gram += part.T @ part
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0))


NAME_ARRAYS = ("name_slot", "name_end", "name_text")


@dataclass(slots=True)
class Inspection:
    """A model opened to be looked at; ``names`` by slot, empty when the model has none."""

    path: str
    restored: Restored
    names: dict[int, str]
    label_units: JsonObject = field(default_factory=dict)  # see ``label_units_of``

    def header(self) -> JsonObject:
        """Plain facts about the model, as JSON data."""
        header, learner = self.restored.header, self.restored.learner
        counters, config, random = header["counters"], learner.config, self.restored.plan.random
        return {
            "path": self.path,
            "learner": header["learner"],
            "loss_function": config.class_loss if isinstance(config, MulticlassConfig) else config.loss.name,
            "link": config.link,
            "options": changed_options(self.restored),
            "bits": learner.bits,
            "weights": len(set_slots(learner.weights)),
            "examples": counters["example_number"],
            "passes": header["passes"],
            "average_loss": average_loss(counters),
            **self.label_range(),
            "can_go_on": header["resumable"] and not config.fixed_passes,
            "names": len(self.names),
            **self.norms(),
            **({"gamma": random.gamma} if random and random.gamma is not None else {}),
            **self.label_units,
            **{name: header[name] for name in ("crr", "l1", "als", "dual", "ksvm") if name in header},
        }

    def label_range(self) -> dict[str, float]:
        """The least and the greatest label, which limit predictions; empty for losses that have limits of their own."""
        if self.restored.learner.config.loss.loss.initial_range[0]:
            return {}
        return {name: self.restored.header["scalars"][name] for name in ("min_label", "max_label")}

    def norms(self) -> JsonObject:
        """Norms of the weights of classes or outputs, a row for each feature."""
        learner = self.restored.learner
        if isinstance(learner, FactoredWeights):
            return learner.own_norms()
        classes, shift = len(class_names(learner)), learner.layout[0]
        if classes < 2:
            return {}
        slots = set_slots(learner.weights)
        slots = slots[slots & ((1 << shift) - 1) < classes]
        weight = learner.weights[slots, 0].astype(np.float64)
        return {"norms": norms(slots >> shift, slots & ((1 << shift) - 1), weight, classes)}

    def top(self, count: int, by_class: bool = False) -> list[JsonObject]:
        """The ``count`` weights that are largest in size, with slot and name (None when unknown), and with the class
        that they are of, if they are; ``by_class``: as many of every class, one class after the other.

        Raises UsageError for ``by_class`` where weights are not of classes.
        """
        learner = self.restored.learner
        weights, slots = learner.weights[:, 0], set_slots(learner.weights)
        names, sets = list(class_names(learner)), slots & np.uint32((1 << learner.layout[0]) - 1)
        if not by_class:
            return [self.entry(slot, names) for slot in slots[largest_places(weights[slots], slots, count)].tolist()]
        if not names:
            raise UsageError(BY_CLASS)
        parts = (slots[sets == number] for number in range(len(names)))
        return [
            self.entry(slot, names) for own in parts for slot in own[largest_places(weights[own], own, count)].tolist()
        ]

    def entry(self, slot: int, classes: list[str]) -> JsonObject:
        learner = self.restored.learner
        entry = {"weight": float(learner.weights[slot, 0]), "slot": slot, "name": self.names.get(slot)}
        number = slot & ((1 << learner.layout[0]) - 1)
        if number >= len(classes):  # of no class
            return entry
        name = entry["name"] and entry["name"].removesuffix(f"[{number}]")
        return {**entry, "name": name, "class": classes[number]}


BY_CLASS = "--by-class goes with classes that have weights of their own: --oaa, --csoaa, --multilabel_oaa, --multiclass"


def largest_places(weights: np.ndarray, slots: np.ndarray, count: int) -> np.ndarray:
    """int64[count]: the places of the weights, float32[n], that are largest in size, of equal ones by slot."""
    sizes, places = -np.abs(weights), np.arange(len(weights))
    if len(places) > count:
        places = np.argpartition(sizes, count)[: count + 1] if count else places[:0]
    order: np.ndarray = places[np.lexsort((slots[places], sizes[places]))][:count]
    return order


def label_units_of(learner: Any) -> JsonObject:
    """The units that labels were learned in, where these are not the labels' own."""
    if learner.config.label_units == "raw":
        return {}
    units = learner.config.label_units
    mean, spread = learner.label_mean, learner.spread
    if output_names(learner):
        mean, spread = (numbers.tolist() for numbers in learner.units)
    return {"label_units": units, "label_mean": mean, "label_spread": spread}


def changed_options(restored: Restored) -> JsonObject:
    """Options that are not at their default, as JSON data."""
    header = restored.header
    learner = {key: value for key, value in header["config"].items() if key not in ("loss", "link")}
    stored = {**header["features"], **learner}
    defaults = {**default_options(), "label_units": stored.get("label_units")}  # which the header tells of by itself
    return {name: value for name, value in stored.items() if value != defaults.get(name)}


def default_options() -> JsonObject:
    of_classes = {field.name: field.default for field in fields(PerClassConfig)}
    merged = {**asdict(FeatureConfig()), **of_classes, **asdict(GdConfig())}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in merged.items()}


def inspect(path: str) -> Inspection:
    """Open a model. Raises ModelError for a damaged or foreign file, InputMissing when there is none."""
    restored = restore(path, learning=True, vw_compat=False, learner_changes={}, feature_changes={})
    units = label_units_of(restored.learner)
    restored = replace(restored, learner=predicting(restored.learner))
    return Inspection(path, restored, stored_names(path, restored), units)


def stored_names(path: str, model: Restored) -> dict[int, str]:
    """The names of features, by slot, in the file of an opened model; none where it has none."""
    if not model.header["names"]:
        return {}
    return name_index_from_arrays(model_file.load(path, want=NAME_ARRAYS).arrays, model.features.bits).names


def missing_names_note(path: str) -> str:
    """The note on a model whose features are shown by slot."""
    return f"{path} holds no names, and slots stand for them: train with --names to see names"


def require_names(inspection: Inspection) -> None:
    """Raises UsageError when the model was trained without names."""
    if not inspection.names:
        raise UsageError(f"{inspection.path} holds no names: train with --names to see them")


def average_loss(counters: Mapping[str, object]) -> float | str | None:
    """The average loss by a model's counters, in which infinite numbers are text and NaN is None."""
    loss, weight = counters["sum_loss"], counters["labeled_weight"]
    return plain(float(loss) / float(weight)) if weight and loss is not None else None


@dataclass(frozen=True, slots=True)
class Factors:
    """One side of one pair: what was learned of the features of a namespace."""

    pair: str  # as typed, like "u,i"
    names: list[str]  # of the features, their slots' numbers where names are unknown
    slots: np.ndarray  # uint32[n]
    weights: np.ndarray  # float32[n], linear weights
    updates: np.ndarray  # float32[n], how often each vector was updated
    vectors: np.ndarray  # float32[n, rank]


def factors_of(inspection: Inspection, namespace: str) -> list[Factors]:
    """The vectors of a namespace in every pair it belongs to.

    Raises UsageError when the model is not dyadic or no pair has the namespace.
    """
    model = inspection.restored
    sides = sides_of(model, namespace, inspection.path)
    pairs = model.features.dotproduct
    return [side_factors(inspection, model.learner, pairs[number], number, side) for number, side in sides]


def class_names(learner: Learner) -> Sequence[str]:
    """Name the classes whose weights a feature's slots are; none where these are of something else."""
    return learner.class_names if isinstance(learner, WeightsByClass) else ()


def sides_of(model: Restored, namespace: str, name: str = "the model") -> list[tuple[int, int]]:
    """The pairs that the namespace belongs to and its side, 0 or 1, in each. Raises as ``factors_of``."""
    if not isinstance(model.learner, PairFactors):
        alone = " and without --multiclass" if model.learner.config.selected_together else ""
        raise UsageError(f"{name} has no latent vectors: train with --dotproduct{alone}")
    pairs = model.features.dotproduct
    sides = [
        (number, side)
        for number, pair in enumerate(pairs)
        for side, name in enumerate(sides_of_pair(pair))
        if name == namespace
    ]
    if not sides:
        raise UsageError(f"no pair has a namespace {namespace!r}; the model's pairs are {' '.join(pairs)}")
    return sides


def side_factors(inspection: Inspection, learner: Dyadic, pair: str, number: int, side: int) -> Factors:
    slots, vectors = learner.factors(number, side)
    names = [inspection.names.get(slot, str(slot)) for slot in slots.tolist()]
    updates = learner.latent[number][side][slots, learner.rank]
    return Factors(pair, names, slots, learner.weights[slots, 0], updates, vectors)


def tsv_lines(factors: list[Factors]) -> Iterator[str]:
    """A header, then a line per feature: pair, feature, updates, linear weight, vector."""
    rank = factors[0].vectors.shape[1]
    yield "\t".join(["pair", "feature", "updates", "weight", *(f"v{number}" for number in range(rank))])
    for part in factors:
        rows = zip(part.names, part.updates.tolist(), part.weights.tolist(), part.vectors.tolist(), strict=True)
        for name, updates, weight, vector in rows:
            yield "\t".join([part.pair, name, f"{updates:g}", *(f"{value:.9g}" for value in (weight, *vector))])


def write_factors(factors: list[Factors], path: str) -> None:
    """Write to ``path``: ``arrays_of`` when it ends in .npz, else text. Raises OutputError."""
    if not path.endswith(".npz"):
        with atomic_output(path) as file:  # names keep the bytes that they have in data
            file.writelines(f"{line}\n".encode("utf-8", "surrogateescape") for line in tsv_lines(factors))
        return
    arrays = arrays_of(factors)
    with atomic_output(path) as file:
        np.savez(file, **arrays)


def arrays_of(factors: list[Factors]) -> dict[str, np.ndarray]:
    """``feature`` str[n], ``slot`` uint32[n], ``updates`` and ``weight`` float32[n], ``vector`` float32[n, rank].

    With several pairs each name is followed by the pair's number.
    """
    arrays = {}
    for number, part in enumerate(factors):
        suffix = str(number) if len(factors) > 1 else ""
        columns = {"feature": np.array(part.names), "slot": part.slots, "updates": part.updates}
        columns |= {"weight": part.weights, "vector": part.vectors}
        arrays |= {name + suffix: column for name, column in columns.items()}
    return arrays
