"""What ``vwlite lm`` does with its models, and ``inspect`` with its models."""

from contextlib import ExitStack

from vwlite.cli import build
from vwlite.cli.build import refuse_options
from vwlite.cli.output import Reading, show_report
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.solve import open_reader
from vwlite.data import block_parser
from vwlite.data.config import InputConfig, available_cores
from vwlite.errors import UsageError
from vwlite.evaluation.metric_table import as_table
from vwlite.learners import ELSEWHERE
from vwlite.options import OptionValues, fields_of
from vwlite.solvers.lm.config import FeaturesConfig, RankConfig
from vwlite.solvers.lm.model import LmModel, rank, text_format, vector_lines, with_vectors
from vwlite.solvers.lm.words import text_of
from vwlite.training.prediction_writer import PredictionWriter

DESCRIPTION = ELSEWHERE[LmModel.learner].what


def paths_of(arguments: OptionValues) -> tuple[str, ...]:
    return tuple(arguments["files"]) or ("-",)


def run_rank(arguments: OptionValues) -> int:
    model, config = LmModel.load(arguments["initial"]), RankConfig(**fields_of(RankConfig, arguments))
    if arguments["predictions"] == "-":
        raise UsageError("-p - does not go with the table on standard output: give -p a file")
    with open_reader(build.request()) as reader:
        text = text_of(reader.plain_text(InputConfig(paths_of(arguments))), model.config.tokens, model.words)
    ranking = rank(config, model.network, text)
    if arguments["predictions"]:
        with PredictionWriter(arguments["predictions"]) as writer:
            writer.write_bytes(b"".join(b"%g\n" % rank for rank in ranking.rank.tolist()))
    facts = ranking.facts()
    return show_report(arguments["json_path"], facts, as_table(facts))


def run_vectors(arguments: OptionValues) -> int:
    if arguments["top"] is not None and arguments["top"] < 1:
        raise UsageError("--top takes 1 or more")
    model = LmModel.load(arguments["initial"])
    with PredictionWriter(arguments["predictions"]) as writer:
        for lines in vector_lines(model, arguments["top"]):
            writer.write_bytes(lines)
    return 141 if writer.broken else 0


def run_features(arguments: OptionValues) -> int:
    model = LmModel.load(arguments["initial"])
    config = FeaturesConfig(**fields_of(FeaturesConfig, arguments))
    paths, quiet = paths_of(arguments), arguments["quiet"]
    with Reading(quiet, paths, to_stdout=arguments["predictions"] == "-") as reading, ExitStack() as opened:
        policy = build.bad_lines_policy(arguments, reading.say, to_the_end=True, watch=reading.part)
        opened.enter_context(policy.keeping())
        writer = opened.enter_context(PredictionWriter(arguments["predictions"]))
        parts = block_parser.read(paths, text_format(), threads=available_cores())
        for text in with_vectors(model, parts, policy, config):
            writer.write_bytes(text)
            if writer.broken:
                return 141
    policy.check_ratio(policy.lines)
    return 0


def predict(arguments: OptionValues) -> int:
    raise UsageError(f"{arguments['initial']} is {DESCRIPTION}: use 'vwlite lm rank' or 'vwlite lm features'")


evaluate = predict


def inspect(arguments: OptionValues) -> int:
    refuse_options(model=DESCRIPTION)
    model = LmModel.load(arguments["model"])
    facts = {"learner": LmModel.learner, **model.facts()}
    facts["first_words"] = " ".join(model.words.texts[: arguments["top"]])
    return show_report(arguments["json_path"], facts, inspection_text(facts, []))
