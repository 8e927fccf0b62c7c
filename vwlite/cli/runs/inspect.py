"""What ``vwlite inspect`` does."""

import json
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from vwlite.cli.build import typed
from vwlite.cli.console import say
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.named import module_for
from vwlite.errors import UsageError
from vwlite.escapes import escaped
from vwlite.evaluation.inspect_model import (
    Inspection,
    factors_of,
    inspect,
    names_missing,
    require_names,
    write_factors,
    write_tsv,
)
from vwlite.learners.configs.base import shown_kind
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.counters import Counters
from vwlite.training.model_header import stored
from vwlite.training.text_model import write_readable

SPELLED = {"frobenius": "Frobenius"}


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
    header, top = inspection.header(), inspection.top(arguments["top"], arguments["by_class"])
    for name in ("readable_model", "invert_hash"):
        if arguments[name]:
            write_model_text(arguments[name], inspection, name == "invert_hash")
    tell_of_names(header, top)
    if arguments["json_path"] != "-":
        print(inspection_text(header, top))
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**header, "top": top})
    return 0


def tell_of_names(header: dict[str, Any], top: list[dict[str, Any]]) -> None:
    """A note where features are shown of which no name is known."""
    if not header["names"] and any(entry["slot"] is not None for entry in top):
        say(f"note: {names_missing(header['path'])}")


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
    if "norms" in header:
        facts["norms"] = " ".join(f"{SPELLED.get(name, name)} {value:g}" for name, value in header["norms"].items())
    if "singular_values" in header:
        facts["singular_values"] = " ".join(f"{value:g}" for value in header["singular_values"])
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {shown(value)}" for name, value in facts.items()]
    if top:
        of_classes = any("class" in entry for entry in top)
        classes = [f"  {escaped(entry.get('class', ''))}" if of_classes else "" for entry in top]
        width = max(map(len, [*classes, "  class" if of_classes else ""]))
        lines += ["", f"{'weight':>12} {'slot':>10}{'  class' if of_classes else '':<{width}}  name"]
        for entry, one in zip(top, classes, strict=True):
            name = escaped(entry["name"] or "")
            lines.append(f"{entry['weight']:12.6g} {entry['slot']:10d}{one:<{width}}  {name}".rstrip())
    return "\n".join(lines)


def shown(value: Any) -> str:
    if value is None:
        return "n.a."
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else escaped(str(value))


EMPTY: Mapping[str, Any] = MappingProxyType({})
OF_VECTORS = ("dot_unseen", "min_updates", "confidence_rate")


def changes_for(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The learner's options that show what is asked for, and ``as_raw`` where answers are written as ``-r`` has them.

    Raises UsageError where the model has nothing of the kind, or two kinds are asked for.
    """
    kind, answer = shown_kind(asked), asked["answer"]
    if kind and answer:
        raise UsageError(f"--{kind} and --predict do not go together: each takes the place of the answers")
    levels = levels_in(asked)
    if (kind or answer) and levels:
        raise UsageError(f"--{kind or 'predict'} and --levels do not go together: each takes the place of the answers")
    config = stored(path).config if kind or answer else None
    return config.to_answer(answer) if answer else config.to_show(kind) if kind else levels


def top_of(asked: Mapping[str, Any], kind: str) -> int | None:
    """How many classes are shown, None for all. Raises UsageError beside answers that are not of ``kind``s of them."""
    most: int | None = asked["most"]
    if most is not None and kind not in ("scores", "probabilities"):
        raise UsageError("--top goes with --scores or --probabilities")
    if most is not None and most < 1:
        raise UsageError("--top takes 1 or more")
    return most


def levels_in(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The levels that were typed, such as for a model without any."""
    return {"levels": asked["levels"]} if asked.get("levels") else {}


def to_measure(path: str, asked: Mapping[str, Any] = EMPTY) -> dict[str, Any]:
    """With probabilities where there are any, for their log loss."""
    return {**stored(path).config.shows_probabilities_of_classes, **levels_in(asked)}


def of_vectors() -> dict[str, Any]:
    """What was typed of the latent vectors that count."""
    return {name: value for name, value in typed().items() if name in OF_VECTORS}
