"""Steps of a language model: a window of the text and a random word in place of its last one.

Collobert and Weston, ICML 2008; with a curriculum by vocabulary Bengio, Louradour, Collobert and Weston, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from vwlite import interrupts
from vwlite._native import window_network
from vwlite.data.blocks import Block
from vwlite.errors import DataError, Diverged
from vwlite.features.random_features import key
from vwlite.memory_limit import check_memory
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.lm.model_file import LmModel
from vwlite.solvers.lm.network import STEP, Network, new_network
from vwlite.solvers.lm.words import text_and_words, text_of, windows_of
from vwlite.training.display import Steps, no_steps

OK = 0  # a status of ``cython_ext/base/status.pxd``
AT_ONCE = 1 << 18  # steps of the same rates, between two looks at the bar
BYTES = 4  # of a number


def begun(
    config: LmConfig, blocks: Iterable[Block], memory: float, say: Callable[[str], None]
) -> tuple[LmModel, np.ndarray]:
    """A model of the text's most frequent words that has learned nothing, and the text.

    Raises DataError where there is no window, UsageError for weights of more than ``memory`` bytes.
    """
    text, words, different = text_and_words(blocks, config.tokens, config.vocabulary)
    if different < config.vocabulary:
        say(f"note: the text has {different:,} different words, fewer than --vocabulary {config.vocabulary}")
    if not len(windows_of(text, config.window, len(words))):
        raise DataError(no_window(config, len(words), len(words)))
    weights = len(words) * config.dim + (config.window * config.dim + 2) * config.hidden
    what = f"{len(words):,} words, --dim {config.dim}, --hidden {config.hidden}"
    check_memory(weights * BYTES, memory, what, "a smaller --vocabulary or --dim needs less")
    return LmModel(config, words, new_network(config, len(words))), text


def gone_on(config: LmConfig, model: LmModel, blocks: Iterable[Block]) -> tuple[LmModel, np.ndarray]:
    """A model that is to learn on, and the text as its words. Raises DataError where there is no window."""
    text = text_of(blocks, config.tokens, model.words)
    if not len(windows_of(text, config.window, len(model.words))):
        raise DataError(no_window(config, len(model.words), len(model.words)))
    return replace(model, config=config), text


def learn(model: LmModel, text: np.ndarray, say: Callable[[str], None], steps: Steps = no_steps) -> None:
    """``passes`` of the options over ``text``, after those that were made.

    A pass takes as many steps as there are windows of all words, so that a curriculum takes no fewer; each step draws
    one of the windows that the pass admits. Raises DataError where there is none, Diverged, Interrupted.
    """
    config, words = model.config, len(model.words)
    size = len(windows_of(text, config.window, words))
    for _ in range(config.passes):
        known = config.known(model.passes, words)
        begin = windows_of(text, config.window, known)
        if not len(begin):
            raise DataError(no_window(config, known, words))
        loss, first = 0.0, model.steps
        while model.steps < first + size:
            last = min((model.steps // AT_ONCE + 1) * AT_ONCE, first + size)
            model.steps, more = some_steps(config, model.network, text, begin, known, model.steps, last)
            loss += more
            steps(model.steps - first, size)
        model.passes += 1
        shown = f"{len(begin):,} windows of {known:,} words" if known < words else f"{len(begin):,} windows"
        say(f"pass {model.passes}: {shown}, average loss {loss / size:.6f}")
    if known < words:
        say(f"note: the last pass took windows of {known:,} of the {words:,} words: more passes take them all")


def no_window(config: LmConfig, known: int, words: int) -> str:
    if known < words:
        return f"no window of {config.window} words has only the {known} most frequent: a larger --curriculum has more"
    return f"no line has {config.window} known words one after the other: take a smaller --window, or more text"


def some_steps(
    config: LmConfig, network: Network, text: np.ndarray, begin: np.ndarray, known: int, first: int, last: int
) -> tuple[int, float]:
    """The steps ``[first, last)``: where they end, and the sum of their losses. Raises Diverged, Interrupted."""
    rates, drawing = config.rates(first // AT_ONCE * AT_ONCE), key(config.seed, STEP)
    status, step, loss = window_network.learn(
        network, text, begin, known, drawing, first, last, *rates, interrupts.STOP
    )
    interrupts.obey()
    if status != OK or not all(np.isfinite(array).all() for array in network.arrays(config.hidden).values()):
        raise Diverged(f"scores are no finite numbers after {step} steps: a smaller -l or --layer_rate may help")
    return step, loss
