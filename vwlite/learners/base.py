"""What all learners have in common: named scalars, a label range, a header in the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar

import numpy as np

from vwlite.config_check import built
from vwlite.data.batch import Batch
from vwlite.errors import Diverged, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.label_check import Levels
from vwlite.learners.losses import link_code
from vwlite.learners.row_results import CrossedTerms, Results, WeightedSum, value_text
from vwlite.options import GIB, check_memory
from vwlite.storage.weight_table import PageToucher, Table, values_of

NO_MEMORY, UNSTABLE, TOO_MANY, STOPPED, STOPPED_IN_GROUP = range(101, 106)  # of base/status.pxd


class CommonConfig:
    """The configuration that every kernel reads: loss, link, compatibility."""

    rule: Any = None  # a capsule, see ``cython_ext/learners/update_rule.pxd``; None: gradient descent or FTRL
    target: float | None = None  # see ``vwlite.learners.active.aimed``
    ends: tuple[float, float] | None = None  # labels of rows without one, there; None: those of training

    def __init__(self, config: Any, *, vw_compat: bool, frozen: bool) -> None:
        self.loss_code, self.link_code = config.loss.loss.code, link_code(config.link)
        self.vw_compat = vw_compat
        self.loss_params = self.params_of(config)  # of which the learner's scalars have the label range
        self.frozen = frozen or config.prediction_bounds is not None

    def params_of(self, config: Any) -> np.ndarray:
        return config.loss.params(vw_compat=self.vw_compat)  # type: ignore[no-any-return]


class Learner:
    """State of a learner: ``weights`` float32[2^bits, stride], ``scalars`` float64[len(SCALARS)], perhaps tables.

    ``config`` is the learner's frozen dataclass of options, which has a ``loss``, a ``link``,
    ``initial_learning_rate``, ``power_t`` and ``decay_learning_rate``. A learner that is not ``learning``
    may hold less. With ``vw_compat`` a number that is not finite counts as 0; else the first one raises ``Diverged``.
    """

    name: ClassVar[str]
    config_type: ClassVar[type]  # of its options
    SCALARS: ClassVar[tuple[str, ...]]
    native: ClassVar[Any]  # the kernel module
    bottom: ClassVar[str] = ""  # what vw calls the learner at the bottom of the stack, where that is not ``name``
    weights: np.ndarray
    kernel: Any = None  # the configuration that the kernel reads
    supports_confidence = False  # fills Results.flip_importance
    supports_audit = False  # has ``audited`` and all else that --audit needs
    is_sum = False  # predictions are sums of terms, see ``weighted_sums`` and ``crossed_terms``
    has_latent_vectors = False  # has ``latent``, the vectors of each pair of namespaces
    has_distributions = False  # ``score`` may have a probability for each label; ``label_numbers`` what that stands for
    drops_pairs = False  # namespaces of dot products have no linear terms
    is_plain = False  # one weight a feature, which can be masked
    layout = (0, 1)  # S, C: a feature's slots are (hash << S) + 0 .. C - 1, one for each class
    class_names: Sequence[str] = ()  # whose weights a feature's slots are; none where these are of something else
    latent: Sequence[Sequence[np.ndarray]] = ()  # tables float32[2^bits, stride] of latent vectors, by pair and side
    outputs: Sequence[str] = ()  # names of the numbers that an answer has; none where it is one number, or of classes
    simple_labels = True  # labels are numbers to be summed
    shows_raw = True  # has raw predictions
    custom_output = False  # predictions are more than a number a row: ``lines`` writes them
    places_tags = False  # ``lines`` puts the tags in as well
    queried = 0  # labels that were asked for in the rows run last
    limits_answers = False  # labels say what can be predicted
    logs_decisions = False  # has ``decisions``, what it would do where something else was done
    shows_actions = False  # has ``decision``, an action with how likely all were
    multiline = False  # rows belong to groups of lines (see vwlite/data/multiline.py): ``group_lines`` writes them

    held_out_in_vw = True  # vw holds examples out where there are several passes
    bare_lines = False  # of which some may have no features

    def __init__(self, config: Any, bits: int, *, learning: bool, vw_compat: bool) -> None:
        self.config, self.bits, self.learning, self.vw_compat = config, bits, learning, vw_compat
        self.scalars = np.zeros(len(self.SCALARS))
        self.set_levels()
        self.non_finite: list[str] | None = None  # places of such predictions; None: the first raises

    def set_levels(self) -> None:
        """Answer with the levels of the options, if there are any."""
        values = self.config.levels
        self.levels = Levels(values) if values else None
        if self.levels or "custom_output" in vars(self):
            self.custom_output = self.levels is not None

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """A row's prediction as it is written, without the tag, where there is ``custom_output``."""
        return f"{float(results.prediction[row]):g}"

    def show_top(self, top: int, raw: bool) -> None:
        """Show scores or probabilities of so many classes, the best first; ``raw``: these are raw predictions.

        Raises UsageError for a learner without such.
        """
        raise UsageError("--top is for the scores and probabilities of models of classes")

    @classmethod
    def slot_bytes(cls, config: Any, learning: bool) -> float:
        """Bytes of the tables for each of the 2^bits slots."""
        raise NotImplementedError

    @classmethod
    def check_memory(cls, config: Any, bits: int, learning: bool, limit: float | None) -> None:
        """Raises UsageError when such a learner's tables are of more than ``limit`` GiB; None: of any size."""
        if limit is not None:
            need = cls.slot_bytes(config, learning) * 2**bits
            check_memory(need, limit * GIB, f"weights of {2**bits:,} slots", "a smaller -b needs less")

    def collect_non_finite(self) -> None:
        """Have ``run`` record the places of predictions that are not finite in ``non_finite`` instead of raising."""
        self.non_finite = []

    def withdraw(self, results: Results, row: int) -> None:
        """Replace the prediction of a row by NaN."""
        if self.simple_labels:
            results.prediction[row] = results.raw[row] = math.nan

    def get(self, name: str) -> float:
        return float(self.scalars[self.SCALARS.index(name)])

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.scalars[self.SCALARS.index(name)] = value

    @property
    def label_range(self) -> tuple[float, float]:
        return self.get("min_label"), self.get("max_label")

    def use_threads(self, count: int) -> None:
        """Learn with this number of threads, where that is worth while and gives the same bytes."""

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        """Predict the rows ``begin`` to ``end`` in order and, if ``learning``, learn from them.

        Returns the row after the last one processed, which is ``end`` unless a signal asked to stop. Raises Diverged
        (not with ``vw_compat``, nor after ``collect_non_finite``) when a prediction or an update is not finite,
        DataError for a row with too many features, MemoryError.
        """
        mode = (end, self.learning)
        if centring := plan.centring:
            batch = centring.apply(batch, begin, end, results.holdout_mask, self.learning)
        if plan.weights:
            batch, plan = plan.weights.apply(batch)
        status, row = self.native.run_rows(self, self.kernel, plan, batch, results, begin, mode)
        while status == UNSTABLE and self.non_finite is not None:
            self.non_finite.append(batch.location(row - 1))
            self.withdraw(results, row - 1)
            status, row = self.native.run_rows(self, self.kernel, plan, batch, results, row, mode)
        if status == UNSTABLE:
            raise Diverged(
                f"{batch.location(row - 1)}: the prediction or the update is not a finite number; "
                "try a smaller learning rate (-l) or scale the features"
            )
        if status == TOO_MANY:
            from vwlite.features.term_weights import too_many

            raise too_many(batch, row - 1)
        if status == NO_MEMORY:
            raise MemoryError("an example's interactions need more memory than there is")
        if status == STOPPED_IN_GROUP:
            self.resumable = False
        if centring and self.learning:
            centring.commit(row)
        if self.levels:
            self.levels.answer(results.prediction, begin, row)
        return row

    def pages(self) -> PageToucher | None:
        """What looks after the table's memory ahead of the learner, where that is worth while."""
        return None

    def counted(self, batch: Batch) -> Batch:
        """The rows run last, with labels and importance as they count."""
        return batch

    def tester(self, **changes: Any) -> Learner:
        """A learner on the same tables that only tests, its options changed; what it does leaves this one as it is.

        Raises UsageError for options that the learner does not have.
        """
        other = copy(self)
        other.learning, other.non_finite = False, None
        other.scalars, other.kernel = self.scalars.copy(), copy(self.kernel)
        if self.kernel is not None:
            other.kernel.frozen = True
        if changes:
            other.config = changed_config(self.config, changes)
        if "levels" in changes:
            other.set_levels()
        if "link" in changes:
            other.kernel.link_code = link_code(other.config.link)
        return other

    def predicting(self) -> Learner:
        """A learner whose ``weights`` are those of a model that only predicts; mostly this learner itself."""
        return self

    def own_norms(self) -> dict[str, Any]:
        """``norms`` and ``singular_values`` of weights that are a product of matrices; empty for other weights."""
        return {}

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        """What the learner has predicted for ``rows``, int64[n], of the batch run last: float32[n].

        Learners of classes answer with class numbers or names, or float32[n, classes] where all classes' scores are
        asked for; those of sets with lists. ``raw``: predictions before clip and link.
        """
        return (results.raw if raw else results.prediction)[rows]

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        """The prediction for a malformed row, in the form of ``answers`` for one row."""
        return np.full(1, np.nan, np.float32)

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        """The stack of learners from the bottom, the type of labels and that of predictions, by vw's names."""
        return (self.bottom or self.name, f"scorer-{self.config.link}"), "SIMPLE", "SCALAR"

    def want_scores(self) -> None:
        """Have the kernel keep the scores of every class, if there are classes and it does not keep them anyway."""

    def want_sums(self) -> None:
        """Have the kernel keep what ``weighted_sums`` tells, of rows, or groups of lines, that are run one by one."""

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """What the answer to a row of those just run was made from, the answer's own sum first; of so many classes."""
        return [WeightedSum(0, "", float(results.raw[row]))]

    def crossed_terms(self, batch: Batch, plan: Plan, row: int) -> list[CrossedTerms] | None:
        """Terms of a row's sum beside those of its features; None where the row cannot be used, not even its features.

        Raises MemoryError.
        """
        return []

    def answer_of(self, results: Results, row: int) -> float | str:
        """The prediction for a row just run; of classes with a name, and of sets, that."""
        return float(results.prediction[row])

    def in_label_units(self, weights: np.ndarray, names: Sequence[str], slots: np.ndarray) -> np.ndarray:
        """Weights, float32[n], of features of these names and slots, as they add up to predictions of labels."""
        return weights

    def label_text(self, batch: Batch, row: int) -> str:
        """A row's label as the progress table shows it."""
        return value_text(float(batch.label[row]))

    def prediction_text(self, results: Results, row: int) -> str:
        return value_text(float(results.prediction[row]))

    def shown_features(self, results: Results, row: int) -> int:
        """How many features a row just run has, as the progress table shows it."""
        return int(results.features[row])

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        """Name and value of each line of the summary besides the average loss."""
        return []

    @property
    def closing_line(self) -> str:
        """The last line of the summary, "" for none."""
        return ""

    resumable = True  # a run of it can go on from a model at any example
    finished = False  # nothing is left to be done, whatever the number of passes
    measured = True  # the last pass was one with the weights of now, or on the way to them

    has_no_model = False  # there is none of these examples

    def gathers(self, number: int) -> bool:
        """Whether pass ``number``, from 1, is for the examples, not for its predictions."""
        return self.learning and number < self.config.fixed_passes

    @property
    def own_rows(self) -> list[str]:
        """What heads a table of the learner's own rows, one a pass; empty: it is vw's, of examples."""
        return []

    @property
    def own_settings(self) -> list[str]:
        """Lines of the header that tell of the learner's own options."""
        return []

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        """How many passes there will be, where to tell of them, and the loss held out since the last one, if any.

        Raises UsageError where the passes are too few.
        """

    def join(self, first: Any) -> None:
        """It predicts whether examples are of its class; ``first`` is the learner of the first class, maybe itself."""

    def end_pass(self) -> None:
        if self.config.decay_learning_rate != 1:  # otherwise not even rounded: a run goes on as if it had not ended
            with np.errstate(over="ignore"):
                self.set(rate=np.float32(self.get("rate")) * np.float32(self.config.decay_learning_rate))

    def has_learned_pair(self, number: int) -> bool:
        """Whether any row taught the latent vectors of pair ``number`` something."""
        return True

    def warnings(self) -> list[str]:
        """Problems with some examples, a sentence each."""
        return []

    def failures(self) -> list[str]:
        """Goals that the run failed to reach, a sentence each; reported with --quiet, too."""
        return []

    def report(self) -> dict[str, Any]:
        """Entries of the JSON report of training besides counts and losses."""
        return {}

    def apply_shrinkage(self) -> None:
        """Apply outstanding regularisation, if any, to the weights."""

    def header(self) -> dict[str, Any]:
        """The learner's entries in the header of the model file, as JSON data."""
        config = asdict(self.config)
        if not config.get("levels"):  # a model of before this option
            config.pop("levels", None)
        for one in (config, config.get("base") or {}):
            if one.get("label_units") == "raw":  # likewise
                del one["label_units"]
        return {
            "learner": self.name,
            "config": config,
            "scalars": {name: plain(float(value)) for name, value in zip(self.SCALARS, self.scalars, strict=True)},
        }

    def tables(self, predict_only: bool) -> dict[str, Table]:
        """The tables a model keeps."""
        raise NotImplementedError

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        """Names of the arrays to load from a model with this header; None for all."""
        return None

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: Any) -> None:
        """Raises ValueError where the header has less than ``config`` asks memory for, before that is taken."""

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
        """The configuration a model was trained with, but for ``changes``; ``stored`` is the header's."""
        return restored_config(cls.config_type, stored, changes)

    def checked(self, arrays: Mapping[str, Any], name: str, stride: int) -> np.ndarray:
        """The numbers of a table from a file, float32[2^bits, stride]. Raises ValueError when its shape is another."""
        values = values_of(arrays, name)
        if values.shape != (1 << self.bits, stride):
            raise ValueError(f"a table of shape {values.shape}, not {(1 << self.bits, stride)}")
        return values

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        """Take over what else the header has; ``whole`` as with ``load``. Raises ValueError, KeyError."""
        if whole and "start_time" in header:
            self.start_time = header["start_time"]

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        """Take over a model's numbers; unless ``whole``, only what prediction needs."""
        raise NotImplementedError


def plain(value: float) -> float | str:
    """For JSON, which has no infinity and no NaN; ``float`` reads it."""
    return value if math.isfinite(value) else str(value)


def restored_config(kind: type, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
    """A configuration from a model's header, but for ``changes``. Raises UsageError for one it does not have.

    And ValueError where the header has other fields than the configuration.
    """
    check_options(kind, changes)
    return changed_config(built(kind, stored), changes)


def changed_config(config: Any, changes: Mapping[str, Any]) -> Any:
    """The configuration but for ``changes``. Raises UsageError for one it does not have."""
    check_options(type(config), changes)
    return replace(config, **changes) if changes else config


def check_options(kind: type, names: Iterable[str]) -> None:
    """Raises UsageError for a name that is no field of a configuration of this kind."""
    known = {field.name for field in fields(kind)}
    for name in names:
        if name not in known:
            raise UsageError(f"--{name} is no option of the model's learner, {kind.learner}")
