"""What a run leaves behind: the model and its readable forms."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vwlite import model
from vwlite.batch import Batch
from vwlite.config import RunConfig
from vwlite.counters import Counters
from vwlite.expand import Plan
from vwlite.learners.base import Learner

if TYPE_CHECKING:
    from vwlite.namebook import NameBook


def new_name_book() -> "NameBook":
    from vwlite.namebook import NameBook

    return NameBook()


class Saver:
    """Writes the model of a run, whole and with everything needed to go on exactly."""

    def __init__(self, config: RunConfig, learner: Learner, plan: Plan, counters: Counters, manners: object) -> None:
        self.config, self.learner, self.plan, self.counters = config, learner, plan, counters
        self.manners = manners
        self.passes = 0  # finished in all, this run's and those before
        self.names = new_name_book() if config.output.invert_hash or config.output.names else None

    def learn_names(self, batch: Batch, begin: int, end: int) -> None:
        if self.names is not None:
            self.names.add(batch, self.plan, begin, end)

    def write_all(self) -> None:
        output = self.config.output
        if output.model:
            self.write_model(output.model)
        if output.readable_model:
            self.write_text(output.readable_model, None)
        if output.invert_hash and self.names:
            self.write_text(output.invert_hash, self.names.names)

    def write_model(self, path: str) -> None:
        learner, predict_only = self.learner, self.config.output.predict_only_model
        labels = getattr(self.manners, "labels", None)
        header = {
            **learner.header(),
            "features": asdict(self.config.features),
            "counters": self.counters.state(),
            "negative_label": labels.negative if labels else None,
            "seen": sorted(self.plan.seen),
            "passes": self.passes,
            "resumable": not predict_only,
            "kind": self.config.input.kind,
            "names": self.config.output.names,
        }
        arrays: dict[str, Any] = dict(learner.tables(predict_only))
        if self.config.output.names and self.names:
            arrays |= self.names.arrays()
        model.save(path, header, arrays)

    def write_text(self, path: str, names: dict[int, str] | None) -> None:
        from vwlite.readable import write_readable_file

        write_readable_file(path, self, names)
