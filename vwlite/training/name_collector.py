"""Collects the names of the features that a run meets, for its model or what is written of it."""

from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.features.name_index import NameIndex
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener


class NameCollector(Listener):
    """Enters them in ``book``."""

    def __init__(self, book: NameIndex, plan: Plan) -> None:
        self.book, self.plan = book, plan

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        self.book.add(batch, self.plan, begin, end)

    def ahead(self, batch: Batch) -> None:
        """Of a batch that is learned from later, without its names."""
        self.book.add_ahead(self.plan.extend(batch), self.plan)
