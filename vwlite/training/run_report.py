"""What a run tells of itself: header, progress table, summary."""

from collections.abc import Callable

from vwlite.data.batch import Batch
from vwlite.learners.base import Learner
from vwlite.learners.best_constant import best_constant, best_log_odds
from vwlite.learners.row_results import Results
from vwlite.training import progress
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.file_batches import FileBatches
from vwlite.training.history import History
from vwlite.training.listener import Listener, Run

Constant = tuple[float, float | None]  # the best constant prediction and its loss


class Header(Listener):
    """What Vowpal Wabbit prints before its table."""

    def __init__(self, config: RunConfig, source: FileBatches, display: Display) -> None:
        self.config, self.source, self.display = config, source, display

    def begin(self, run: Run) -> None:
        inputs = self.source.inputs
        self.display.note(inputs.remade)
        self.display.note(inputs.read_as)
        self.display.note(inputs.remark)
        self.display.start(inputs.size())
        for line in header_lines(self.config, run.learner, self.source.cache_line, run.passes):
            self.display.line(line)


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
    for name in config.learner.shrinks:
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
    lines += [*learner.own_settings, *learner.own_rows, cache_line]
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
    if passes > 1:
        lines.append(f"decay_learning_rate = {learner.config.decay_learning_rate:g}")
    stack, labels, predictions = learner.described
    if not config.output.dont_output_best_constant and learner.simple_labels:
        stack = (*stack, "count_label")
    lines += [f"Enabled learners: {', '.join(stack)}", f"Input label = {labels}", f"Output pred = {predictions}"]
    return lines if learner.own_rows else [*lines, progress.HEADER]


class Counting(Listener):
    """Counts the rows of a run."""

    def __init__(self, learner: Learner, counters: Counters) -> None:
        self.learner, self.counters = learner, counters

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        learner, counters = self.learner, self.counters
        counted, row = learner.counted(batch), begin
        if counted is not batch:
            counters.record_labels(batch, begin, end)
        counters.count_queries(learner.queried)
        while row < end:
            row = counters.tally(counted, results, results.holdout_mask, row, end)
            if counters.row_due:
                self.row_due(counted, results, row - 1)

    def end_pass(self, number: int) -> None:
        if self.learner.gathers(number):
            self.counters.reset()

    def row_due(self, batch: Batch, results: Results, row: int) -> None:
        """The progress table is due a line, of the row counted last."""
        self.counters.dumped()

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
        self.shown = not (output.quiet or learner.own_rows or output.audit_regressor)
        self.earlier_passes = self.pass_number = earlier_passes
        self.history = History(counters)

    def begin_pass(self, number: int) -> None:
        self.pass_number = self.earlier_passes + number

    def row_due(self, batch: Batch, results: Results, row: int) -> None:
        held = self.holdout and self.pass_number > 1
        if self.shown:
            label, prediction = self.learner.label_text(batch, row), self.learner.prediction_text(results, row)
            self.display.line(progress.row(self.counters, label, prediction, int(results.features[row]), held))
        if not self.learner.gathers(self.pass_number):
            self.history.add(self.pass_number)
        self.counters.dumped(holdout=held)

    def pass_read(self, number: int) -> None:
        self.history.end_pass(self.pass_number)


class Summary(Listener):
    """What Vowpal Wabbit prints at the end."""

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
        self.passes += not self.learner.gathers(number)

    def restore(self, state: dict) -> None:
        self.passes = state["passes_done"]

    def end(self) -> None:
        constant = self.constant(self.learner, self.counters) if self.constant else None
        extra = self.learner.summary_lines(self.holdout)
        self.display.line(progress.summary(self.counters, self.passes, self.holdout, constant, extra).rstrip("\n"))


def vw_constant_of(learner: Learner, counters: Counters) -> Constant | None:
    """The best constant prediction as vw tells it, and its loss, where there is one."""
    if not learner.simple_labels:
        return None
    constant, loss = best_constant(learner.config.loss, counters.labels(), learner.label_range)
    return None if constant is None else (constant, loss)


def best_constant_of(learner: Learner, counters: Counters) -> Constant | None:
    """The same, but of the logistic loss the log odds of the labels, which is best, not what vw tells."""
    config = learner.config.loss
    if learner.simple_labels and config.soft and (best := best_log_odds(config, counters.labels())):
        return best
    return vw_constant_of(learner, counters)
