"""Solvers whose data are a matrix, a row per example and a column per slot, and their models; the rows, sparse over the
slots that occur, come from files, caches or memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from vwlite.config_check import JsonObject, built, contents_of, require
from vwlite.data.batch import BLANK, Batch, Csr
from vwlite.data.config import has_words, input_config
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.gamma import settle_gamma
from vwlite.features.landmarks import PLAN_ARRAYS, landmarks_digest
from vwlite.features.name_index import NameIndex, name_index_from_arrays
from vwlite.features.term_weights import TermWeights, meet, terms_of
from vwlite.options import Config, MemoryConfig, OptionValues, Request
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.weight_table import Arrays
from vwlite.training.listener import Monitor
from vwlite.training.model_header import check_features, check_learner
from vwlite.training.namespace_report import Sightings
from vwlite.training.solver_run import Content, Reader, Solver


class Part(NamedTuple):
    """The rows of a batch; of weight 0 where a line is blank."""

    batch: Batch
    terms: Csr  # by slots
    weight: np.ndarray  # float32[rows], importance


def lines_of_rows(batch: Batch, text: Callable[[int], bytes], malformed: bytes) -> bytes:
    """The text of each row as a line. A line that was left out gives ``malformed``, a blank one nothing."""
    lines, gaps = [], Counter(batch.gaps)
    for row in range(len(batch)):
        lines += [malformed] * gaps[row]
        if not batch.flags[row] & BLANK:
            lines.append(text(row))
    lines += [malformed] * gaps[len(batch)]
    return b"".join(line + b"\n" for line in lines)


class Rows:
    """The rows of ``batches``, pass by pass."""

    names: NameIndex | None = None

    def __init__(self, features: FeatureConfig, seen: list[int]) -> None:
        """``seen``: namespaces that wildcards stand for at first."""
        self.plan = Plan(features, seen)
        self.weights = TermWeights(features, self.plan)
        if features.weighs_terms:
            self.plan.weights = self.weights

    def batches(self) -> Iterator[Batch]:
        """The batches of one pass. Raises DataError, Interrupted."""
        raise NotImplementedError

    def count_terms(self) -> None:
        """Count the terms of all examples for ``--weight``, if they are not counted yet."""
        if self.weights.waiting:
            for batch in self.batches():
                self.weights.count(batch)
            self.weights.settle()

    def parts(self) -> Iterator[Part]:
        """The rows of one pass. Raises DataError, Interrupted."""
        for batch in settle_gamma(self.plan, self.batches()):
            yield self.part(batch)

    def part(self, batch: Batch) -> Part:
        meet(batch, self.plan)
        terms, degree = self.weights.terms(batch)
        if self.plan.random and self.plan.weights:
            terms = terms_of(*self.weights.apply(batch))
        weight = np.where(batch.flags & BLANK, 0, batch.importance)
        return Part(batch, terms, (weight if degree is None else weight * degree).astype(np.float32))


class RowSource(Rows):
    """The rows of ``inputs``; the first pass that reads text makes the cache that later ones read."""

    def __init__(
        self, features: FeatureConfig, inputs: Inputs, policy: BadLines, seen: list[int], names: NameIndex | None = None
    ) -> None:
        """``names`` of features are collected in there."""
        super().__init__(features, seen)
        self.inputs, self.policy, self.names = inputs, policy, names
        self.finished = False
        self.sightings = Sightings(features, self.plan, inputs.config.columns)

    def batches(self) -> Iterator[Batch]:
        for batch in self.again() if self.finished or self.inputs.state == "using" else self.texts():
            self.sightings.add(batch, 0, len(batch))
            yield batch
            if batch.release:
                batch.release()

    def again(self) -> Iterator[Batch]:
        if not self.finished and self.inputs.cache is not None:
            self.policy.recall(self.inputs.cache.lines, self.inputs.cache.bad)
            self.policy.finish()
            self.finished = True
        return map(self.policy.relabel, self.inputs.cached())

    def texts(self) -> Iterator[Batch]:
        for part in self.inputs.texts():
            batch = self.policy.examine(part)
            meet(batch, self.plan)
            if self.names is not None:
                self.names.add(batch, self.plan)
            yield batch
        self.policy.finish()
        self.finished = True


class MemoryRows(Rows):
    """The rows of batches in memory."""

    def __init__(self, features: FeatureConfig, given: list[Batch], seen: list[int]) -> None:
        super().__init__(features, seen)
        self.given = given

    def batches(self) -> Iterator[Batch]:
        return iter(self.given)


def check_slots(slots: np.ndarray, bits: int, ascending: bool = True) -> None:
    """Raises ValueError for what are not different slots of a table of 2^bits, in order where ``ascending``."""
    ordered = slots if ascending else np.sort(slots)
    if (ordered[1:] <= ordered[:-1]).any() or (len(ordered) and ordered[-1] >= 2**bits):
        raise ValueError("its slots")


class SlotRows:
    """Numbers the slots of a table of 2^bits that occur."""

    def __init__(self, bits: int, slots: np.ndarray) -> None:
        """``slots`` uint32[n], different ones, have the first numbers."""
        self.number = np.zeros(2**bits, np.int32)  # plus 1; memory is taken where slots occur
        self.renumber(slots)

    def __len__(self) -> int:
        return len(self.slots)

    def renumber(self, slots: np.ndarray) -> None:
        """Give numbers to the slots, all that there are, in another order."""
        self.slots = slots
        self.number[slots] = np.arange(1, len(slots) + 1)

    def find(self, slots: np.ndarray) -> np.ndarray:
        """int64[n]: the numbers of slots, -1 of unknown ones."""
        return self.number[slots].astype(np.int64) - 1

    def admit(self, slots: np.ndarray, check: Callable[[int], None]) -> np.ndarray:
        """uint32: those new ones, ascending, that have the next numbers from now on; ``check`` gets their number."""
        new = np.unique(slots[self.number[slots] == 0])
        if len(new):
            check(len(self) + len(new))
            self.number[new] = np.arange(len(self) + 1, len(self) + len(new) + 1)
            self.slots = np.concatenate((self.slots, new))
        return new


S = TypeVar("S")  # what the solver computes
C = TypeVar("C", bound=Config)
M = TypeVar("M", bound="RowModel[Any, Any]")


@dataclass(slots=True)
class RowModel(Generic[C, S]):
    """The ``solution`` of a solver, with all that is needed to make matrix rows of text."""

    learner: ClassVar[str]  # in the header, and there also the key of the configuration
    config_type: ClassVar[type[Config]]
    header_type: ClassVar[type]
    words: ClassVar[bool] = True  # labels are any words; False: numbers

    config: C
    features: FeatureConfig
    solution: S
    seen: list[int]  # first bytes of the names of the namespaces that occurred
    data: dict[str, str]  # the format of the data, ``InputConfig.kept``
    names: NameIndex | None
    arrays: Arrays  # of term weights and random features

    @classmethod
    def of(cls: type[M], config: Any, solution: Any, source: Rows, data: dict[str, str]) -> M:
        plan = source.plan
        return cls(config, plan.config, solution, sorted(plan.seen), data, source.names, plan.arrays())

    @classmethod
    def format_of(cls, features: FeatureConfig, kind: str, names: bool = False) -> TextFormat:
        """How lines of the format ``kind`` are parsed; ``names``: those of features are wanted."""
        text = text_format(features, skip_malformed=True, names=names)
        return text.of_words() if cls.words and has_words(kind) else text

    def facts(self) -> JsonObject:
        """The summary that the command reports, as JSON data."""
        raise NotImplementedError

    def features_at(self, rows: np.ndarray, values: np.ndarray) -> list[dict[str, Any]]:
        """Of rows of the solution, int64[n], ``slot``, ``value`` and ``name``, None in models without names."""
        names, slots = self.names.names if self.names else {}, self.solution.slots[rows].tolist()
        return [
            {"slot": slot, "name": names.get(slot), "value": value}
            for slot, value in zip(slots, values.tolist(), strict=True)
        ]

    def solution_content(self) -> Content:
        """The solution as entries of the header and arrays of the model file."""
        raise NotImplementedError

    @classmethod
    def solution_from(cls, header: Mapping[str, Any], arrays: Any, config: Any, features: FeatureConfig) -> Any:
        """The solution in a model file. Raises KeyError, ValueError."""
        raise NotImplementedError

    def content(self) -> Content:
        """Header and arrays of the model file."""
        own, arrays = self.solution_content()
        header = {
            "learner": self.learner,
            self.learner: self.config.kept(),
            "features": self.features.header(),
            "seen": self.seen,
            **self.data,
            "names": self.names is not None,
            **own,
        }
        return header, {**self.arrays, **arrays, **(self.names.arrays() if self.names else {})}

    def save(self, path: str, open_output: OpenOutput = atomic_output) -> None:
        """Write the model, whole or not at all. Raises OutputError."""
        model_file.save(path, *self.content(), open_output=open_output)

    @classmethod
    def load(cls: type[M], path: str) -> M:
        """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
        loaded = model_file.load(path)
        header, arrays, command = loaded.header, loaded.arrays, f"vwlite {cls.learner}"
        if header.get("learner") != cls.learner:
            raise ModelError(f"{path} was not made by '{command}' (its learner is {header.get('learner')!a})")
        with contents_of(path, f"a model of this version's {command}"):
            require(header, cls.header_type, "header")
            config, features = built(cls.config_type, header[cls.learner]), built(FeatureConfig, header["features"])
            names = name_index_from_arrays(arrays, features.bits) if header["names"] else None
            solution = cls.solution_from(header, arrays, config, features)
            own = {name: array for name, array in arrays.items() if name.startswith("term_") or name in PLAN_ARRAYS}
            Rows(features, header["seen"]).plan.load(own)
            data = {name: header[name] for name in ("kind", "columns") if name in header}
            return cls(config, features, solution, header["seen"], data, names, own)


class RowSolver(Solver):
    """Computes a ``RowModel``. ``what`` names the solution in messages; ``source``: the rows, set by ``open``."""

    model_type: ClassVar[type[RowModel[Any, Any]]]
    what: ClassVar[str]
    unit = "lines"
    source: RowSource
    work: Any  # set by ``read``, computes the solution: has ``run``, ``state`` and ``restore``
    solution: Any  # set by ``fit``

    def __init__(self, request: Request, initial: str | None) -> None:
        """Raises ModelError, UsageError for options that contradict the model's or one another."""
        self.initial = initial
        self.before = self.model_type.load(initial) if initial else None
        self.features = features_of(request, self.before, initial, self.what)
        self.config = self.continued(request, self.before) if self.before else self.configured(request)
        input, names = input_config(request.values), request.values.get("names")
        self.input = input.like(self.before.data, request.given) if self.before else input
        if names and input.cache:
            raise UsageError("--names needs the names in the text, which a cache does not keep: drop -c")
        self.names = (self.before and self.before.names) or (NameIndex() if names else None)
        self.memory = request.config(MemoryConfig).limit_in_bytes

    def configured(self, request: Request) -> Any:
        """The options of a new model. Raises UsageError."""
        return request.config(self.model_type.config_type)

    def continued(self, request: Request, model: RowModel[Any, Any]) -> Any:
        """The options of the initial model, updated by those given. Raises UsageError."""
        given = request.changes(self.model_type.config_type)
        check_learner(self.initial, model.config, given)
        return replace(model.config, **given)

    def deciding_options(self) -> OptionValues:
        return {
            self.learner: self.config.kept(), **self.features.header(), **self.input.kept,
            "landmarks_digest": landmarks_digest(self.features),
            "examples": self.input.examples, "names": self.names is not None,
        }

    def open(self, reader: Reader, again: bool, kind: type[RowSource] = RowSource) -> None:
        """Open the rows as ``source``; ``again``: they will be read several times.

        Raises InputMissing, DataError, ModelError for a damaged cache.
        """
        text = self.model_type.format_of(self.features, self.input.kind, self.names is not None)
        inputs = reader.open(self.input, text, again)
        self.source = kind(self.features, inputs, reader.policy, self.before.seen if self.before else [], self.names)
        if self.before:
            self.source.plan.load(self.before.arrays)

    def model(self) -> RowModel[Any, Any]:
        """The model of the solution."""
        return self.model_type.of(self.config, self.solution, self.source, self.source.inputs.config.kept)

    def fit(self, monitor: Monitor) -> None:
        self.solution = self.work.run(monitor)

    def state(self) -> Content:
        return self.work.state()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.work.restore(header, arrays)

    def content(self) -> Content:
        return self.model().content()

    def report(self) -> JsonObject:
        return self.model().facts()

    def notes(self) -> Iterable[str]:
        return self.source.sightings.notes()


def features_of(
    request: Request, model: RowModel[Any, Any] | None, path: str | None, what: str
) -> FeatureConfig:
    """The feature options; with an initial model, its own. Raises UsageError for given ones that contradict them."""
    given = dict(request.changes(FeatureConfig))
    if given.pop("noconstant", False) or given.get("dotproduct"):
        raise UsageError(f"{what} have neither a constant nor dot products")
    if not model:
        return FeatureConfig(noconstant=True, **given)
    check_features(path, model.features, given)
    return model.features
