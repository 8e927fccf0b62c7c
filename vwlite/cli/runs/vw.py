"""What ``vwlite vw`` does: the library with Vowpal Wabbit's defaults and behaviour."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any

import numpy as np

from vwlite.api import run_configs
from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.output import Console
from vwlite.cli.signals import signals_call
from vwlite.data.config import HoldoutConfig
from vwlite.errors import UsageError, laid_out
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners import config_classes
from vwlite.learners.base import Learner, has_simple_labels
from vwlite.learners.configs.gd import UPDATE_OPTIONS, GdConfig
from vwlite.learners.configs.lrq import VwRankConfig
from vwlite.learners.configs.nn import as_vw_has_it
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.options import Option, OptionValues, fields_of, options_of
from vwlite.storage.atomic_file import atomic_output
from vwlite.storage.output_checks import lock
from vwlite.training.config import OutputConfig, ProgressRule, RunConfig
from vwlite.training.counters import Counters, parse_progress
from vwlite.training.model_header import read_stored
from vwlite.training.model_loader import Restored, begin_learner, plan_of, restore
from vwlite.training.vw_run import VwLog, run_like_vw

LEVELS = {"info": 0, "warning": 1, "error": 2, "critical": 3}
# May be typed for a model that has them.
OF_MODELS = ("ldf_override", "csoaa_rank", "rank_all", "probabilities", "scores")
PRESERVED = (
    "example_number", "total_features", "labeled_weight", "old_labeled_weight", "unlabeled_weight",
    "weighted_labels", "sum_loss", "sum_loss_since_dump", "dump_interval",
)
LOSS_OPTIONS = {
    "quantile_tau": "quantile",
    "expectile_q": "expectile",
    "logistic_min": "logistic",
    "logistic_max": "logistic",
}
LOSS_NAMES = ("loss_function", *LOSS_OPTIONS)
NOT_OF_DAEMONS = ("readable_model", "invert_hash", "audit", "save_per_pass")
Ready = Callable[[], None]
Arguments = OptionValues
OF_CLASSES = ("oaa", "csoaa", "multilabel_oaa", "csoaa_ldf", "wap_ldf", "ect", "log_multi", "filter_tree")
CROSSINGS = ("quadratic", "cubic", "interactions")
# vw takes them, and learns the same.
IDLE_WITH_RANK = ("l1", "constant", "initial_weight", "random_weights", "weights_seed", "ignore_linear", *CROSSINGS)


class Log:
    """Messages like ``[warning] ...``, by level, at most a given number."""

    def __init__(self, arguments: OptionValues) -> None:
        level = {"warn": "warning", "off": "off"}.get(arguments["log_level"], arguments["log_level"] or "info")
        self.least = len(LEVELS) if level == "off" or arguments["quiet"] else LEVELS[level]
        self.left = arguments["limit_output"] or None
        self.to_stderr = arguments["log_output"] == "stderr"

    def __call__(self, message: str) -> None:
        if LEVELS[message[1 : message.index("]")]] < self.least or self.left == 0:
            return
        if self.left:
            self.left -= 1
        print(laid_out(message), file=sys.stderr if self.to_stderr else sys.stdout)


def run(arguments: OptionValues) -> int:
    typed = dict(build.typed_options())
    if full_names := typed.pop("experimental_full_name_interactions", ()):
        names = tuple(value.replace("|", ",") for value in full_names)
        typed["interactions"] = (*typed.get("interactions", ()), *names)
    typed = settle_factorisation(settle_network(settle_loss(without_idle(settle_start(read_limits(typed))))))
    if not is_daemon(arguments):
        return vw_run(arguments, typed)
    for name in NOT_OF_DAEMONS:
        if arguments[name]:
            raise UsageError(f"--{name} does not go with --daemon: save the model, then use it without --daemon")
    if arguments["foreground"]:
        return vw_run(arguments, typed)
    return in_background(lambda ready: vw_run(arguments, typed, ready))


def is_daemon(arguments: Arguments) -> bool:
    """Whether a daemon is asked for: as for vw, a port or a file for the process id is enough."""
    return bool(arguments["daemon"] or arguments["port"] is not None or arguments["pid_file"])


def in_background(run: Callable[[Callable[[], None]], int]) -> int:
    """Call ``run`` in a process that stays when it has called ``ready``; return the status of one that ends before."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.close(writing)
        with open(reading, "rb") as pipe:
            return 0 if pipe.read(1) else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(reading)
    os.setsid()

    def ready() -> None:
        os.write(writing, b"1")
        os.close(writing)

    return run(ready)


def serve_daemon(
    config: RunConfig, learner: Learner, plan: Plan, model: Restored | None, arguments: Arguments, ready: Ready
) -> int:
    """Answer lines until SIGINT or SIGTERM; then save the model where -f says."""
    from vwlite.serving.lines import OwnModel, listen

    say = Console(config.output.quiet, to_stdout=False, bar=False).line
    path, port = config.output.model, 26542 if arguments["port"] is None else arguments["port"]
    with lock(path) if path else nullcontext():
        served = OwnModel(config, learner, plan, model, path, all_digits=False)
        server = listen("127.0.0.1", port, served, say)
        for name, number in (("port_file", server.address[1]), ("pid_file", os.getpid())):
            if arguments[name]:
                with atomic_output(arguments[name], "w") as file:
                    file.write(f"{number}\n")
        with signals_call(server.stop):
            ready()
            server.run()
        served.finish()
    return 0


def vw_run(arguments: Arguments, typed: Arguments, ready: Ready = lambda: None) -> int:
    """``ready`` is called by a daemon that listens."""
    log = Log(arguments)
    config = vw_config(arguments, typed, log)
    initial = arguments["initial"] or arguments["feature_mask"]  # a mask alone is also where to start
    model = restore_like_vw(initial, config, typed, log) if initial else None
    if model:
        config = replace(config, features=model.features, learner=model.learner.config)
    learner, plan = begin_learner(config, model)
    if (advice := learner.config.vw_advice) and not model and not arguments["quiet"]:
        print(f"note: {advice}", file=sys.stderr)
    for option in ("l1_state", "l2_state", "feature_mask"):
        if arguments[option] is not None:
            require_gd(learner, option)
    if arguments["output_feature_regularizer_text"]:
        learner.config.check_text_form()
    if not model:
        learner.set(**outstanding_shrinkage(typed))
    if arguments["feature_mask"]:
        learner.set_mask((learner.weights[:, 0] != 0).astype(np.uint8))
    if is_daemon(arguments):
        return serve_daemon(config, learner, plan, model, arguments, ready)
    counters = Counters(config.output.progress, has_simple_labels(learner))
    goes_on = model and arguments["preserve_performance_counters"] and config.learning and model.header["resumable"]
    if goes_on:
        counters.restore({name: value for name, value in model.counters.items() if name in PRESERVED})
        if learner.config.in_vw:
            names = [name for name in ("unlabeled_weight", "labeled_weight", "sum_loss") if name in learner.SCALARS]
            learner.set(**{name: getattr(counters, name) for name in names})
    classes = None if has_simple_labels(learner) else learner.labels(log)
    policy = VwLog(log, classes, strict_parse=arguments["strict_parse"])
    output = config.output
    broken = run_like_vw(
        config, learner, plan, policy, counters, Console(output.quiet, output.driver_output == "stdout", bar=False),
        earlier_passes=model.passes if goes_on else 0,
        regularizer=arguments["output_feature_regularizer_text"],
        dry_run=arguments["dry_run"],
    )
    return 141 if broken else 0


def require_gd(learner: Learner, option: str) -> Learner:
    if type(learner) is not Gd:  # learners derived from it have neither masks nor such numbers
        raise UsageError(f"--{option} needs a plain linear model")
    return learner


def vw_config(arguments: OptionValues, typed: OptionValues, log: Callable[[str], None]) -> RunConfig:
    options = dict(arguments)
    options["examples"] = max(options["examples"], 0)  # vw's -1 is all
    check_rule(typed)
    kind = "dsjson" if arguments["dsjson"] else "json" if arguments["json"] else "vw"
    input = input_config({**options, "kind": options["kind"] or kind})  # whatever the file is called
    if arguments["no_stdin"] and input.paths == ("-",):
        input = replace(input, paths=())
    length = arguments["initial_pass_length"]
    if input.cache and length > 0:
        input = replace(input, examples=min(input.examples or length, length))
    if arguments["passes"] > 1 and not input.cache:
        raise UsageError("need a cache file for multiple passes : try using  --cache or --cache_file <name>")
    for name, loss in LOSS_OPTIONS.items():
        if name in typed and (arguments["loss_function"] or "squared") != loss:
            raise UsageError(f"--{name} is for --loss_function {loss}")
    rule, warning = parse_progress(arguments["progress"]) if arguments["progress"] else (ProgressRule(), None)
    if warning:
        log(f"[warning] {warning}")
    quiet = arguments["quiet"] or arguments["driver_output_off"]
    output = OutputConfig(**{**fields_of(OutputConfig, options), "progress": rule, "quiet": quiet, "bar": False})
    obeyed = without_confidence(without_negative_penalties(without_lines(arguments, typed), log), log)
    learner = run_configs.learner_config(obeyed)
    if learner.only_in_vw and "probabilities" in typed:
        used = f"currently using: {learner.loss.name}"
        log(f"[warning] --probabilities should be used only with --loss_function=logistic, {used}")
    return RunConfig(
        input=input,
        features=FeatureConfig(**run_configs.feature_changes(typed)),
        learner=learner,
        output=output,
        holdout=HoldoutConfig(**fields_of(HoldoutConfig, options)),
        passes=arguments["passes"],
        initial_pass_length=arguments["initial_pass_length"],
        max_memory=arguments["memory"],
        learning=not (arguments["testonly"] or arguments["audit_regressor"]),
        vw_compat=True,
    )


def without_lines(arguments: OptionValues, typed: OptionValues) -> OptionValues:
    """The options typed for a new learner; some options are also for a model's, and vw takes ``--csoaa_rank`` with
    any."""
    if not {"bfgs", "conjugate_gradient"} & {*typed}:
        typed = {name: value for name, value in typed.items() if name != "no_bias_regularization"}
    if "csoaa_ldf" in typed or "wap_ldf" in typed:
        return typed
    dropped = OF_MODELS if arguments["initial"] and not {"oaa", "multilabel_oaa"} & {*typed} else ("csoaa_rank",)
    return {name: value for name, value in typed.items() if name not in dropped}


def settle_start(typed: OptionValues) -> OptionValues:
    typed, kinds = dict(typed), ("uniform_weights", "normal_weights", "truncated_normal_weights")
    for name, kind in zip(kinds, ("uniform", "normal", "truncated"), strict=True):
        if typed.pop(name, False):
            typed = {**typed, "random_weights": kind, "weights_seed": typed.get("random_seed", 0)}
    return typed


def check_rule(typed: OptionValues) -> None:
    """Raises UsageError for options of the update that vw does not know beside batch optimisation."""
    if "bfgs" in typed or "conjugate_gradient" in typed:
        for name in (*UPDATE_OPTIONS, "sparse_l2"):
            if name in typed:
                raise UsageError(f"unrecognised option '--{name}'")


def without_idle(typed: OptionValues) -> OptionValues:
    """Leave out options that do nothing by themselves, or beside others."""
    idle = {
        "simulation": ("active",),
        "mellowness": ("active", "regcb", "regcbopt", "squarecb", "initial"),
        "confidence_after_training": ("confidence",),
        "probabilities": (*OF_CLASSES, "initial"),
    }
    left_out = {"coin": ("l1", "l2"), "pistol": ("l1", "l2"), "ftrl": ("constant",)}
    names = {name for option, ones in left_out.items() if typed.get(option) for name in ones}
    names |= {name for name, others in idle.items() if not {*others} & {*typed}}
    return {name: value for name, value in typed.items() if name not in names}


def without_confidence(typed: OptionValues, log: Callable[[str], None]) -> OptionValues:
    """Leave out --confidence where nothing is learned: it needs the rates."""
    if "confidence" not in typed or "testonly" not in typed:
        return typed
    log("[warning] --confidence needs the state of learning, which -t leaves out: there will be none")
    return {name: value for name, value in typed.items() if not name.startswith("confidence")}


def settle_network(typed: OptionValues) -> OptionValues:
    """``--nn`` as vw's, which is another learner than that of ``vwlite train``."""
    asking = [name for kind in config_classes() for name in kind.selected_by if name != "nn"]
    return as_vw_has_it(typed, [name for name in asking if name in typed])


def settle_factorisation(typed: Mapping[str, Any]) -> OptionValues:
    """``--rank`` beside ``-q`` as vw's, another learner than that of ``--dotproduct``; also with a model of it.

    Raises UsageError for what does not go with it.
    """
    model = read_stored(typed["initial"]) if "initial" in typed else None
    made = bool(model and isinstance(model.config, VwRankConfig))
    if not made and ("rank" not in typed or {"dotproduct", "outputs", "initial"} & {*typed}):
        return typed
    asking = [name for kind in config_classes() for name in kind.selected_by]
    for name in (*asking, *(name for name in ("audit", "confidence", "feature_mask", *UPDATE_OPTIONS) if not made)):
        if name in typed:
            raise UsageError(f"--{name} does not go with --rank, vw's matrix factorisation")
    pairs = tuple(pair for name in CROSSINGS for pair in typed.get(name, ()))
    others = {name: value for name, value in typed.items() if name not in ("rank", *IDLE_WITH_RANK)}
    given = model.config if model and made else None
    rank = typed.get("rank", given and given.vw_rank)
    return {**others, "vw_rank": rank, "vw_pairs": pairs or (given.vw_pairs if given else ())}


def settle_loss(typed: OptionValues) -> OptionValues:
    """Settle the loss as vw, whose ``--log_multi`` and ``--ksvm`` learn with their own loss whatever is typed."""
    own = "log_multi" in typed or "ksvm" in typed
    return {name: value for name, value in typed.items() if name not in LOSS_NAMES} if own else typed


def read_limits(typed: OptionValues) -> OptionValues:
    """Read limits as vw reads ``--feature_limit a:10``: the number begins after the letter, and is none."""
    limits = tuple(value for value in typed.get("feature_limit", ()) if value[-1:].isdigit() and ":" not in value)
    return {**typed, "feature_limit": limits} if "feature_limit" in typed else typed


def without_negative_penalties(typed: OptionValues, log: Callable[[str], None]) -> OptionValues:
    for name in ("l1", "l2"):
        if typed.get(name, 0) < 0:
            log(f"[warning] {name}_lambda should be nonnegative: resetting from {typed[name]:g} to 0")
            typed = {**typed, name: 0.0}
    return typed


def restore_like_vw(path: str, config: RunConfig, typed: OptionValues, log: Callable[[str], None]) -> Restored:
    """The model, with those options that vw does not keep as typed or at their default.

    A learner that vw does not have keeps all of them.
    """
    stored_model = read_stored(path)
    header = stored_model.header
    if not (stored_model.config.in_vw and config.learner.in_vw):
        typed_changes = run_configs.learner_changes(typed), run_configs.feature_changes(typed)
        changed = {"learner_changes": typed_changes[0], "feature_changes": typed_changes[1]}
        return restore(path, learning=config.learning, vw_compat=True, max_memory=config.max_memory, **changed)
    given, kind = config.learner, type(stored_model.config)
    changes = {name: getattr(given, name) for name in ("random_weights", "weights_seed")}
    changes |= {name: getattr(given, name, option.default) for name, option in in_vw_models(kind, "forgotten")}
    changes |= run_configs.learner_changes(typed)
    for name in ("csoaa_rank", "rank_all", "scores", "no_bias_regularization"):  # vw takes them with any model
        if stored_model.config.only_answers or not hasattr(stored_model.config, name):
            changes.pop(name, None)
    if not stored_model.config.own_loss:
        changes["loss"] = LossConfig(**run_configs.loss_changes(typed))
    features = {name: option.default for name, option in in_vw_models(FeatureConfig, "forgotten")}
    features |= run_configs.feature_changes(typed)
    for name, _ in in_vw_models(FeatureConfig, "added"):
        if name in features:
            features[name] = (*features[name], *getattr(stored_model.features, name))
    lines = [(name, header["config"].get(name, "")) for name in ("csoaa_ldf", "wap_ldf")]
    for name, old in (("link", stored_model.config.link), ("affix", stored_model.features.affix), *lines):
        if typed.get(name, old) != old and old not in ("", "identity"):
            raise UsageError(f"--{name} {typed[name]} contradicts {path}, which was made with --{name} {old}")
    if "initial" not in typed:  # a mask's model: its weights, not its options
        changes = {field.name: getattr(given, field.name) for field in fields(GdConfig)}
        features = {}
    if any(name in typed for name in CROSSINGS):
        features |= {name: () for name in CROSSINGS if name not in typed}
        log("[warning] the interactions typed replace those of the model")
    model = restore(
        path,
        learning=config.learning,
        vw_compat=True,
        learner_name=given.learner if header["learner"] in given.continues else None,
        learner_changes=changes,
        feature_changes=features,
        dropped={name: option.default for name, option in in_vw_models(GdConfig, "resumable") if name not in typed},
        state_changes=outstanding_shrinkage(typed),
        max_memory=config.max_memory,
    )
    model.learner.set_weights()
    bounds = {"min_label": given.min_prediction, "max_label": given.max_prediction}
    if not model.header["resumable"]:
        if config.learning and not given.prediction_bounds and any(given.loss.loss.initial_range):
            bounds = dict(zip(bounds, given.loss.loss.initial_range, strict=True))
        model.learner.set(**{name: bound for name, bound in bounds.items() if bound is not None})
    model.learner.set(held_weight=0, unlabeled_weight=0, rate=model.learner.config.initial_learning_rate)
    if "initial" not in typed:
        model = replace(model, features=replace(config.features, bits=model.features.bits))
    plan = plan_of(model.features)
    plan.load(model.plan.arrays(), model.header)
    return replace(model, plan=plan)


def in_vw_models(config: type, how: str) -> list[tuple[str, Option]]:
    """The options of a configuration that models treat so, by name, as vw has it."""
    return [(name, option) for name, option in options_of(config).items() if option.in_vw_models == how]


def outstanding_shrinkage(typed: OptionValues) -> dict[str, float]:
    """Shrinkage to begin with, as typed; the defaults are as if not typed."""
    names = {"l1_state": ("gravity", 0), "l2_state": ("contraction", 1)}
    return {scalar: typed[name] for name, (scalar, usual) in names.items() if typed.get(name, usual) != usual}
