"""A run's options, validated once; nothing below the command line sees how they were typed."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, sides_of_pair
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import Config, MemoryConfig, Option, again, config, option, options_of
from vwlite.storage.named_files import OF_PREDICTIONS
from vwlite.storage.output_checks import BEST, CHECKPOINT, LEDGER, LOCK

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig


INITIAL = Option(
    "Continue exactly where this model stopped.", section="Output", spelled=("-i", "--initial_regressor"),
    key="initial",
    reads="model", beside=(LEDGER,), name="initial", type="str",
)


class ProgressRule(NamedTuple):
    """Progress rows are due every ``step`` of importance, or at totals growing by that factor."""

    additive: bool = False
    step: float = 2.0


@config
class OutputConfig(Config):
    """The outputs and messages of a run. Paths are None when not wanted."""

    model: str | None = option(
        None, "Write the model there.", section="Output", spelled=("-f", "--final_regressor"), key="model",
        writes="model", beside=(LOCK, CHECKPOINT, BEST, LEDGER),
    )
    predictions: str | None = option(
        None, "Write the prediction made before each update; - is stdout.", section="Output",
        spelled=("-p", "--predictions"), writes="predictions", beside=(CHECKPOINT,),
    )
    raw_predictions: str | None = option(
        None, "Write these predictions before clipping and link.", section="Output",
        spelled=("-r", "--raw_predictions"),
        writes="predictions", beside=(CHECKPOINT,),
    )
    log: str | None = option(
        None, "Write what was drawn, with cost and probability, as train --cb N or --cb_adf reads it; - is stdout.",
        section="Output", writes="predictions",
    )
    readable_model: str | None = option(
        None, "Write the model as text.", section="Output", writes="text", beside=(BEST,)
    )
    invert_hash: str | None = option(
        None, "Write the model as text with the names of its features.", section="Output", writes="text", beside=(BEST,)
    )
    support: str | None = option(
        None, "Write the examples whose dual variable is not 0, one a line, with that variable.", section="Output",
        writes="text", needs=("dual", "ksvm"),
    )
    names: bool = option(
        False, "Keep the features' names in the model, for 'vwlite inspect'.", section="Output", needs=("model",)
    )
    save_per_pass: bool = option(
        False, "Also write MODEL.1, MODEL.2, ... after each pass.", section="Output", needs=("model",)
    )
    predict_only_model: bool = option(
        False, "A smaller model that cannot be trained further.", section="Output", needs=("model",)
    )
    audit: bool = option(
        False, "Print every example's features and weights.", spelled=("-a", "--audit"), vw_only=True
    )
    audit_regressor: str | None = option(
        None, "Only write the model's weights with their names.", writes="text", vw_only=True
    )
    hexfloat_weights: bool = option(False, "Weights in hexadecimal in models as text.", vw_only=True)
    model_id: str = option(
        "", "A name for the readable model's header.", spelled=("--id",), metavar="TEXT", vw_only=True
    )
    dont_output_best_constant: bool = option(False, "No best constant in the summary.", vw_only=True)
    driver_output: str = option(
        "stderr", "Where the table and the summary go.", choices=("stdout", "stderr"), vw_only=True
    )
    progress: ProgressRule = option(
        ProgressRule(), "Print a row every N examples or X.Y-fold.", section="Progress", spelled=("-P", "--progress"),
        metavar="N|X.Y", read_as="progress", shown="2.0",
    )
    by_file: bool = option(
        False, "Measure the model on each file before learning it, which shows drift: a table, also in --json.",
        section="Progress", spelled=("--progressive-by-file",),
    )
    quiet: bool = option(False, "Print nothing but errors.", section="Progress")
    bar: bool | None = option(
        None, "A bar on a terminal.", section="Progress", spelled=("--bar/--no-bar",),
        shown="when the input's size is known",
    )


@config
class CheckpointConfig(Config):
    """How a run goes on where it, or one before it, was stopped. ``every`` and ``lock_wait`` are seconds."""

    every: float | None = option(
        None, "Write MODEL.ckpt at this interval: 90s, 10m, 2h.", section="Stopping and going on",
        spelled=("--checkpoint-every",), key="checkpoint_every", metavar="TIME", read_as="duration", low=0,
        needs=("model",),
    )
    resume: bool = option(
        False, "Continue where this command was stopped, from MODEL.ckpt if there is one.",
        section="Stopping and going on", needs=("model",),
    )
    skip_seen: bool = option(
        False,
        "Skip files that the model of -i has learned, according to MODEL.ledger. With -i M -f M: start a new model if "
        "there is no M.",
        section="Stopping and going on", spelled=("--skip-seen",), needs=("initial",),
    )
    lock_wait: float = option(
        0.0, "Seconds to wait while another process trains the same model.", section="Stopping and going on",
        spelled=("--lock-wait",), low=0, needs=("model",),
    )


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
        None, "Begin with the easiest, the hardest or random examples; each pass or step adds more, until all take "
        "part.",
        section="Curriculum", spelled=("--curriculum",), key="curriculum_order", choices=("easy", "anti", "random"),
    )
    by: str = option(
        "length", "Measure of difficulty: length, rarest, margin:MODEL, loss:MODEL, value:NAMESPACE.",
        spelled=("--curriculum-by",), key="curriculum_by", read_as="difficulty", **OF_CURRICULUM,
    )
    start: float = option(
        0.25, "Share of the examples in the first pass or step; each further step adds as much.",
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
        None, "Width of the fall from weight 1 to 0, as a share of the examples.",
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
        """The share of the examples in pass ``number`` (from 1) of ``passes``."""
        full = self.passes or min(max((passes + 1) // 2, 2), passes)
        return 1.0 if number >= full else self.start + (1 - self.start) * (number - 1) / (full - 1)

    @property
    def last_step(self) -> int:
        """The first, from 1, in which all take part."""
        return math.ceil(1 / self.start - 1e-9)

    def share_of_step(self, number: int) -> float:
        """The share of the examples of step ``number``, from 1."""
        return 1.0 if number >= self.last_step else number * self.start


CENTRES = (  # learners that were tried with --centred
    "gd", "average", "coin", "many", "multiclass", "lrq", "nn", "nn_classes", "outputs",
)  # fmt: skip


@config
class RunConfig(Config):
    """All options of one run."""

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
    loss_chosen: bool = False  # whether --loss_function was given, if only its default

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
            raise UsageError("--raw_predictions: a tree of classes has only its answers (-p)")
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
