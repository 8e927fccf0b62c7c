"""What a model is worth on each file before it learns it: drift from one night to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.config import BadLinesConfig, HoldoutConfig
from vwlite.errors import DataError
from vwlite.evaluation.measure import measure
from vwlite.evaluation.metric_table import as_table
from vwlite.training.assembly import LearningParts
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig
from vwlite.training.listener import Display
from vwlite.training.model_loader import Restored
from vwlite.training.train import Figures, FileFigures

COLUMNS = ("examples", "loss", "progressive", "best_constant_loss", "majority_accuracy", "accuracy", "auc", "rmse")


class FileScores(FileFigures):
    """Measures the model on every file of the first pass before that is learned.

    ``entries``: ``file``, the figures of ``vwlite.evaluation.measure.measure`` that are single numbers, and
    ``progressive``, the average loss of the file's examples each of which was predicted after those before it had been
    learned. Figures are null of a file without labelled examples.
    """

    def __init__(self, bad_lines: BadLinesConfig, config: RunConfig, parts: LearningParts, display: Display) -> None:
        self.bad_lines, self.config = replace(bad_lines, keep=None), config
        self.parts, self.display = parts, display
        self.entries = []
        self.loss = self.weight = 0.0  # when the file at work began
        self.is_first = True

    def begin_pass(self, number: int) -> None:
        self.is_first = number == 1

    def before(self, batch: Batch, begin: int, end: int) -> None:
        known = any(entry["file"] == batch.path for entry in self.entries)
        if self.is_first and not known and batch.path in self.config.input.paths:
            self.close()
            self.entries.append({"file": batch.path, "progressive": None, **self.figures(batch.path)})

    def close(self) -> None:
        """The file at work has been learned."""
        counters = self.parts.counters
        weight, loss = counters.labeled_weight - self.weight, counters.sum_loss - self.loss
        if self.entries and weight > 0:
            self.entries[-1]["progressive"] = loss / weight
        self.weight, self.loss = counters.labeled_weight, counters.sum_loss

    def pass_read(self, number: int) -> None:
        if number == 1:
            self.close()

    def figures(self, path: str) -> Figures:
        parts, learner = self.parts, self.parts.learner
        tester = learner.tester(**learner.config.shows_probabilities_of_classes)
        read_as = parts.writer.input
        input = replace(read_as, types=read_as.columns, paths=(path,), cache=None, shuffle=False)
        config = replace(
            self.config, learning=False, passes=1, holdout=HoldoutConfig(), curriculum=CurriculumConfig(),
            input=input, learner=tester.config, output=OutputConfig(quiet=True),
        )
        negative = getattr(parts.policy.labels, "negative", None)
        model = Restored(tester, config.features, parts.plan.apart(), {}, negative, 0, read_as.kept)
        try:
            report = measure(config, model, self.bad_lines, quiet=True)
        except DataError:
            return {"examples": 0, "loss": None}
        return {name: value for name, value in report.items() if not isinstance(value, list | dict)}

    def end(self) -> None:
        shown = [name for name in COLUMNS if any(entry.get(name) is not None for entry in self.entries)]
        rows = [{"file": entry["file"], **{name: cell(entry.get(name)) for name in shown}} for entry in self.entries]
        if rows:
            self.display.line(as_table({"each file before it was learned": rows}))

    def state(self) -> Figures:
        return {"by_file": {"entries": self.entries, "weight": self.weight, "loss": self.loss}}

    def restore(self, state: Figures) -> None:
        kept = state.get("by_file", {"entries": [], "weight": 0.0, "loss": 0.0})
        self.entries, self.weight, self.loss = kept["entries"], kept["weight"], kept["loss"]


def cell(value: Any) -> Any:
    return "n.a." if value is None else value
