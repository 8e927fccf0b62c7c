"""What ``vwlite predict`` does."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.build import class_limit, module_for, prediction_changes, typed_vector_options
from vwlite.cli.files import NAME, PATH, output_of
from vwlite.cli.output import Bar, say, tell
from vwlite.cli.root import sentence_of
from vwlite.data.input_stream import display_name
from vwlite.errors import UsageError, VwliteError, escaped
from vwlite.learners.configs.base import shown_kind
from vwlite.storage.output_checks import STDOUT, File, check, is_url
from vwlite.training.predict import predict
from vwlite.training.predictions import open_drawn, open_labelled

Predict = Callable[[tuple[str, ...], str | None], bool]


def run(arguments: dict[str, Any]) -> int:
    pattern = arguments["each"]
    if pattern is None:
        return 141 if predictor(arguments)(arguments["files"], arguments["predictions"]) else 0
    outputs = outputs_of_each(arguments, pattern)
    return predict_each(outputs, predictor({**arguments, "files": tuple(outputs)[:1], "predictions": None}))


def predictor(arguments: dict[str, Any]) -> Predict:
    """The function that predicts files: it takes their paths and the output, and is True when its reader went away.

    The model is opened here, once. Raises UsageError and ModelError.
    """
    if module := module_for(arguments["initial"], arguments["memory"]):
        answer = module.predict  # which opens the model for each call
        return lambda paths, output: bool(answer({**arguments, "files": paths, "predictions": output}))
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
    changes, confidence = dict(prediction_changes(arguments["initial"], arguments)), arguments["confidence"]
    as_raw = changes.pop("as_raw", False)
    to_stdout = arguments["audit"] or arguments["predictions"] in STDOUT
    shown: dict[str, Any] = {"quiet": arguments["quiet"]}
    if arguments["jsonl"]:
        from vwlite.api.json_predictions import open_json_predictions  # which text needs not

        check_jsonl(arguments)
        key = shown_kind(arguments) or "prediction"
        shown["open_answers"] = partial(open_json_predictions, key, arguments["sample"], arguments["with_labels"])
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
    scalars = model.learner.scalars.copy()

    def answer(paths: tuple[str, ...], output: str | None) -> bool:
        bar = Bar(arguments["quiet"], to_stdout)
        of_files = build.over_files(config, model, arguments, paths, output)
        model.learner.scalars[:] = scalars  # what is drawn begins anew with every file, and so do the namespaces met
        fresh = replace(model, plan=model.plan.apart())
        return predict(of_files, fresh, bad_lines, display=bar, **shown)

    return answer


def outputs_of_each(arguments: Mapping[str, Any], pattern: str) -> dict[str, str]:
    """The file of predictions of each input.

    Raises UsageError for a pattern that cannot name one file for each, an output that another file of the run would be
    overwritten by, and options of one output; OutputError for one that cannot be written.
    """
    if PATH not in pattern and NAME not in pattern:
        raise UsageError(f"--each {pattern} has neither {PATH} nor {NAME}, as in '{PATH}.pred' or 'out/{NAME}.pred'")
    beside = {"predictions": "-p", "raw_predictions": "-r", "audit": "--audit", "bad_lines": "--bad-lines"}
    for name, option in beside.items():
        if name in build.typed_options():
            raise UsageError(f"--each and {option} do not go together: one is of each input, the other of all")
    inputs = tuple(dict.fromkeys(arguments["files"]))
    for path in inputs or ("-",):
        if path == "-" or is_url(path):
            raise UsageError(f"--each is of files, and {display_name(path)} is none: name files, or drop it")
    names = {path: output_of(path, pattern) for path in inputs}
    model = File(arguments["initial"], "model", "the model of -i")
    reads = [File(path, "input", "the input") for path in inputs]
    check([model, *reads], [File(output, "predictions", f"--each {output}") for output in names.values()])
    return names


def predict_each(outputs: Mapping[str, str], answer: Predict) -> int:
    """Predict each input into its file; the exit code of the first that failed, 0 for none."""
    failed: list[int] = []
    for number, (path, output) in enumerate(outputs.items()):
        try:
            answer((path,), output)
        except (VwliteError, MemoryError, OSError) as error:
            if isinstance(error, UsageError) and not number:
                raise  # of the options, which are the same for all
            sentence, status = sentence_of(error)
            tell(f"vwlite: {'' if path in sentence else f'{escaped(path)}: '}{sentence}")
            failed.append(status)
    if failed and len(outputs) > 1:
        say(f"{len(failed)} of {len(outputs)} files failed")
    return failed[0] if failed else 0


def check_sample(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what is written in the place of actions."""
    for name in ("audit", "scores", "raw", "answer"):
        if arguments["sample"] is not None and arguments[name]:
            raise UsageError(f"--sample and {build.spelling_of(name)} do not go together: drop one")


def check_with_labels(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what is written in the place of predictions, or beside them."""
    beside = () if arguments["jsonl"] else ("confidence", "importance_to")
    for name in ("audit", "sample", *beside):
        if arguments["with_labels"] and arguments[name] not in (None, False):
            raise UsageError(f"--with-labels and {build.spelling_of(name)} do not go together: drop one")


def check_jsonl(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what is written as text beside."""
    for name, option in (("audit", "--audit"), ("raw_predictions", "-r")):
        if arguments[name]:
            raise UsageError(f"--jsonl and {option} do not go together: drop one")


def beside_audit(path: str) -> str | None:
    """Tell where predictions go when an audit goes to standard output: nowhere unless a file is named."""
    if path in STDOUT and "predictions" in build.typed_options():
        raise UsageError("--audit writes to standard output: name a file for -p, or drop it")
    return None if path in STDOUT else path
