"""Options of other ways to latent vectors than ``--dotproduct`` alone, and what learners of vw alone share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed
from vwlite.learners.configs.dyadic import NEGATIVES, DyadicConfig
from vwlite.learners.configs.gd import RATE_OPTIONS, UPDATE_OPTIONS, GdConfig
from vwlite.options import config, option

SECTION = "Low-rank quadratic interactions"


@config
class LrqConfig(GdConfig):
    """As ``GdConfig``; every one of ``lrq`` is two letters of namespaces and a rank, as ``ui4``."""

    lrq: tuple[str, ...] = option(
        (), "Cross namespaces A and B by factors of rank N, learned in turns.", section=SECTION, metavar="ABN",
        letters=True,
    )
    lrqdropout: bool = option(False, "Leave half of the factors out of each step, by chance.", section=SECTION)
    random_seed: int = random_seed()  # which

    learner: ClassVar[str] = "lrq"
    selected_by: ClassVar[tuple[str, ...]] = ("lrq",)
    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "lrq", tuple(self.lrq))
        read_pairs(self.lrq)
        if self.ftrl:
            raise UsageError("--lrq does not go with --ftrl: factors are learned by gradient descent, drop one")


def read_pairs(values: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Two letters and a rank each, once, in the order of the bytes. Raises UsageError."""
    from vwlite.features.interactions import decode_letters  # imports a hash, which --help does without

    pairs = {}
    for value in values:
        letters = decode_letters(value)
        match = re.fullmatch(rb"([^:])([^:])([1-9][0-9]{0,3})", letters)
        if not match:
            raise UsageError(f"--lrq takes two letters and a rank up to 9999, like ui4, not {value!r}")
        pairs[letters] = match[1][0], match[2][0], int(match[3])
    return [pairs[letters] for letters in sorted(pairs)]


CROSSED = ("quadratic", "cubic", "interactions", "freeze", "mask_ids", "value", "weight", "unit")


@config
class AlsConfig(DyadicConfig):
    """As ``DyadicConfig``, of which the rank, ``dot_l2``, the start values and the bounds of predictions matter.

    With importances c and ``unobserved`` u, what is minimised is sum c (label - prediction)^2 of all examples, plus
    u times the squared predictions of all pairs of ids that were met, plus ``dot_l2`` of the squared length of each
    vector times the sum of its weights, the c and the u (Rendle et al., RecSys 2022).
    """

    als: bool = option(
        False, "Alternating least squares over examples in memory; pairs that are not there count as 0.",
        section=NEGATIVES,
    )
    unobserved: float = option(
        0.3, "Of --als: the weight of every pair, whether or not an example has it, beside that of an example, 1.",
        section=NEGATIVES, above=0,
    )

    learner: ClassVar[str] = "als"
    supports_trees: ClassVar[bool] = False
    can_freeze: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    selected_together: ClassVar[tuple[str, ...]] = ("als", "dotproduct")
    needs_full_passes: ClassVar[bool] = True
    fixed_passes: ClassVar[int] = 2

    def __post_init__(self) -> None:
        DyadicConfig.__post_init__(self)
        if self.loss.name != "squared":
            raise UsageError(f"--als takes --loss_function squared, not {self.loss.name}")
        if self.pairs > 1:
            raise UsageError("--als takes one --dotproduct, of ids with ids")
        if not self.rank:
            raise UsageError("--als does not go with --rank 0: ids have vectors of a length")

    @property
    def defaults(self) -> tuple[float, float]:
        return super().defaults[0], 0.01

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        rates = (*RATE_OPTIONS, *UPDATE_OPTIONS, "dot_rates", "first_pass_t", "confidence_rate")
        decays = ("dot_l2_power", "dot_pass_l2", "dot_l2_of", "linear_l2", "dot_offset")
        drawn = ("negatives", "negatives_of", "negative_label", "negative_weight")
        orders = ("shuffle", "no_shuffle", "shuffle_first", "holdout_period", "early_terminate", "save_per_pass")
        return "als", (*rates, *decays, *drawn, *orders, *CROSSED)


class OfVwAlone(GdConfig):
    """As ``GdConfig``, of a model that ``vwlite vw`` alone learns, as vw does."""

    supports_audit: ClassVar[bool] = False
    in_vw: ClassVar[bool] = True
    supports_trees: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False
    supports_levels: ClassVar[bool] = False


MAX_RANK = 1000
NOT_WITH_VW_RANK = (*UPDATE_OPTIONS, "ftrl", "sparse_l2", "initial_weight", "constant", "l1")


@config
class VwRankConfig(OfVwAlone):
    """As ``OfVwAlone``, of which loss, rate, ``l2`` and bounds matter.

    ``vw_rank`` is what ``vwlite vw`` calls ``--rank``; every one of ``vw_pairs`` is two letters of namespaces.
    """

    vw_rank: int = 0
    vw_pairs: tuple[str, ...] = ()

    learner: ClassVar[str] = "vw_rank"
    selected_by: ClassVar[tuple[str, ...]] = ("vw_rank",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "vw_pairs", tuple(self.vw_pairs))
        if not 1 <= self.vw_rank <= MAX_RANK:
            raise UsageError(f"--rank takes 1 to {MAX_RANK} factors, not {self.vw_rank}")
        self.letters  # noqa: B018  of pairs that are none it raises
        for name in NOT_WITH_VW_RANK:
            if getattr(self, name):
                raise UsageError(
                    f"--{name} does not go with --rank, whose factors have an update of their own: drop it"
                )

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        made, config = super().restore(stored, {}), super().restore(stored, changes)
        if config.vw_rank != made.vw_rank:
            raise UsageError(
                f"--rank {config.vw_rank} contradicts the model, which was made with --rank {made.vw_rank}"
            )
        if config.letters != made.letters:
            typed, pairs = " ".join(config.vw_pairs), " ".join(made.vw_pairs)
            raise UsageError(f"-q {typed} contradicts the model, which was made with -q {pairs}")
        return config

    @property
    def letters(self) -> list[tuple[int, int]]:
        """The pairs, as vw has them: one as it is typed, several in the order of their bytes and each once."""
        from vwlite.features.interactions import decode_letters

        pairs = [decode_letters(pair) for pair in self.vw_pairs]
        if not pairs or not all(len(pair) == 2 and b":" not in pair for pair in pairs):
            shown = ", ".join(self.vw_pairs) or "none"
            raise UsageError(f"--rank takes -q with two letters of namespaces, like ui, not {shown}")
        once = {bytes(sorted(pair)): pair for pair in sorted(pairs, reverse=True)}
        return [(pair[0], pair[1]) for pair in sorted(once.values())]

    @property
    def vw_advice(self) -> str:
        own = f"'vwlite train --dotproduct {self.vw_pairs[0]} --rank {self.vw_rank}'"
        return f"{own} learns the same kind of model, with smaller errors on MovieLens"

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        return False, False, True

    @property
    def option(self) -> str:
        return "rank"
