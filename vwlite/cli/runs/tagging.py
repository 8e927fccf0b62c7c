"""What ``predict`` and ``evaluate`` do with a model of named labels."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.build import class_limit, refuse_options
from vwlite.cli.output import say, show_report
from vwlite.cli.runs.inspect import inspection_text, tell_of_names
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError, escaped
from vwlite.evaluation.explain import Explanation
from vwlite.evaluation.metric_table import as_table
from vwlite.options import OptionValues
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.inspection import Explained, facts, top
from vwlite.solvers.loglinear.tagger import Tagger, measure, nbest_texts, read_batches, texts
from vwlite.training.prediction_writer import PredictionWriter

T = TypeVar("T", bound=Tagger)


def open_tagger(
    arguments: OptionValues,
    closing: ExitStack,
    made: type[T],
    predicting: bool = False,
    names: bool = False,
    supported: tuple[str, ...] = (),
) -> tuple[T, BadLines]:
    """A ``made`` over the inputs, and its policy for malformed lines. Raises UsageError for unsupported options.

    ``predicting``: malformed lines get an output line, too; ``names``: read feature names; ``supported``: see
    ``refuse_options``.
    """
    if "audit" in build.typed_options():
        raise UsageError("--audit does not go with a model of named labels: use 'vwlite explain'")
    refuse_options("raw_predictions", "scores", supported=(*supported, "scheme"))
    model = model_file.load(arguments["initial"])
    policy = build.bad_lines_policy(arguments, say, to_the_end=predicting)
    closing.enter_context(policy.keeping())
    past = model.past
    input = input_config(arguments).like({"kind": past.kind, "columns": past.columns}, build.typed_options())
    return made(model, read_batches(model, input, policy, names)), policy


def predict(arguments: OptionValues) -> int:
    top = class_limit(arguments, "probabilities" if arguments["probabilities"] else "")
    check_nbest(arguments)
    with ExitStack() as closing:
        supported = ("most", "with_labels", "nbest")
        tagger, policy = open_tagger(arguments, closing, Tagger, predicting=True, supported=supported)
        writer = closing.enter_context(PredictionWriter(arguments["predictions"]))
        nbest, with_labels = arguments["nbest"], arguments["with_labels"]
        if nbest:
            answers = nbest_texts(tagger, nbest, with_labels)
        else:
            answers = texts(tagger, arguments["probabilities"], top, with_labels)
        for lines in answers:
            writer.write_bytes(lines)
            if writer.broken:
                break
    policy.check_ratio(policy.lines)
    return 141 if writer.broken else 0


MOST_NBEST = 100_000  # label sequences of a sequence, all of which are kept until they are written


def check_nbest(arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for less than one label sequence, and for what is of a line, not of a sequence."""
    nbest = arguments["nbest"]
    if nbest is not None and not 1 <= nbest <= MOST_NBEST:
        raise UsageError(f"--nbest takes 1 to {MOST_NBEST:,}")
    if nbest is not None and arguments["probabilities"]:
        raise UsageError("--nbest and --probabilities do not go together: one is of sequences, the other of each line")


def explain(arguments: OptionValues, output: AbstractContextManager[Callable[[Explanation], None]]) -> int:
    with ExitStack() as closing:
        tagger, policy = open_tagger(arguments, closing, Explained, predicting=True, names=True)
        show = closing.enter_context(output)
        for explanation in tagger.explanations(arguments["top"], arguments["classes"]):
            show(explanation)
    policy.check_ratio(policy.lines)
    return 0


def evaluate(arguments: OptionValues) -> int:
    refused: list[str] = []
    with ExitStack() as closing:
        tagger, _ = open_tagger(arguments, closing, Tagger)
        report = measure(tagger, arguments["metrics"], arguments["scheme"], refused.append)
    return show_report(arguments["json_path"], report, as_table(report), refused)


def inspect(arguments: OptionValues) -> int:
    refuse_options(supported=("by_class",))  # features are always listed by class
    model = model_file.load(arguments["model"])
    header, strongest = facts(model), top(model, arguments["top"])
    tell_of_names(header, strongest)
    lines = [inspection_text(header, [])]
    if strongest:
        lines.append(f"\n{'weight':>12}  {'label':<10} name")
    for entry in strongest:
        name = entry["slot"] if entry["name"] is None else entry["name"]
        lines.append(f"{entry['weight']:12.6g}  {escaped(entry['label']):<10} {escaped(str(name))}")
    return show_report(arguments["json_path"], {**header, "top": strongest}, "\n".join(lines))
