"""The network f(s) = u . tanh(A [E_s1; ...; E_sn] + b), as ``cython_ext/solvers/window_network.pyx`` has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vwlite.features.random_features import key, mix64, unit_interval
from vwlite.solvers.lm.config import LmConfig

LANES = 8
WORDS, INPUTS, OUTPUT, STEP = range(21, 25)  # what is drawn


@dataclass(slots=True)
class Network:
    """``words`` float32[vocabulary, dim], ``inputs`` float32[window dim, width], ``bias``, ``output`` float32[width];
    width is the number of hidden units, filled up to a multiple of ``LANES``.
    """

    words: np.ndarray
    inputs: np.ndarray
    bias: np.ndarray
    output: np.ndarray

    def arrays(self, hidden: int) -> dict[str, np.ndarray]:
        """What a model keeps: without the units that only fill up rows."""
        return {
            "lm_words": self.words,
            "lm_inputs": np.ascontiguousarray(self.inputs[:, :hidden]),
            "lm_bias": self.bias[:hidden],
            "lm_output": self.output[:hidden],
        }


def padded(array: np.ndarray) -> np.ndarray:
    """The last axis filled up with zeros to a multiple of ``LANES``."""
    missing = -array.shape[-1] % LANES
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])


def drawn(seed: int, purpose: int, shape: tuple[int, ...], spread: float) -> np.ndarray:
    """float32: numbers of mean 0 and standard deviation ``spread``, uniform."""
    size = int(np.prod(shape))
    found = unit_interval(mix64(np.uint64(key(seed, purpose)) + np.arange(size, dtype=np.uint64)))
    return ((2 * found - 1) * (3**0.5 * spread)).astype(np.float32).reshape(shape)


def new_network(config: LmConfig, words: int) -> Network:
    """Weights of the standard deviation 1 / sqrt(inputs of a unit), vectors of words of 1 / sqrt(3)."""
    inputs = config.window * config.dim
    return Network(
        drawn(config.seed, WORDS, (words, config.dim), 3**-0.5),
        padded(drawn(config.seed, INPUTS, (inputs, config.hidden), inputs**-0.5)),
        np.zeros(config.hidden + -config.hidden % LANES, np.float32),
        padded(drawn(config.seed, OUTPUT, (config.hidden,), config.hidden**-0.5)),
    )


def network_of(words: np.ndarray, inputs: np.ndarray, bias: np.ndarray, output: np.ndarray) -> Network:
    """From the arrays of a model."""
    return Network(words, padded(inputs), padded(bias), padded(output))
