"""What ``vwlite predict`` does."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.console import Bar
from vwlite.cli.runs.model_dispatch import class_limit, module_for, prediction_changes, typed_vector_options
from vwlite.errors import UsageError
from vwlite.learners.configs.base import shown_kind
from vwlite.training.predict import predict
from vwlite.training.prediction_writer import STDOUT
from vwlite.training.predictions import open_drawn, open_labelled


def run(arguments: dict[str, Any]) -> int:
    if module := module_for(arguments["initial"], arguments["memory"]):
        return module.predict(arguments)
    if arguments["nbest"] is not None:
        raise UsageError("--nbest is of label sequences, which models of 'vwlite l1 --model crf' (or tree) predict")
    target = arguments["importance_to"]
    if target is not None and arguments["confidence"]:
        raise UsageError("--confidence and --importance-to do not go together: each is shown beside the prediction")
    if arguments["confidence_rate"] is not None and not arguments["confidence"] and target is None:
        raise UsageError("--confidence-rate does nothing without --confidence or --importance-to")
    top = class_limit(arguments, shown_kind(arguments))
    check_sample(arguments)
    check_with_labels(arguments)
    changes, confidence = prediction_changes(arguments["initial"], arguments), arguments["confidence"]
    as_raw = changes.pop("as_raw", False)
    to_stdout = arguments["audit"] or arguments["predictions"] in STDOUT
    shown: dict[str, Any] = {"quiet": arguments["quiet"], "display": Bar(arguments["quiet"], to_stdout)}
    if arguments["jsonl"]:
        from vwlite.api.json_predictions import opener  # which text needs not

        check_jsonl(arguments)
        key = shown_kind(arguments) or "prediction"
        shown["open_answers"] = opener(key, arguments["sample"], arguments["with_labels"])
    elif arguments["with_labels"]:
        shown["open_answers"] = open_labelled
    elif arguments["sample"] is not None:
        shown["open_answers"] = partial(open_drawn, arguments["sample"])
    if arguments["audit"]:
        arguments["predictions"] = beside_audit(arguments["predictions"])
    config, model = build.open_model(arguments, {**changes, **typed_vector_options()}, confidence, target is not None)
    bad_lines = bad_lines_config(arguments)
    shown |= {"confidence": confidence, "importance_to": target, "as_raw": as_raw, "top": top}
    shown["with_labels"] = arguments["with_labels"]
    broken = predict(config, model, bad_lines, **shown)
    return 141 if broken else 0


def check_sample(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what is written in the place of actions."""
    for name in ("audit", "scores", "raw", "answer"):
        if arguments["sample"] is not None and arguments[name]:
            raise UsageError(f"--sample and {build.spelled(name)} do not go together: drop one")


def check_with_labels(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what is written in the place of predictions, or beside them."""
    beside = () if arguments["jsonl"] else ("confidence", "importance_to")
    for name in ("audit", "sample", *beside):
        if arguments["with_labels"] and arguments[name] not in (None, False):
            raise UsageError(f"--with-labels and {build.spelled(name)} do not go together: drop one")


def check_jsonl(arguments: dict[str, Any]) -> None:
    """Raises UsageError for what is written as text beside."""
    for name, option in (("audit", "--audit"), ("raw_predictions", "-r")):
        if arguments[name]:
            raise UsageError(f"--jsonl and {option} do not go together: drop one")


def beside_audit(path: str) -> str | None:
    """Where predictions go when an audit goes to standard output: nowhere unless a file is named."""
    if path in STDOUT and "predictions" in build.typed():
        raise UsageError("--audit writes to standard output: name a file for -p, or drop it")
    return None if path in STDOUT else path
