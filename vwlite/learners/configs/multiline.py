"""Options of label-dependent features, a group of lines an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig

REGRESSION, CLASSIFIER = ("m", "multiline"), ("mc", "multiline-classifier")


@dataclass(frozen=True, slots=True)
class LdfConfig(GdConfig):
    """As ``GdConfig``; one of ``csoaa_ldf`` and ``wap_ldf`` is one of REGRESSION or CLASSIFIER, the other empty."""

    csoaa_ldf: str = ""
    wap_ldf: str = ""
    ldf_override: str = ""  # in place of what these two say
    csoaa_rank: bool = False  # predictions are all classes, the cheapest first, with their scores
    probabilities: bool = False  # predictions are the lines' probabilities

    learner: ClassVar[str] = "ldf"
    label_words: ClassVar[bool] = True
    kind: ClassVar[str] = "ldf"
    count: ClassVar[int] = 1  # of sets of weights

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if bool(self.csoaa_ldf) == bool(self.wap_ldf):
            raise UsageError("--csoaa_ldf and --wap_ldf do not go together")
        for name in ("csoaa_ldf", "wap_ldf", "ldf_override"):
            if getattr(self, name) not in ("", *REGRESSION, *CLASSIFIER):
                raise UsageError(f"--{name} takes {', '.join(REGRESSION + CLASSIFIER)}, not {getattr(self, name)!r}")
        if self.binary:
            raise UsageError("--binary does not go with groups of lines")

    @property
    def classifier(self) -> bool:
        return (self.ldf_override or self.csoaa_ldf or self.wap_ldf) in CLASSIFIER

    @property
    def shows_probabilities(self) -> bool:
        return self.probabilities and not self.csoaa_rank
