"""What ``vwlite inspect`` does."""

import json
import sys
from typing import Any

from vwlite.cli.build import module_for
from vwlite.cli.output import say, show_report
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError, escaped
from vwlite.evaluation.inspect_model import (
    Inspection,
    factors_of,
    inspect,
    missing_names_note,
    require_names,
    tsv_lines,
    write_factors,
)
from vwlite.options import OptionValues
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.counters import Counters
from vwlite.training.text_model import write_readable

SPELLED = {"frobenius": "Frobenius"}


def run(arguments: OptionValues) -> int:
    if arguments["top"] < 0:
        raise UsageError("--top takes 0 or more")
    if module := module_for(arguments["model"]):
        return module.inspect(arguments)
    inspection = inspect(arguments["model"])
    if arguments["out"] and not arguments["factors"]:
        raise UsageError("--out needs --factors")
    if arguments["factors"]:
        parts = factors_of(inspection, arguments["factors"])
        if arguments["out"]:
            write_factors(parts, arguments["out"])
        else:
            sys.stdout.writelines(f"{line}\n" for line in tsv_lines(parts))
        return 0
    header, top = inspection.header(), inspection.top(arguments["top"], arguments["by_class"])
    for name in ("readable_model", "invert_hash"):
        if arguments[name]:
            write_model_text(arguments[name], inspection, name == "invert_hash")
    tell_of_names(header, top)
    return show_report(arguments["json_path"], {**header, "top": top}, inspection_text(header, top))


def tell_of_names(header: JsonObject, top: list[JsonObject]) -> None:
    """A note where features are shown of which no name is known."""
    if not header["names"] and any(entry["slot"] is not None for entry in top):
        say(f"note: {missing_names_note(header['path'])}")


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


def inspection_text(header: JsonObject, top: list[JsonObject]) -> str:
    """The header a fact a line, then a table of weights."""
    facts = dict(header)
    if "options" in header:
        facts["options"] = json.dumps(header["options"]) if header["options"] else "defaults"
    if "norms" in header:
        facts["norms"] = " ".join(f"{SPELLED.get(name, name)} {value:g}" for name, value in header["norms"].items())
    if "singular_values" in header:
        facts["singular_values"] = " ".join(f"{value:g}" for value in header["singular_values"])
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {value_text(value)}" for name, value in facts.items()]
    if top:
        of_classes = any("class" in entry for entry in top)
        classes = [f"  {escaped(entry.get('class', ''))}" if of_classes else "" for entry in top]
        width = max(map(len, [*classes, "  class" if of_classes else ""]))
        lines += ["", f"{'weight':>12} {'slot':>10}{'  class' if of_classes else '':<{width}}  name"]
        for entry, label in zip(top, classes, strict=True):
            name = escaped(entry["name"] or "")
            lines.append(f"{entry['weight']:12.6g} {entry['slot']:10d}{label:<{width}}  {name}".rstrip())
    return "\n".join(lines)


def value_text(value: Any) -> str:
    if value is None:
        return "n.a."
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        return " ".join(map(value_text, value))
    return f"{value:g}" if isinstance(value, float) else escaped(str(value))
