"""Options of label-dependent features, a group of lines an example."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.options import again, config, option

REGRESSION, CLASSIFIER = ("m", "multiline"), ("mc", "multiline-classifier")


def way(help: str, **declared: Any) -> Any:
    choices = (*REGRESSION, *CLASSIFIER)
    return option("", help, section="Groups of lines", choices=choices, **declared)


@config
class MultilineConfig(GdConfig):
    """As ``GdConfig``; one of ``csoaa_ldf`` and ``wap_ldf`` is one of REGRESSION or CLASSIFIER, the other empty."""

    csoaa_ldf: str = way(
        "Lines 'class:cost | features', a blank line after each group of them: learn what each costs (m) or which "
        "one costs least (mc). A group's first line 'shared | features' adds to all of them."
    )
    wap_ldf: str = way("The same from differences of two lines.")
    ldf_override: str = way("In place of what these two say.", in_vw_models="forgotten")
    csoaa_rank: bool = option(
        False, "Predict all classes of a group, the cheapest first, with their scores.", section="Groups of lines"
    )
    probabilities: bool = again(PerClassConfig, "probabilities", False)

    learner: ClassVar[str] = "ldf"
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ("csoaa_ldf", "wap_ldf")
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = "an example is a group of lines, whose costs are its label"
    multiline: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    label_words: ClassVar[bool] = True
    kind: ClassVar[str] = "ldf"
    count: ClassVar[int] = 1  # of sets of weights

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if bool(self.csoaa_ldf) == bool(self.wap_ldf):
            raise UsageError("--csoaa_ldf and --wap_ldf do not go together")
        if self.binary:
            raise UsageError("--binary does not go with groups of lines, which are answered with one of them: drop it")

    def to_show(self, what: str) -> dict[str, Any]:
        return {"probabilities": what == "probabilities", "csoaa_rank": what != "probabilities"}

    @property
    def classifier(self) -> bool:
        return (self.ldf_override or self.csoaa_ldf or self.wap_ldf) in CLASSIFIER

    @property
    def shows_probabilities(self) -> bool:
        return self.probabilities and not self.csoaa_rank
