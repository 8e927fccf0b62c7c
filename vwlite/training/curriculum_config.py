"""Which examples take part when: the options of a curriculum, the same for every command that has one."""

from __future__ import annotations

import math
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import Config, config, option
from vwlite.storage.named_files import OF_PREDICTIONS

OF_DIFFICULTY = {  # has a :NAME
    "length": False, "rarest": False, "margin": True, "loss": True, "value": True, "difference": False
}
WORDS = "length, rarest, margin:MODEL, loss:MODEL or value:NAMESPACE"
AS_THEY_COME = ("length", "value", "difference")  # known of an example, or a pair, without the others
OF_CURRICULUM: dict[str, Any] = {"section": "Curriculum", "needs": ("curriculum_order",)}


@config
class CurriculumConfig(Config):
    """``order`` None: no curriculum. ``by``: length, rarest, margin:MODEL, loss:MODEL, value:NAMESPACE, or of pairs
    difference.
    """

    order: str | None = option(
        None, "Begin with the easiest examples, the hardest or any; every pass or step admits more, in the end all.",
        section="Curriculum", spelled=("--curriculum",), key="curriculum_order", choices=("easy", "anti", "random"),
    )
    by: str = option(
        "length", "What makes them hard: length, rarest, margin:MODEL, loss:MODEL, value:NAMESPACE.",
        spelled=("--curriculum-by",), key="curriculum_by", read_as="difficulty", **OF_CURRICULUM,
    )
    start: float = option(
        0.25, "Share of the first pass; of the first step, to which each step adds as much.",
        spelled=("--curriculum-start",), key="curriculum_start", above=0, high=1, **OF_CURRICULUM,
    )
    passes: int | None = option(
        None, "Pass from which on all take part.", spelled=("--curriculum-passes",), key="curriculum_passes", low=1,
        shown="half of --passes", **OF_CURRICULUM,
    )
    steps: int | None = option(
        None, "Grow the share within the first pass, after every N examples, ranked among themselves.",
        spelled=("--curriculum-steps",), key="curriculum_steps", low=1, shown="by passes", **OF_CURRICULUM,
    )
    weights: str = option(
        "step", "How much examples weigh that are about as hard as the share admits: 1 or 0, or between the two along "
        "a line or a logistic curve.",
        spelled=("--curriculum-weights",), key="curriculum_weights", choices=("step", "linear", "logistic"),
        **OF_CURRICULUM,
    )
    width: float | None = option(
        None, "How wide the fall from weight 1 to 0 is, as a share of the examples.",
        spelled=("--curriculum-width",), key="curriculum_width", above=0, shown="0.2", **OF_CURRICULUM,
    )
    sample: bool = option(
        False, "Take examples with the probability of their weight, with their own importance.",
        spelled=("--curriculum-sample",), key="curriculum_sample", **OF_CURRICULUM,
    )

    def __post_init__(self) -> None:
        kind, colon, of = self.by.partition(":")
        if OF_DIFFICULTY.get(kind) is not bool(colon):
            raise UsageError(f"--curriculum-by takes {WORDS}, not {self.by!r}")
        if colon and not of:
            raise UsageError(f"--curriculum-by {self.by} lacks what comes after the colon")
        if self.weights == "step":
            for option, typed in (("--curriculum-width", self.width), ("--curriculum-sample", self.sample)):
                if typed:
                    raise UsageError(f"{option} needs weights between 0 and 1: --curriculum-weights linear or logistic")
        if self.of_pairs and (self.order not in (None, "easy") or self.weights != "step"):
            raise UsageError(
                "--curriculum-by difference takes pairs of far labels first, all alike: it goes with --curriculum easy "
                "and without --curriculum-weights"
            )
        if self.steps:
            self.check_steps(kind)

    def check_steps(self, kind: str) -> None:
        """Raises UsageError for what needs all data, or counts passes."""
        if kind not in AS_THEY_COME:
            raise UsageError(
                f"--curriculum-steps ranks examples as they come, by length or value:NAMESPACE: "
                f"--curriculum-by {self.by} goes with passes"
            )
        if self.passes:
            raise UsageError(
                "--curriculum-passes counts passes; with --curriculum-steps each step admits --curriculum-start more"
            )

    def check_passes(self, passes: int) -> None:
        """Raises UsageError where passes are to choose, and there is one, and for what is of pairs."""
        if self.order and self.of_pairs:
            raise UsageError(
                f"--curriculum-by difference is of the labels of pairs, which 'vwlite crr' learns from: take {WORDS}"
            )
        if self.by_pass and passes == 1:
            raise UsageError(
                "--curriculum says which examples take part in each pass: it needs --passes 2 or more, or "
                "--curriculum-steps N, which grows the share within one"
            )

    @property
    def of_pairs(self) -> bool:
        return self.by == "difference"

    @property
    def needs_numbers(self) -> bool:
        """Whether a model's predictions are compared with labels."""
        return self.by.partition(":")[0] in OF_PREDICTIONS

    @property
    def by_pass(self) -> bool:
        """Whether passes choose among all examples."""
        return self.order is not None and self.steps is None

    def share(self, number: int, passes: int) -> float:
        """Of the examples, in pass ``number`` (from 1) of ``passes``."""
        full = self.passes or min(max((passes + 1) // 2, 2), passes)
        return 1.0 if number >= full else self.start + (1 - self.start) * (number - 1) / (full - 1)

    @property
    def last_step(self) -> int:
        """The first, from 1, in which all take part."""
        return math.ceil(1 / self.start - 1e-9)

    def share_of_step(self, number: int) -> float:
        """Of the examples of step ``number``, from 1."""
        return 1.0 if number >= self.last_step else number * self.start
