"""Principal components as model files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Double, built, require
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.landmarks import PLAN_ARRAYS
from vwlite.features.name_index import NameIndex, name_index_from_arrays
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.train import Components
from vwlite.solvers.rows import Rows
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.training.model_header import Byte, Kind, Natural

LEARNER = "pca"


class Header(TypedDict):
    """Of a model of ``vwlite pca``."""

    pca: dict
    features: dict
    seen: list[Byte]
    kind: Kind
    columns: NotRequired[str]
    names: bool
    weight: Double
    squares: Double
    examples: Natural


@dataclass(slots=True)
class PcaModel:
    """Components, and how text becomes the rows that they are of; ``arrays`` of the file, for weights of terms."""

    config: PcaConfig
    features: FeatureConfig
    found: Components
    seen: list[int]
    data: dict[str, str]  # how they were read, ``InputConfig.kept``
    names: NameIndex | None
    arrays: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        """What the command tells, as JSON data."""
        spread, values = self.found.spread(self.config.center), self.found.values[: self.config.dim]
        return {
            **asdict(self.config),
            "examples": self.found.examples,
            "slots": len(self.found.slots),
            "singular_values": values.tolist(),
            "share_of_squares": float((values**2).sum() / spread) if spread > 0 else None,
        }


def model_of(config: PcaConfig, found: Components, source: Rows, data: dict[str, str]) -> PcaModel:
    arrays = source.plan.arrays()
    return PcaModel(config, source.plan.config, found, sorted(source.plan.seen), data, source.names, arrays)


def save(path: str, model: PcaModel, open_output: OpenOutput = atomic_output) -> None:
    """Write the model, whole or not at all. Raises OutputError."""
    found = model.found
    header = {
        "learner": LEARNER,
        "pca": asdict(model.config),
        "features": model.features.header(),
        "seen": model.seen,
        **model.data,
        "names": model.names is not None,
        "weight": found.weight,
        "squares": found.squares,
        "examples": found.examples,
    }
    arrays = {
        **model.arrays,
        "pca_slot": found.slots.astype(np.uint32),
        "pca_vectors": found.vectors,
        "pca_values": found.values,
        "pca_total": found.total,
        **(model.names.arrays() if model.names else {}),
    }
    model_file.save(path, header, arrays, open_output=open_output)


def load(path: str) -> PcaModel:
    """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
    loaded = model_file.load(path)
    header, arrays = loaded.header, loaded.arrays
    if header.get("learner") != LEARNER:
        raise ModelError(f"{path} was not made by 'vwlite pca' (its learner is {header.get('learner')!a})")
    try:
        require(header, Header, "header")
        config, features = built(PcaConfig, header["pca"]), built(FeatureConfig, header["features"])
        names = name_index_from_arrays(arrays, features.bits) if header["names"] else None
        found = components_from(header, arrays, config, features)
        kept = {name: array for name, array in arrays.items() if name.startswith("term_") or name in PLAN_ARRAYS}
        Rows(features, header["seen"]).plan.load(kept)
        data = {name: header[name] for name in ("kind", "columns") if name in header}
        return PcaModel(config, features, found, header["seen"], data, names, kept)
    except ModelError:
        raise
    except (KeyError, ValueError, UsageError) as error:
        raise ModelError(f"{path} is no model of this version's vwlite pca ({error})") from error


def components_from(header: dict[str, Any], arrays: Any, config: PcaConfig, features: FeatureConfig) -> Components:
    slots = numbers(arrays, "pca_slot", np.uint32, (-1,))
    columns = config.dim + config.oversample
    vectors = numbers(arrays, "pca_vectors", np.float32, (len(slots), columns))
    values = numbers(arrays, "pca_values", np.float64, (columns,))
    total = numbers(arrays, "pca_total", np.float64, (len(slots),))
    if (slots[1:] <= slots[:-1]).any() or (len(slots) and slots[-1] >= 2**features.bits) or (values < 0).any():
        raise ValueError("its slots and singular values")
    return Components(slots, vectors, values, total, header["weight"], header["squares"], header["examples"])
