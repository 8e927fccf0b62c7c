"""Latent vectors of a dyadic model, for use elsewhere: as tab-separated text or as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation.inspect_model import Inspection
from vwlite.features.side_names import sides_of_pair
from vwlite.storage.atomic_file import atomic_output

if TYPE_CHECKING:
    from vwlite.learners.dyadic import Dyadic
    from vwlite.training.model_loader import Restored


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


def sides_of(model: Restored, namespace: str, name: str = "the model") -> list[tuple[int, int]]:
    """The pairs that the namespace belongs to and its side, 0 or 1, in each. Raises as ``factors_of``."""
    if not model.learner.has_latent_vectors:
        alone = " and without --multiclass" if model.learner.config.asked_together else ""
        raise UsageError(f"{name} has no latent vectors: train with --dotproduct{alone}")
    pairs = model.features.dotproduct
    found = [
        (number, side)
        for number, pair in enumerate(pairs)
        for side, one in enumerate(sides_of_pair(pair))
        if one == namespace
    ]
    if not found:
        raise UsageError(f"no pair has a namespace {namespace!r}; the model's pairs are {' '.join(pairs)}")
    return found


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


def write_tsv(factors: list[Factors], file: TextIO) -> None:
    file.writelines(f"{line}\n" for line in tsv_lines(factors))


def write_factors(factors: list[Factors], path: str) -> None:
    """Write to ``path``: ``arrays_of`` when it ends in .npz, else text. Raises OutputError."""
    if not path.endswith(".npz"):
        with atomic_output(path, "w") as file:
            write_tsv(factors, file)
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
