"""What the commands do once their options are parsed."""

import json
import sys
from typing import Any

from vwlite import metrics
from vwlite.atomic import atomic_output
from vwlite.cli import build
from vwlite.config import OutputConfig, RunConfig
from vwlite.errors import DataError, UsageError
from vwlite.expand import FeatureConfig
from vwlite.factors import factors_of, write_factors, write_tsv
from vwlite.inspection import Inspection, inspect, require_names
from vwlite.losses import LOSSES
from vwlite.readable import write_readable
from vwlite.restore import Restored
from vwlite.session import Session
from vwlite.training import BadLinesConfig, evaluate, predict, start, train

FIXED = (
    *("sgd", "adaptive", "normalized", "invariant", "initial_t", "initial_weight", "constant"),
    *("dotproduct", "rank", "dot_init", "dot_init_kind", "dot_offset", "no_dot_linear", "random_seed"),
)


def bad_lines_config(arguments: dict[str, Any]) -> BadLinesConfig:
    return BadLinesConfig(arguments["max_bad_ratio"], arguments["strict"], arguments["bad_lines"])


def train_command(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    loss = typed.get("loss_function", "squared")
    learner = build.learner_config(typed, link=LOSSES[loss].link)
    config = build.run_config(arguments, learner, FeatureConfig(**build.feature_changes(typed)))
    model = None
    if arguments["initial"]:
        refuse_fixed(typed)
        config, model = start(config, arguments["initial"], resumed_changes(typed), build.feature_changes(typed))
        if "loss_function" in typed or any(name in typed for name in build.LOSS_FIELDS):
            raise UsageError("the loss function belongs to the model: drop it and its parameters beside -i")
        if "learning_rate" in typed:
            model.learner.set(rate=model.learner.config.start_rate)
    session = train(config, model, bad_lines_config(arguments))
    if arguments["json_path"]:
        write_json(arguments["json_path"], run_report(session))
    return 141 if session.broken else 0


def refuse_fixed(typed: dict[str, Any]) -> None:
    """Options that only a new model can follow."""
    for name in FIXED:
        if name in typed:
            raise UsageError(f"--{name} is settled when a model is begun: drop it beside -i")


def resumed_changes(typed: dict[str, Any]) -> dict[str, Any]:
    return build.learner_changes(typed)


def run_report(session: Session) -> dict[str, Any]:
    """Counts and losses of a finished run, as JSON data."""
    counters, learner = session.counters, session.learner
    weight = counters.labeled_weight
    held = counters.holdout_best_loss if session.holdout.active and counters.holdout_weight else None
    constant = session.report.best_constant(learner)
    return {
        "examples": int(counters.example_number),
        "passes": session.passes_done,
        "weighted_examples": counters.weight,
        "weighted_labels": counters.weighted_labels,
        "average_loss": counters.sum_loss / weight if weight else None,
        "holdout_loss": held,
        "best_constant": constant[0] if constant else None,
        "best_constant_loss": constant[1] if constant else None,
        "features": int(counters.total_features),
        "lines": session.manners.lines,
        "bad_lines": session.manners.bad,
        "min_label": learner.get("min_label"),
        "max_label": learner.get("max_label"),
        "loss_function": learner.config.loss.name,
    }


def write_json(path: str, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with atomic_output(path, "w") as file:
        file.write(text)



def model_config(arguments: dict[str, Any], raw: bool = False) -> tuple[RunConfig, Restored]:
    """To predict with the model of ``-i``."""
    output = OutputConfig(
        predictions=arguments.get("predictions"),
        raw_predictions=arguments.get("raw_predictions"),
        quiet=True,
    )
    config = RunConfig(input=build.input_config(arguments), output=output, learning=False)
    return start(config, arguments["initial"], {"link": "identity"} if raw else {})


def predict_command(arguments: dict[str, Any]) -> int:
    config, model = model_config(arguments, arguments["raw"])
    session = predict(config, model, bad_lines_config(arguments), quiet=arguments["quiet"], active=arguments["active"])
    return 141 if session.broken else 0


def evaluate_command(arguments: dict[str, Any]) -> int:
    config, model = model_config(arguments)
    loss = config.learner.loss
    session, outcomes = evaluate(config, model, bad_lines_config(arguments), quiet=arguments["quiet"])
    if not len(outcomes):
        raise DataError("there is no labelled example to measure the model on")
    weight = session.counters.labeled_weight
    report = metrics.evaluate(
        *outcomes.columns(),
        task="binary" if loss.name in ("logistic", "hinge") else "regression",
        output="probability" if loss.name == "logistic" and config.learner.link == "logistic" else "score",
        loss=session.counters.sum_loss / weight if weight else None,
        metrics=arguments["metrics"].split(",") if arguments["metrics"] else None,
    )
    if arguments["json_path"] != "-":
        print(metrics.as_table(report))
    if arguments["json_path"]:
        write_json(arguments["json_path"], metrics.finite(report))
    return 0


def inspect_command(arguments: dict[str, Any]) -> int:
    if arguments["top"] < 0:
        raise UsageError("--top takes 0 or more")
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
    counters = {**restored.counters, "current_pass": restored.passes}
    with atomic_output(path) as file:
        write_readable(
            file,
            restored.learner,
            restored.features,
            counters,
            predict_only=not restored.header["resumable"],
            names=inspection.names if with_names else None,
        )


def inspection_text(header: dict[str, Any], top: list[dict[str, Any]]) -> str:
    """The header a fact a line, then a table of weights."""
    facts = {**header, "options": json.dumps(header["options"]) if header["options"] else "defaults"}
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {shown(value)}" for name, value in facts.items()]
    if top:
        lines += ["", f"{'weight':>12} {'slot':>10}  name"]
        lines += [f"{entry['weight']:12.6g} {entry['slot']:10d}  {entry['name'] or ''}".rstrip() for entry in top]
    return "\n".join(lines)


def shown(value: Any) -> str:
    if value is None:
        return "n.a."
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
