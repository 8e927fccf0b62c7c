"""What ``vwlite landmarks`` does."""

from contextlib import ExitStack
from typing import Any

from vwlite.api import configs
from vwlite.api.run_configs import bad_lines_config
from vwlite.cli.console import Reading
from vwlite.data import block_parser
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError
from vwlite.features.landmark_choice import chosen_lines
from vwlite.training.prediction_writer import PredictionWriter


def run(arguments: dict[str, Any]) -> int:
    paths, tolerance = tuple(arguments["files"]) or ("-",), bad_lines_config(arguments)
    with Reading(arguments["quiet"], paths) as reading, ExitStack() as opened:
        shown = {"max_ratio": tolerance.max_ratio, "fail_fast": tolerance.strict, "watch": reading.part}
        policy = BadLines(None, None if arguments["quiet"] else reading.say, **shown)
        opened.enter_context(policy.keeping(tolerance.keep))
        labels_of_any_kind = TextFormat().of_words(lists=True)
        parts = block_parser.read(paths, labels_of_any_kind, threads=configs.available_cores())
        lines = chosen_lines(parts, policy, arguments["count"], arguments["seed"])
        if not lines:
            raise DataError("there is no example to choose")
        writer = opened.enter_context(PredictionWriter(arguments["out"]))
        writer.write_bytes(b"".join(line + b"\n" for line in lines))
    return 141 if writer.broken else 0
