"""Options of neural networks: --nn, and the network of vwlite vw."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed, refuse
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.lrq import OfVwAlone
from vwlite.learners.configs.per_class import OF_SHARES, MulticlassConfig
from vwlite.options import again, config, option

SECTION = "Networks"
MAX_HIDDEN = 16  # layers, as in the kernel
MAX_UNITS = 10000  # of a layer
MAX_DENSE = 1 << 26  # weights of all dense layers together
LANES = 8  # rows are of a multiple of these numbers
REFUSED = (
    "sgd", "adaptive", "normalized", "invariant", "initial_t", "l1", "l2", "sparse_l2", "initial_weight", "constant",
    "ftrl", "power_t",
)


@config
class NnConfig(GdConfig):
    """As ``GdConfig``, of which loss, rate and bounds matter; ``nn`` has the units of every hidden layer."""

    nn: str = option(
        "", "Numbers of tanh units in the hidden layers: --nn 100, or --nn 300,300,300.", section=SECTION,
        metavar="N,...",
        read_as="units", shape=True,
    )
    inpass: bool = option(False, "Also connect the features directly to the output.", section=SECTION, shape=True)
    dropout: bool = option(False, "Leave half of the units out of each step, by chance.", section=SECTION)
    random_seed: int = random_seed()

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "nn"
    selected_by: ClassVar[tuple[str, ...]] = ("nn",)
    exclusivity: ClassVar[str] = "the network takes the place of another learner; of classes it takes --multiclass"
    in_vw: ClassVar[bool] = False
    supports_trees: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        check_network(self)

    @property
    def vw_difference(self) -> str:
        return "--nn is learned otherwise than vw's"

    @property
    def hidden(self) -> tuple[int, ...]:
        return units_of(self.nn)

    @property
    def outputs(self) -> int:
        return 1


def units_of(text: str) -> tuple[int, ...]:
    """The units of every hidden layer. Raises UsageError."""
    words = text.split(",")
    if not all(re.fullmatch(r"[1-9][0-9]{0,5}", word) and int(word) <= MAX_UNITS for word in words):
        asked = f"1 to {MAX_UNITS}, as 100 or 300,300,300"
        raise UsageError(f"--nn takes the units of each hidden layer, {asked}, not {text!r}")
    if len(words) > MAX_HIDDEN:
        raise UsageError(f"--nn takes up to {MAX_HIDDEN} hidden layers, not {len(words)}")
    return tuple(map(int, words))


def check_network(config: Any) -> None:
    """Raises UsageError for options that a network does not have, and for too many weights."""
    refuse(config, REFUSED, "--nn", "learners without a network take it")
    if (count := sum(inputs * width for inputs, width in dense_shapes(config))) > MAX_DENSE:
        raise UsageError(f"--nn {config.nn} has {count:,} weights between its layers: more than {MAX_DENSE:,}")


def dense_shapes(config: Any) -> list[tuple[int, int]]:
    """Rows, of the units below and the constant, and numbers in a row, of every layer above the first hidden one."""
    above = [*config.hidden[1:], config.outputs]
    return [(below + 1, -(-units // LANES) * LANES) for below, units in zip(config.hidden, above, strict=True)]


def row_shift(config: Any) -> int:
    """The binary logarithm of the number of slots that a feature takes."""
    return max((row_units(config) - 1).bit_length(), 3)


def row_units(config: Any) -> int:
    """Weights of a feature: to the units of the first hidden layer and, with ``inpass``, to the outputs."""
    return int(config.hidden[0] + config.outputs * config.inpass)


@config
class NnClassesConfig(MulticlassConfig):
    """As ``MulticlassConfig`` with the multinomial loss, and the network of ``NnConfig``."""

    nn: str = again(NnConfig, "nn", "")
    inpass: bool = again(NnConfig, "inpass", False)
    dropout: bool = again(NnConfig, "dropout", False)

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "nn_classes"
    selected_by: ClassVar[tuple[str, ...]] = ()
    selected_together: ClassVar[tuple[str, ...]] = ("nn", "multiclass")
    includes: ClassVar[tuple[str, ...]] = ()
    exclusivity: ClassVar[str] = "the loss is one of all outputs together"

    def __post_init__(self) -> None:
        MulticlassConfig.__post_init__(self)
        check_network(self)
        if self.class_loss != "multinomial":
            raise UsageError(f"--nn with --multiclass takes --loss_function multinomial, not {self.class_loss}")
        for name in (*OF_SHARES, "group_l1"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --nn: --multiclass without a network takes it")

    @property
    def hidden(self) -> tuple[int, ...]:
        return units_of(self.nn)

    @property
    def outputs(self) -> int:
        return self.multiclass


NOT_WITH_VW = ("sparse_l2", "initial_t")


@config
class VwNnConfig(OfVwAlone):
    """As ``OfVwAlone``; ``vw_nn`` is the number of units, which ``vwlite vw`` calls ``--nn``."""

    vw_nn: int = 0
    random_seed: int = 0

    learner: ClassVar[str] = "vw_nn"
    selected_by: ClassVar[tuple[str, ...]] = ("vw_nn",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if not 1 <= self.vw_nn <= MAX_UNITS:
            raise UsageError(f"--nn takes 1 to {MAX_UNITS} units, not {self.vw_nn}")
        for name in NOT_WITH_VW:
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --nn")

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        made, typed = stored["vw_nn"], changes.get("vw_nn", stored["vw_nn"])
        if typed != made:
            raise UsageError(f"--nn {typed} contradicts the model, which was made with --nn {made}")
        return super().restore(stored, changes)

    @property
    def option(self) -> str:
        return "nn"


def as_vw_has_it(typed: Mapping[str, object], of_others: Collection[str]) -> Mapping[str, object]:
    """The options of ``vwlite vw`` with ``--nn`` under its own name. Raises UsageError for what does not go with it.

    ``of_others``: the options that ask for other learners.
    """
    if "nn" not in typed:
        return typed
    for name in ("inpass", "dropout", "raw_predictions", *of_others):
        if name in typed:
            way = "use 'vwlite train'" + " with --multiclass" * (name == "oaa")
            raise UsageError(f"--{name} does not go with --nn here ({way})")
    units = units_of(typed["nn"])
    if len(units) > 1:
        raise UsageError(f"--nn takes one number of units, not {typed['nn']} (use 'vwlite train')")
    return {**{name: value for name, value in typed.items() if name != "nn"}, "vw_nn": units[0]}
