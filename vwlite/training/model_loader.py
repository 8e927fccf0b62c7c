"""From a model file back to a learner, its options and its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vwlite.config_check import JsonObject
from vwlite.errors import ModelError, UsageError, VwliteError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners import learner_class
from vwlite.learners.base import Learner, check_table_memory, use_threads
from vwlite.learners.losses import with_free_bound
from vwlite.options import OptionValues, options_of
from vwlite.storage import model_file
from vwlite.storage.weight_table import NARROW
from vwlite.training.config import RunConfig
from vwlite.training.model_header import (
    check,
    check_features,
    check_learner,
    check_loss,
    check_shape,
    of_the_model,
    read_stored,
)

if TYPE_CHECKING:
    from vwlite.features.name_index import NameIndex


@dataclass(slots=True, eq=False, repr=False)
class Restored:
    """A model's learner, and what a run continues from."""

    learner: Learner
    features: FeatureConfig
    plan: Plan
    counters: JsonObject
    negative_label: float | None
    passes: int
    header: JsonObject
    names: NameIndex | None = None  # those in the model, where it is to go on learning


def restore(
    path: str,
    *,
    learning: bool,
    vw_compat: bool,
    learner_name: str | None = None,
    learner_changes: OptionValues,
    feature_changes: OptionValues,
    loss_changes: OptionValues | None = None,
    dropped: OptionValues | None = None,
    state_changes: dict[str, float] | None = None,
    confident: bool = False,
    with_rates: bool = False,
    max_memory: float | None = None,
) -> Restored:
    """Open the model ``path`` to go on learning or to predict, with some options changed.

    Without ``vw_compat`` a model that goes on learning keeps its features and its loss: these options are only
    compared with its own. ``dropped`` replaces options of the update that a model without its adaptive sums does
    not keep. ``learner_name``: to go on with another learner, of the same table and options.
    ``confident``: predictions come with the importance that would flip their sign, where the learner has it.
    ``with_rates``: what only predicts has the rates of training, where the model keeps them.
    Raises ModelError for a damaged or foreign file, UsageError for an option that contradicts the model, or for
    tables of more than ``max_memory`` GiB.
    """
    try:
        header, kind, config, features = read_stored(path)
        if learner_name:
            kind = learner_class(learner_name)
        if confident:
            check_confidence(config)
        rates = (confident or with_rates) and header["resumable"] and config.has_sensitivity
        if rates and confident:
            kind = kind.with_confidence()
            learner_changes = {**learner_changes, "active": False, "simulation": False, "confidence": True}
        check_table_memory(kind, config, features.bits, learning or rates, max_memory)
        wanted = kind.needed_arrays(header, learning or rates)
        kept = () if wanted is None else arrays_of_features(header, features)
        loaded = model_file.load(
            path,
            want=None if wanted is None else [*wanted, *kept],
            grows=learning,
            needed={"weights": NARROW} if config.narrow else None,
        )
        pairs = header["config"].get("pairs", 0)
        if pairs != len(features.dotproduct):
            raise ValueError(f"{pairs} pairs of latent vectors, {len(features.dotproduct)} dot products")
        feature_changes = without_same_theta(path, header, feature_changes)
        check_shape(path, config, learner_changes)
        if not vw_compat and learning:
            features, feature_changes = change_frozen(features, feature_changes)
            check_features(path, features, feature_changes)
            check_loss(path, config, loss_changes or {})
            check_learner(path, config, learner_changes)
            learner_changes = with_free_bound(learner_changes, config.loss)
            feature_changes = {}
        forgotten = {} if header["resumable"] else (dropped or {})
        config = kind.config_type.restore(header["config"], {**forgotten, **learner_changes})
        if config.pairs != pairs:
            raise ValueError("pairs of latent vectors without dot products")
        check_table_memory(kind, config, features.bits, learning or rates, max_memory)  # options may widen the slots
        features = change_features(path, features, feature_changes, vw_compat)
        with of_the_model(path):
            learner = kind(config, features.bits, learning=learning or rates, vw_compat=vw_compat, start=False)
            if not feature_changes:
                text_format(features, skip_malformed=not vw_compat)
                plan = plan_of(features, header["seen"], learner.config.drops_pairs)
        if feature_changes:
            plan = plan_of(features, header["seen"], learner.config.drops_pairs)
        learner.load(loaded.arrays, {**header["scalars"], **(state_changes or {})}, whole=bool(header["resumable"]))
        if config.narrow:  # a model learned with other options may have more columns
            columns = learner.weights.shape[1]
            check_table_memory(kind, config, features.bits, learning or rates, max_memory, columns)
        plan.load(loaded.arrays, header)
        learner.take_header(header, whole=bool(header["resumable"]))
        if rates:
            learner.stop_learning()
        return Restored(
            learner=learner,
            features=features,
            plan=plan,
            counters=header["counters"],
            negative_label=header["negative_label"],
            passes=header["passes"],
            header=header,
            names=read_names(loaded.arrays, features.bits) if learning and header["names"] else None,
        )
    except VwliteError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is not a model of this version's learners ({error})") from error


def check_confidence(config: Any) -> None:
    """Raises UsageError where confidences are not of the predictions as they are shown."""
    if config.levels:
        raise UsageError("--confidence does not go with --levels: it is of numbers, by their sign")
    if config.label_units != "raw":
        raise UsageError("--confidence is of labels as they are, such as -1 and 1: train with --label-units raw")


def without_same_theta(path: str, header: JsonObject, changes: OptionValues) -> OptionValues:
    """The changes of features but for Theta. Raises UsageError where that typed is not the model's."""
    if not changes.get("theta"):
        return changes
    from vwlite.features.theta import check_same  # imported only where Theta is typed

    check_same(path, header.get("theta", {}).get("digest"), changes["theta"])
    return {name: value for name, value in changes.items() if name != "theta"}


def plan_of(config: FeatureConfig, seen: Iterable[int] = (), drop_pairs: bool = False) -> Plan:
    """The plan of these options, with ``weights`` where they give terms other values. A run imports what it needs."""
    plan = Plan(config, seen, drop_pairs)
    weights = centring = None
    if config.weighs_terms:
        from vwlite.features.term_weights import TermWeights

        weights = TermWeights(config, plan)
    if config.centred:
        from vwlite.features.group_columns import Centring

        centring = Centring(config, plan.redefine)
    plan.change_values(weights, centring)
    return plan


def arrays_of_features(header: Mapping[str, Any], features: FeatureConfig) -> list[str]:
    """The names of the arrays that a model keeps of how its features are made. A run loads what its model needs."""
    names: list[str] = []
    if features.weight != "none":
        from vwlite.features.term_weights import ARRAYS

        names += ARRAYS
    if features.landmarks or features.has_gamma:
        from vwlite.features.landmarks import arrays_of

        names += arrays_of(features)
    if features.theta:
        from vwlite.features.theta import kept_arrays

        names += kept_arrays(header)
    if features.centred:
        from vwlite.features.group_columns import CENTRED

        names += CENTRED
    return names


def change_frozen(features: FeatureConfig, typed: OptionValues) -> tuple[FeatureConfig, OptionValues]:
    """The features with what ``--freeze`` changes of them, and what else was typed.

    Where parts of a model stand, interactions may be added to one that has none of their kind.
    """
    if "freeze" not in typed:
        return features, typed
    added = ("quadratic", "cubic", "interactions") if typed["freeze"] != ("none",) else ()
    new = {name: typed[name] for name in added if name in typed and not getattr(features, name)}
    left = {name: value for name, value in typed.items() if name != "freeze" and name not in new}
    return replace(features, freeze=typed["freeze"], **new), left


def change_features(path: str, features: FeatureConfig, changes: OptionValues, vw_compat: bool) -> FeatureConfig:
    """Options typed beside ``-i``: those that would make the weights meaningless are refused.

    With ``vw_compat`` only against what was typed for the model, as ``vw`` does.
    """
    for name, value in changes.items():
        option, old = options_of(FeatureConfig)[name], getattr(features, name)
        kept = not vw_compat or name in ("bits", "dotproduct") or old != option.default
        if option.shape and kept:
            check(path, option, value, old)
    return replace(features, **changes)


def read_names(arrays: Mapping[str, Any], bits: int) -> NameIndex | None:
    """The names in a model's arrays, where these have been loaded."""
    if "name_slot" not in arrays:
        return None
    from vwlite.features.name_index import name_index_from_arrays

    return name_index_from_arrays(arrays, bits)


def start(
    config: RunConfig,
    initial: str | None = None,
    learner_changes: Mapping[str, Any] | None = None,
    feature_changes: Mapping[str, Any] | None = None,
    loss_changes: Mapping[str, Any] | None = None,
    confident: bool = False,
    with_rates: bool = False,
    say: Callable[[str], None] | None = None,
) -> tuple[RunConfig, Restored | None]:
    """The configuration to run with and, with ``initial``, the model to go on from, some options changed.

    ``confident`` and ``with_rates`` are those of ``restore``. ``say`` tells the user of a learning rate that has
    decayed.

    Raises ModelError when it is to go on learning and cannot, and as ``vwlite.training.model_loader.restore``.
    """
    if initial is None:
        return config, None
    model = restore(
        initial,
        learning=config.learning,
        vw_compat=False,
        learner_changes=dict(learner_changes or {}),
        feature_changes=dict(feature_changes or {}),
        loss_changes=dict(loss_changes or {}),
        confident=confident,
        with_rates=with_rates,
        max_memory=config.max_memory,
    )
    if config.learning:
        go_on(initial, model, dict(learner_changes or {}))
        if model.learner.config.decay_learning_rate not in (1, None) and say:
            rate = f"the learning rate has decayed to {model.learner.get('rate'):g}"
            say(f"{rate} over {model.passes} passes, each run being one; -l sets another")
        if model.header["names"]:
            config = replace(config, output=replace(config.output, names=True))
    return replace(config, features=model.features, learner=model.learner.config), model


def go_on(path: str, model: Restored, typed: Mapping[str, Any]) -> None:
    """Let options that differ from the model's take the place of what it had come to."""
    if not model.header["resumable"]:
        raise ModelError(f"{path} cannot be trained further: it was saved with --predict_only_model")
    config, old = model.learner.config, model.header["config"]
    if "learning_rate" in typed and typed["learning_rate"] != old["learning_rate"]:
        model.learner.set(rate=config.initial_learning_rate)
    if config.decay_learning_rate is None:  # passes are those of a run
        model.learner.set(passes=0)
    bounds = config.prediction_bounds
    if bounds and bounds != (old["min_prediction"], old["max_prediction"]):
        model.learner.set(min_label=bounds[0], max_label=bounds[1])


def begin_learner(config: RunConfig, model: Restored | None) -> tuple[Learner, Plan]:
    """The learner of a run, and the plan of its features.

    Raises UsageError for one of more memory than allowed, and as ``Plan.read_theta``.
    """
    if model:
        use_threads(model.learner, config.input.threads)
        return model.learner, model.plan
    kind = learner_class(config.learner.learner)
    check_table_memory(kind, config.learner, config.features.bits, config.learning, config.max_memory)
    learner = kind(config.learner, config.features.bits, learning=config.learning, vw_compat=config.vw_compat)
    use_threads(learner, config.input.threads)
    plan = plan_of(config.features, drop_pairs=learner.config.drops_pairs)
    plan.read_theta()
    return learner, plan
