"""What ``vwlite train`` does with ``--shard`` and ``--workers``."""

from dataclasses import asdict

from vwlite.api.run_configs import check_unused_options
from vwlite.api.train_files import configure
from vwlite.api.train_shards import engine_of, train_shards
from vwlite.cli import build
from vwlite.cli.output import EMPTY_REPORT, Console, say, write_json
from vwlite.cli.signals import Interrupts
from vwlite.config_check import JsonObject
from vwlite.data.config import BadLinesConfig, ShardConfig
from vwlite.distributed.delta import Delta, save
from vwlite.distributed.plan import base_of, check_run, rule_of, shards_of
from vwlite.distributed.rounds import Rounds
from vwlite.distributed.task import learn
from vwlite.errors import UsageError
from vwlite.options import Request
from vwlite.storage.model_file import Model
from vwlite.storage.output_checks import lock

BESIDE_SHARD = ("resume", "checkpoint_every", "skip_seen")
OF_DATA = ("kind", "threads", "classweight", "max_bad_ratio", "strict", "files", "data")
OF_OUTPUT = ("initial", "model", "shard", "quiet", "json_path", "force", "bar", "progress", "lock_wait", "memory")


def learn_shard(request: Request) -> int:
    """Write what one shard changes."""
    arguments, typed = request.values, request.given
    number, of = request.config(ShardConfig).part
    config, model = configure(request, say)
    check_unused_options(typed, request.known, config.learner)
    rule_of(config.learner, of)
    check_run(config)
    for name in BESIDE_SHARD:
        if arguments[name]:
            raise UsageError(f"{build.spelling_of(name)} does not go with --shard: begin the shard again")
    changed = [name for name in typed if name not in (*OF_DATA, *OF_OUTPUT)]
    if model and changed:
        option = build.spelling_of(changed[0])
        raise UsageError(f"{option} beside -i would be another base for each shard: give it before")
    base = arguments["initial"] if model else base_of(config, of)
    delta = learn(base, shards_of(config, of)[number - 1], config.input, request.config(BadLinesConfig))
    if not config.output.quiet:
        for line in delta.task.shown:
            say(line)
    with lock(arguments["model"], arguments["lock_wait"]):
        save(arguments["model"], delta)
    if arguments["json_path"]:
        write_json(arguments["json_path"], shard_report(delta))
    return 0


def learn_rounds(request: Request) -> int:
    """Learn all shards, round after round."""
    arguments = request.values
    done = train_shards(
        request, lambda: engine_of(arguments["workers"], arguments["scheduler"]),
        say=say,
        display=lambda output: Console(output.quiet, bar=False),
        interrupts=Interrupts,
    )
    if arguments["json_path"]:
        write_json(arguments["json_path"], rounds_report(*done) if done else EMPTY_REPORT)
    return 0


def rounds_report(rounds: Rounds, model: Model) -> JsonObject:
    state = rounds.state
    best, after = state.reports[state.best - 1], state.optimised
    held_out = after["holdout_loss"] if after and after["kept"] else best.holdout_loss
    return {
        "examples": model.header["counters"]["example_number"], "passes": state.done,
        "average_loss": best.average_loss, "holdout_loss": held_out,
        "lines": state.lines, "bad_lines": state.bad, "shards": len(rounds.shards),
        "best_round": state.best, "rounds": [asdict(report) for report in state.reports],
        "bfgs": state.optimised,
    }


def shard_report(delta: Delta) -> JsonObject:
    task = delta.task
    return {
        "lines": task.lines, "bad_lines": task.bad, "shard": task.number, "shards": task.of,
        "slots": len(delta.slots), "bytes": delta.nbytes, "seconds": task.seconds,
    }
