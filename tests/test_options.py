"""Options are declared once, as fields of configurations: what every declaration has, and what is read from it."""

import math
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace
from types import SimpleNamespace

import pytest
from commands import TYPED, command

from vwlite._native import one_vs_rest_sgd
from vwlite.cli.crr import command as crr
from vwlite.cli.evaluate import command as evaluate
from vwlite.cli.l1 import command as l1
from vwlite.cli.serve import command as serve
from vwlite.cli.train import command as train
from vwlite.cli.tune import command as tune
from vwlite.cli.vw import command as vw
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig, ShardConfig
from vwlite.errors import UsageError
from vwlite.evaluation.config import RankingConfig, TuneConfig
from vwlite.features.config import ApplyConfig, FeatureConfig, QueryConfig
from vwlite.learners import config_classes
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig, TransferConfig
from vwlite.options import Config, MemoryConfig, Option, check_needs, options_of
from vwlite.options import name_option as declared_as
from vwlite.serving.config import ServeConfig
from vwlite.solvers.aso.config import LOSSES
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.loglinear.config import L1Config
from vwlite.training.config import CheckpointConfig, CurriculumConfig, OutputConfig, RunConfig

EVERY = [command(name) for name in TYPED]  # which imports all configurations


def kinds_of(config):
    for kind in config.__subclasses__():
        yield from (kind, *kinds_of(kind))


def command_with(config):
    """The command that declares most of a configuration's options."""
    expected = {(one.key, one.help) for one in options_of(config).values()}
    declared = [[param for param in of.params if hasattr(param, "declared")] for of in EVERY]
    shared = [len(expected & {(param.name, param.declared.help) for param in params}) for params in declared]
    return EVERY[shared.index(max(shared))]


SOLVERS = sorted({one for one in kinds_of(Config) if one.__module__.startswith("vwlite.solvers.")}, key=repr)
CONFIGS = (
    LossConfig, TransferConfig, *config_classes(), FeatureConfig, InputConfig, HoldoutConfig, BadLinesConfig,
    CurriculumConfig, RunConfig, OutputConfig, CheckpointConfig, ShardConfig, QueryConfig, RankingConfig,
    *SOLVERS, ApplyConfig, TuneConfig, MemoryConfig, ServeConfig,
)
COMMANDS = {  # of other configurations vw and train
    **{config: [command_with(config)] for config in SOLVERS},
    OutputConfig: [command("simulate"), vw, train],
    TransferConfig: [train],
    CurriculumConfig: [train, l1],
    QueryConfig: [crr],
    CheckpointConfig: [train],
    TuneConfig: [tune],
    RankingConfig: [evaluate],
    ServeConfig: [serve],
    ShardConfig: [train],
    ApplyConfig: [command("aso apply")],
}


def param_of(config, one):
    return {param.name: param for command in COMMANDS.get(config, [vw, train]) for param in command.params}[one.key]


@pytest.mark.parametrize("config", CONFIGS)
def test_options_are_declared_whole(config):
    """And the command line has each, with the default that the learner has, which is within the bounds."""
    for one in options_of(config).values():
        is_declared_whole(config, one)
        is_on_the_command_line(param_of(config, one), one)
        has_a_default_within_its_bounds(one)
        refuses_values_beyond_its_bounds(one)


def is_declared_whole(config, one):
    assert one.help.endswith((".", "]")) and (one.section or one.vw_only or config in COMMANDS)
    assert one.type in ("bool", "int", "float", "str", "tuple[str, ...]") or one.read_as
    assert all(spelling.startswith("-") for spelling in one.spelled)


def is_on_the_command_line(param, one):
    assert {name for names in one.spelled for name in names.split("/")} <= {*param.opts, *param.secondary_opts}
    assert one.help in param.help
    assert one.default_text in param.help
    if one.type in ("int", "float") and one.default and one.shown is None:
        assert f"{one.default:g}" in param.help.partition("[default: ")[2]


def has_a_default_within_its_bounds(one):
    bounded = one.default is not None and not one.needed and one.type in ("int", "float")
    # 0: a number of classes or the like that is not asked for
    assert not bounded or one.default == 0 or one.within(one.default)
    assert not one.choices or one.default in (*one.choices, "", None)


def refuses_values_beyond_its_bounds(one):
    for bound, beyond in ((one.low, -1), (one.above, 0), (one.high, 1), (one.below, 0)):
        if bound is not None and (bound + beyond != one.default or one.needed):
            with pytest.raises(UsageError, match=f"^{one.display_name} takes .* not "):
                one.check(bound + beyond)
    for bound in (one.low, one.high):
        if bound is not None:
            one.check(bound)
    if one.type == "float":
        with pytest.raises(UsageError, match="not nan"):
            one.check(math.nan)
    if one.choices:
        with pytest.raises(UsageError, match=f"did you mean {one.choices[0]}"):
            one.check(f"{one.choices[0]}x")


@pytest.mark.parametrize("config", CONFIGS)
def test_what_options_need_is_there(config):
    keys = {param.name for command in COMMANDS.get(config, [train]) for param in command.params}
    for need in [need for one in options_of(config).values() for need in one.needs]:
        name, equals, value = need.partition("=")
        assert value in options_of(config)[name].choices if equals else name in keys


def test_an_option_that_does_nothing_beside_the_value_of_another_is_refused():
    check_needs(L1Config(solver="owlqn", tolerance=0.1), ["solver", "tolerance"])
    check_needs(L1Config(solver="owlqn"), ["solver"])
    with pytest.raises(UsageError, match=r"^--tolerance does nothing without --solver owlqn or --solver fista$"):
        check_needs(L1Config(tolerance=0.1), ["tolerance"])
    with pytest.raises(UsageError, match=r"^--decay_learning_rate does nothing without --rate exponential$"):
        check_needs(L1Config(rate="harmonic", decay=0.5), ["rate", "decay"])


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ({"type": "int", "low": 1}, "1 or more"),
        ({"type": "int", "low": 1, "high": 32, "unit": "bits"}, "1 to 32 bits"),
        ({"type": "float"}, "a finite number"),
        ({"type": "float", "low": 0}, "a number of 0 or more"),
        ({"type": "float", "above": 0}, "a number above 0"),
        ({"type": "float", "low": 0, "high": 1}, "a number from 0 to 1"),
        ({"type": "float", "above": 0, "below": 1}, "a number above 0 and below 1"),
        ({"type": "float", "above": 0, "high": 0.5}, "a number above 0 and up to 0.5"),
    ],
)
def test_bounds_in_words(declared, text):
    assert Option("", **declared).bounds_text == text


def test_a_learner_is_asked_for_by_options_that_there_are():
    asked = [name for config in config_classes() for name in config.selected_by]
    assert len(asked) == len(set(asked))
    assert set(asked) - {param.name for param in train.params} == {"vw_nn", "vw_rank"}  # --nn, --rank of vwlite vw
    unasked = {config.learner for config in config_classes() if not config.selected_by}
    together = {
        "active_dyadic", "als", "bfgs_multiclass", "bfgs_outputs", "factored", "factored_classes", "lfl", "nn_classes",
        "scoring_tree",
    }
    assert unasked == {"class_learners", "gd"} | together


def test_the_defaults_in_words_are_those_of_the_learner():
    for name in ("hinge", "quantile", "logistic", "squared"):
        config = DyadicConfig(loss=LossConfig(name))
        rate, decay = (
            text.split(", else ")[name == "squared"].partition(" with ")[0]
            for text in (options_of(DyadicConfig)[one].default_text for one in ("learning_rate", "dot_l2"))
        )
        assert (config.initial_learning_rate, config.decay) == (float(rate), float(decay))
    first, second = (GdConfig(sgd=sgd).initial_learning_rate for sgd in (False, True))
    assert options_of(GdConfig)["learning_rate"].default_text.startswith(f"{first:g}, or {second:g} unless")


def test_types_are_known_whether_annotations_are_texts_or_types():
    """Python 3.14 has a name for ``str | None``, Union, that the versions before have not."""
    annotations = [bool, int, float, str, str | None, float | None, "str", "float | None"]
    declared = [SimpleNamespace(metadata={"option": Option("")}, name="x", type=one, default=0) for one in annotations]
    types = [declared_as(one).type for one in declared]
    assert types == ["bool", "int", "float", "str", "str", "float", "str", "float"]


def test_a_configuration_is_a_frozen_record():
    config = GdConfig(l1=0.5)
    assert config == replace(GdConfig(), l1=0.5) != GdConfig() and hash(config) == hash(GdConfig(l1=0.5))
    assert pickle.loads(pickle.dumps(config)) == config
    assert list(asdict(config)) == [field.name for field in fields(GdConfig)]
    assert "l1=0.5" in repr(config)
    with pytest.raises(FrozenInstanceError):
        config.l1 = 1.0
    with pytest.raises(TypeError, match="no field 'l3'"):
        GdConfig(l3=1)
    with pytest.raises(TypeError, match=r"no field 'power' \(did you mean power_t\?\)"):
        GdConfig(power=1)
    with pytest.raises(TypeError, match=r"no field 'learning_rate' \(did you mean rate\?\)"):
        LmConfig(learning_rate=1)


def test_losses_are_numbered_as_in_the_kernel():
    assert LOSSES == one_vs_rest_sgd.LOSSES
