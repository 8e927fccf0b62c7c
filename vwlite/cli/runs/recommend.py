"""What ``vwlite recommend`` does."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from vwlite.api import describe
from vwlite.api.option_rules import check_option_effects
from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.console import Bar, say
from vwlite.cli.files import is_feature
from vwlite.cli.jsonfile import json_lines, write_json
from vwlite.cli.runs.model_dispatch import describe_model, module_for
from vwlite.cli.runs.people import Open, cell_of, eased, of_features, of_file, read_for, spaces_of
from vwlite.data.columns import read_columns
from vwlite.data.config import TABLES, BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import UsageError
from vwlite.escapes import escaped
from vwlite.evaluation.catalogue import Neighbours
from vwlite.evaluation.config import RecommendConfig
from vwlite.evaluation.inspect_model import names_missing, stored_names
from vwlite.evaluation.metric_report import as_table
from vwlite.evaluation.recommend import Recommendation, Recommendations, measure_lists, recommend
from vwlite.options import fields_of, options_of
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.model_loader import Restored

IDLE_BESIDE_NEAR = (
    *(one.key for config in (InputConfig, BadLinesConfig) for one in options_of(config).values()),
    "exclude", "items", "relevant",
)
Show = Callable[[Recommendations | None], None]


def run(arguments: dict[str, Any]) -> int:
    check_option_effects(build.typed(), build.declared())
    if module_for(arguments["initial"], arguments["memory"]):
        raise UsageError(f"recommend does not go with {describe_model(arguments['initial'])}")
    features = [value for value in arguments["people"] if is_feature(value)]
    files = (*arguments["files"], *(value for value in arguments["people"] if not is_feature(value)))
    asked = {"files": files, "--for": features, "--for-file": arguments["for_file"]}
    asked |= {"--test": arguments["test"], "--near": arguments["near"]}
    others = [name for name, value in asked.items() if value]
    if len(others) > 1:
        raise UsageError(f"{others[0]} and {others[1]} each say for whom: give one of them")
    if arguments["near"]:
        return tell_neighbours(arguments)
    if not arguments["of"]:
        raise UsageError("recommend needs --of NS: the namespace of the items")
    test = (arguments["test"],) if arguments["test"] else ()
    config, model = build.open_model({**arguments, "files": test or files})
    how, bad_lines = RecommendConfig(**fields_of(RecommendConfig, arguments)), bad_lines_config(arguments)
    people, items = spaces_of(model, config.input, how.of.partition(",")[0])
    of_pairs = partial(read_for, arguments, model=model, typed=build.typed(), needed=people | items)
    shown: dict[str, Any] = {
        "quiet": arguments["quiet"],
        "display": Bar(arguments["quiet"], to_stdout=not test),
        "open_seen": opening(of_pairs(how.exclude)) if how.exclude else None,
        "open_items": opening(of_pairs(how.items, needed=items)) if how.items else None,
    }
    if test:
        config = replace(config, input=of_pairs(test))
        return tell(measure_lists(config, model, how, bad_lines, **shown), arguments["json_path"])
    opened: Open = Inputs
    if features:
        opened = of_features(features, model, config.input)
    elif arguments["for_file"]:
        opened = of_file(arguments["for_file"], model, config.input, say)
    elif config.input.kind in TABLES:
        columns = eased(read_columns(config.input.columns), people)
        config = replace(config, input=replace(config.input, columns=str(columns)))
    names = names_for(arguments, model)
    shown["by_id"] = bool(features or arguments["for_file"])
    recommend(config, model, names, how, output(arguments["json_path"]), bad_lines, open_inputs=opened, **shown)
    return 0


def names_for(arguments: dict[str, Any], model: Restored) -> dict[int, str]:
    """The names of features by slot; without any a note says how a model gets them."""
    names = stored_names(arguments["initial"], model)
    if not names and not arguments["quiet"]:
        say(f"note: {names_missing(arguments['initial'])}")
    return names


def opening(config: InputConfig) -> Open:
    return lambda _, *others: Inputs(config, *others)


def tell_neighbours(arguments: dict[str, Any]) -> int:
    """Of every feature of --near the features that are nearest to it. Raises UsageError for one that has no vector."""
    idle = {"of", *IDLE_BESIDE_NEAR} & {*build.typed()}
    if idle:
        raise UsageError(f"{build.spelled(min(idle))} does nothing with --near: drop it")
    _, model = build.open_model(arguments)
    names, known, found = names_for(arguments, model), {}, []
    for feature in arguments["near"]:
        space, _, name = feature.partition("=")
        if space not in known:
            known[space] = Neighbours(model, names, space)
        items = known[space].near(slot_near(name, space, known[space], model), arguments["top"])
        if items is None:
            raise UsageError(f"--near {feature}: the model has learned no vector of this feature")
        found.append(Recommendations("", feature, [Recommendation(*item) for item in items]))
    with output(arguments["json_path"]) as show:
        for one in found:
            show(one)
    return 0


def slot_near(name: str, space: str, features: Neighbours, model: Restored) -> int:
    """Of a name as lists show it, or as text has it. Raises UsageError for a name that text cannot hold."""
    if name in features.names:
        return int(features.slots[features.names.index(name)])
    return describe.slot_of(model.learner, model.features, name, space)


def tell(report: dict[str, float], path: str | None) -> int:
    if path != "-":
        print(as_table(report))
    if path:
        write_json(path, report)
    return 0


@contextmanager
def output(path: str | None) -> Iterator[Show]:
    """Text on standard output, unless ``path``, where JSON goes, is that; a file appears when it is complete."""
    with ExitStack() as closing:
        shows: list[Callable[[Recommendations], None]] = [] if path == "-" else [print_list]
        if path:
            file = sys.stdout if path == "-" else closing.enter_context(atomic_output(path, "w"))
            write = closing.enter_context(json_lines(file, "lists"))
            shows.append(lambda found: write(as_json(found)))

        def show(found: Recommendations | None) -> None:
            for one in shows if found else ():
                one(found)

        yield show


def print_list(found: Recommendations) -> None:
    who = escaped(found.tag or found.location)
    for item in found.items:
        print(f"{who}\t{item.score:.6g}\t{escaped(item.name)}")


def as_json(found: Recommendations) -> dict[str, Any]:
    return {**found._asdict(), "items": [{**item._asdict(), "value": cell_of(item.name)} for item in found.items]}
