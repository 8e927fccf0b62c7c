"""Options of the commands that learn one example after the other: apart, for others that start without them."""

from vwlite.cli.options import Decorator, declared, family, options_in
from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.losses import LossConfig
from vwlite.learners.transfers import TransferConfig
from vwlite.options import Option, options_of
from vwlite.training.config import RunConfig
from vwlite.training.curriculum_config import CurriculumConfig


def options_of_learners(vw: bool = False) -> Decorator:
    """All options of learners and losses, with all the defaults of one that several learners have, or vw's."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for config in (LossConfig, *(() if vw else (TransferConfig,)), *config_classes()):
        asked_by = getattr(config, "asked_by", ())
        elsewhere = [one for name, one in options_of(FeatureConfig).items() if name in asked_by]
        for one in (*elsewhere, *options_of(config).values()):
            if one.vw_only and not vw:
                continue
            defaults = found.setdefault(one.key, (one, [one.default_text]))[1]
            if one.default_text != defaults[0]:
                text = f"--{asked_by[0]}: {one.default_text}" if len(asked_by) == 1 else one.default_text
                defaults += [text] if text not in defaults else []
    shown = [(one, (vw and one.vw_shown) or "; ".join(filter(None, defaults))) for one, defaults in found.values()]
    return family("", *(declared(one, text) for one, text in shown))


pass_options = family(
    "",
    options_in(RunConfig, "Passes"),
    options_in(HoldoutConfig, "Passes"),
    options_in(InputConfig, "Passes"),
)
curriculum_options = options_in(CurriculumConfig, "Curriculum")
