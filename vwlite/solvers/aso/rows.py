"""The problems that each of some rows is positive for."""

from dataclasses import dataclass

import numpy as np

from vwlite.data.csr import Csr, offsets


@dataclass(slots=True)
class Targets:
    """Row ``i`` of ``positive`` has the problems that example ``i`` is positive for, ascending."""

    positive: Csr
    names: list[str]
    feature: np.ndarray | None = None  # int64[problems], the features that are predicted, where they are some


def targets(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str]) -> Targets:
    """From pairs of row and problem, in any order; a pair given twice counts once."""
    pairs = np.unique(owner.astype(np.int64) * max(len(names), 1) + problem)
    owner, problem = np.divmod(pairs, max(len(names), 1))
    indptr = offsets(np.bincount(owner, minlength=rows))
    return Targets(Csr(indptr, problem.astype(np.uint32), np.ones(len(problem), np.float32)), names)


def side_by_side(several: list[Targets]) -> Targets:
    """One set of problems out of several over the same rows."""
    if len(several) == 1:
        return several[0]
    names, owners, problems = [], [], []
    for one in several:
        owners.append(one.positive.owner)
        problems.append(one.positive.indices.astype(np.int64) + len(names))
        names += one.names
    return targets(np.concatenate(owners), np.concatenate(problems), len(several[0].positive), names)
