"""Notes at the end of the first pass that the table is small for vectors: features of one slot have one vector."""

from __future__ import annotations

from vwlite.data.batch import Batch
from vwlite.data.hash_set import HashSet
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.training.display import Display
from vwlite.training.listener import Listener

MAX_SHARE = 0.02  # of features that share a slot, above which it is told
MAX_BITS = 30


class SharedSlots(Listener):
    """Counts the different features of the first pass, at most one for each slot; then more than enough share one."""

    def __init__(self, learner: Learner, display: Display) -> None:
        self.bits, self.display = learner.bits, display
        self.distinct: HashSet | None = HashSet(1 << learner.bits)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.distinct is not None:
            first, last = batch.namespace_start[batch.row_namespace[[begin, end]]].tolist()
            self.distinct.add(batch.feature_hash[first:last])

    def pass_read(self, number: int) -> None:
        if self.distinct is not None:
            self.display.note(self.remark(self.distinct))
        self.distinct = None

    def remark(self, distinct: HashSet) -> str:
        """What is to be said, if anything."""
        shares = distinct.shared(range(self.bits, MAX_BITS + 1))
        if shares[self.bits] <= MAX_SHARE:
            return ""
        enough = next((bits for bits, share in shares.items() if share <= MAX_SHARE), MAX_BITS)
        count = f"{'at least ' * distinct.full}{len(distinct)} features"
        share = f"{shares[self.bits]:.1%} of {count} share a slot, and so a vector, at -b {self.bits}"
        return f"{share}: -b {enough} {'or more ' * distinct.full}would do"
