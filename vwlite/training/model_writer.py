"""What a run leaves behind: the model and its readable forms."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from vwlite.data.batch import Batch
from vwlite.errors import Diverged
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.numerals import FLOAT32_MAX
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output, beside_output
from vwlite.storage.model_file import NotFinite
from vwlite.training.best_pass import BestPass
from vwlite.training.config import ProgressRule, RunConfig
from vwlite.training.counters import Counters
from vwlite.training.ledger import model_digest
from vwlite.training.listener import Listener

if TYPE_CHECKING:
    from vwlite.features.name_index import NameIndex
    from vwlite.training.ledger import Ledger
    from vwlite.training.model_loader import Restored


class Labels(Protocol):
    """``vwlite.learners.label_check.LabelCheck``, which finds out whether -1 or 0 stands for the negative class."""

    negative: float | None


def _is_finite(data: dict[str, Any]) -> bool:
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return False
    return True


class ModelWriter(Listener):
    """Writes the model of a run, whole and with everything needed to go on exactly."""

    finite = True  # a model with a number that is not finite is refused

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        counters: Counters,
        *,
        names: NameIndex | None = None,
        labels: Labels | None = None,
        ledger: Ledger | None = None,
        model: Restored | None = None,
    ) -> None:
        """``names`` of features, which the run collects; ``labels``: how it has read them; ``ledger`` is written with
        the model. ``model`` is what the run goes on from.
        """
        self.config, self.learner, self.plan, self.counters = config, learner, plan, counters
        self.input = config.input  # as it was read
        self.names, self.labels, self.ledger, self.best = names, labels, ledger, BestPass()
        self.passes = model.passes if model else 0  # finished in all, this run's and those before
        self.totals: Counters | None = None  # this run's counts and those of the runs before, where there were any
        self.ends_with_best = False
        if model:
            self.begin_totals(model.counters)

    def begin_totals(self, counts: dict[str, Any]) -> None:
        """Count on from those of the runs before."""
        self.totals = Counters(ProgressRule(True, FLOAT32_MAX), self.counters.simple_labels)
        self.totals.restore(counts)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.totals:
            counted = self.learner.counted(batch)
            if counted is not batch:
                self.totals.record_labels(batch, begin, end)
            self.totals.tally(counted, results, results.holdout_mask, begin, end)

    def pass_read(self, number: int) -> None:
        if self.config.output.predict_only_model:
            self.learner.apply_shrinkage()

    def end_pass(self, number: int) -> None:
        self.passes += 1
        output = self.config.output
        if output.save_per_pass and output.model:
            open_output = partial(beside_output, like=output.model)
            self.write_model(f"{output.model}.{self.passes}", open_output=open_output)

    def end(self) -> None:
        """The model and its texts, of the best pass where early stopping ended the run."""
        if self.learner.has_no_model:
            self.best.drop()
        elif self.ends_with_best:
            self.name_best()
        else:
            self.best.drop()
            self.write_all()

    def state(self) -> dict[str, Any]:
        return {
            "totals": self.totals.state() if self.totals else None,
            "known": self.ledger.known if self.ledger else [],
            "best": self.best.keep(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.totals = None
        if state["totals"] is not None:
            self.begin_totals(state["totals"])
        self.best.go_on(state["best"], self.targets)

    @property
    def targets(self) -> list[str]:
        """The files that a run writes at its end."""
        output = self.config.output
        return [path for path in (output.model, output.readable_model, output.invert_hash) if path]

    def write_all(self, open_output: OpenOutput = atomic_output) -> None:
        output = self.config.output
        if output.model:
            self.write_model(output.model, open_output=open_output)
        if output.readable_model:
            self.write_text(output.readable_model, None, open_output)
        if output.invert_hash and self.names:
            self.write_text(output.invert_hash, self.names.names, open_output)

    def keep_best(self) -> None:
        """This pass is the best so far: its files wait for the end of the run."""
        self.best.drop()
        self.write_all(self.best.output)

    def end_with_best(self) -> None:
        """The best pass is kept, and its model is the run's."""
        self.ends_with_best = True

    def name_best(self) -> None:
        """The run ends, and an earlier pass was better. Raises OutputError, ModelError."""
        model = self.config.output.model
        if self.ledger is not None and model:
            self.ledger.write(model_digest(self.best.place(model)))
        self.best.take_names()

    def write_model(
        self, path: str, run: dict[str, Any] | None = None, open_output: OpenOutput = atomic_output
    ) -> None:
        """``run``: the state of a run that is to go on with this model, as JSON data.

        The ledger is written before the model has its name, unless ``open_output`` lets it wait for that.
        Raises Diverged for a model of which nothing good can come.
        """
        learner, output = self.learner, self.config.output
        predict_only = output.predict_only_model and run is None
        named = self.names if output.names or run else None
        header = {**self.header(not predict_only, named is not None), **({"run": run} if run else {})}
        arrays: dict[str, Any] = {**learner.tables(predict_only), **self.plan.arrays()}
        if named is not None:
            arrays |= named.arrays()
        final = self.ledger is not None and path == output.model and run is None and open_output is atomic_output
        try:
            if not _is_finite(header):
                raise NotFinite
            announce = self.ledger.write if final else None
            model_file.save(path, header, arrays, announce, check_finite=self.finite, open_output=open_output)
        except NotFinite:
            raise Diverged(
                "a number in the model is not finite, so it is not saved; try a smaller learning rate (-l) or scale "
                "the features"
            ) from None

    def header(self, resumable: bool = True, names: bool = False) -> dict[str, Any]:
        """The header of the model, as JSON data; ``names``: the model has the names of its features."""
        return {
            **self.learner.header(),
            "features": self.config.features.header(),
            "counters": self.saved_counters(),
            "negative_label": self.labels.negative if self.labels else None,
            "seen": sorted(self.plan.seen),
            "passes": self.passes,
            "resumable": resumable,
            **self.input.kept,
            **self.plan.header,
            "names": names,
        }

    def saved_counters(self) -> dict[str, float | int | None]:
        """The counters in the model, without those that depend on where a run was stopped and resumed."""
        return (self.totals or self.counters).totals()

    def write_text(self, path: str, names: dict[int, str] | None, open_output: OpenOutput) -> None:
        from vwlite.training.text_model import write_readable

        output = self.config.output
        with open_output(path) as file:
            write_readable(
                file,
                self.learner.predicting(),
                self.config.features,
                {**Counters().state(), **self.saved_counters(), "current_pass": self.passes},
                predict_only=output.predict_only_model,
                names=names,
                hexfloat=output.hexfloat_weights,
            )
