"""What ``vwlite l1`` does."""

from typing import Any

from vwlite.cli.runs.solve import solve
from vwlite.solvers.loglinear.solver import L1


def run(arguments: dict[str, Any]) -> int:
    return solve(arguments, L1)
