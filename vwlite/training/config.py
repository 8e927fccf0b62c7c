"""A run's options, validated once; nothing below the command line sees how they were typed."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.side_names import sides_of_pair
from vwlite.learners.configs.gd import GdConfig
from vwlite.memory_limit import MemoryConfig
from vwlite.options import Config, again, config, option, options_of
from vwlite.training.curriculum_config import CurriculumConfig
from vwlite.training.output_config import OutputConfig

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig

CENTRES = (  # learners that were tried with --centred
    "gd", "average", "coin", "many", "multiclass", "lrq", "nn", "nn_classes", "outputs",
)  # fmt: skip


@config
class RunConfig(Config):
    """Everything one run is told."""

    input: InputConfig = field(default_factory=InputConfig)
    features: FeatureConfig = field(default_factory=FeatureConfig)
    learner: GdConfig | DyadicConfig = field(default_factory=GdConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    holdout: HoldoutConfig = field(default_factory=HoldoutConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    passes: int = option(1, "Passes over the data.", section="Passes", low=1)
    max_memory: float | None = again(MemoryConfig, "max_memory", None, shown="no limit")
    initial_pass_length: int = option(
        -1, "Lines of a pass, of which there are twice as many; -1 for all.", vw_only=True
    )
    learning: bool = True  # False: test only (-t)
    vw_compat: bool = False  # as ``vwlite vw``

    def __post_init__(self) -> None:
        if self.output.invert_hash and self.input.cache:
            raise UsageError("--invert_hash needs the names in the text, which a cache does not keep: drop -c")
        if self.output.names and self.input.cache:
            raise UsageError("--names needs the names in the text, which a cache does not keep: drop -c")
        shuffled = self.input.shuffle or self.input.shuffle_first
        if self.learner.multiline and (shuffled or self.curriculum.order):
            raise UsageError("--shuffle, --shuffle-first and --curriculum do not go with groups of lines")
        if self.curriculum.needs_numbers and self.learner.label_words is not None:
            raise UsageError(f"--curriculum-by {self.curriculum.by} needs labels that are numbers, not names or lists")
        self.curriculum.check_passes(self.passes)
        if self.curriculum.order and (shuffled or self.output.predictions or self.output.raw_predictions):
            raise UsageError("--curriculum chooses and orders the examples: drop --shuffle, --shuffle-first, -p and -r")
        if self.curriculum.order and self.learner.needs_full_passes:
            option = self.learner.option
            raise UsageError(f"--curriculum does not go with --{option}, which needs the same examples in every pass")
        if self.learner.only_answers and self.output.raw_predictions and not self.vw_compat:
            raise UsageError("--raw_predictions: a tree of classes has but its answers (-p)")
        if self.vw_compat and self.learner.vw_difference:
            raise UsageError(f"{self.learner.vw_difference} (use 'vwlite train')")
        if self.input.class_weights and self.learner.multiline:
            raise UsageError("--classweight does not go with groups of lines, whose costs say what matters")
        if self.output.support and not self.learner.has_support_vectors:
            raise UsageError("--support is for --ksvm, and for --dual with two classes or numbers")
        if self.learner.has_kernel and not self.vw_compat:
            self.check_kernel()
        if self.features.weighs_terms:
            self.check_weighting()
        if self.features.random_only and self.learner.lrq:
            raise UsageError("--random_only leaves no features for --lrq")
        if self.features.centred and self.learner.learner not in CENTRES:
            raise UsageError(f"--centred does not go with --{self.learner.option}")
        if self.features.freeze:
            self.check_frozen(self.learner.base or self.learner)
        if self.output.readable_model or self.output.invert_hash:
            self.learner.check_text_form()
        sides = {side for pair in self.features.dotproduct for side in sides_of_pair(pair)}
        for name in (self.learner.base or self.learner).decays:
            if sides and name not in sides:
                raise UsageError(f"--dot-l2 {name}: --dotproduct has {' '.join(sorted(sides))}")

    def check_frozen(self, learner: Any) -> None:
        """Raises UsageError where ``learner``, an inner one if there are such, cannot leave parts as they are."""
        if not self.learner.can_freeze:
            why = "parts of models of gradient descent, --ftrl and --dotproduct can stand"
            raise UsageError(f"--freeze does not go with --{self.learner.option}: {why}")
        for name in ("l1", "l2"):
            if getattr(learner, name, 0):
                raise UsageError(f"--{name} shrinks all weights, those of --freeze too: drop one")

    def check_weighting(self) -> None:
        """Raises UsageError for what needs the terms as the text has them."""
        options = "--value, --weight and --unit"
        if self.learner.multiline or self.learner.lrq:
            raise UsageError(f"{options} do not go with --{self.learner.option}, which needs the namespaces of terms")

    def check_kernel(self) -> None:
        """Raises UsageError for terms beside those of the text, and for parameters of another kernel."""
        features = self.features
        learner: Any = self.learner
        for name, kernel in (("degree", "poly"), ("bandwidth", "rbf")):
            if getattr(learner, name) != options_of(type(learner))[name].default and learner.kernel != kernel:
                raise UsageError(f"--{name} does nothing without --kernel {kernel}")
        for name in ("quadratic", "cubic", "interactions", "dotproduct", "random_features"):
            if getattr(features, name):
                option = options_of(FeatureConfig)[name].display_name
                raise UsageError(f"{option} does not go with --ksvm, whose kernels cross features (--kernel poly)")

    @property
    def fixed_passes(self) -> int:
        """Passes over the data that the learner makes whatever ``passes`` says; 0: ``passes``."""
        return self.learner.fixed_passes if self.learning else 0

    @property
    def data_passes(self) -> int:
        return self.fixed_passes or self.passes

    @property
    def holds_out(self) -> bool:
        """Whether examples are held out."""
        return self.holdout.active(1 if self.fixed_passes else self.passes)

    @property
    def wants_names(self) -> bool:
        output = self.output
        return bool(output.invert_hash or output.names or output.audit or output.audit_regressor or output.log)
