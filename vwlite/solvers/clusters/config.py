"""Options of clusters: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import asdict

from vwlite.errors import UsageError
from vwlite.options import Config, OptionValues, config, option

SEEDING = ("scalable", "random")
LATER = ("cut", "trim", "soft", "sparse_means")  # models that have their usual values do not name them


@config
class ClusterConfig(Config):
    """``clusters`` 0 stands for a number that is not given."""

    clusters: int = option(0, "Clusters.", spelled=("-k", "--clusters"), low=1, high=100_000, settled=True, shown="")
    spherical: bool = option(
        False, "Examples and means of length 1: the nearest mean is that of the largest cosine.", settled=True
    )
    cut: bool = option(
        False, "Lower the normalised cut of the graph whose weights are the examples' dot products.", settled=True
    )
    passes: int = option(100, "Passes over the data at most; fewer where nothing changes.", low=1)
    seeding: str = option(
        "scalable", "First means: examples far from one another, drawn in several passes; or any.", choices=SEEDING
    )
    batch: int = option(
        0, "Move the means after every N examples, in less time; 0: after each pass, until nothing changes.", low=0,
        shown="0",
    )
    trim: float = option(
        0.0, "Share of the examples that move no mean: those farthest from their means.", low=0, high=0.5, shown="0"
    )
    soft: float = option(
        0.0, "Every example moves all means, by shares exp(-squared distance / T).", metavar="T", low=0, shown="",
        settled=True,
    )
    sparse_means: float = option(
        0.0, "Means whose absolute values sum up to R at most, so that most are 0.", metavar="R", low=0, shown="",
        settled=True,
    )
    restarts: int = option(1, "Starts, of which the one with the least average distance is kept.", low=1)
    seed: int = option(0, "Seed of the start.", spelled=("--random_seed", "--seed"), low=0, high=2**63 - 1)

    def __post_init__(self) -> None:
        if self.cut and self.spherical:
            raise UsageError("--cut divides by degrees, --spherical by lengths: drop one of the two")
        if self.cut and self.batch:
            raise UsageError("--cut takes all examples before means move: drop --batch")
        for name in ("batch", "trim", "cut"):
            if self.soft and getattr(self, name):
                raise UsageError(f"--soft does not go with --{name}: drop one of the two")
        for name in ("spherical", "cut"):
            if self.sparse_means and getattr(self, name):
                raise UsageError(f"--sparse_means does not go with --{name}: drop one of the two")
        if self.cut and self.trim:
            raise UsageError("--cut is that of a graph of all examples: drop --trim")

    def kept(self) -> OptionValues:
        """The options in models and reports, as JSON data; later options only if they differ from the default."""
        return {name: value for name, value in asdict(self).items() if name not in LATER or value}
