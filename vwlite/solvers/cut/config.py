"""Options of normalised cuts: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from vwlite.options import Config, config, option

COMBINE = ("max", "sum", "mean")


@config
class CutConfig(Config):
    """``combine``: the weight of an edge that stands at both of its ends; at one end alone it has that weight."""

    clusters: int = option(2, "Clusters.", spelled=("-k", "--clusters"), low=2, shown="", required=True)
    combine: str = option(
        "max", "How the two weights of an edge that stands at both ends are combined.", choices=COMBINE
    )
    shift: float = option(
        0.0, "Share of its degree that every node has as an edge to itself while nodes are moved.", low=0
    )
    restarts: int = option(5, "Starts of k-means of either kind; the lowest cut is kept.", low=1)
    products: int = option(1000, "Products of the graph with the vectors at most.", low=1)
    seed: int = option(0, "Seed of the starts.", spelled=("--random_seed", "--seed"), low=0, high=2**63 - 1)
