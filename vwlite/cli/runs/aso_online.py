"""What ``vwlite aso learn`` does with text that it learns as it comes."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from vwlite.api import configs
from vwlite.cli import build
from vwlite.cli.console import Bar, Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.aso import learn_config, paths_of, policy_for
from vwlite.data import block_parser
from vwlite.data.blocks import fingerprint
from vwlite.errors import ModelError, UsageError
from vwlite.features import theta_file
from vwlite.solvers.aso import online_file
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.online import SPAN, Stream, begun, spans
from vwlite.solvers.aso.online_checkpoint import Checkpoints, skipped
from vwlite.solvers.aso.online_config import OnlineConfig, check_kinds
from vwlite.storage.file_lock import lock
from vwlite.version import __version__

ALONE = ("where", "problems", "labeled", "multilabel", "iterations")  # options for text in memory
OF_BEGINNING = ("warmup", "passes")


def run_online(arguments: dict[str, Any]) -> int:
    online = OnlineConfig(**configs.chosen(OnlineConfig, arguments))
    for name in (*ALONE, *(OF_BEGINNING if arguments["initial"] else ())):
        if name in build.typed():
            raise UsageError(f"{build.spelled(name)} does not go with {'-i' if arguments['initial'] else '--online'}")
    bar = Bar(arguments["quiet"], to_stdout=False)
    say = (lambda line: None) if arguments["quiet"] else bar.message
    begin = beginning(arguments, online)
    points = checkpoints(arguments, online, begin, say)
    with lock(arguments["model"]), closing(bar), closing(corpora(arguments)) as text, points.saving():
        stream = learned(online, begin, points, text, say)
        theta = stream.theta(say)
        facts = stream.facts(theta)
        more = online_file.content(stream, begin.options) if online.keep_weights else ({}, {})
        theta_file.save_theta(arguments["model"], theta, facts, more=more)
    if len(stream.words) == stream.most:
        say(f"there were --max-features {stream.most}: others are left out")
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0


class Beginning(NamedTuple):
    """What is settled when learning begins: ``options`` by their keys, as the file of ``initial``, if any, has them."""

    options: dict[str, Any]
    config: LearnConfig
    most: int  # features
    initial: str | None


def beginning(arguments: dict[str, Any], online: OnlineConfig) -> Beginning:
    """Raises UsageError, ModelError."""
    if arguments["initial"]:
        options = agreed(arguments, arguments["initial"])
        return Beginning(options, *continued(arguments, options), arguments["initial"])
    config, known = learn_config(arguments), online_file.Options.__annotations__
    check_kinds(config.aux)
    options = {name: plain(arguments[name]) for name in known if arguments[name] not in (None, ())}
    return Beginning(options, config, online.max_features, None)


def checkpoints(
    arguments: dict[str, Any], online: OnlineConfig, begin: Beginning, say: Callable[[str], None]
) -> Checkpoints:
    more = () if begin.initial else ("warmup", "passes")
    told = {**begin.options, **{name: arguments[name] for name in more}, "version of vwlite": __version__}
    inputs = fingerprint([*paths_of(arguments), *([begin.initial] if begin.initial else [])])
    return Checkpoints(arguments["model"], online.save_every, begin.options, told, inputs, say)


def learned(
    online: OnlineConfig, begin: Beginning, points: Checkpoints, text: Iterator[Corpus], say: Callable[[str], None]
) -> Stream:
    """What has gone through the text."""
    stream = points.load(begin.config, begin.most) if online.resume else None
    if stream:
        pieces = spans(skipped(text, stream.examples - points.before), SPAN - stream.since)
    elif begin.initial:
        stream = online_file.load(begin.initial, begin.config, begin.most)
        pieces = spans(text, SPAN - stream.since)
        points.begin(stream.examples)
    else:
        pieces = spans(text, online.warmup)
        stream = begun(begin.config, begin.most, next(pieces, Corpus(None)), say)
        points.reach(stream)
    before = stream.examples
    for corpus in pieces:
        stream.step(corpus)
        points.reach(stream)
    say(f"{stream.examples} examples, {stream.examples - before} learned as they came; {len(stream.words)} features")
    return stream


def agreed(arguments: dict[str, Any], path: str) -> dict[str, Any]:
    """The options of the weights that the file keeps. Raises UsageError for one typed otherwise, ModelError."""
    kept = online_file.kept_options(path)
    for name in online_file.Options.__annotations__:
        if name in build.typed() and plain(arguments[name]) != kept.get(name):
            raise UsageError(f"{build.spelled(name)} contradicts {path}, which was learned with another: drop it")
    return kept


def continued(arguments: dict[str, Any], options: dict[str, Any]) -> tuple[LearnConfig, int]:
    """Raises ModelError."""
    try:
        config = learn_config({**arguments, **options})
        check_kinds(config.aux)
        return config, OnlineConfig(online=True, max_features=options.get("max_features", 1)).max_features
    except UsageError as error:  # nobody typed it
        raise ModelError(f"{arguments['initial']} cannot be used: {error}") from error


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def corpora(arguments: dict[str, Any]) -> Iterator[Corpus]:
    """The examples of the text, block by block. Raises DataError."""
    paths = paths_of(arguments)
    with Reading(arguments["quiet"], paths) as reading:
        policy = policy_for(arguments, to_the_end=False, reading=reading)
        with policy.keeping(arguments["bad_lines"]):
            for part in block_parser.read(paths, text_format()):
                corpus = Corpus(policy)
                corpus.add(policy.examine(part))
                if part.batch.release:
                    part.batch.release()
                yield corpus
            policy.finish()
