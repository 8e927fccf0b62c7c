"""A dyadic model and lines of text, with their plain-Python twin in the same state."""

import numpy as np

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

from .dyadic import Dyadic as Twin
from .dyadic import Row, merged
from .dyadic_flow import Loss

CONSTANT = 11650396
LOSSES = {
    "hinge": Loss("hinge"),
    "quantile": Loss("quantile", 0.3),
    "squared": Loss("squared"),
    "classic": Loss("squared"),
    "logistic": Loss("logistic"),
    "expectile": Loss("expectile", 0.2),
    "poisson": Loss("poisson"),
}
MORE_LOSSES = {
    **{name: Loss(name) for name in ("absolute", "exponential", "modified_huber", "squared_hinge", "tanh")},
    "tube": Loss("tube", np.float32(0.1).item()),
    "truncated": Loss("truncated", 3.0),
    "geman_mcclure": Loss("geman_mcclure", 3.0),
    "lp": Loss("lp", 1.5),
}


def loss_config(name):
    return LossConfig(name, quantile_tau=np.float32(0.3).item(), expectile_q=np.float32(0.2).item(), loss_scale=3.0)


def parse(text, **form):
    return parse_text(text.encode() if isinstance(text, str) else text, TextFormat(**form))


class Case:
    """``pairs`` are strings like "ab" or "user,item"; ``options`` go to ``DyadicConfig``."""

    def __init__(self, loss, pairs=("ab",), bits=8, noconstant=False, strict=True, freeze=(), **options):
        self.loss, self.pairs = loss, tuple(pairs)
        options = {"dot_l2": 0.0, "first_pass_t": 0.0, **options}
        config = DyadicConfig(loss_config(loss), pairs=len(self.pairs), **options)
        self.learner = Dyadic(config, bits, vw_compat=not strict)
        features = FeatureConfig(bits=bits, dotproduct=self.pairs, noconstant=noconstant, freeze=freeze)
        self.plan = Plan(features, drop_pairs=self.learner.config.drops_pairs)
        self.mask, self.constant = (1 << bits) - 1, not noconstant

    def run(self, text, rows=None):
        """Results of predicting and learning all lines; ``rows`` gives the sizes of the runs they are split into."""
        batch, results = parse(text), Results()
        results.reserve(len(batch))
        begin = 0
        for size in rows or [len(batch)]:
            self.learner.run(batch, self.plan, results, begin, min(begin + size, len(batch)))
            begin += size
        return results

    def predict(self, text):
        """float32[n] raw predictions; nothing is learned."""
        self.learner.learning = False
        results = self.run(text)
        self.learner.learning = True
        return results.raw[: len(parse(text))].copy()

    def fill(self, rng, scale=1.0):
        """Random weights everywhere."""
        learner = self.learner
        learner.weights[:] = rng.normal(size=learner.weights.shape) * scale
        for table in (table for sides in learner.latent for table in sides):
            table[:, : learner.rank] = rng.normal(size=(len(table), learner.rank)) * scale
            table[:, learner.rank] = 1

    def set_range(self, low=-1e9, high=1e9):
        self.learner.set(min_label=low, max_label=high)

    def row(self, text):
        """The twin's view of one line, read from the batch."""
        batch = parse(text)
        result = {}
        for j in range(batch.row_namespace[0], batch.row_namespace[1]):
            cut = slice(batch.namespace_start[j], batch.namespace_start[j + 1])
            slots = (batch.feature_hash[cut] & self.mask).tolist()
            name = (chr(batch.namespace_char[j]), int(batch.namespace_hash[j]))
            result.setdefault(name, []).extend(zip(slots, batch.value[cut].tolist(), strict=True))
        linear = [one for name, features in result.items() if not self.dropped(name) for one in features]
        if self.constant:
            linear.append((CONSTANT & self.mask, 1.0))
        return Row(linear, [(self.side(result, 0, pair), self.side(result, 1, pair)) for pair in self.pairs])

    def side(self, found, which, pair):
        if "," not in pair:
            return [one for name, features in found.items() if name[0] == pair[which] for one in features]
        expected = int(parse(f"|{pair.split(',')[which]} x").namespace_hash[0])
        return [one for name, features in found.items() if name[1] == expected for one in features]

    def dropped(self, name):
        """Whether the namespace has no linear terms."""
        whole = [side for pair in self.pairs if "," in pair for side in pair.split(",")]
        full = {int(parse(f"|{side} x").namespace_hash[0]) for side in whole}
        letters = {letter for pair in self.pairs if "," not in pair for letter in pair}
        return self.learner.config.no_dot_linear and (name[0] in letters or name[1] in full)

    def twin(self):
        """The twin with the numbers the learner has now (of slots that were ever updated)."""
        config, learner = self.learner.config, self.learner
        loss = (LOSSES | MORE_LOSSES)[self.loss]
        twin = Twin(config.rank, loss, None, config.initial_learning_rate, config.decay, config.dot_offset)
        twin.w = dict(enumerate(learner.weights[:, 0].astype(float).tolist()))
        for pair in range(len(self.pairs)):
            for side in range(2):
                slots, vectors = learner.factors(pair, side)
                for slot, vector in zip(slots.tolist(), vectors.astype(float), strict=True):
                    twin.latent[pair, side, slot] = vector
        return twin

    def parameters(self, row):
        """float64[n], all parameters the row touches."""
        learner = self.learner
        parts = [learner.weights[list(merged(row.linear)), 0]]
        for pair, sides in enumerate(row.pairs):
            for side, features in enumerate(sides):
                parts.append(learner.latent[pair][side][list(merged(features)), : learner.rank].ravel())
        return np.concatenate(parts).astype(float)

    @staticmethod
    def twin_parameters(twin, row):
        parts = [np.array([twin.w[slot] for slot in merged(row.linear)])]
        for pair, sides in enumerate(row.pairs):
            for side, features in enumerate(sides):
                parts += [twin.latent[pair, side, slot] for slot in merged(features)]
        return np.concatenate(parts)

    def tangent(self, row):
        """float64[n], how the parameters change per change of the prediction along the flow."""
        twin = self.twin()
        flow = twin.flow(row, 0.0)
        parts = [np.array(list(merged(row.linear).values()))]
        for (_, left, right), term in zip(twin.sides(row), flow.terms, strict=True):
            parts += [np.outer(list(left.values()), term.b).ravel(), np.outer(list(right.values()), term.a).ravel()]
        return np.abs(np.concatenate(parts)) / abs(flow.derivative() or 1e-300)

    def rounding(self, row):
        """How far float32 parameters can be from giving an exact prediction."""
        twin = self.twin()
        size = sum(abs(twin.w.get(slot, 0.0) * x) for slot, x in merged(row.linear).items())
        for term in twin.flow(row, 0.0).terms:
            size += float((np.abs(term.xa) @ np.abs(term.alpha)) @ (np.abs(term.xb) @ np.abs(term.beta)))
            size += abs(term.offset) * float(np.abs(term.a).sum() + np.abs(term.b).sum())
        return 1.3e-7 * size

    def tame(self, row, limit):
        """Shrink the weights until the row's prediction is within ``limit``."""
        p = abs(self.twin().predict(row))
        if p > limit:
            self.learner.weights *= limit / p
            for table in (table for sides in self.learner.latent for table in sides):
                table[:, : self.learner.rank] *= (limit / p) ** 0.5
