"""Which pass is the best by what was held out."""

import numpy as np

from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.held_out import HeldOut
from vwlite.solvers.loglinear.passes import Progress, StochasticPasses


class Scripted(HeldOut):
    """Says the figures of one pass after the other."""

    def __init__(self, measure, *figures):
        self.measure, self.title, self.columns, self.left = measure, measure, [measure], list(figures)

    def figures(self, weights):
        return self.left.pop(0)


class Still:
    """A problem, and a solver, that nothing happens to."""

    problem, rows, table, weights, cumulative_penalty = None, np.zeros(1), np.zeros((2, 1)), np.zeros(1), 0.0

    def __init__(self):
        self.passes = 0

    def value(self, weights):
        return -1.0

    def begin(self, examples):
        pass

    def kept(self, copy=False):
        return self.table

    def run_pass(self, problem, rows):
        self.passes += 1


def kept(held, patience=8):
    config = L1Config(model="crf", passes=len(held.left))
    progress = Progress(config, Still(), held, patience)
    return StochasticPasses(config, Still(), Still(), progress).run().passes, len(progress.history)


def test_log_loss_rises_while_ever_more_phrases_are_found():
    passes = [{"held_out": 1 + abs(n - 3), "f1": 60 + n / 10} for n in range(20)]
    assert kept(Scripted("f1", *passes)) == (20, 20)
    assert kept(Scripted("log_loss", *passes)) == (4, 12)


def test_of_equal_passes_that_of_the_lesser_log_loss():
    passes = [{"held_out": loss, "accuracy": 0.5} for loss in (3, 2, 2, 4)]
    assert kept(Scripted("accuracy", *passes), patience=2) == (2, 4)
