"""What ``vwlite aso train -i`` does."""

from contextlib import closing
from dataclasses import replace
from typing import Any

from vwlite.api import configs
from vwlite.cli import build
from vwlite.cli.console import Bar
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.aso import paths_of, read
from vwlite.errors import UsageError
from vwlite.memory_limit import GIB
from vwlite.solvers.aso import model_file
from vwlite.solvers.aso.config import SelectionConfig, SolverConfig, TargetConfig, ThresholdConfig
from vwlite.solvers.aso.continued import check_position, learn_on
from vwlite.solvers.aso.sequence_config import SequenceConfig
from vwlite.storage import model_file as container
from vwlite.storage.file_lock import lock

SETTLED = (TargetConfig, SelectionConfig, SolverConfig, SequenceConfig, ThresholdConfig)  # when a model is begun
ANEW = ("passes", "threads")


def run_continued(arguments: dict[str, Any]) -> int:
    settled = {one.key or name for kind in SETTLED for name, one in kind.OPTIONS.items()} - {*ANEW}
    for name in build.typed():
        if name in settled or name in ("theta", "multilabel"):
            raise UsageError(f"{build.spelled(name)} does not go with -i: it was settled when the model was begun")
    path, bar = arguments["initial"], Bar(arguments["quiet"], to_stdout=False)
    with lock(arguments["model"]), closing(bar):
        target = model_file.load_target(path)
        check_position(target, path)
        corpus = read(arguments, paths_of(arguments), tags=target.sequences is not None)
        threads = arguments["threads"] or configs.available_cores()
        solver = replace(target.config.solver, passes=arguments["passes"], threads=threads)
        found = learn_on(target, corpus, solver, arguments["new_classes"], arguments["memory"] * GIB)
        facts = {**container.read_header(path)["aso"], "examples": int((corpus.label >= 0).sum())}
        facts["classes"] = found.classes.names
        model_file.save_target(arguments["model"], found, facts)
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0
