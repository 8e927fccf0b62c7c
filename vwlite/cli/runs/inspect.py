"""What ``vwlite inspect`` does."""

import json
import sys
from typing import Any

from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.named import module_for
from vwlite.errors import UsageError
from vwlite.escapes import escaped
from vwlite.evaluation.inspect_model import Inspection, inspect, require_names
from vwlite.evaluation.latent_factors import factors_of, write_factors, write_tsv
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.counters import Counters
from vwlite.training.text_model import write_readable


def run(arguments: dict[str, Any]) -> int:
    if arguments["top"] < 0:
        raise UsageError("--top takes 0 or more")
    if named := module_for(arguments["model"]):
        return named.inspect(arguments)
    inspection = inspect(arguments["model"])
    if arguments["out"] and not arguments["factors"]:
        raise UsageError("--out needs --factors")
    if arguments["factors"]:
        parts = factors_of(inspection, arguments["factors"])
        write_factors(parts, arguments["out"]) if arguments["out"] else write_tsv(parts, sys.stdout)
        return 0
    header, top = inspection.header(), inspection.top(arguments["top"])
    for name in ("readable_model", "invert_hash"):
        if arguments[name]:
            write_model_text(arguments[name], inspection, name == "invert_hash")
    if arguments["json_path"] != "-":
        print(inspection_text(header, top))
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**header, "top": top})
    return 0


def write_model_text(path: str, inspection: Inspection, with_names: bool) -> None:
    if with_names:
        require_names(inspection)
    restored = inspection.restored
    counters = Counters()
    counters.restore(restored.counters)
    with atomic_output(path) as file:
        write_readable(
            file,
            restored.learner,
            restored.features,
            {**counters.state(), "current_pass": restored.passes},
            predict_only=not restored.header["resumable"],
            names=inspection.names if with_names else None,
        )


def inspection_text(header: dict[str, Any], top: list[dict[str, Any]]) -> str:
    """The header a fact a line, then a table of weights."""
    facts = dict(header)
    if "options" in header:
        facts["options"] = json.dumps(header["options"]) if header["options"] else "defaults"
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {shown(value)}" for name, value in facts.items()]
    if top:
        lines += ["", f"{'weight':>12} {'slot':>10}  name"]
        rows = ((entry["weight"], entry["slot"], escaped(entry["name"] or "")) for entry in top)
        lines += [f"{weight:12.6g} {slot:10d}  {name}".rstrip() for weight, slot, name in rows]
    return "\n".join(lines)


def shown(value: Any) -> str:
    if value is None:
        return "n.a."
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else escaped(str(value))
