"""What a run tells of itself on standard error: header, progress table, summary."""

from vwlite.data.batch import Batch
from vwlite.escapes import laid_out
from vwlite.learners.base import Learner
from vwlite.learners.best_constant import best_constant, best_log_odds
from vwlite.learners.row_results import Results
from vwlite.training import progress
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters


class Report:
    """Counts the rows of a run and prints Vowpal Wabbit's table of them."""

    def __init__(self, config: RunConfig, learner: Learner, counters: Counters) -> None:
        self.config, self.learner, self.counters = config, learner, counters
        self.quiet = config.output.quiet
        self.holdout = config.holdout.active(config.passes)
        self.bar = progress.Bar()
        self.pass_number = 1

    def start(self, size: int | None) -> None:
        """Begin the bar, if there is to be one, of ``size`` bytes (None: nobody knows)."""
        wanted = self.config.output.bar
        self.bar = progress.bar(size, False if self.quiet and not wanted else wanted)

    def say(self, line: str) -> None:
        if self.quiet:
            return
        if self.config.output.to_stdout:
            print(laid_out(line))
        else:
            self.bar.write(line)

    def count(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        """Add rows to the counters; prints a row of the table whenever one is due."""
        counters, row, held = self.counters, begin, self.holdout and self.pass_number > 1
        counters.queries += self.learner.queried
        while row < end:
            row = counters.tally(batch, results, results.held, row, end)
            if not counters.row_due:
                continue
            if self.quiet or self.learner.own_rows or self.config.output.audit_regressor:
                if self.config.strict:  # vw goes on as if no row had been due
                    counters.dumped(holdout=held)
                continue
            last = row - 1
            label = self.learner.label_text(batch, last)
            prediction = self.learner.prediction_text(results, last)
            self.say(progress.row(counters, label, prediction, int(results.features[last]), held))
            counters.dumped(holdout=held)

    def header(self, learner: Learner, cache_line: str, passes: int) -> None:
        """What Vowpal Wabbit prints before its table."""
        for line in self.header_lines(learner, cache_line, passes):
            self.say(line)

    def header_lines(self, learner: Learner, cache_line: str, passes: int) -> list[str]:
        config, features = self.config, self.config.features
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
        for name in ("l1", "l2") if config.learner.learner != "bfgs" else ("l2",):
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
        lines += [*learner.own_rows, cache_line]
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
        if config.output.best_constant and learner.simple_labels:
            stack = (*stack, "count_label")
        lines += [f"Enabled learners: {', '.join(stack)}", f"Input label = {labels}", f"Output pred = {predictions}"]
        return lines if learner.own_rows else [*lines, progress.HEADER]

    def summary(self, learner: Learner, passes: int) -> None:
        counters = self.counters
        constant = self.best_constant(learner) if self.config.output.best_constant else None
        extra = learner.summary_lines(self.holdout)
        self.say(progress.summary(counters, passes, self.holdout, constant, extra).rstrip("\n"))

    def best_constant(self, learner: Learner) -> tuple[float, float | None] | None:
        if not learner.simple_labels:
            return None
        config, labels = learner.config.loss, self.counters.labels()
        if self.config.strict and config.soft and (best := best_log_odds(config, labels)):
            return best
        constant, loss = best_constant(config, labels, learner.label_range)
        return None if constant is None else (constant, loss)

    def note(self, text: str) -> None:
        """Something the user should know, if there is anything."""
        if text:
            self.say(f"note: {text}")
