"""What a run tells of itself: header, progress table, summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from vwlite.data.batch import Batch
from vwlite.learners.abilities import GroupsOfLines, Querying, Reporting, StructuredLabels
from vwlite.learners.base import Learner, counted_rows, has_simple_labels, label_range, output_names, own_rows
from vwlite.learners.best_constant import best_constant, best_log_odds, loses_to_constant
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results, value_text
from vwlite.training.config import RunConfig
from vwlite.training.counters import NO_HOLDOUT, Counters, History
from vwlite.training.file_batches import FileBatches
from vwlite.training.label_sample import ClassCounts, LabelSample, TwoClasses, advise
from vwlite.training.listener import Display, Listener, Run

Constant = tuple[float | None, float | None]  # the best constant prediction, None of several, and its loss
HEADER = (
    "average  since         example        example        current        current  current\n"
    "loss     last          counter         weight          label        predict features"
)
_LOSS_WIDTH, _COUNTER_WIDTH, _WEIGHT_WIDTH, _VALUE_WIDTH, _FEATURES_WIDTH = 8, 12, 14, 14, 8


def format_row(
    counters: Counters, label: str, prediction: str, features: int, holdout: bool = False, small: bool = False
) -> str:
    """Format one line of the table, without newline, in Vowpal Wabbit's columns.

    Losses and counts are cut to their columns, not rounded; label and prediction (``value_text``,
    or a class name) end in ``...`` when longer than 14 characters. ``holdout`` shows the held-out
    losses (from the second pass on), ``small`` digits of small losses and the size of large ones. Does
    not start the next stretch: see ``Counters.start_interval``.
    """
    average, since = _holdout_losses(counters, small) if holdout else _losses(counters, small)
    columns = (
        average[:_LOSS_WIDTH].ljust(_LOSS_WIDTH),
        since[:_LOSS_WIDTH].ljust(_LOSS_WIDTH),
        str(counters.example_number)[:_COUNTER_WIDTH].rjust(_COUNTER_WIDTH),
        f"{counters.weight:.1f}"[:_WEIGHT_WIDTH].rjust(_WEIGHT_WIDTH),
        _shorten(label).rjust(_VALUE_WIDTH),
        _shorten(prediction).rjust(_VALUE_WIDTH),
        str(features)[:_FEATURES_WIDTH].rjust(_FEATURES_WIDTH),
    )
    return " ".join(columns) + (" h" if holdout else "")


def _shorten(text: str) -> str:
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 3] + "..."


def _ratio(total: float, weight: float) -> float:
    return total / weight if weight else total * math.copysign(math.inf, weight)


def _loss(value: float, small: bool) -> str:
    """A loss with six decimals or, if these would be 0 or the number is too long, in eight characters."""
    return f"{value:.2e}" if small and (0 < abs(value) < SMALL or LARGE <= abs(value) < math.inf) else f"{value:.6f}"


def _losses(counters: Counters, small: bool) -> tuple[str, str]:
    average = since = "n.a."
    weight, old = counters.labeled_weight, counters.old_labeled_weight
    if weight > 0:
        average = _loss(_ratio(counters.sum_loss, weight), small)
    if weight != old:
        since = _loss(_ratio(counters.sum_loss_since_dump, weight - old), small)
    return average, since


def _holdout_losses(counters: Counters, small: bool) -> tuple[str, str]:
    pairs = (
        (counters.holdout_loss, counters.holdout_weight),
        (counters.holdout_loss_since_dump, counters.holdout_weight_since_dump),
    )
    average, since = ("unknown" if pair == (0, 0) else _loss(_ratio(*pair), small) for pair in pairs)
    return average, since


def summary(
    counters: Counters,
    passes: int = 1,
    holdout: bool = False,
    best: Constant | None = None,
    extra: Sequence[tuple[str, float | str]] = (),
    small: bool = False,
) -> str:
    """The text after a run, a blank line first and a newline last, as Vowpal Wabbit prints it.

    ``passes`` is the number of passes made, ``holdout`` whether holding out was active, ``best``
    what ``best_constant`` returned. ``extra`` are lines to add after the average loss, like
    ``("average multiclass log loss", 0.5)``; numbers get six decimals or, if they are ``small``, six digits.
    """
    lines: list[tuple[str, float | str]] = [("number of examples", str(counters.example_number))]
    if passes > 1:
        per_pass = counters.example_number // passes
        lines = [("number of examples per pass", str(per_pass)), ("passes used", str(passes))]
    lines += [
        ("weighted example sum", counters.weight),
        ("weighted label sum", counters.weighted_labels),
        ("average loss", _average_loss(counters, holdout, small)),
        *extra,
    ]
    if best is not None:
        if best[0] is not None:
            lines.append(("best constant", best[0]))
        if best[1] is not None:
            lines.append(("best constant's loss", best[1]))
    lines.append(("total feature number", str(counters.total_features)))
    if counters.queries:
        lines.append(("total queries", str(counters.queries)))
    return "\nfinished run\n" + "".join(f"{name} = {_text(value, small)}\n" for name, value in lines)


def _text(value: float | str, small: bool) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.6g}" if small and 0 < abs(value) < SMALL else f"{value:.6f}"


def _average_loss(counters: Counters, holdout: bool, small: bool) -> str:
    if not holdout:
        weight = counters.labeled_weight
        return _text(_ratio(counters.sum_loss, weight), small) if weight > 0 else "n.a."
    if counters.holdout_best_loss >= NO_HOLDOUT:
        return "undefined (no holdout)"
    return _text(counters.holdout_best_loss, small) + " h"


SMALL = 1e-5  # of which six decimals are one digit
LARGE = 1e8  # whose digits before the point are more than a column of losses has
ENOUGH = 1000  # examples, of which what was best is known beforehand
MOST = 512  # rows of the progress table that wait


class Header(Listener):
    """The lines that Vowpal Wabbit prints before its table."""

    def __init__(self, config: RunConfig, source: FileBatches, display: Display) -> None:
        self.config, self.source, self.display = config, source, display

    def begin(self, run: Run) -> None:
        inputs = self.source.inputs
        self.display.note(inputs.remade)
        self.display.note(inputs.read_as)
        for remark in inputs.remarks:
            self.display.note(remark)
        self.display.note(self.advice(run))
        self.display.start(inputs.size())
        for line in header_lines(self.config, run.learner, self.source.cache_line, run.passes):
            self.display.line(line)

    def advice(self, run: Run) -> str:
        """Advice for a new model of a table that is learned in one pass: options to add."""
        config, (loss, passes) = self.config, self.source.inputs.advised
        plain = config.learning and not config.vw_compat and config.learner.learner == Gd.name and run.passes == 1
        if not plain or config.features.centred or not (passes or "logistic" in loss):
            return ""
        loss = loss if "logistic" in loss and TwoClasses.concerns(config) else ""
        options = " ".join(filter(None, (loss, passes)))
        return advise(options) if options else ""


def header_lines(config: RunConfig, learner: Learner, cache_line: str, passes: int) -> list[str]:
    features = config.features
    crossed = (
        ("creating quadratic features for pairs: ", features.quadratic),
        ("creating cubic features for triples: ", features.cubic),
        ("creating features for following interactions: ", features.interactions),
        ("ignoring namespaces beginning with: ", tuple("".join(features.ignore))),
        ("ignoring linear terms for namespaces beginning with: ", tuple("".join(features.ignore_linear))),
        ("using namespaces beginning with: ", tuple("".join(features.keep))),
    )
    lines = [text + " ".join(values) for text, values in crossed if values]
    if not config.learning:
        lines.append("only testing")
    for name in config.learner.penalties:
        value = getattr(config.learner, name, 0)
        if value:
            lines.append(f"using {name} regularization = {value:g}")
    for name, path in (
        ("final_regressor", config.output.model),
        ("predictions", config.output.predictions),
        ("raw predictions", config.output.raw_predictions),
    ):
        if path:
            lines.append(f"{name} = {path}")
    lines += [*(learner.own_settings if isinstance(learner, Reporting) else ()), *own_rows(learner), cache_line]
    if not cache_line.startswith("using cache_file"):
        names = ["stdin" if path == "-" else path for path in config.input.paths]
        lines += [f"Reading datafile = {name}" for name in names] or ["Reading datafile = none"]
    lines += [
        f"num sources = {len(config.input.paths)}",
        f"Num weight bits = {features.bits}",
        f"learning rate = {learner.config.initial_learning_rate:g}",
        f"initial_t = {learner.get('time'):g}",
        f"power_t = {learner.config.power_t:g}",
    ]
    if passes > 1 and learner.config.decay_learning_rate is None:
        lines.append("learning rate in pass j of P, from 0: sqrt(1 - j / P) of it")
    elif passes > 1:
        lines.append(f"decay_learning_rate = {learner.config.decay_learning_rate:g}")
    stack, labels, predictions = learner.description
    if not config.output.dont_output_best_constant and has_simple_labels(learner):
        stack = (*stack, "count_label")
    lines += [f"Enabled learners: {', '.join(stack)}", f"Input label = {labels}", f"Output pred = {predictions}"]
    return lines if own_rows(learner) else [*lines, HEADER]


def is_gathering_pass(learner: Learner, number: int) -> bool:
    """Whether pass ``number``, from 1, is for the examples, not for its predictions."""
    return learner.learning and number < learner.config.fixed_passes


def shown_row(learner: Learner, batch: Batch, results: Results, row: int) -> tuple[str, str, int]:
    """Label, prediction and number of features of a row just run, as the progress table shows them."""
    counted = learner.shown_features(results, row) if isinstance(learner, GroupsOfLines) else results.features[row]
    if isinstance(learner, StructuredLabels):
        return learner.label_text(batch, row), learner.prediction_text(results, row), int(counted)
    return value_text(float(batch.label[row])), value_text(float(results.prediction[row])), int(counted)


class Counting(Listener):
    """Counts the rows of a run."""

    def __init__(self, learner: Learner, counters: Counters) -> None:
        self.learner, self.counters = learner, counters

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        learner, counters = self.learner, self.counters
        counted, row = counted_rows(learner, batch), begin
        if counted is not batch:
            counters.record_labels(batch, begin, end)
        counters.count_queries(learner.queried if isinstance(learner, Querying) else 0)
        while row < end:
            row = counters.tally(counted, results, results.holdout_mask, row, end)
            if counters.row_due:
                self.row_due(counted, results, row - 1)

    def end_pass(self, number: int) -> None:
        if is_gathering_pass(self.learner, number):
            self.counters.reset()

    def row_due(self, batch: Batch, results: Results, row: int) -> None:
        """The progress table is due a line, of the row counted last."""
        self.counters.start_interval()

    def state(self) -> dict[str, object]:
        return {"counters": self.counters.state()}

    def restore(self, state: dict) -> None:
        self.counters.restore(state["counters"])


class ProgressTable(Counting):
    """Shows Vowpal Wabbit's table of the rows counted."""

    def __init__(
        self, config: RunConfig, learner: Learner, counters: Counters, display: Display, earlier_passes: int = 0
    ) -> None:
        """``earlier_passes`` count as this run's."""
        super().__init__(learner, counters)
        output = config.output
        self.display, self.holdout = display, config.holds_out
        self.shown = not (output.quiet or own_rows(learner) or output.audit_regressor)
        self.earlier_passes = self.pass_number = earlier_passes
        self.history = History(counters)
        self.waiting: list[str] = []  # rows before the first label: data without any end in an error
        self.waits = config.learning and not config.vw_compat
        self.small = not config.vw_compat

    def begin_pass(self, number: int) -> None:
        self.pass_number = self.earlier_passes + number

    def row_due(self, batch: Batch, results: Results, row: int) -> None:
        held = self.holdout and self.pass_number > 1
        if self.shown:
            shown = shown_row(self.learner, batch, results, row)
            self.waiting.append(format_row(self.counters, *shown, held, self.small))
            if self.counters.labeled_weight or not self.waits or len(self.waiting) > MOST:
                self.show()
        if not is_gathering_pass(self.learner, self.pass_number):
            self.history.add(self.pass_number)
        self.counters.start_interval(holdout=held)

    def pass_read(self, number: int) -> None:
        self.history.end_pass(self.pass_number)

    def end(self) -> None:
        self.show()

    def show(self) -> None:
        for line in self.waiting:
            self.display.line(line)
        self.waiting.clear()


class Summary(Listener):
    """The summary that Vowpal Wabbit prints at the end."""

    small = False  # whether small numbers have digits

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        counters: Counters,
        display: Display,
        constant: Callable[[Learner, Counters], Constant | None],
    ) -> None:
        """``constant`` tells the best constant prediction."""
        self.learner, self.counters, self.display = learner, counters, display
        self.holdout = config.holds_out
        self.constant = None if config.output.dont_output_best_constant else constant
        self.passes = 0

    def end_pass(self, number: int) -> None:
        self.passes += not is_gathering_pass(self.learner, number)

    def restore(self, state: dict) -> None:
        self.passes = state["passes_done"]

    def end(self) -> None:
        constant = self.constant(self.learner, self.counters) if self.constant else None
        own = self.learner if isinstance(self.learner, Reporting) else None
        extra = [*(own.summary_lines(self.holdout) if own else ()), *self.baseline()]
        lines = summary(self.counters, self.passes, self.holdout, constant, extra, self.small)
        self.display.line(lines.rstrip("\n"))
        if own and own.closing_line:
            self.display.line(own.closing_line)

    def baseline(self) -> list[tuple[str, float | str]]:
        """Further lines behind the average loss, to compare it with."""
        return []


def vw_constant_of(learner: Learner, counters: Counters) -> Constant | None:
    """The best constant prediction as vw tells it, and its loss, where there is one."""
    if not has_simple_labels(learner):
        return None
    constant, loss = best_constant(learner.config.loss, counters.labels(), label_range(learner))
    return None if constant is None else (constant, loss)


def best_constant_of(learner: Learner, counters: Counters, labels: LabelSample | None) -> Constant | None:
    """The same, but of the logistic loss the log odds of the labels, which is best, not what vw tells; what vw does not
    tell is that of ``labels``.
    """
    config = learner.config.loss
    if has_simple_labels(learner) and config.soft and (best := best_log_odds(config, counters.labels())):
        return best
    constant = vw_constant_of(learner, counters)
    differ = counters.labels().second is not None or bool(output_names(learner))
    if labels and differ and (constant is None or constant[1] is None) and (best := labels.best):
        return (constant or best)[0], best[1]
    return constant


class OwnSummary(Summary):
    """A summary with a note if the model was no better than one number for all examples."""

    small = True

    def __init__(self, *state: Any, labels: LabelSample | None, classes: ClassCounts | None) -> None:
        super().__init__(*state, partial(best_constant_of, labels=labels))
        self.labels, self.classes = labels, classes

    @property
    def remedy(self) -> str:
        """The advice in the note for numbers that are learned as they are."""
        config = self.learner.config
        if config.label_units != "raw" or not config.loss.label_spread:
            return ""
        return "; labels are learned as they are: divide large ones, or raise -l"

    def baseline(self) -> list[tuple[str, float | str]]:
        majority = self.classes and self.classes.majority
        return [("majority class", majority[0]), ("majority class's loss", majority[1])] if majority else []

    def end(self) -> None:
        super().end()
        counters = self.counters
        constant = self.constant(self.learner, counters) if self.constant and not counters.queries else None
        loss = counters.sum_loss / counters.labeled_weight if counters.labeled_weight else 0.0
        all_count = not self.holdout and not counters.queries
        least = constant[1] if constant else None
        if self.holdout:
            loss, least = counters.holdout_best_loss, self.labels.held_loss if constant and self.labels else None
        if least and counters.example_number >= ENOUGH and loses_to_constant(loss, least):
            self.display.note(f"always predicting the best constant has a smaller loss, {least:g}{self.remedy}")
        if self.learner.description[1] == "MULTILABEL" and counters.unlabeled_weight:
            self.display.note("examples without a label were not learned: the empty set is a comma alone")
        majority = self.classes.majority if self.classes and all_count else None
        if majority and counters.example_number >= ENOUGH and loses_to_constant(loss, majority[1]):
            self.display.note(f"always answering {majority[0]} has a smaller loss, {majority[1]:g}")
