"""Clusters as model files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Double, built, require
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.landmarks import PLAN_ARRAYS
from vwlite.features.name_index import NameIndex, name_index_from_arrays
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.train import Clusters
from vwlite.solvers.rows import Rows
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.training.model_header import Byte, Kind, Natural

LEARNER = "cluster"


class Header(TypedDict):
    """Of a model of ``vwlite cluster``."""

    cluster: dict
    features: dict
    seen: list[Byte]
    kind: Kind
    columns: NotRequired[str]
    names: bool
    passes: Natural
    normalised_cut: NotRequired[Double]


@dataclass(slots=True)
class ClusterModel:
    """Clusters, and how text becomes the rows that they are of; ``arrays`` of the file, for weights of terms."""

    config: ClusterConfig
    features: FeatureConfig
    found: Clusters
    seen: list[int]
    data: dict[str, str]  # how they were read, ``InputConfig.kept``
    names: NameIndex | None
    arrays: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        """What the command tells, as JSON data."""
        return {
            **self.config.kept(),
            "passes": self.found.passes,
            "examples": int(self.found.totals[0].sum()),
            "slots": len(self.found.slots),
            "average_squared_distance": self.found.distance,
            **({"normalised_cut": self.found.cut} if self.config.cut else {}),
            "sizes": [int(size) for size in self.found.totals[0].tolist()],
        }


def model_of(config: ClusterConfig, found: Clusters, source: Rows, data: dict[str, str]) -> ClusterModel:
    arrays = source.plan.arrays()
    return ClusterModel(config, source.plan.config, found, sorted(source.plan.seen), data, source.names, arrays)


def save(path: str, model: ClusterModel, open_output: OpenOutput = atomic_output) -> None:
    """Write the model, whole or not at all. Raises OutputError."""
    header = {
        "learner": LEARNER,
        "cluster": model.config.kept(),
        "features": model.features.header(),
        "seen": model.seen,
        **model.data,
        "names": model.names is not None,
        "passes": model.found.passes,
        **({"normalised_cut": model.found.cut} if model.config.cut else {}),
    }
    arrays = {
        **model.arrays,
        "cluster_slot": model.found.slots.astype(np.uint32),
        "cluster_means": model.found.means,
        "cluster_totals": model.found.totals,
        **({"cluster_degree": model.found.total} if model.config.cut else {}),
        **(model.names.arrays() if model.names else {}),
    }
    model_file.save(path, header, arrays, open_output=open_output)


def load(path: str) -> ClusterModel:
    """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
    loaded = model_file.load(path)
    header, arrays = loaded.header, loaded.arrays
    if header.get("learner") != LEARNER:
        raise ModelError(f"{path} was not made by 'vwlite cluster' (its learner is {header.get('learner')!a})")
    try:
        require(header, Header, "header")
        config, features = built(ClusterConfig, header["cluster"]), built(FeatureConfig, header["features"])
        names = name_index_from_arrays(arrays, features.bits) if header["names"] else None
        found = clusters_from(header, arrays, config, features)
        kept = {name: array for name, array in arrays.items() if name.startswith("term_") or name in PLAN_ARRAYS}
        Rows(features, header["seen"]).plan.load(kept)
        data = {name: header[name] for name in ("kind", "columns") if name in header}
        return ClusterModel(config, features, found, header["seen"], data, names, kept)
    except ModelError:
        raise
    except (KeyError, ValueError, UsageError) as error:
        raise ModelError(f"{path} is no model of this version's vwlite cluster ({error})") from error


def clusters_from(header: dict[str, Any], arrays: Any, config: ClusterConfig, features: FeatureConfig) -> Clusters:
    slots = numbers(arrays, "cluster_slot", np.uint32, (-1,))
    means = numbers(arrays, "cluster_means", np.float32, (len(slots), config.clusters))
    totals = numbers(arrays, "cluster_totals", np.float64, (3, config.clusters))
    if (slots[1:] <= slots[:-1]).any() or (len(slots) and slots[-1] >= 2**features.bits) or (totals < 0).any():
        raise ValueError("its slots and totals")
    if not config.clusters:
        raise ValueError("no clusters")
    found = Clusters(slots, means, totals, header["passes"])
    if config.cut:
        found.cut, found.total = header["normalised_cut"], numbers(arrays, "cluster_degree", np.float64, (len(slots),))
        if (found.total < 0).any():
            raise ValueError("the sum of its examples")
    return found
