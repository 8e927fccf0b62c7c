"""What ``vwlite lm`` does, and ``inspect`` with its models."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.api.option_rules import check_effects
from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.console import Bar, Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.evaluate import tell
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.named import UNNAMED, refuse
from vwlite.data import block_parser
from vwlite.data.blocks import Block, blocks
from vwlite.data.config import available_cores
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.memory_limit import GIB
from vwlite.options import fields_of
from vwlite.solvers.lm import model_file
from vwlite.solvers.lm.config import FeaturesConfig, LmConfig, RankConfig
from vwlite.solvers.lm.model_file import LmModel
from vwlite.solvers.lm.rank import rank
from vwlite.solvers.lm.train import begun, gone_on, learn
from vwlite.solvers.lm.vectors import text_format, vector_lines, with_vectors
from vwlite.solvers.lm.words import text_of
from vwlite.storage.file_lock import lock
from vwlite.training.option_agreement import check_learner
from vwlite.training.prediction_writer import PredictionWriter

OTHERS = UNNAMED[model_file.LEARNER]


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    return tuple(arguments["files"]) or ("-",)


def text_blocks(arguments: dict[str, Any], reading: Reading) -> Iterator[Block]:
    """The blocks of the files, a bar showing how far they are read."""
    for block in blocks(paths_of(arguments), max_line=block_parser.LONGEST_LINE):
        yield block
        reading.bar.advance(block.size)


def run_train(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    check_effects(typed, build.declared(), going_on=bool(arguments["initial"]))
    model = model_file.load(arguments["initial"]) if arguments["initial"] else None
    config = configured(arguments, typed, model)
    with ExitStack() as closing:
        closing.enter_context(lock(arguments["model"], arguments["lock_wait"]))
        with Reading(arguments["quiet"], paths_of(arguments)) as reading:
            say = silent if arguments["quiet"] else reading.bar.tell
            found = text_blocks(arguments, reading)
            room = arguments["memory"] * GIB
            model, text = gone_on(config, model, found) if model else begun(config, found, room, say)
        bar = Bar(arguments["quiet"], to_stdout=False)
        closing.callback(bar.close)
        learn(model, text, silent if arguments["quiet"] else bar.tell, bar.steps("steps"))
        model_file.save(arguments["model"], model)
    if arguments["json_path"]:
        write_json(arguments["json_path"], model.facts())
    return 0


def silent(line: str) -> None:
    """What --quiet says."""


def configured(arguments: dict[str, Any], typed: dict[str, Any], model: LmModel | None) -> LmConfig:
    """Typed options over the model's, if there is one. Raises UsageError for those that contradict it."""
    if not model:
        return LmConfig(**fields_of(LmConfig, arguments))
    own = fields_of(LmConfig, typed)
    check_learner(arguments["initial"], model.config, own)
    return replace(model.config, **{"passes": 1, **own})


def run_rank(arguments: dict[str, Any]) -> int:
    model, config = model_file.load(arguments["initial"]), RankConfig(**fields_of(RankConfig, arguments))
    if arguments["predictions"] == "-":
        raise UsageError("-p - does not go with the table on standard output: give -p a file")
    with Reading(arguments["quiet"], paths_of(arguments)) as reading:
        text = text_of(text_blocks(arguments, reading), model.config.tokens, model.words)
    found = rank(config, model.network, text)
    if arguments["predictions"]:
        with PredictionWriter(arguments["predictions"]) as writer:
            writer.write_bytes(b"".join(b"%g\n" % one for one in found.rank.tolist()))
    return tell(found.facts(), arguments["json_path"])


def run_vectors(arguments: dict[str, Any]) -> int:
    if arguments["top"] is not None and arguments["top"] < 1:
        raise UsageError("--top takes 1 or more")
    model = model_file.load(arguments["initial"])
    with PredictionWriter(arguments["predictions"]) as writer:
        for lines in vector_lines(model, arguments["top"]):
            writer.write_bytes(lines)
    return 141 if writer.broken else 0


def run_features(arguments: dict[str, Any]) -> int:
    model, tolerance = model_file.load(arguments["initial"]), bad_lines_config(arguments)
    config = FeaturesConfig(**fields_of(FeaturesConfig, arguments))
    paths, quiet = paths_of(arguments), arguments["quiet"]
    with Reading(quiet, paths, to_stdout=arguments["predictions"] == "-") as reading, ExitStack() as opened:
        shown = {"max_ratio": tolerance.max_ratio, "fail_fast": tolerance.strict, "watch": reading.part}
        policy = BadLines(None, None if quiet else reading.say, to_the_end=True, **shown)
        opened.enter_context(policy.keeping(tolerance.keep))
        writer = opened.enter_context(PredictionWriter(arguments["predictions"]))
        parts = block_parser.read(paths, text_format(), threads=available_cores())
        for text in with_vectors(model, parts, policy, config):
            writer.write_bytes(text)
            if writer.broken:
                return 141
    policy.check_ratio(policy.lines)
    return 0


def predict(arguments: dict[str, Any]) -> int:
    raise UsageError(f"{arguments['initial']} is {OTHERS}: use 'vwlite lm rank' or 'vwlite lm features'")


evaluate = predict


def inspect(arguments: dict[str, Any]) -> int:
    refuse(of=OTHERS)
    model = model_file.load(arguments["model"])
    facts = {"learner": model_file.LEARNER, **model.facts()}
    facts["first_words"] = " ".join(model.words.texts[: arguments["top"]])
    if arguments["json_path"] != "-":
        print(inspection_text(facts, []))
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0
