"""What ``vwlite recommend`` does, and whom it is asked about: files of any format, and features that are typed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from vwlite.api import describe
from vwlite.api.data_source import input_opener
from vwlite.api.run_configs import bad_lines_config, check_option_effects, input_config
from vwlite.cli import build
from vwlite.cli.build import describe_model, module_for
from vwlite.cli.files import is_feature
from vwlite.cli.output import Bar, json_lines, say, show_report
from vwlite.config_check import JsonObject
from vwlite.data.columns import IGNORE, NUMBER, Column, Columns, proposal_text, read_columns
from vwlite.data.config import TABLES, BadLinesConfig, InputConfig, named_kind
from vwlite.data.dataset import Inputs
from vwlite.data.input_stream import display_name, whole_input
from vwlite.data.memory import parsed_text
from vwlite.data.plain_text import decode, words_of
from vwlite.errors import DataError, UsageError, escaped
from vwlite.evaluation.catalogue import Neighbours
from vwlite.evaluation.config import RecommendConfig
from vwlite.evaluation.inspect_model import missing_names_note, stored_names
from vwlite.evaluation.metric_table import as_table
from vwlite.evaluation.recommend import Recommendation, Recommendations, measure_lists, recommend
from vwlite.features.config import covers, sides_of_pair
from vwlite.features.feature_plan import text_format
from vwlite.learners.abilities import PairFactors
from vwlite.options import OptionValues, fields_of, options_of
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.model_loader import Restored

Open = Callable[..., Inputs]
Row = dict[str, Any]


def read_for(
    arguments: OptionValues, paths: tuple[str, ...], *, model: Restored, typed: Mapping[str, Any], needed: set[str]
) -> InputConfig:
    """Tell how files are read: as their names end, as typed, or as the model's data were, in this order.

    A table may lack columns of other namespaces than the ``needed`` ones.
    """
    named = named_kind(paths)
    kind = named or arguments["kind"] or "vw"
    chosen = {name: value for name, value in typed.items() if name != "kind" or not named}
    config = input_config({**arguments, "files": paths, "kind": kind}).like(model.header, chosen)
    columns = read_columns(config.columns) if config.kind in TABLES else None
    return replace(config, columns=str(allow_missing(columns, needed)) if columns else "")


def allow_missing(columns: Columns, needed: set[str]) -> Columns:
    """The columns of namespaces that are not ``needed`` may be missing."""
    spaces = {
        space: members if space in needed else tuple(replace(column, optional=True) for column in members)
        for space, members in columns.spaces.items()
    }
    return replace(columns, spaces=spaces)


def spaces_of(model: Restored, config: InputConfig, item: str) -> tuple[set[str], set[str]]:
    """The namespaces of a table that tell persons apart, and those of the namespace ``item``."""
    sides = [sides_of_pair(pair) for pair in model.features.dotproduct]
    partners = {right for pair in sides for left, right in (pair, pair[::-1]) if left == item}
    spaces = read_columns(config.columns).spaces
    people = {space for space in spaces if any(covers(side, space) for side in partners)}
    return people, {space for space in spaces if covers(item, space)}


class People:
    """Examples made of features, ``namespace=name`` each; of a table's model ``column=value`` each."""

    def __init__(self, model: Restored, config: InputConfig) -> None:
        self.model, self.config = model, config
        self.columns = read_columns(model.header.get("columns", "")) if model.header["kind"] in TABLES else None
        self.lines: list[str] = []

    def add(self, features: list[str]) -> None:
        """An example with these. Raises Unmet for one that the model has not met, UsageError."""
        if self.columns is None:
            self.lines.append(text_of(features, self.model))
            return
        rows = [row_of(feature, self.columns, self.model, self.config) for feature in features]
        self.lines.append(json.dumps({**merge_rows(rows), TAG: ",".join(features).replace(" ", "_")}))

    def opened(self) -> Open:
        config = in_json(self.config, self.columns) if self.columns else replace(self.config, kind="vw", columns="")
        opened = input_opener("".join(f"{line}\n" for line in self.lines), {})
        return lambda _, *others: opened(config, *others)


TAG = "for whom"  # a member that no table has
AFTER_MARK = re.compile(r"_[+-]?(\d|\.\d|inf|nan)", re.IGNORECASE)  # what reads like a number has ``_`` in front


class Unmet(UsageError):
    """A feature is asked about that the model has not met."""


def of_features(features: list[str], model: Restored, config: InputConfig) -> Open:
    """Make one example with these features."""
    people = People(model, config)
    try:
        people.add(features)
    except UsageError as error:
        raise UsageError(f"--for {error}") from None
    return people.opened()


def of_file(path: str, model: Restored, config: InputConfig, tell: Callable[[str], None]) -> Open:
    """An example for each non-blank line of a file; ``tell`` is called for lines with features the model does not know.

    Raises DataError for a line that is no list of features, and if the model knows no line.
    """
    people, count = People(model, config), 0
    name = display_name(path)
    lines = decode(whole_input(path)).split("\n")
    for number, line in enumerate(lines, 1):
        features = words_of(line)
        if not features:
            continue
        count += 1
        if not all(map(is_feature, features)):
            raise DataError(f"{name}:{number}: a line has features like user=u17, with blanks between")
        try:
            people.add(features)
        except Unmet as unmet:
            tell(f"{name}:{number}: {unmet}")
        except UsageError as error:
            raise DataError(f"{name}:{number}: {error}") from None
    if not people.lines:
        raise DataError(f"{name}: the model knows no person of its {count} lines")
    if left := count - len(people.lines):
        tell(f"{left} of {count} lines of {name} have no list")
    return people.opened()


def in_json(config: InputConfig, columns: Columns) -> InputConfig:
    """Return how a row of the model's table is read as an object."""
    roles = {"tag": Column(TAG, optional=True)}
    return replace(config, kind="jsonl", columns=str(replace(columns, roles=roles)))


def merge_rows(rows: list[Row]) -> Row:
    """Merge objects into one row; members of a namespace come together."""
    namespaces: Row = {}
    for name, value in chain.from_iterable(row.items() for row in rows):
        namespaces[name] = {**namespaces.get(name, {}), **value} if isinstance(value, dict) else value
    return namespaces


def text_of(features: list[str], model: Restored) -> str:
    """Raises UsageError."""
    blocks = []
    for feature in features:
        space, _, name = feature.partition("=")
        slot = describe.slot_of(model.learner, model.features, name, space)
        if not (describe.is_learned(model.learner, slot) or knows_the_mean(model, [space])):
            raise unknown_feature(feature)
        blocks.append(f"|{space} {name}")
    return f"'{','.join(features)} {' '.join(blocks)}"


def knows_the_mean(model: Restored, spaces: Iterable[str]) -> bool:
    """Whether somebody or something new, in one of the namespaces, is predicted as the mean of what is known."""
    if not (isinstance(model.learner, PairFactors) and model.learner.new_is_mean):
        return False
    sides = [side for pair in model.features.dotproduct for side in sides_of_pair(pair)]
    return any(covers(side, space) for side in sides for space in spaces)


def unknown_feature(feature: str) -> Unmet:
    return Unmet(f"{feature}: the model does not know this feature")


def row_of(feature: str, columns: Columns, model: Restored, config: InputConfig) -> Row:
    """The row that has this feature alone. Raises UsageError."""
    read, rows = partial(slots_of, model=model, config=in_json(config, columns)), [*rows_like(feature, columns)]
    for row in rows:
        slots = read(row)
        if slots and all(describe.is_learned(model.learner, slot) for slot in slots):
            return row
    name, members = feature.partition("=")[0], columns.spaces.items()
    if rows and knows_the_mean(model, (space for space, own in members if name in (space, *(one.name for one in own)))):
        return rows[0]
    raise unknown_feature(feature)


def rows_like(feature: str, columns: Columns) -> Iterator[Row]:
    """The rows that ``column=value`` may mean: of a namespace of one column, this; ``namespace=column^value`` as lists
    show; of JSON also ``namespace=name`` or ``namespace=name=value``. Raises UsageError for a column that is not there,
    or is not a number.
    """
    name, _, value = feature.partition("=")
    known = {column.name: column for column in columns.features}
    alone = columns.spaces.get(name, ())
    column = known.get(name) or (alone[0] if len(alone) == 1 else None)
    namespace = value.partition("^")[0]
    listed = any(column.name == namespace and column.type != NUMBER for column in alone) and namespace != value
    if column and not (listed and column.type == NUMBER):
        yield {column.name: number(feature, value) if column.type == NUMBER else value}
    if listed:
        yield {namespace: cell_of(value)}
    elif column:
        return
    elif columns.rest == IGNORE:
        raise UsageError(f"{feature}: the model's table has no column {name!r}{proposal_text(name, known)}")
    else:
        inner, _, text = value.partition("=")
        yield from ({name: value}, {name: {inner: text}} if text else {name: [value]})


def cell_of(name: str) -> str:
    """The cell of a table that a feature, ``column^value`` in lists, was made of: without the ``_`` before numbers."""
    _, mark, value = name.partition("^")
    if not mark:
        return name
    return value[1:] if AFTER_MARK.match(value) else value


def number(feature: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise UsageError(f"{feature}: the column holds numbers, not {value!r}") from None


def slots_of(row: Row, model: Restored, config: InputConfig) -> list[int]:
    text = json.dumps(row) + "\n"
    shift, _ = model.learner.layout
    return [
        int(slot) << shift & (1 << model.learner.bits) - 1
        for part in parsed_text(text, config, text_format(model.features, skip_malformed=True))
        for slot in part.batch.feature_hash
    ]


IDLE_BESIDE_NEAR = (
    *(option.key for config in (InputConfig, BadLinesConfig) for option in options_of(config).values()),
    "exclude", "items", "relevant",
)
Show = Callable[[Recommendations | None], None]


def run(arguments: OptionValues) -> int:
    check_option_effects(build.typed_options(), build.declared_options())
    if module_for(arguments["initial"], arguments["memory"]):
        raise UsageError(f"recommend does not go with {describe_model(arguments['initial'])}")
    features = [value for value in arguments["people"] if is_feature(value)]
    files = (*arguments["files"], *(value for value in arguments["people"] if not is_feature(value)))
    asked = {"files": files, "--for": features, "--for-file": arguments["for_file"]}
    asked |= {"--test": arguments["test"], "--near": arguments["near"]}
    others = [name for name, value in asked.items() if value]
    if len(others) > 1:
        raise UsageError(f"{others[0]} and {others[1]} both name the persons: give one of them")
    if arguments["near"]:
        return tell_neighbours(arguments)
    if not arguments["of"]:
        raise UsageError("recommend needs --of NS: the namespace of the items")
    test = (arguments["test"],) if arguments["test"] else ()
    config, model = build.open_model({**arguments, "files": test or files})
    how, bad_lines = RecommendConfig(**fields_of(RecommendConfig, arguments)), bad_lines_config(arguments)
    people, items = spaces_of(model, config.input, how.of.partition(",")[0])
    of_pairs = partial(read_for, arguments, model=model, typed=build.typed_options(), needed=people | items)
    shown: dict[str, Any] = {
        "quiet": arguments["quiet"],
        "display": Bar(arguments["quiet"], to_stdout=not test),
        "open_seen": inputs_opener(of_pairs(how.exclude)) if how.exclude else None,
        "open_items": inputs_opener(of_pairs(how.items, needed=items)) if how.items else None,
    }
    if test:
        config = replace(config, input=of_pairs(test))
        report = measure_lists(config, model, how, bad_lines, **shown)
        return show_report(arguments["json_path"], report, as_table(report))
    opened: Open = Inputs
    if features:
        opened = of_features(features, model, config.input)
    elif arguments["for_file"]:
        opened = of_file(arguments["for_file"], model, config.input, say)
    elif config.input.kind in TABLES:
        columns = allow_missing(read_columns(config.input.columns), people)
        config = replace(config, input=replace(config.input, columns=str(columns)))
    names = names_for(arguments, model)
    shown["by_id"] = bool(features or arguments["for_file"])
    recommend(config, model, names, how, output(arguments["json_path"]), bad_lines, open_inputs=opened, **shown)
    return 0


def names_for(arguments: OptionValues, model: Restored) -> dict[int, str]:
    """The names of features by slot; without any a note says how a model gets them."""
    names = stored_names(arguments["initial"], model)
    if not names and not arguments["quiet"]:
        say(f"note: {missing_names_note(arguments['initial'])}")
    return names


def inputs_opener(config: InputConfig) -> Open:
    return lambda _, *others: Inputs(config, *others)


def tell_neighbours(arguments: OptionValues) -> int:
    """Print the nearest features of each feature of --near. Raises UsageError for one that has no vector."""
    idle = {"of", *IDLE_BESIDE_NEAR} & {*build.typed_options()}
    if idle:
        raise UsageError(f"{build.spelling_of(min(idle))} does nothing with --near: drop it")
    _, model = build.open_model(arguments)
    names, known, lists = names_for(arguments, model), {}, []
    for feature in arguments["near"]:
        space, _, name = feature.partition("=")
        if space not in known:
            known[space] = Neighbours(model, names, space)
        items = known[space].near(slot_near(name, space, known[space], model), arguments["top"])
        if items is None:
            raise UsageError(f"--near {feature}: the model has learned no vector of this feature")
        lists.append(Recommendations("", feature, [Recommendation(*item) for item in items]))
    with output(arguments["json_path"]) as show:
        for recommendations in lists:
            show(recommendations)
    return 0


def slot_near(name: str, space: str, features: Neighbours, model: Restored) -> int:
    """The slot of a name as lists show it, or as it is in text. Raises UsageError for a name that text cannot hold."""
    if name in features.names:
        return int(features.slots[features.names.index(name)])
    return describe.slot_of(model.learner, model.features, name, space)


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
            for show in shows if found else ():
                show(found)

        yield show


def print_list(found: Recommendations) -> None:
    who = escaped(found.tag or found.location)
    for item in found.items:
        print(f"{who}\t{item.score:.6g}\t{escaped(item.name)}")


def as_json(found: Recommendations) -> JsonObject:
    return {**found._asdict(), "items": [{**item._asdict(), "value": cell_of(item.name)} for item in found.items]}
