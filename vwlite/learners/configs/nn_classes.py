"""Options of networks of tanh units with an output for each class (``--nn`` with ``--multiclass``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.nn import NnConfig, check_network, units_of
from vwlite.learners.configs.softmax import OF_SHARES, MulticlassConfig
from vwlite.options import again, config


@config
class NnClassesConfig(MulticlassConfig):
    """As ``MulticlassConfig`` with the multinomial loss, and the network of ``NnConfig``."""

    nn: str = again(NnConfig, "nn", "")
    inpass: bool = again(NnConfig, "inpass", False)
    dropout: bool = again(NnConfig, "dropout", False)

    learner: ClassVar[str] = "nn_classes"
    asked_by: ClassVar[tuple[str, ...]] = ()
    asked_together: ClassVar[tuple[str, ...]] = ("multiclass", "nn")
    includes: ClassVar[tuple[str, ...]] = ()
    alone: ClassVar[str] = "the loss is one of all outputs together"

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
