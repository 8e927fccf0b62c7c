"""Options of principal components: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import asdict

from vwlite.options import Config, OptionValues, config, option


@config
class PcaConfig(Config):
    """``oversample`` columns beside the components make these more exact."""

    dim: int = option(100, "Components.", low=1, high=10000, settled=True)
    center: bool = option(False, "Subtract the mean of the examples.", settled=True)
    passes: int = option(3, "Passes over the data; 1 is rough.", low=1)
    oversample: int = option(10, "Columns beside them that make them more exact.", low=0, high=1000, settled=True)
    seed: int = option(0, "Seed of the start.", spelled=("--random_seed", "--seed"), low=0, high=2**63 - 1)

    def kept(self) -> OptionValues:
        """The options in models and reports, as JSON data."""
        return asdict(self)
