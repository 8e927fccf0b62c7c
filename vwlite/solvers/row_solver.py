"""Solvers whose data are a matrix, a row per example and a column per slot, and their models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from vwlite.config_check import built, require
from vwlite.data.config import InputConfig, has_words, input_config
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.landmarks import PLAN_ARRAYS, landmarks_digest
from vwlite.features.name_index import NameIndex, name_index_from_arrays
from vwlite.options import GIB, USUAL_MEMORY, Config, MemoryConfig, Request
from vwlite.solvers.rows import Rows, RowSource
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.training.model_header import check_features, check_learner
from vwlite.training.solver_run import Content, Reader, Solver

S = TypeVar("S")  # what the solver computes
C = TypeVar("C", bound=Config)
M = TypeVar("M", bound="RowModel[Any, Any]")


@dataclass(slots=True)
class RowModel(Generic[C, S]):
    """The ``solution`` of a solver, with all that is needed to make matrix rows of text."""

    learner: ClassVar[str]  # in the header, and there also the key of the configuration
    config_type: ClassVar[type[Config]]
    header_type: ClassVar[type]

    config: C
    features: FeatureConfig
    solution: S
    seen: list[int]  # first bytes of the names of the namespaces that occurred
    data: dict[str, str]  # the format of the data, ``InputConfig.kept``
    names: NameIndex | None
    arrays: dict[str, Any]  # of term weights and random features

    @classmethod
    def of(cls: type[M], config: Any, solution: Any, source: Rows, data: dict[str, str]) -> M:
        plan = source.plan
        return cls(config, plan.config, solution, sorted(plan.seen), data, source.names, plan.arrays())

    def facts(self) -> dict[str, Any]:
        """The summary that the command reports, as JSON data."""
        raise NotImplementedError

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
        try:
            require(header, cls.header_type, "header")
            config, features = built(cls.config_type, header[cls.learner]), built(FeatureConfig, header["features"])
            names = name_index_from_arrays(arrays, features.bits) if header["names"] else None
            solution = cls.solution_from(header, arrays, config, features)
            kept = {name: array for name, array in arrays.items() if name.startswith("term_") or name in PLAN_ARRAYS}
            Rows(features, header["seen"]).plan.load(kept)
            data = {name: header[name] for name in ("kind", "columns") if name in header}
            return cls(config, features, solution, header["seen"], data, names, kept)
        except ModelError:
            raise
        except (KeyError, ValueError, UsageError) as error:
            raise ModelError(f"{path} is no model of this version's {command} ({error})") from error


class RowSolver(Solver):
    """Computes a ``RowModel``. ``what`` names the solution in messages; ``source``: the rows, set by ``open``."""

    model_type: ClassVar[type[RowModel[Any, Any]]]
    what: ClassVar[str]
    unit = "lines"
    source: RowSource

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
        limit = request.config(MemoryConfig).max_memory
        self.memory = limit * GIB if limit else USUAL_MEMORY

    def configured(self, request: Request) -> Any:
        """The options of a new model. Raises UsageError."""
        return request.config(self.model_type.config_type)

    def continued(self, request: Request, model: RowModel[Any, Any]) -> Any:
        """The options of the initial model, updated by those given. Raises UsageError."""
        given = request.changes(self.model_type.config_type)
        check_learner(self.initial, model.config, given)
        return replace(model.config, **given)

    def deciding_options(self) -> dict[str, Any]:
        return {
            self.learner: self.config.kept(), **self.features.header(), **self.input.kept,
            "landmarks_digest": landmarks_digest(self.features),
            "examples": self.input.examples, "names": self.names is not None,
        }

    def open(self, reader: Reader, again: bool, kind: type[RowSource] = RowSource) -> None:
        """Open the rows as ``source``; ``again``: they will be read several times. Raises as ``open_rows``."""
        self.source = open_rows(reader, self.input, self.features, again, self.before, self.names, kind)

    def model(self) -> RowModel[Any, Any]:
        """The model of the solution."""
        return self.model_type.of(self.config, self.solution, self.source, self.source.inputs.config.kept)

    solution: Any  # set by ``fit``

    def content(self) -> Content:
        return self.model().content()

    def report(self) -> dict[str, Any]:
        return self.model().facts()

    def notes(self) -> Iterable[str]:
        return self.source.sightings.notes()


def features_of(
    request: Request, model: RowModel[Any, Any] | None, path: str | None, what: str
) -> FeatureConfig:
    """The feature options; with an initial model, its own. Raises UsageError for given ones that contradict them."""
    given = request.changes(FeatureConfig)
    if given.pop("noconstant", False) or given.get("dotproduct"):
        raise UsageError(f"{what} have neither a constant nor dot products")
    if not model:
        return FeatureConfig(noconstant=True, **given)
    check_features(path, model.features, given)
    return model.features


def open_rows(
    reader: Reader, input: InputConfig, features: FeatureConfig, again: bool, model: RowModel[Any, Any] | None,
    names: NameIndex | None = None, kind: type[RowSource] = RowSource,
) -> RowSource:
    """The rows of the files. Raises InputMissing, DataError, ModelError for a damaged cache."""
    text = text_format(features, skip_malformed=True, names=names is not None)
    inputs = reader.open(input, text.of_words() if has_words(input.kind) else text, again)
    source = kind(features, inputs, reader.policy, model.seen if model else [], names)
    if model:
        source.plan.load(model.arrays)
    return source
