"""What ``vwlite cut`` does."""

from contextlib import ExitStack
from typing import Any

from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.cli.console import Reading
from vwlite.cli.jsonfile import write_json
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.memory_limit import GIB
from vwlite.options import fields_of
from vwlite.solvers.cut.config import CutConfig
from vwlite.solvers.cut.edges import read_edges
from vwlite.solvers.cut.find import Cut, entry_check, find
from vwlite.training.prediction_writer import PredictionWriter


def run(arguments: dict[str, Any]) -> int:
    config = CutConfig(**fields_of(CutConfig, arguments))
    input, tolerance = input_config(arguments), bad_lines_config(arguments)
    memory = arguments["memory"] * GIB
    if input.kind == "svmlight":
        raise UsageError("--format svmlight has no names, which the nodes of a graph need")
    with ExitStack() as closing:
        inputs = Inputs(input, TextFormat(names=True).of_words())
        closing.callback(inputs.close)
        if inputs.hint:
            raise UsageError(f"the table has no column of nodes{inputs.hint}")
        reading = closing.enter_context(Reading(arguments["quiet"], input.paths))
        bar, quiet = reading.bar, arguments["quiet"]
        how = {"max_ratio": tolerance.max_ratio, "fail_fast": tolerance.strict, "watch": reading.part}
        policy = BadLines(None, None if quiet else reading.say, **how)
        closing.enter_context(policy.keeping(tolerance.keep))
        edges = read_edges(inputs, policy, entry_check(memory))
        tell = (lambda line: None) if quiet else bar.tell
        found = find(edges, config, memory, input.threads, tell, bar.steps("products"))
        writer = closing.enter_context(PredictionWriter(arguments["predictions"]))
        writer.write_bytes(lines_of(found))
    if arguments["json_path"]:
        write_json(arguments["json_path"], {"lines": policy.lines, "bad_lines": policy.bad, **found.facts()})
    return 141 if writer.broken else 0


def lines_of(found: Cut) -> bytes:
    shown = [b"none" if number < 0 else b"%d" % number for number in found.cluster.tolist()]
    return b"".join(b"%s\t%s\n" % pair for pair in zip(found.nodes, shown, strict=True))
