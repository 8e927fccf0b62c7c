"""The run of ``vwlite check``."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

from vwlite.api import run_configs
from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.output import Reading, say, write_json
from vwlite.config_check import JsonObject
from vwlite.data.columns import quote_name
from vwlite.data.dataset import Inputs
from vwlite.data.json_events import EventLayout, LoggedChances
from vwlite.data.label_forms import (
    COSTS,
    DECISION_GROUPS,
    DECISIONS,
    FORMS,
    GROUPS,
    LISTS,
    NAMES,
    NUMBERS,
    SEQUENCES,
    VECTORS,
    form_of_inputs,
)
from vwlite.data.malformed_lines import BadLines, named_labels
from vwlite.errors import DataError, UsageError, escaped
from vwlite.evaluation.data_report import MAX_BITS, MIN_BITS, DataReport, Offsets
from vwlite.evaluation.label_report import (
    ClassNumbers,
    DecisionGroups,
    Decisions,
    Groups,
    Names,
    Numbers,
    Traps,
    TwoClasses,
    Vectors,
    Words,
)
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.learners.configs.per_class import KINDS, MulticlassConfig, PerClassConfig
from vwlite.options import OptionValues

USUAL_BITS = 18  # the default of -b
SHOWN = 20  # namespaces in the table
MANY_CLASSES, FEW_NUMBERS = 8, 32  # with more classes and fewer numbers, distances separate better than sums
FEW_EXAMPLES = 5  # of a class, on average
UNITS = {DECISIONS: "action", DECISION_GROUPS: "action", VECTORS: "output"}  # of counts, where these are of no classes
SHARE_OF_ONES = 0.05  # of values, of features that are measured
CONFIGS = {**dict.fromkeys(KINDS, PerClassConfig), "multiclass": MulticlassConfig}
ASKED = (*CONFIGS, "outputs", "csoaa_ldf", "l1")  # options that say what labels are
OF_MODELS = {  # of --l1
    "binary": TwoClasses,
    "multinomial": Names,
    **dict.fromkeys(("crf", "tree"), partial(Names, sequences=True)),
}
OF_FORMS: dict[str, Callable[[], Numbers]] = {
    NUMBERS: Numbers,
    NAMES: Names,
    SEQUENCES: partial(Names, sequences=True),
    GROUPS: Groups,
    COSTS: partial(Words, sets=False),
    LISTS: partial(Words, sets=True),
    DECISIONS: Decisions,
    DECISION_GROUPS: DecisionGroups,
}


def run(arguments: OptionValues) -> int:
    bits = arguments["bits"]
    if not MIN_BITS <= bits <= MAX_BITS:
        raise UsageError(f"-b takes {MIN_BITS} to {MAX_BITS} bits here, not {bits}")
    features = FeatureConfig(**run_configs.feature_changes(build.typed_options()))
    text = text_format(features, skip_malformed=True, names=True)
    inputs = Inputs(input_config(arguments), text)
    asked = reader_of(arguments)
    reader = asked or OF_FORMS[form_of_inputs(inputs, text)]()
    inputs.parse_as(FORMS[reader.form].format(text))
    census, traps, offsets, chances = DataReport(reader), Traps(), Offsets(), LoggedChances()
    tell = None if arguments["quiet"] else say
    with Reading(arguments["quiet"], inputs.config.paths) as reading:
        policy = build.bad_lines_policy(arguments, reading.say, reader, to_the_end=True, watch=reading.part)
        read(inputs, (census, traps, offsets), policy, chances)
    report = {"lines": policy.lines, "bad_lines": policy.bad, **census.report()}
    if chances.read:  # no line of theirs is empty, but for those that end the groups
        report["blank_lines"] = 0
    labelled = census.examples > census.unlabelled
    report["learn_with"] = reader.advice() or None if labelled and not asked else None
    of_columns = filter(None, [inputs.missing_columns(labelled=True)])
    of_labels = [*reader.sentences(), *chances.sentences()]
    report["warnings"] += [*traps.sentences(report), *offsets.sentences(), *of_labels, *of_columns]
    for sentence in report["warnings"] if tell else ():
        tell(f"warning: {sentence}")
    for note in filter(None, (inputs.read_as, *inputs.remarks)) if tell else ():
        tell(note)
    if arguments["shows_command"]:
        if labelled:
            print(command_for(arguments, report, inputs.advised, inputs.left_out))
    elif arguments["json_path"] != "-":
        advised = [" ".join(filter(None, inputs.advised)), curves_advice(report)]
        print("\n".join(report_lines(report, bits, [] if asked else [advice for advice in advised if advice])))
    if arguments["json_path"]:
        write_json(arguments["json_path"], report)
    policy.check_ratio(policy.lines)
    inputs.check_columns(labelled=True)
    if not labelled:
        raise DataError(f"there is no labelled example to learn from{inputs.advice}")
    return 0


def command_for(
    arguments: OptionValues, report: JsonObject, advised: tuple[str, str], left_out: Sequence[str]
) -> str:
    """A shell command that learns the data of ``report``; ``advised``: options for the labels, and for passes.
    ``left_out``: columns to ignore.
    """
    asked = next((name for name in ASKED if arguments[name]), "")
    options, _, _ = (report["learn_with"] or "").partition(", or ")
    if asked == "l1":
        options = f"vwlite l1 --model {arguments['l1']}"
    elif asked:
        names = arguments["named_labels"]
        options = f"--{asked} {arguments[asked]}" + (f" {named_labels(names)}" if names else "")
    elif "logistic" in report["losses"]:
        options = "--loss_function logistic"
    verb = "l1" if options.startswith("vwlite l1 ") else "train"
    options = options.removeprefix("vwlite l1 ")
    typed = build.typed_options()
    left_out = left_out if "columns" in typed else ()
    columns = f"{typed['columns']} ignore={','.join(map(quote_name, left_out))}" if left_out else None
    beside = [("--format", typed.get("kind")), ("--columns", columns or typed.get("columns"))]
    beside.append(("-b", str(report["bits"]) if report["bits"] > USUAL_BITS and verb == "train" else None))
    words = [word for option, value in beside if value for word in (option, shlex.quote(value))]
    files = [shlex.quote(path) for path in arguments["files"]]
    labels, passes = advised if verb == "train" else ("", "")
    loss = labels.removeprefix("--oaa auto").strip() if options.startswith("--oaa ") else ""
    return " ".join(filter(None, ("vwlite", verb, *files, options, loss, passes, *words, "-f model")))


def reader_of(arguments: OptionValues) -> Numbers | None:
    """The reader of the labels that the options name, None if they name none. Raises UsageError."""
    asked = [name for name in ASKED if arguments[name]]
    names = arguments["named_labels"] or ()
    if len(asked) > 1:
        raise UsageError(f"--{' and --'.join(asked)} do not go together")
    kind = asked[0] if asked else ""
    if kind not in CONFIGS:
        if names:
            raise UsageError("--named_labels needs --oaa, --multiclass, --csoaa or --multilabel_oaa")
        if outputs := arguments["outputs"]:
            return Vectors(outputs)
        if kind == "l1":
            return OF_MODELS[arguments["l1"]]()
        return Groups() if kind else None
    config = CONFIGS[kind](**{kind: arguments[kind]}, named_labels=names)
    many = kind in ("csoaa", "multilabel_oaa")
    return Words(config.classes, sets=kind == "multilabel_oaa") if many else ClassNumbers(config.classes)


Looks = tuple[DataReport, Traps, Offsets]


def read(inputs: Inputs, looks: Looks, policy: BadLines, chances: LoggedChances) -> None:
    """Add the whole input to the reports, and malformed lines to the file of --bad-lines."""
    with ExitStack() as stack:
        stack.enter_context(policy.keeping())
        for part in stack.enter_context(closing(inputs.texts())):
            if isinstance(part.block.layout, EventLayout):
                chances.add(part.block, part.first_line)
            batch = policy.examine(part)
            policy.leave_out(batch, looks[0].reader.wrong)
            for look in looks:
                look.add(batch)
            batch.release()


def curves_advice(report: Mapping[str, Any]) -> str:
    """The option that learns curves between many classes of few numbers, such as places; empty for other data."""
    classes, numbers, values = report["classes"] or 0, report["distinct_features"], report["values"]
    measured = values["count"] and values["ones"] <= SHARE_OF_ONES * values["count"] and numbers <= FEW_NUMBERS
    of_classes = (report["learn_with"] or "").startswith("--oaa")
    if not (of_classes and measured and MANY_CLASSES <= classes <= report["examples"] // FEW_EXAMPLES):
        return ""
    why = f"{classes} classes of {numbers} numbers are seldom separated by straight lines"
    return f"--random_features rbf:512, as {why}"


def report_lines(report: JsonObject, bits: int, advised: Sequence[str]) -> list[str]:
    """The lines of the printed report, with the options that are ``advised``."""
    shares = report["share_of_features_that_share_a_slot"]
    values = report["values"]
    logged = report["decisions"]
    at_least = "at least " if report["distinct_features_is_a_lower_bound"] else ""
    advice = f"-b {report['bits']} is enough" if report["bits"] != bits else "which is enough"
    rows = [
        ("lines", f"{report['lines']} ({report['bad_lines']} malformed, {report['blank_lines']} empty)"),
        ("examples", f"{report['examples']} ({report['unlabelled']} without label, {report['tagged']} with tag)"),
        ("importance", f"{report['total_importance']:g} in all, {report['importance_not_1']} examples not of 1"),
        ("labels", labels_text(report)),
        *([("decisions", decisions_text(logged, report.get("mean_actions")))] if logged else []),
        *([("learn with", report["learn_with"])] if report["learn_with"] else []),
        *([("losses", ", ".join(report["losses"]) or "none")] if report["labels_are"] == NUMBERS else []),
        *(("perhaps", hint) for hint in advised),
        ("features", extent_text(report["features_per_example"], "an example")),
        ("values", f"{extent_text(values, '')}, {values['ones']} of 1"),
        ("distinct", f"{at_least}{report['distinct_features']} features"),
        ("collisions", f"{shares[str(bits)]:.2%} of them share a slot at -b {bits}; {advice}"),
    ]
    lines = [f"{name:<12}{value}" for name, value in rows]
    lines += [f"{'namespace':<24}{'lines':>12}{'features':>12}"]
    for space in report["namespaces"][:SHOWN]:
        lines.append(f"{escaped(space['name']) or '(no name)':<24}{space['lines']:>12}{space['features']:>12}")
    left = len(report["namespaces"]) - SHOWN
    if left > 0 or report["further_namespaces"]:
        lines.append(f"and {max(left, 0)} more{' and many others' if report['further_namespaces'] else ''}")
    return lines


def labels_text(report: JsonObject) -> str:
    if report["label_min"] is None and not report["classes"]:
        return f"none, read as {report['labels_are']}"
    description = report["labels_are"]
    if report["classes"]:
        unit = "sequences" if report["labels_are"] == SEQUENCES else "groups"
        parts = "" if report["groups"] is None else f", {report['groups']} {unit}"
        one = UNITS.get(description, "class")
        many = "classes" if one == "class" else f"{one}s"
        description += f" ({report['classes']} {many if report['classes'] > 1 else one}{parts})"
    if report["labels"] is not None:
        return f"{description}; " + ", ".join(f"{escaped(label)}: {count}" for label, count in report["labels"].items())
    if report["classes"]:
        return description
    return f"{description}; {report['label_min']:g} to {report['label_max']:g}, mean {report['label_mean']:g}"


def decisions_text(report: Mapping[str, Any], actions: float | None) -> str:
    inverse = f"mean of 1 / probability {report['mean_inverse_probability']:g}"
    inverse += f", of actions {actions:g}" if actions else ""
    costs, probabilities = (extent_text(report[name], "") for name in ("costs", "probabilities"))
    return f"costs {costs}; probabilities {probabilities}; {inverse}"


def extent_text(moments: JsonObject, unit: str) -> str:
    if not moments["count"]:
        return "none"
    return f"{moments['min']:g} to {moments['max']:g}{f' {unit}' if unit else ''}, mean {moments['mean']:g}"
