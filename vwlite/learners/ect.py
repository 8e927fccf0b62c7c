"""Error-correcting tournaments (``--ect``); see ``cython_ext/learners/ect.pyx``."""

from __future__ import annotations

import numpy as np

from vwlite._native import ect as kernel
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.ect import EctConfig
from vwlite.learners.per_class import PerClassKernelConfig
from vwlite.learners.row_results import Results
from vwlite.learners.tree_base import Tree

WINNER, LOSER, LEFT, RIGHT, LAST = range(5)  # columns of contests, as in the kernel


class EctKernelConfig(PerClassKernelConfig):
    def __init__(self, config: EctConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.contests, self.finals = draw(config.ect, config.error + 1)
        self.height = config.error.bit_length()


def draw(count: int, tournaments: int) -> tuple[np.ndarray, np.ndarray]:
    """The contests of ``count`` classes, uint32[n, 5], of which the first are the classes; each tournament's last one.

    Who loses in one tournament goes on in the next; to be in a tournament's last contest is as good as to have lost:
    both go on. 0 is nowhere to go on.
    """
    most = max((count - 1) * tournaments + tournaments - 1, 1) + count  # contests between winners are not among them
    rows, home = np.zeros((most, 5), np.uint32), np.zeros(most, np.uint32)  # and the tournament of each
    begun, finals = count, []
    nobody = np.zeros(0, int)
    waiting = [np.arange(count), *[nobody] * (tournaments - 1)]
    while count > 1 and any(map(len, waiting)):
        later: list[list[np.ndarray]] = [[] for _ in waiting]
        for number, entrants in enumerate(waiting):
            if not len(entrants):
                continue
            last = len(entrants) == 2 and (number == 0 or not len(waiting[number - 1]))
            half = len(entrants) // 2
            contests, sides = np.arange(begun, begun + half), entrants[: 2 * half]
            begun += half
            rows[contests, LEFT], rows[contests, RIGHT], rows[contests, LAST] = sides[::2], sides[1::2], last
            home[contests] = number
            rows[sides, np.where(home[sides] == number, WINNER, LOSER)] = np.repeat(contests, 2)
            again = rows[sides[::2], LAST] == 1
            rows[sides[::2][again], WINNER] = contests[again]
            if last:
                finals.append(int(contests[0]))
            else:
                later[number].append(contests)
            if number + 1 < tournaments:
                later[number + 1].append(np.repeat(contests, 1 + last))
            later[number].append(entrants[2 * half :])
        waiting = [np.concatenate(parts) if parts else nobody for parts in later]
    return rows[:begun], np.array(finals or [0], np.uint32)


class Ect(Tree):
    """``weighed`` float32[rows]: the weight with which vw counts an example."""

    name = "ect"
    config_type = EctConfig
    native = kernel
    kernel_config = EctKernelConfig

    def __init__(
        self, config: EctConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.won = np.zeros(config.error + 2, np.uint8)
        self.weighed = np.zeros(0, np.float32)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if len(self.weighed) < len(results):
            self.weighed = np.zeros(len(results), np.float32)
        end = super().run(batch, plan, results, begin, end)
        if self.vw_compat:
            if begin == 0:
                batch.importance = batch.importance.copy()
            batch.importance[begin:end] = self.weighed[begin:end]
        return end
