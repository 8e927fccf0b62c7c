"""Options of what a run leaves behind, says, and goes on with: apart, for commands that learn nothing."""

from __future__ import annotations

from typing import NamedTuple

from vwlite.options import Config, Option, config, option
from vwlite.storage.output_checks import BEST, CHECKPOINT, LEDGER, LOCK

INITIAL = Option(
    "Go on exactly where this model stopped.", section="Output", spelled=("-i", "--initial_regressor"), key="initial",
    reads="model", beside=(LEDGER,), name="initial", type="str",
)


class ProgressRule(NamedTuple):
    """Progress rows are due every ``step`` of importance, or at totals growing by that factor."""

    additive: bool = False
    step: float = 2.0


@config
class OutputConfig(Config):
    """What a run leaves behind and says. Paths are None when not wanted."""

    model: str | None = option(
        None, "Write the model there.", section="Output", spelled=("-f", "--final_regressor"), key="model",
        writes="model", beside=(LOCK, CHECKPOINT, BEST, LEDGER),
    )
    predictions: str | None = option(
        None, "Write the prediction made before each update; - is stdout.", section="Output",
        spelled=("-p", "--predictions"), writes="predictions", beside=(CHECKPOINT,),
    )
    raw_predictions: str | None = option(
        None, "The same before clipping and link.", section="Output", spelled=("-r", "--raw_predictions"),
        writes="predictions", beside=(CHECKPOINT,),
    )
    log: str | None = option(
        None, "Write what was drawn, with cost and probability, as train --cb N or --cb_adf reads it; - is stdout.",
        section="Output", writes="predictions",
    )
    readable_model: str | None = option(
        None, "Write the model as text.", section="Output", writes="text", beside=(BEST,)
    )
    invert_hash: str | None = option(
        None, "Write it as text with the features' names.", section="Output", writes="text", beside=(BEST,)
    )
    support: str | None = option(
        None, "Write the examples with dual variables other than 0 there, one a line, with these.", section="Output",
        writes="text", needs=("dual", "ksvm"),
    )
    names: bool = option(
        False, "Keep the features' names in the model, for 'vwlite inspect'.", section="Output", needs=("model",)
    )
    save_per_pass: bool = option(
        False, "Also write MODEL.1, MODEL.2, ... after each pass.", section="Output", needs=("model",)
    )
    predict_only_model: bool = option(
        False, "A smaller model that cannot go on learning.", section="Output", needs=("model",)
    )
    audit: bool = option(
        False, "Print every example's features and weights.", spelled=("-a", "--audit"), vw_only=True
    )
    audit_regressor: str | None = option(
        None, "Only write the model's weights with their names.", writes="text", vw_only=True
    )
    hexfloat_weights: bool = option(False, "Weights in hexadecimal in models as text.", vw_only=True)
    model_id: str = option(
        "", "A name for the readable model's header.", spelled=("--id",), metavar="TEXT", vw_only=True
    )
    dont_output_best_constant: bool = option(False, "No best constant in the summary.", vw_only=True)
    driver_output: str = option(
        "stderr", "Where the table and the summary go.", choices=("stdout", "stderr"), vw_only=True
    )
    progress: ProgressRule = option(
        ProgressRule(), "Print a row every N examples or X.Y-fold.", section="Progress", spelled=("-P", "--progress"),
        metavar="N|X.Y", read_as="progress", shown="2.0",
    )
    by_file: bool = option(
        False, "Measure the model on each file before learning it, which drift spoils; a table, and in --json.",
        section="Progress", spelled=("--progressive-by-file",),
    )
    quiet: bool = option(False, "Print nothing but errors.", section="Progress")
    bar: bool | None = option(
        None, "A bar on a terminal.", section="Progress", spelled=("--bar/--no-bar",),
        shown="when the input's size is known",
    )


@config
class CheckpointConfig(Config):
    """How a run goes on where it, or one before it, was stopped. ``every`` and ``lock_wait`` are seconds."""

    every: float | None = option(
        None, "Write MODEL.ckpt every so often: 90s, 10m, 2h.", section="Stopping and going on",
        spelled=("--checkpoint-every",), key="checkpoint_every", metavar="TIME", read_as="duration", low=0,
        needs=("model",),
    )
    resume: bool = option(
        False, "Go on where this command was stopped, from MODEL.ckpt if there is one.",
        section="Stopping and going on", needs=("model",),
    )
    skip_seen: bool = option(
        False,
        "Skip files that the model of -i has learned, after MODEL.ledger. With -i M -f M: begin where there is no M.",
        section="Stopping and going on", spelled=("--skip-seen",), needs=("initial",),
    )
    lock_wait: float = option(
        0.0, "Seconds to wait while another process trains the same model.", section="Stopping and going on",
        spelled=("--lock-wait",), low=0, needs=("model",),
    )
