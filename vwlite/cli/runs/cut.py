"""What ``vwlite cut`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.solve import reading
from vwlite.data.config import input_config
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.memory_limit import GIB
from vwlite.solvers.cut.config import CutConfig
from vwlite.solvers.cut.edges import read_edges
from vwlite.solvers.cut.find import Cut, entry_check, find
from vwlite.training.monitor import DisplayMonitor
from vwlite.training.prediction_writer import PredictionWriter


def run(arguments: dict[str, Any]) -> int:
    request = build.request()
    config, input = request.config(CutConfig), input_config(request.values)
    memory = arguments["memory"] * GIB
    if input.kind == "svmlight":
        raise UsageError("--format svmlight has no names, which the nodes of a graph need")
    with reading(request) as reader:
        inputs = reader.open(input, TextFormat(names=True).of_words(), at_once=True)
        if inputs.hint:
            raise UsageError(f"the table has no column of nodes{inputs.hint}")
        edges = read_edges(inputs, reader.policy, entry_check(memory))
        found = find(edges, config, memory, input.threads, DisplayMonitor(reader.display, "products"))
        with PredictionWriter(arguments["predictions"]) as writer:
            writer.write_bytes(lines_of(found))
    if arguments["json_path"]:
        lines = {"lines": reader.policy.lines, "bad_lines": reader.policy.bad}
        write_json(arguments["json_path"], {**lines, **found.facts()})
    return 141 if writer.broken else 0


def lines_of(found: Cut) -> bytes:
    shown = [b"none" if number < 0 else b"%d" % number for number in found.cluster.tolist()]
    return b"".join(b"%s\t%s\n" % pair for pair in zip(found.nodes, shown, strict=True))
