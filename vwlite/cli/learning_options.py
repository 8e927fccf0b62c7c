"""Options of the commands that learn one example after the other: apart, for others that start without them."""

from vwlite.cli.options import Decorator, declared, family, options_in
from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.configs.base import LearnerConfig
from vwlite.learners.losses import LossConfig, TransferConfig
from vwlite.options import Option, options_of
from vwlite.training.config import CurriculumConfig, RunConfig


def options_of_learners(vw: bool = False) -> Decorator:
    """All options of learners and losses, with the defaults that they have with other learners, or vw's."""
    found: dict[str, tuple[Option, dict[str, str]]] = {}
    for config in (LossConfig, *(() if vw else (TransferConfig,)), *config_classes()):
        of_learner = issubclass(config, LearnerConfig)
        selected_by, together = (config.selected_by, config.selected_together) if of_learner else ((), ())
        elsewhere = [one for name, one in options_of(FeatureConfig).items() if name in selected_by]
        for one in (*elsewhere, *options_of(config).values()):
            if one.vw_only and not vw:
                continue
            first, others = found.setdefault(one.key, (one, {}))
            if one.default_text not in ("", first.default_text, *others):
                learner = " and ".join(f"--{name}" for name in together or selected_by[:1])
                text = one.default_text
                others[text] = text if " with --" in text else f"with {learner}: {text}"
    shown = ((one, (vw and one.vw_shown) or defaults(one, others)) for one, others in found.values())
    return family("", *(declared(one, text) for one, text in shown))


def defaults(one: Option, others: dict[str, str]) -> str:
    """The default of a plain learner, then those with others."""
    return "; ".join(filter(None, [one.default_text, *others.values()]))


pass_options = family(
    "",
    options_in(RunConfig, "Passes"),
    options_in(HoldoutConfig, "Passes"),
    options_in(InputConfig, "Passes"),
)
curriculum_options = options_in(CurriculumConfig, "Curriculum")
