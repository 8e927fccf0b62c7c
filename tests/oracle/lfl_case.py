"""A latent feature log-linear model and lines of text, with its plain-Python twin in the same state."""

import numpy as np

from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.label_vectors import LflConfig
from vwlite.learners.label_vectors import Lfl
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

from .dyadic import merged
from .dyadic_case import Case, parse
from .lfl import Lfl as Twin


class LflCase(Case):
    """``options`` go to ``LflConfig``; labels are numbered from 1."""

    def __init__(self, labels=4, pairs=("ab",), bits=9, noconstant=False, freeze=(), **options):
        self.pairs = tuple(pairs)
        form = {"labels": labels, "pairs": pairs, "bits": bits, "noconstant": noconstant, "freeze": freeze}
        self.arguments = {**form, **options}
        self.config, self.learner = self.made(labels, bits, {"dot_l2": 0.0, "indexing": 1, **options})
        self.learner.want_scores()
        features = FeatureConfig(bits=bits, dotproduct=self.pairs, noconstant=noconstant, freeze=freeze)
        self.plan = Plan(features, drop_pairs=self.learner.config.drops_pairs)
        self.mask, self.constant = (1 << bits - self.learner.layout[0]) - 1, not noconstant

    def made(self, labels, bits, options):
        """The configuration and the learner."""
        options = {"linear_l2": 0.0, "dot_rates": "global", **options}
        config = LflConfig(LossConfig("logistic"), multiclass=labels, pairs=len(self.pairs), **options)
        return config, Lfl(config, bits)

    def again(self):
        """Another one of the same options."""
        return type(self)(**self.arguments)

    def run(self, text, rows=None):
        lists = bool(self.config.label_words)
        batch, results = parse(text, words=lists, lists=lists), Results()
        batch.label = self.learner.labels().check(batch)
        results.reserve(len(batch))
        begin = 0
        for size in rows or [len(batch)]:
            end = min(begin + size, len(batch))
            self.learner.run(batch, self.plan, results, begin, end)
            begin = end
        return results

    def scores(self, text):
        """float32[n, labels]; nothing is learned."""
        self.learner.learning = False
        self.run(text)
        self.learner.learning = True
        return self.learner.raw[: len(parse(text))].copy()

    @property
    def places(self):
        """Of every label that has vectors: its place among the labels."""
        return [label for label in range(self.config.count) if label != self.config.base_class]

    @property
    def linear(self):
        """float32[rows, labels], a view."""
        width = 1 << self.learner.layout[0]
        return self.learner.weights.reshape(-1, width)[:, : self.config.count]

    def vectors(self, pair, side):
        """float32[rows, labels with vectors, rank], a view, and float32[rows], the numbers of updates."""
        config, stride = self.config, self.learner.stride
        table = self.learner.latent[pair][side].reshape(-1, stride)
        size = config.sets * config.vector_length
        return table[:, :size].reshape(-1, config.sets, config.vector_length), table[:, size]

    def fill(self, rng, scale=1.0):
        self.linear[:, self.places] = rng.normal(size=(self.mask + 1, len(self.places))) * scale
        for pair in range(len(self.learner.latent)):
            for side in range(2):
                vectors, updates = self.vectors(pair, side)
                vectors[:], updates[:] = rng.normal(size=vectors.shape) * scale, 1

    def twin(self):
        config = self.config
        kind = {"base": config.base_class, "mean": config.lfl_loss == "mse"}
        twin = Twin(
            np.array(config.numbers),
            config.rank,
            config.initial_learning_rate,
            config.decay,
            config.linear_decay,
            **kind,
        )
        return self.filled(twin)

    def filled(self, twin):
        """The twin with the learner's parameters."""
        twin.w = dict(enumerate(self.linear.astype(float)))
        for pair in range(len(self.learner.latent)):
            for side in range(2):
                every = np.zeros((self.mask + 1, self.config.count, twin.rank))
                every[:, self.places] = self.vectors(pair, side)[0]
                twin.latent |= {(pair, side, slot): one for slot, one in enumerate(every)}
        return twin

    def parameters(self, row):
        return self.twin_parameters(self.twin(), row)

    @staticmethod
    def twin_parameters(twin, row):
        parts = [twin.w[slot] for slot in merged(row.linear)]
        for pair, sides in enumerate(row.pairs if twin.rank else ()):
            for side, features in enumerate(sides):
                parts += [twin.latent[pair, side, slot].ravel() for slot in merged(features)]
        return np.concatenate(parts)

    def tame(self, row, limit):
        """Shrink the weights until the row's scores are within ``limit``."""
        size = float(np.abs(self.twin().scores(row)).max())
        if size > limit:
            self.linear[:] *= limit / size
            for pair in range(len(self.learner.latent)):
                for side in range(2):
                    self.vectors(pair, side)[0][:] *= (limit / size) ** 0.5
