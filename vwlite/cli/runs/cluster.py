"""What ``vwlite cluster`` does, and ``predict``, ``evaluate`` and ``inspect`` with its models."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from vwlite.api import configs
from vwlite.api.option_rules import check_effects
from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.console import Bar
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.evaluate import tell
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.named import UNNAMED, refuse
from vwlite.cli.runs.slot_rows import features_of, opened
from vwlite.errors import UsageError
from vwlite.escapes import escaped
from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.metric_table import CLUSTERS, names_of
from vwlite.evaluation.metric_table import chosen as chosen_metrics
from vwlite.features.config import FeatureConfig
from vwlite.features.name_index import NameIndex
from vwlite.memory_limit import GIB, USUAL
from vwlite.solvers.clusters import model_file
from vwlite.solvers.clusters.assignment import Assignment, lines_of, measured, strongest
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.model_file import ClusterModel
from vwlite.solvers.clusters.solver import solver_of
from vwlite.solvers.cut.text import DegreeRows
from vwlite.solvers.rows import RowSource
from vwlite.storage.file_lock import lock
from vwlite.training.option_agreement import check_learner
from vwlite.training.prediction_writer import PredictionWriter

OTHERS = UNNAMED[model_file.LEARNER]


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    check_effects(typed, build.declared(), going_on=bool(arguments["initial"]))
    model = model_file.load(arguments["initial"]) if arguments["initial"] else None
    config, features = configured(arguments, typed, model)
    input = input_config({**arguments, "shuffle": None})
    input = input.like(model.data, typed) if model else input
    if arguments["names"] and input.cache:
        raise UsageError("--names needs the names in the text, which a cache does not keep: drop -c")
    names = (model and model.names) or (NameIndex() if arguments["names"] else None)
    with ExitStack() as closing:
        if arguments["model"]:
            closing.enter_context(lock(arguments["model"], arguments["lock_wait"]))
        kind = DegreeRows if config.cut else RowSource
        source, keeping = opened(arguments, features, input, True, model, names, kind=kind)
        closing.callback(source.inputs.close)
        closing.enter_context(keeping)
        memory = arguments["memory"] * GIB if arguments["memory"] else USUAL
        means = solver_of(config)(config, source, model.found if model else None, memory, input.threads)
        bar = Bar(arguments["quiet"], to_stdout=False)
        closing.callback(bar.close)
        say = (lambda line: None) if arguments["quiet"] else bar.tell
        found = means.run(say, bar.steps("lines"))
        for note in source.sightings.notes():
            say(f"note: {note}")
        made = model_file.model_of(config, found, source, source.inputs.config.kept)
        if arguments["model"]:
            model_file.save(arguments["model"], made)
    if arguments["json_path"]:
        lines = {"lines": source.policy.lines, "bad_lines": source.policy.bad}
        write_json(arguments["json_path"], {**made.facts(), **lines})
    return 0


def configured(
    arguments: dict[str, Any], typed: dict[str, Any], model: ClusterModel | None
) -> tuple[ClusterConfig, FeatureConfig]:
    """Typed options over the model's, if there is one. Raises UsageError for those that contradict it."""
    features = features_of(arguments, typed, model, "clusters")
    if not model:
        config = ClusterConfig(**configs.chosen(ClusterConfig, arguments))
        if not config.clusters:
            raise UsageError("-k N says how many clusters there are to be")
        if config.clusters == 1:
            raise UsageError("-k takes 2 to 100000, not 1")
        if config.cut and features.weight == "degree":
            raise UsageError("--cut divides examples by their degrees: drop --weight degree")
        if config.cut and "seeding" in typed:
            raise UsageError("--seeding does nothing with --cut, which begins with eigenvectors")
        return config, features
    own = configs.chosen(ClusterConfig, typed)
    check_learner(arguments["initial"], model.config, own)
    for name in ("seeding", "restarts"):
        if name in typed:
            raise UsageError(f"--{name} does nothing beside -i, whose means are the start")
    return replace(model.config, **{**own, "restarts": 1}), features


@contextmanager
def reading(arguments: dict[str, Any], predicting: bool = False) -> Iterator[tuple[Assignment, RowSource, str]]:
    """The model, the rows of the files and their format, that of the model unless it was typed."""
    model = model_file.load(arguments["initial"])
    input = input_config(arguments).like(model.data, build.typed())
    with ExitStack() as closing:
        kind = DegreeRows if model.config.cut else RowSource
        source, keeping = opened(arguments, model.features, input, False, model, predicting=predicting, kind=kind)
        closing.callback(source.inputs.close)
        closing.enter_context(keeping)
        if isinstance(source, DegreeRows):
            source.know(model.found.slots, model.found.total)
        yield Assignment(model), source, input.kind


def predict(arguments: dict[str, Any]) -> int:
    refuse("raw_predictions", of=OTHERS)
    with reading(arguments, predicting=True) as (assignment, source, kind):
        if arguments["probabilities"] and not assignment.softness:
            raise UsageError("--probabilities are there for clusters that were found with --soft")
        shares = assignment.shares if arguments["probabilities"] else None
        with PredictionWriter(arguments["predictions"]) as writer:
            for lines in lines_of(assignment, source, kind, assignment.distances if arguments["scores"] else shares):
                writer.write_bytes(lines)
        source.policy.check_ratio(source.policy.lines)
    return 141 if writer.broken else 0


def evaluate(arguments: dict[str, Any]) -> int:
    refuse(of=OTHERS)
    asked = chosen_metrics(arguments["metrics"])
    with reading(arguments) as (assignment, source, kind):
        report = measured(assignment, source, kind)
    return tell(choose(report, names_of(CLUSTERS), asked) if asked else report, arguments["json_path"])


def inspect(arguments: dict[str, Any]) -> int:
    refuse(of=OTHERS)
    model = model_file.load(arguments["model"])
    facts, found = model.facts(), strongest(model, arguments["top"])
    facts.pop("sizes")
    if arguments["json_path"] != "-":
        print(inspection_text({"learner": model_file.LEARNER, **facts}, []))
        print(f"\n{'cluster':>7} {'examples':>9} {'distance':>9}  strongest features")
        for number, one in enumerate(found):
            words = (
                f"{escaped(str(entry['slot'] if entry['name'] is None else entry['name']))}:{entry['value']:.3g}"
                for entry in one["features"]
            )
            distance = "n.a." if one["average_squared_distance"] is None else f"{one['average_squared_distance']:.4g}"
            print(f"{number:7} {one['examples']:9} {distance:>9}  {' '.join(words)}".rstrip())
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "top": found})
    return 0
