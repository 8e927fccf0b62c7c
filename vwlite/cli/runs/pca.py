"""What ``vwlite pca`` and ``vwlite project`` do, and ``vwlite inspect`` with their models."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.api import configs
from vwlite.api.option_rules import check_effects
from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.console import Bar
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.named import refuse
from vwlite.cli.runs.slot_rows import features_of, opened
from vwlite.errors import UsageError
from vwlite.escapes import escaped
from vwlite.features.config import FeatureConfig
from vwlite.features.name_index import NameIndex
from vwlite.memory_limit import GIB, USUAL
from vwlite.solvers.pca import model_file
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.inspection import strongest
from vwlite.solvers.pca.model_file import PcaModel
from vwlite.solvers.pca.project import Projection, lines_of
from vwlite.solvers.pca.train import NOTHING, Finder
from vwlite.storage.file_lock import lock
from vwlite.training.option_agreement import check_learner
from vwlite.training.prediction_writer import PredictionWriter


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
        again = config.passes > 1 or (features.weight != "none" and not model)
        source, keeping = opened(arguments, features, input, again, model, names)
        closing.callback(source.inputs.close)
        closing.enter_context(keeping)
        memory = arguments["memory"] * GIB if arguments["memory"] else USUAL
        finder = Finder(config, source, model.found if model else NOTHING, memory, input.threads)
        bar = Bar(arguments["quiet"], to_stdout=False)
        closing.callback(bar.close)
        say = (lambda line: None) if arguments["quiet"] else bar.tell
        found = finder.run(say, bar.steps("lines"))
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
    arguments: dict[str, Any], typed: dict[str, Any], model: PcaModel | None
) -> tuple[PcaConfig, FeatureConfig]:
    """Typed options over the model's, if there is one. Raises UsageError for those that contradict it."""
    features = features_of(arguments, typed, model, "principal components")
    if not model:
        return PcaConfig(**configs.chosen(PcaConfig, arguments)), features
    own = configs.chosen(PcaConfig, typed)
    check_learner(arguments["initial"], model.config, own)
    return replace(model.config, **own), features


def project(arguments: dict[str, Any]) -> int:
    model = model_file.load(arguments["initial"])
    input = input_config(arguments).like(model.data, build.typed())
    source, keeping = opened(arguments, model.features, input, False, model, predicting=True)
    with ExitStack() as closing:
        closing.callback(source.inputs.close)
        closing.enter_context(keeping)
        writer = closing.enter_context(PredictionWriter(arguments["predictions"]))
        for lines in lines_of(Projection(model, arguments["scale"] == "left"), source, input.kind):
            writer.write_bytes(lines)
    source.policy.check_ratio(source.policy.lines)
    return 141 if writer.broken else 0


def predict(arguments: dict[str, Any]) -> int:
    raise UsageError(f"{arguments['initial']} is a model of principal components: use 'vwlite project'")


evaluate = predict


def inspect(arguments: dict[str, Any]) -> int:
    refuse()
    model = model_file.load(arguments["model"])
    facts, found = model.facts(), strongest(model, arguments["top"])
    facts.pop("singular_values")
    if arguments["json_path"] != "-":
        print(inspection_text({"learner": model_file.LEARNER, **facts}, []))
        print(f"\n{'value':>12}  component's strongest features")
        for one in found:
            words = (
                f"{escaped(str(entry['slot'] if entry['name'] is None else entry['name']))}:{entry['value']:.3g}"
                for entry in one["features"]
            )
            print(f"{one['singular_value']:12.6g}  {' '.join(words)}")
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "components": found})
    return 0
