"""What a run leaves behind: the model and its readable forms."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vwlite.config_check import FLOAT32_MAX
from vwlite.data.batch import Batch
from vwlite.errors import Diverged
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.storage import model_file
from vwlite.storage.atomic_file import Opened, atomic_output
from vwlite.storage.table_codec import NotFinite
from vwlite.training.best_pass import BestPass
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters, ProgressRule
from vwlite.training.ledger import model_digest
from vwlite.training.model_loader import Restored

if TYPE_CHECKING:
    from vwlite.features.name_index import NameBook
    from vwlite.training.ledger import Ledger


def new_name_book(learner: Learner) -> "NameBook":
    from vwlite.features.name_index import NameBook

    return NameBook(learner.layout)


def _is_finite(data: dict[str, Any]) -> bool:
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return False
    return True


class Saver:
    """Writes the model of a run, whole and with everything needed to go on exactly."""

    def __init__(self, config: RunConfig, learner: Learner, plan: Plan, counters: Counters, policy: object) -> None:
        self.config, self.learner, self.plan, self.counters = config, learner, plan, counters
        self.policy = policy
        self.totals: Counters | None = None  # this run's counts and those of the runs before, where there were any
        self.ledger: Ledger | None = None
        self.best = BestPass()
        self.passes = 0  # finished in all, this run's and those before
        self.names = new_name_book(learner) if config.output.invert_hash or config.output.names else None

    def go_on_from(self, restored: Restored) -> None:
        """Count and name on from where the model stopped."""
        self.passes = restored.passes
        self.begin_totals(restored.counters)
        if self.names is not None and restored.names is not None:
            self.names.names = restored.names.names

    def begin_totals(self, counts: dict[str, Any]) -> None:
        """Count on from those of the runs before."""
        self.totals = Counters(ProgressRule(True, FLOAT32_MAX), self.counters.simple_labels)
        self.totals.restore(counts)

    def count(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.totals:
            self.totals.tally(batch, results, results.held, begin, end)

    def note_lines(self, path: str, lines: int) -> None:
        """So many more lines of an input were read as text."""
        if self.ledger is not None:
            self.ledger.count(path, lines)

    def learn_names(self, batch: Batch, begin: int, end: int) -> None:
        if self.names is not None:
            self.names.add(batch, self.plan, begin, end)

    def learn_names_ahead(self, batch: Batch) -> None:
        """Of a batch that is learned from later, without its names."""
        if self.names is not None:
            self.names.add_ahead(batch, self.plan)

    @property
    def targets(self) -> list[str]:
        """The files that a run writes at its end."""
        output = self.config.output
        return [path for path in (output.model, output.readable_model, output.invert_hash) if path]

    def write_all(self, opened: Opened = atomic_output) -> None:
        output = self.config.output
        if output.model:
            self.write_model(output.model, opened=opened)
        if output.readable_model:
            self.write_text(output.readable_model, None, opened)
        if output.invert_hash and self.names:
            self.write_text(output.invert_hash, self.names.names, opened)

    def keep_best(self) -> None:
        """This pass is the best so far: its files wait for the end of the run."""
        self.best.drop()
        self.write_all(self.best.output)

    def name_best(self) -> None:
        """The run ends, and an earlier pass was better. Raises OutputError, ModelError."""
        model = self.config.output.model
        if self.ledger is not None and model:
            self.ledger.write(model_digest(self.best.place(model)))
        self.best.take_names()

    def write_model(self, path: str, run: dict[str, Any] | None = None, opened: Opened = atomic_output) -> None:
        """``run``: the state of a run that is to go on with this model, as JSON data.

        The ledger is written before the model has its name, unless ``opened`` lets it wait for that.
        Raises Diverged for a model of which nothing good can come.
        """
        learner, output = self.learner, self.config.output
        predict_only = output.predict_only_model and run is None
        named = self.names if output.names or run else None
        labels = getattr(self.policy, "labels", None)
        header = {
            **learner.header(),
            "features": asdict(self.config.features),
            "counters": self.kept_counts(),
            "negative_label": labels.negative if labels else None,
            "seen": sorted(self.plan.seen),
            "passes": self.passes,
            "resumable": not predict_only,
            "kind": self.config.input.kind,
            "names": named is not None,
            **({"run": run} if run else {}),
        }
        arrays: dict[str, Any] = dict(learner.tables(predict_only))
        if named is not None:
            arrays |= named.arrays()
        final = self.ledger is not None and path == output.model and run is None and opened is atomic_output
        try:
            if not _is_finite(header):
                raise NotFinite
            announce = self.ledger.write if final else None
            model_file.save(path, header, arrays, announce, finite=self.config.strict, opened=opened)
        except NotFinite:
            raise Diverged(
                "a number in the model is not finite, so it is not saved; try a smaller learning rate (-l) or scale "
                "the features"
            ) from None

    def kept_counts(self) -> dict[str, float | int | None]:
        """Counts of the model's examples; outside of ``vwlite vw`` none depends on where a run stopped."""
        return (self.totals or self.counters).totals() if self.config.strict else self.counters.state()

    def write_text(self, path: str, names: dict[int, str] | None, opened: Opened) -> None:
        from vwlite.training.text_model import write_readable

        output = self.config.output
        with opened(path) as file:
            write_readable(
                file,
                self.learner,
                self.config.features,
                {**Counters().state(), **self.kept_counts(), "current_pass": self.passes},
                predict_only=output.predict_only_model,
                names=names,
                hexfloat=output.hexfloat_weights,
            )
