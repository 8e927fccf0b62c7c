"""What can be read in a model of named labels: its facts, its strongest weights by label."""

from typing import Any

import numpy as np

from vwlite.evaluation.weight_norms import norms, singular_values
from vwlite.solvers.loglinear.config import MEAN_ONLY, L1Config
from vwlite.solvers.loglinear.feature_label_pairs import FeatureLabelIndex
from vwlite.solvers.loglinear.model_file import CHAIN, LoadedModel

ROUNDING = 1e-7  # of the largest singular value


def facts(model: LoadedModel) -> dict[str, Any]:
    """Plain facts about the model, as JSON data."""
    past, pairs, config = model.past, model.pairs, model.config
    active = model.weights != 0
    state, transitions = active[: pairs.first_edge], active[pairs.first_transition : pairs.first_triple]
    return {
        "path": model.path,
        "learner": CHAIN,
        "model": config.model,
        **({"order": 2} if config.order == 2 else {}),
        "labels": pairs.labels,
        "trace" if config.trace else "l1": config.strength,
        **method(config),
        **({"group": True} if config.group else {}),
        "bits": model.features.bits,
        "examples": past.examples,
        "passes": past.passes,
        "objective": past.objective,
        "features": len(pairs.state.features) + len(pairs.edges.features),
        "active_features": len(np.unique(pairs.state.feature[state])),
        "weights": pairs.weights,
        "active": int(active.sum()),
        **({"rank": rank(model)} if config.trace else {}),
        "active_edges": int(active[pairs.first_edge : pairs.first_transition].sum()),
        "active_transitions": int(transitions.sum()),
        **({"active_triples": int(active[pairs.first_triple :].sum())} if config.order == 2 else {}),
        "norms": norms(pairs.state.feature, pairs.state.label, model.weights[: pairs.first_edge], pairs.labels),
        "names": len(model.names.names) if model.names else 0,
    }


def method(config: L1Config) -> dict[str, Any]:
    """How the weights were found."""
    loss = {} if config.loss == "log" else {"loss": config.loss}
    if config.l2:
        return {**loss, "l2": config.l2}
    if config.loss in MEAN_ONLY:
        return loss
    steps = {"penalty": config.penalty, "rate": config.rate} if config.solver == "sgd" else {}
    return {**loss, "solver": config.solver, **steps}


def rank(model: LoadedModel) -> int:
    """How many directions the weights of features have, rounding errors aside."""
    state = model.pairs.state
    values = singular_values(state.feature, state.label, model.weights, model.pairs.labels)
    return int((values > ROUNDING * values[0]).sum())


def top(model: LoadedModel, count: int) -> list[dict[str, Any]]:
    """The ``count`` weights of every label that are largest in size, with the names of their features.

    Transitions are named by the label, or the two labels, before it.
    """
    pairs, weights = model.pairs, model.weights
    own = np.arange(pairs.weights - pairs.first_transition)
    label = np.concatenate((pairs.state.label, pairs.edges.label % pairs.labels, own % pairs.labels))
    chosen = np.flatnonzero(weights)
    order = chosen[np.lexsort((chosen, -np.abs(weights[chosen]), label[chosen]))]
    starts = np.searchsorted(label[order], np.arange(pairs.labels + 1))
    found = []
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        for position in order[start : min(end, start + count)].tolist():
            entry = {"label": pairs.names[int(label[position])], "weight": float(weights[position])}
            found.append({**entry, **described(model, position)})
    return found


def described(model: LoadedModel, position: int) -> dict[str, Any]:
    pairs = model.pairs
    if position >= pairs.first_transition:
        return {"slot": None, "name": f"after {pairs.previous[(position - pairs.first_transition) // pairs.labels]}"}
    if position < pairs.first_edge:
        return named(model, pairs.state, position)
    edge = named(model, pairs.edges, position - pairs.first_edge)
    before = pairs.names[int(pairs.edges.label[position - pairs.first_edge]) // pairs.labels]
    return {**edge, "name": f"{edge['name'] or edge['slot']} after {before}"}


def named(model: LoadedModel, family: FeatureLabelIndex, pair: int) -> dict[str, Any]:
    slot = int(family.features[family.feature[pair]])
    return {"slot": slot, "name": model.names.names.get(slot) if model.names else None}
