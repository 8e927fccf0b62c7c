"""What every command does whose solver learns from all of its data: see ``vwlite.training.solver_run``."""

from collections.abc import Callable
from typing import Any

from vwlite.api.option_rules import check_effects
from vwlite.cli import build
from vwlite.cli.console import Screen
from vwlite.cli.jsonfile import NOTHING_NEW, write_json
from vwlite.cli.signals import Interrupts
from vwlite.options import Request
from vwlite.training.solver_run import Solver, run_solver


def solve(arguments: dict[str, Any], kind: Callable[[Request, str | None], Solver]) -> int:
    """Run the solver that ``kind`` makes, and report."""
    request = build.request()
    check_effects(request.given, request.known, going_on=bool(arguments.get("initial")))
    done = run_solver(kind, request, Screen(arguments["quiet"]), Interrupts)
    if arguments["json_path"]:
        if done:
            write_json(arguments["json_path"], done.report(), done.solver.options(), done.history)
        else:
            write_json(arguments["json_path"], NOTHING_NEW)
    return 0
