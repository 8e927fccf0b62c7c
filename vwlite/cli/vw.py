"""``vwlite vw``: Vowpal Wabbit's command line, defaults and behaviour."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads, Writes
from vwlite.cli.parser import Choice, VwCommand, Whole
from vwlite.cli.root import SETTINGS
from vwlite.features.config import FeatureConfig
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.version import __version__

LOG_LEVELS = ["info", "warn", "error", "critical", "off"]

run_options = options.family(
    "",
    options.output("model"),
    options.file(Reads("model"), "-i", "--initial_regressor", "initial", help="Start from this model."),
    click.option("-t", "--testonly", is_flag=True, help="Predict only."),
    options.output(
        "predictions", "raw_predictions",
        predictions={"help": "Write predictions; stdout or - is standard output."},
        raw_predictions={"help": "Write predictions before clipping and link."},
    ),
    options.output("readable_model", "invert_hash"),
    options.file(Writes("text"), "--output_feature_regularizer_text", help="Write l2 and weights (--bfgs)."),
    options.file(Reads("mask"), "--feature_mask", help="Learn only where this model has a weight."),
    options.output("predict_only_model", "save_per_pass"),
    click.option("--preserve_performance_counters", is_flag=True, help="With -i, go on counting."),
    options.number("--l1_state", help="Start value of the L1 shrinkage that is outstanding."),
    options.number("--l2_state", help="Start value of the L2 shrinkage that is outstanding."),
    options.list_option(
        "--experimental_full_name_interactions", help="Cross namespaces by their full names.", metavar="A|B"
    ),
    click.option("--random_weights", "uniform_weights", is_flag=True, help="Begin with uniform random weights."),
    click.option("--normal_weights", is_flag=True, help="Begin with normal random weights."),
    click.option("--truncated_normal_weights", is_flag=True, help="Begin with normal random weights within two "
    "deviations."),
    options.options_of_vw_alone(FeatureConfig),
    options.options_of_vw_alone(RunConfig),
    options.options_of_vw_alone(OutputConfig),
    click.option("--json", is_flag=True, help="Read decisions as JSON, the label beside the features."),
    click.option("--dsjson", is_flag=True, help="Read decisions as JSON, the features in the member c."),
    click.option("--strict_parse", is_flag=True, help="Fail at the first malformed line."),
    click.option("--no_stdin", is_flag=True, help="Do not read standard input when there is no -d."),
    click.option("--driver_output_off", is_flag=True, help="No progress table."),
    click.option("--log_output", type=Choice(["stdout", "stderr", "compat"]), help="Where the log goes."),
    click.option("--log_level", type=Choice(LOG_LEVELS), help="Least important message that is logged."),
    click.option("--limit_output", type=Whole(), metavar="N", help="Log N messages at most."),
    click.option("--daemon", is_flag=True, help="Answer lines over TCP, on the loopback."),
    click.option("--foreground", is_flag=True, help="With --daemon, do not go to the background."),
    click.option("--port", type=Whole(), metavar="N", help="Port of --daemon (26542); 0 for any that is free."),
    options.file(Writes("port"), "--port_file", help="Write the port of --daemon there."),
    options.file(Writes("process id"), "--pid_file", help="Write the process id of --daemon there."),
    click.option("--dry_run", is_flag=True, help="Only check the options."),
)
# vw's options that change nothing here: results never depend on threads, models can always go on, learning is the
# same with any of them.
without_effect = options.family(
    "",
    click.option("--no_progress", is_flag=True, hidden=True),
    click.option("--onethread", is_flag=True, hidden=True),
    click.option("--save_resume", is_flag=True, hidden=True),
    click.option("--compressed", is_flag=True, hidden=True),
    click.option("--sparse_weights", is_flag=True, hidden=True),
    click.option("--ring_size", type=Whole(), hidden=True),
    click.option("--example_queue_limit", type=Whole(), hidden=True),
    click.option("--no_daemon", is_flag=True, hidden=True),
    click.option("--num_children", type=Whole(), hidden=True),
    click.option("--per_model_save_load", is_flag=True, hidden=True),
)


@click.command("vw", cls=VwCommand, context_settings=SETTINGS, short_help="Take vw's command line, and behave like it.")
@click.version_option(__version__, message="vwlite %(version)s")
@options.data_files
@run_options
@options.data_options
@options.cache_options
@options.pass_options
@options.options_of_learners(vw=True)
@options.class_weights
@options.table_options
@options.feature_options
@without_effect
@options.progress_options
def command(**arguments: Any) -> int:
    """Take vw's command line, and behave like it.

    \b
    vwlite vw -d train.vw -f model --passes 3 -c
    vwlite vw -t -i model -d test.vw -p predictions

    Flags, defaults, output and the treatment of odd input are Vowpal Wabbit's. Models are vwlite's own.
    """
    from vwlite.cli.runs.vw import run

    return run(arguments)


command.screen = {  # type: ignore[attr-defined]
    "Model": ("model", "initial", "testonly", "readable_model", "invert_hash"),
    "What is learned": ("loss_function", "oaa", "csoaa", "csoaa_ldf", "link"),
    "From what": ("data", "cache", "kill_cache", "quadratic", "ngram", "bits", "noconstant"),
    "How": ("learning_rate", "power_t", "passes", "l1", "l2", "ftrl", "bfgs", "sgd"),
    "Output": ("predictions", "raw_predictions", "audit", "progress", "quiet"),
}
