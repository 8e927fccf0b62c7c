"""Options of the features that Theta makes: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from vwlite.options import Config, config, option

NOTHING_KNOWN = "no feature of the text is in Theta"


@config
class ApplyConfig(Config):
    """Options of ``aso apply``. ``unit``: are the features of a group scaled to length ``scale``, or by it?"""

    scale: float = option(
        1.0, "Length of each group's features.", spelled=("--theta-scale",), key="theta_scale", above=0,
    )
    unit: bool = option(
        True, "Scale them to that length; else multiply them by it.", spelled=("--theta-unit/--no-theta-unit",),
        key="theta_unit", shown="yes",
    )
    dim: int | None = option(None, "Rows of each group.", spelled=("--theta-dim",), key="theta_dim", low=1, shown="all")
    groups: tuple[str, ...] = option(
        (), "Groups of Theta to keep.", spelled=("--theta-groups",), key="theta_groups", metavar="A,B",
        shown="all",
    )
