"""A scoring filter tree and lines of text, with their plain-Python twin in the same state."""

import numpy as np

from vwlite.learners.configs.trees import ScoringTreeConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.trees import ScoringTree

from .dyadic_flow import Loss
from .lfl_case import LflCase
from .scoring_tree import ScoringTree as Twin


class ScoringCase(LflCase):
    """``loss`` and ``options`` go to ``ScoringTreeConfig``; labels are numbered from 1."""

    def made(self, labels, bits, options):
        loss = LossConfig(options.pop("loss", "hinge"))
        options = {"first_pass_t": 0.0, "scoring": True, **options}
        config = ScoringTreeConfig(loss, filter_tree=labels, pairs=len(self.pairs), **options)
        return config, ScoringTree(config, bits)

    def twin(self):
        config, loss = self.config, Loss(self.config.loss.name)
        values = np.arange(config.count)
        return self.filled(Twin(values, config.rank, config.initial_learning_rate, config.decay, loss=loss))
