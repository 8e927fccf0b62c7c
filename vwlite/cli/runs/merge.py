"""What ``vwlite merge`` does."""

from typing import Any

from vwlite.cli.jsonfile import write_json
from vwlite.distributed.merge import merge_files, write
from vwlite.storage.file_lock import lock
from vwlite.storage.model_file import Model


def run(arguments: dict[str, Any]) -> int:
    with lock(arguments["model"], 0.0):
        merged = merge_files(arguments["models"], arguments["base"], arguments["max_bad_ratio"])
        write(arguments["model"], merged)
    if arguments["json_path"]:
        write_json(arguments["json_path"], report(merged))
    return 0


def report(merged: Model) -> dict[str, Any]:
    """What the merged model has learned, its base included."""
    counters = merged.header["counters"]
    weight = counters["labeled_weight"]
    return {
        "examples": counters["example_number"],
        "passes": merged.header["passes"],
        "average_loss": counters["sum_loss"] / weight if weight else None,
    }
