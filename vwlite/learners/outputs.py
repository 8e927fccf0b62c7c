"""Several numbers from the same features: state arrays, calls into the kernel ``cython_ext/learners/outputs.pyx``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from vwlite._native import outputs as kernel
from vwlite._native.format_predictions import format_predictions
from vwlite._native.label_lists import read_number_lists
from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, Batch, Csr, offsets
from vwlite.data.class_labels import LogFunction, read_cost, text_of
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_HASH, CONSTANT_NAME
from vwlite.learners.abilities import OwnLines, SeveralOutputs, SizedByHeader, StructuredLabels, WeightsByClass
from vwlite.learners.base import Learner
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.gd import LABEL_SUMS, NORMAL_RATIO, SCALARS, Gd, KernelConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results, WeightedSum
from vwlite.storage.model_file import matrix
from vwlite.storage.weight_table import Table, values_of, with_stride, written_chunks, zeros


class OutputLabels:
    """Checks and reads the labels of batches. A line is malformed whose list has another length than ``outputs``, an
    element that is not a number, or one that the loss is not made for.

    ``malformed`` has, by row of the batch checked last, what is wrong, which is also logged, if there is a ``log``.
    """

    negative = None
    hints: ClassVar[dict[int, str]] = {}

    def __init__(self, loss: LossConfig, outputs: int, log: LogFunction | None = None) -> None:
        self.loss, self.outputs, self.log = loss, outputs, log
        self.malformed: dict[int, str] = {}

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists`` with the numbers by output.

        The labels, float32[n], are 1, NaN where all elements are missing or the line is malformed.
        """
        labelled = ~np.isnan(batch.label) & (batch.flags & BLANK == 0)
        room = int((batch.tag_end - batch.tag_start)[labelled].sum(dtype=np.int64)) // 2 + len(batch)
        number, value = np.empty(room, np.uint32), np.empty(room, np.float32)
        sizes = np.empty(len(batch), np.int64)
        read_number_lists(batch, labelled.view(np.uint8), self.outputs, sizes, number, value)
        self.malformed = {row: self.fault(text_of(batch, row)) for row in np.flatnonzero(sizes < 0).tolist()}
        start = offsets(np.maximum(sizes, 0))
        lists = Csr(start, number[: start[-1]].copy(), value[: start[-1]].copy())
        fits = self.loss.accepts(lists.values)
        if not fits.all():
            owner = lists.owner
            for at in np.flatnonzero(~fits)[::-1].tolist():  # of several in a row the first is reported
                self.malformed[int(owner[at])] = self.refusal(float(lists.values[at]))
        batch.lists = lists
        known = labelled & (sizes > 0)
        known[list(self.malformed)] = False
        for row, sentence in sorted(self.malformed.items()) if self.log else ():
            self.log(f"[warning] {batch.location(row)}: {sentence}")
        return np.where(known, np.float32(1), np.float32(np.nan))

    def fault(self, text: str) -> str:
        """The fault of a label that is not a list of as many numbers as outputs."""
        elements = text.partition(" ")[0].split(",")
        if len(elements) != self.outputs:
            return f"{self.outputs} outputs expected, {len(elements)} found"
        bad = next((one for one in elements if one and not is_number(one)), "")
        return f"element {bad!r} of the label is not a number"

    def refusal(self, value: float) -> str:
        return f"label {value:g} does not fit --loss_function {self.loss.name}: labels must be {self.loss.label_rule}"


def is_number(text: str) -> bool:
    try:
        return math.isfinite(read_cost(text))
    except ValueError:
        return False


SHOWN = 5  # outputs of which the summary tells mean and spread of the labels
RATES = ("adaptive", "normalized")  # columns of the rates that a model keeps, from the second on
OF_PREDICTIONS = ("gravity", "contraction", "min_label", "max_label")  # scalars that predictions depend on


class OutputsKernelConfig(KernelConfig):
    def __init__(self, config: OutputsConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.outputs, self.shift, self.shares = config.outputs, shift_of(config), config.shared_rates
        self.output_params = [config.loss.of_output(number).params() for number in range(config.outputs)]
        self.monotone = config.monotone

    def params_of(self, config: OutputsConfig) -> np.ndarray:
        return config.loss.of_output(0).params()


def shift_of(config: OutputsConfig) -> int:
    """The binary logarithm of the number of slots that the weights of a feature take."""
    return (config.outputs - 1).bit_length()


class Outputs(Gd, StructuredLabels, OwnLines, SeveralOutputs, WeightsByClass, SizedByHeader):
    """``weights`` as in ``Gd``, where a feature has the slots ``(hash * W + output) mod 2^bits``.

    W is the number of outputs or the next power of two. Outputs that share their rates have a table of weights alone,
    and ``rates`` float32[2^bits / W, 4]: of every feature scratch, the adaptive sum, the largest input, scratch.

    ``output_scalars`` float64[outputs, len(SCALARS)] are those of each output, ``scalars`` their first row. So are
    ``output_label_sums`` float64[outputs, len(LABEL_SUMS)], None where labels are learned as they are.
    """

    output_label_sums: np.ndarray | None = None

    name = "outputs"
    config_type = OutputsConfig
    native = kernel
    kernel_config = OutputsKernelConfig
    learns_numbers = True

    def __init__(
        self, config: OutputsConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        shift, outputs = shift_of(config), config.outputs
        if shift > bits:
            raise UsageError(f"{outputs} outputs need more than the {1 << bits} slots of -b {bits}")
        self.rates = zeros(1 << (bits - shift), 4) if self.shares_sums(config, learning) else None
        self.layout = shift, outputs
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.raw, self.score = np.zeros((2, 1, outputs), np.float32)
        self.scratch = np.zeros((5, 1 << shift), np.float32)
        self.losses = np.zeros((2, outputs, 2))  # of rows not held out, and held out: sums of losses, of importance

    @staticmethod
    def shares_sums(config: OutputsConfig, learning: bool) -> bool:
        """Whether there is a table ``rates``."""
        return bool(config.shared_rates) and Gd.column_count(config, learning) > 1

    @staticmethod
    def column_count(config: OutputsConfig, learning: bool) -> int:
        return 1 if config.shared_rates else Gd.column_count(config, learning)

    @classmethod
    def slot_bytes(cls, config: OutputsConfig, learning: bool) -> float:
        sums = cls.shares_sums(config, learning)
        return 4.0 * cls.column_count(config, learning) + sums * 16.0 / (1 << shift_of(config))

    def set_scalars(self) -> None:
        self.take_scalars(np.zeros((self.config.outputs, len(SCALARS))))
        super().set_scalars()

    def take_scalars(self, rows: np.ndarray) -> None:
        self.output_scalars, self.scalars = rows, rows[0]

    def start_labels(self) -> None:
        if self.config.label_units == "spread":
            self.take_label_sums(np.zeros((self.config.outputs, len(LABEL_SUMS))))

    def take_label_sums(self, rows: np.ndarray) -> None:
        self.output_label_sums, self.label_sums = rows, rows[0]

    @property
    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """float64[outputs] each, the mean of the labels and the unit that they are learned in."""
        sums = self.output_label_sums
        if sums is None:
            return np.zeros(self.config.outputs), np.ones(self.config.outputs)
        _, _, mean, variance, _, deviation = sums.T
        return mean, NORMAL_RATIO * deviation if self.kernel.by_deviation else np.sqrt(variance)

    def in_label_units(self, weights: np.ndarray, names: Sequence[str], slots: np.ndarray) -> np.ndarray:
        if self.output_label_sums is None:
            return weights
        mean, spread = self.units
        output = np.minimum(slots & (1 << self.layout[0]) - 1, self.config.outputs - 1)
        unnamed = np.array([name in ("", CONSTANT_NAME) for name in names], bool)
        with np.errstate(over="ignore"):
            of_constant = unnamed & (slots >> self.layout[0] == self.first_constant >> self.layout[0])
            return (weights.astype(float) * spread[output] + mean[output] * of_constant).astype(np.float32)

    def predicting(self) -> Learner:
        if self.output_label_sums is None:
            return self
        other = Learner.tester(self)
        other.take_scalars(self.output_scalars.copy())
        other.weights, other.label_sums, other.output_label_sums = zeros(*self.weights.shape), None, None
        first, outputs = self.first_constant, self.config.outputs
        mean, spread = self.units
        of_slots = np.pad(spread, (0, (1 << self.layout[0]) - outputs))
        with np.errstate(over="ignore"):
            for begin, end, _ in written_chunks(self.weights):
                other.weights[begin:end] = self.weights[begin:end]
                factor = of_slots[np.arange(begin, end) & len(of_slots) - 1]
                other.weights[begin:end, 0] = self.weights[begin:end, 0].astype(float) * factor
            constants = self.weights[first : first + outputs, 0].astype(float) * spread + mean
            other.weights[first : first + outputs, 0] = constants
        return other

    @property
    def closing_line(self) -> str:
        if self.output_label_sums is None or not self.output_label_sums.any():
            return ""
        rows = zip(self.config.names, *(numbers.tolist() for numbers in self.units), strict=True)
        lines = [f"{name} mean {mean:.6g}, spread {spread:.6g}" for name, mean, spread in list(rows)[:SHOWN]]
        return f"labels: {'; '.join(lines)}{'; ...' * (self.config.outputs > SHOWN)}"

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.output_scalars[:, SCALARS.index(name)] = value

    def set_weights(self) -> None:
        config = self.config
        if config.initial_t and not config.ftrl and config.modes[0]:
            sums = self.weights if self.rates is None else self.rates
            if sums.shape[1] == 4:
                sums[sums[:, 1] == 0, 1] = config.initial_t
        if not (config.initial_weight or config.constant):
            return  # so that pages that nothing writes to take no memory
        if config.constant:
            self.start_constant(config.constant)
        if config.initial_weight:
            self.weights[self.weights[:, 0] == 0, 0] = config.initial_weight

    @property
    def first_constant(self) -> int:
        """The slot of the constant of the first output."""
        return CONSTANT_HASH << self.layout[0] & (1 << self.bits) - 1

    def start_constant(self, values: Any) -> None:
        """Let those weights of the constant that are 0 begin at ``values``, a number or float[outputs]."""
        first = self.first_constant
        of_outputs = self.weights[first : first + self.config.outputs, 0]
        of_outputs[:] = np.where(of_outputs == 0, values, of_outputs)

    def labels(self, log: LogFunction | None = None) -> OutputLabels:
        """The reader of the labels of batches."""
        return OutputLabels(self.config.loss, self.config.outputs, log)

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        return (*super().description[0], "outputs"), "NUMBERS", "SCALARS"

    @property
    def outputs(self) -> Sequence[str]:  # type: ignore[override]
        return self.config.names

    class_names = outputs  # type: ignore[assignment]

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if len(self.raw) < len(results):
            self.raw, self.score = np.zeros((2, len(results), self.config.outputs), np.float32)
        return super().run(batch, plan, results, begin, end)

    def withdraw(self, row: int) -> None:
        self.raw[row] = self.score[row] = np.nan

    def tester(self, **changes: Any) -> Outputs:
        other = Learner.tester(self, **changes)
        other.take_scalars(self.output_scalars.copy())
        if self.output_label_sums is not None:
            other.take_label_sums(self.output_label_sums.copy())
        other.losses = np.zeros_like(self.losses)
        if other.owes_shrinkage:
            other.stride, other.weights, other.rates = 1, self.prediction_weights(), None
            other.apply_shrinkage()
        return other

    @property
    def owes_shrinkage(self) -> bool:
        gravity, contraction = (self.output_scalars[:, SCALARS.index(name)] for name in ("gravity", "contraction"))
        return bool(gravity.any() or (contraction != 1).any())

    def apply_shrinkage(self) -> None:
        if self.owes_shrinkage:
            kernel.apply_shrinkage(self, self.kernel)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray:
        return (self.raw if raw else self.score)[rows]

    def no_answer(self, raw: bool) -> np.ndarray:
        return np.full((1, self.config.outputs), np.nan, np.float32)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """As ``train`` writes predictions of one number, and raw ones."""
        values, zeros = (self.raw if raw else self.score)[row], np.zeros(self.config.outputs, np.uint32)
        untagged = zeros.view(np.uint8)[: len(zeros)]
        small = self.label_sums is not None
        text = format_predictions(values, untagged, zeros, zeros, None, 0, len(values), shortest=raw, small=small)
        return text.decode().rstrip("\n").replace("\n", " ")

    def label_of(self, batch: Batch, row: int) -> np.ndarray:
        """float32[outputs], NaN where there is no label."""
        label = np.full(self.config.outputs, np.nan, np.float32)
        if batch.lists is not None and batch.label[row] == batch.label[row]:
            entries = batch.lists.row(row)
            label[batch.lists.indices[entries]] = batch.lists.values[entries]
        return label

    def label_text(self, batch: Batch, row: int) -> str:
        return first_text(self.label_of(batch, row))

    def prediction_text(self, results: Results, row: int) -> str:
        return first_text(self.score[row])

    def answer_of(self, results: Results, row: int) -> str:
        return ",".join(f"{value:g}" for value in self.score[row].tolist())

    def audited_classes(self, batch: Batch, row: int) -> Iterable[int]:
        return range(self.config.outputs)

    def clipped_prediction(self, results: Results, row: int, number: int) -> float:
        low, high = (self.output_scalars[number, SCALARS.index(name)] for name in ("min_label", "max_label"))
        return float(min(max(self.raw[row, number], low), high))

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        sums = zip(range(self.config.outputs), self.config.names, self.raw[row].tolist(), strict=True)
        return [WeightedSum(number, name, value) for number, name, value in sums][:classes]

    def average_losses(self, held: bool) -> np.ndarray:
        """float64[outputs], NaN of an output without labels."""
        loss, weight = self.losses[int(held)].T
        return np.divide(loss, weight, out=np.full(len(loss), np.nan), where=weight > 0)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        tables = super().tables(predict_only)
        if self.rates is not None and not predict_only:
            tables["rates"] = Table(np.ascontiguousarray(self.rates[:, 1:3]), RATES)
        return tables

    def header(self) -> JsonObject:
        rows = self.output_scalars
        if self.output_label_sums is not None:
            rows = np.column_stack([rows, self.output_label_sums])
        header = {**super().header(), "outputs": rows.tolist()}
        if not self.config.monotone:  # as a model of before this option
            del header["config"]["monotone"]
        return header

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        scalars, sums = len(SCALARS), self.output_label_sums
        width = scalars if sums is None else scalars + len(LABEL_SUMS)
        rows = matrix(header["outputs"], "outputs", (self.config.outputs, width))
        if sums is not None:
            sums[:] = rows[:, scalars:]
            if not (np.isfinite(sums).all() and np.delete(sums, 2, axis=1).min() >= 0):
                raise ValueError("sums of labels that cannot be")
        for column, name in enumerate(SCALARS):
            if (whole and name != "rate") or name in OF_PREDICTIONS:
                self.output_scalars[:, column] = rows[:, column]
        if not self.learning and self.owes_shrinkage:
            self.weights = np.array(self.weights)
            self.apply_shrinkage()

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: OutputsConfig) -> None:
        if len(header["outputs"]) != config.outputs:
            raise ValueError(f"scalars are of {len(header['outputs'])} outputs, not {config.outputs}")

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        if whole:
            self.set(rate=float(scalars["rate"]))
        values = values_of(arrays, "weights") if "weights" in arrays else arrays["weights.w"].reshape(-1, 1)
        if len(values) != 1 << self.bits:
            raise ValueError(f"a table of {len(values)} slots, not {1 << self.bits}")
        self.weights = with_stride(values, self.stride)
        if whole and self.rates is not None:
            rates = values_of(arrays, "rates")
            if rates.shape != (len(self.rates), 2):
                raise ValueError(f"a table of shape {rates.shape} for {len(self.rates)} features")
            self.rates[:, 1:3] = rates


def first_text(values: np.ndarray) -> str:
    """The first of several numbers, as the progress table shows it."""
    first = float(values[0])
    text = "unknown" if first != first else f"{first:.4g}"
    return text if len(values) == 1 else f"{text},.."
