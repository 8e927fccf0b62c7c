"""What ``vwlite train`` does with files: cache, checkpoints, locks and the ledger of what was learned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import partial

from vwlite.api import run_configs
from vwlite.api.run_configs import check_unused_options, run_config
from vwlite.data.blocks import file_size
from vwlite.data.config import COLUMNAR, TABLES, BadLinesConfig
from vwlite.data.input_stream import display_name
from vwlite.errors import UsageError, VwliteError, escaped, first_words
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.interrupts import Guard
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import AUTO, Request
from vwlite.training.checkpoint import Checkpoint, deciding_options, known_when_stopped
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.label_sample import LOGISTIC, advise
from vwlite.training.ledger import Remarks, RunFiles, Say
from vwlite.training.listener import Display
from vwlite.training.model_header import read_stored
from vwlite.training.model_loader import Restored, restore, start
from vwlite.training.model_writer import ModelWriter
from vwlite.training.train import ByFile, TrainResult, train

SHOWN_NAMES = 10  # of classes


def train_files(
    request: Request,
    *,
    say: Say,
    display: Callable[[OutputConfig], Display],
    interrupts: Callable[[], AbstractContextManager[Guard]] = lambda: nullcontext(Guard()),
    writer: type[ModelWriter] = ModelWriter,
) -> TrainResult | None:
    """Learn the files that ``request`` names, and write what it names; None where all was learned before.

    ``say`` takes remarks on the files. ``interrupts``: what can stop a run that is able to go on. ``writer`` keeps the
    model. Raises as ``vwlite.training.train.train``, and Locked.
    """
    files = RunFiles.of(request, Remarks.of(say, bool(request.values.get("quiet"))))
    with ExitStack() as held:
        begun = begin(request, files, held)
        if begun is None:
            return None
        left, model = begun
        checkpoint, guard = None, None
        if files.keeps_record:
            checkpoint, guard = checkpoint_of(left, files), held.enter_context(interrupts())
            if files.restart.resume:
                model = checkpoint.load(partial(stopped_model, max_memory=left.max_memory)) or model
        learned = files.ledger(left.input.paths, not left.input.examples)
        bad_lines = request.config(BadLinesConfig)
        by_file = scores_of_files(bad_lines) if left.output.by_file else None
        return train(left, model, bad_lines, checkpoint, learned, display(left.output), guard, writer, by_file)


def begin(request: Request, files: RunFiles, held: ExitStack) -> tuple[RunConfig, Restored | None] | None:
    """The configuration, and the model to continue; None if nothing is left to be learned.

    The model to be written is locked until ``held`` is closed.
    """
    held.enter_context(files.locked())
    files.settle_initial()
    config, model = configure(request if files.initial else request.without("initial"), files.remarks.say)
    check_unused_options(request.given, request.known, config.learner)
    files.read_ledger(known_when_stopped(files, lambda path: read_stored(path).header))
    if config.output.by_file:
        check_by_file(config)
    left = files.unseen(config.input.paths)
    if not left:
        files.keep_model()
        return None
    return replace(config, input=replace(config.input, paths=left)), model


def scores_of_files(bad_lines: BadLinesConfig) -> ByFile:
    """Imported here, since few runs measure what they have learned file by file."""
    from vwlite.evaluation.file_scores import FileScores

    return partial(FileScores, bad_lines)


def check_by_file(config: RunConfig) -> None:
    """Raises UsageError where files cannot be measured before they are learned."""
    option, input, learner = "--progressive-by-file", config.input, config.learner
    if learner.needs_full_passes:
        raise UsageError(f"{option} does not go with --{learner.option}, which learns all files at once")
    if input.shuffle_first or config.curriculum.order or input.cache:
        other = "--cache" if input.cache else "--shuffle-first" if input.shuffle_first else "--curriculum"
        raise UsageError(f"{option} does not go with {other}: files are read as text, one after the other")
    if odd := next((path for path in input.paths if path == "-" or file_size(path) is None), ""):
        raise UsageError(f"{option} reads each file twice, which {display_name(odd)} does not allow: name files")


def stopped_model(path: str, max_memory: float | None) -> Restored:
    """A checkpoint, which has all options of its run. Raises ModelError."""
    return restore(path, learning=True, vw_compat=False, learner_changes={}, feature_changes={}, max_memory=max_memory)


def checkpoint_of(config: RunConfig, files: RunFiles) -> Checkpoint:
    """Raises UsageError where a run cannot be stopped."""
    restart = files.restart
    if config.learner.needs_full_passes and (restart.resume or restart.every):
        option, reason = config.learner.option, "a stopped run of it begins anew"
        raise UsageError(f"--{option} does not go with --resume and --checkpoint-every: {reason}")
    options, paths = deciding_options(config), config.input.paths
    checkpoint = Checkpoint(files.model or "", options, paths, files.remarks.say, restart.every)
    if not restart.resume:
        checkpoint.remark_on_standing()
    return checkpoint


def configure(request: Request, say: Say) -> tuple[RunConfig, Restored | None]:
    """The configuration, and the model that ``-i`` continues."""
    initial = request.values.get("initial")
    request = with_classes_of_model(request) if initial else with_classes(request, say)
    given = request.given
    features = run_configs.feature_changes(given)
    if initial:
        config = run_config(request.values, GdConfig(), FeatureConfig(), say)
        changes = run_configs.learner_changes(given), features, run_configs.loss_changes(given)
        config, model = start(config, initial, *changes, say=say)
        input = config.input.like(model.header, given) if model else config.input
        return replace(config, input=input), model
    return new_config(request, say), None


def new_config(request: Request, say: Say) -> RunConfig:
    """The configuration of a new model."""
    learner = run_configs.new_learner_config(request.given)
    config = run_config(request.values, learner, FeatureConfig(**run_configs.feature_changes(request.given)), say)
    return replace(config, loss_chosen="loss_function" in request.given)


def counts_of_classes(request: Request) -> list[str]:
    """The given options that are the number of classes one of which is a label."""
    known = request.known
    return [key for key in request.given if key in known and known[key].read_as == "classes"]


def with_classes_of_model(request: Request) -> Request:
    """The classes that are to be counted are those that the model has."""
    for key in counts_of_classes(request):
        if request.given[key] == AUTO:
            request = request.without(key)
    return request


def with_classes(request: Request, say: Say) -> Request:
    """The request with ``--named_labels``, if labels are names and it was not given: the files are read once for them.

    Raises UsageError where there are not as many as was said, or where the input cannot be read twice; DataError where
    it cannot be read.
    """
    counts = counts_of_classes(request)
    if not counts or "named_labels" in request.given:
        for key in counts:
            if request.given[key] == AUTO:
                request = request.having({key: len(request.given["named_labels"])})
        return request
    key, typed = counts[0], request.given[counts[0]]
    input, option = run_configs.input_config(request.values), request.spelled(counts[0])
    if any(path == "-" or file_size(path) is None for path in input.paths):
        if typed == AUTO:
            instead = f"name the files, compressed or not, or type {option} N --named_labels NAME,... or @FILE"
            raise UsageError(f"{option} {AUTO} reads the data twice, which a pipe does not allow: {instead}")
        return request
    if typed != AUTO:
        config = new_config(request, lambda text: None)  # options are checked before data are read
        check_unused_options(request.given, request.known, config.learner)
        if request.given.get("costs"):
            return request
    from vwlite.data.dataset import Inputs
    from vwlite.data.label_forms import HEAD, NAMES, NUMBERS, check_quotes, form_of_inputs, names_of

    text = text_format(FeatureConfig(**run_configs.feature_changes(request.given)), skip_malformed=True)
    inputs = Inputs(replace(input, cache=None), text)
    form = form_of_inputs(inputs, text)
    if form != NAMES and (typed != AUTO or form != NUMBERS):
        if typed == AUTO:
            check_quotes(inputs)
            raise UsageError(f"{option} {AUTO}: labels are {form}, not one class for each example")
        return request
    head = inputs.head(HEAD) if input.kind in TABLES and input.kind not in COLUMNAR else b""  # text has no such names
    names = names_of(inputs, text)
    if not names:
        return request if typed != AUTO else request.having({key: 1})
    if typed not in (AUTO, len(names)):
        all_of_them = f"{option} {AUTO} takes all of them, --named_labels lists those that may come"
        raise UsageError(f"{inputs.description} has {len(names)} classes, not {typed}: {all_of_them}")
    blank = any("_" in name and name.replace("_", " ").encode("utf-8", "surrogateescape") in head for name in names)
    note = "; a blank within a name counts as _, also in predictions" * blank
    say(f"{len(names)} classes: {escaped(first_words(names, SHOWN_NAMES))}{note}")
    return request.having({key: len(names), "named_labels": tuple(names)})


def loss_advice(request: Request) -> str:
    """A note on labels of two classes that are learned with the squared loss, which nobody chose; empty for other data
    and options, and for those that a run would refuse.
    """
    from vwlite.data.dataset import Inputs
    from vwlite.data.label_forms import has_two_classes

    with suppress(VwliteError):
        learner = run_configs.new_learner_config(request.given)
        chosen = "loss_function" in request.given
        if chosen or learner.learner != GdConfig.learner or learner.loss.name != "squared":
            return ""
        text = text_format(FeatureConfig(**run_configs.feature_changes(request.given)), skip_malformed=True)
        inputs = Inputs(replace(run_configs.input_config(request.values), cache=None), text)
        return advise(LOGISTIC) if has_two_classes(inputs, text) else ""
    return ""
