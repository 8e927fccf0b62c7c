"""``vwlite lm train``: steps, each on a window of the text and a random word in place of its last one.

Collobert and Weston, ICML 2008; with a curriculum by vocabulary Bengio, Louradour, Collobert and Weston, ICML 2009;
with several draws of the word Weston, Bengio and Usunier, IJCAI 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np

from vwlite import interrupts
from vwlite._native import window_network
from vwlite.config_check import Double, JsonObject, require
from vwlite.data.blocks import Block
from vwlite.data.config import InputConfig
from vwlite.errors import DataError, Diverged
from vwlite.features.hashing import key
from vwlite.learners.base import UNSTABLE
from vwlite.options import GIB, OptionValues, Request, check_memory
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.lm.model import STEP, LmModel, network_from, new_network
from vwlite.solvers.lm.words import text_and_words, text_of, windows_of
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural, check_learner
from vwlite.training.solver_run import Content, Reader, Solver

AT_ONCE = 1 << 18  # steps of the same rates, between two looks at the bar
BYTES = 4  # of a number


class Lm(Solver):
    """Learns a language model from plain text, or makes more passes of one."""

    learner = LmModel.learner
    unit = "steps"
    training: Training

    def __init__(self, request: Request, initial: str | None) -> None:
        """Raises ModelError, UsageError for options that contradict the model's."""
        self.before = LmModel.load(initial) if initial else None
        if self.before:
            given = request.changes(LmConfig)
            check_learner(initial, self.before.config, given)
            self.config = replace(self.before.config, **{"passes": 1, **given})
        else:
            self.config = request.config(LmConfig)
        self.memory = request.values["memory"] * GIB
        self.input = InputConfig(tuple(request.values["files"]) or ("-",))

    def deciding_options(self) -> OptionValues:
        return {**self.config.kept(), "passes": self.config.passes}

    def read(self, reader: Reader) -> None:
        blocks = reader.plain_text(self.input)
        if self.before:
            self.training = continue_training(self.config, self.before, blocks)
        else:
            self.training = begin_training(self.config, blocks, self.memory, reader.display.note)

    def fit(self, monitor: Monitor) -> None:
        self.training.run(monitor)

    def state(self) -> Content:
        return self.training.state()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.training.restore(header, arrays)

    def content(self) -> Content:
        return self.training.model.content()

    def report(self) -> JsonObject:
        return self.training.model.facts()


def begin_training(config: LmConfig, blocks: Iterable[Block], memory: float, note: Callable[[str], None]) -> Training:
    """A training with a new model of the most frequent words of the text.

    Raises DataError where there is no window, UsageError for weights of more than ``memory`` bytes.
    """
    text, words, different = text_and_words(blocks, config.tokens, config.vocabulary)
    if different < config.vocabulary:
        note(f"the text has {different:,} different words, fewer than --vocabulary {config.vocabulary}")
    if not len(windows_of(text, config.window, len(words))):
        raise DataError(no_window(config, len(words), len(words)))
    weights = len(words) * config.dim + (config.window * config.dim + 2) * config.hidden
    size_text = f"{len(words):,} words, --dim {config.dim}, --hidden {config.hidden}"
    check_memory(weights * BYTES, memory, size_text, "a smaller --vocabulary or --dim needs less")
    return Training(LmModel(config, words, new_network(config, len(words))), text)


def continue_training(config: LmConfig, model: LmModel, blocks: Iterable[Block]) -> Training:
    """A training that continues a model. Raises DataError where there is no window of its words."""
    text = text_of(blocks, config.tokens, model.words)
    if not len(windows_of(text, config.window, len(model.words))):
        raise DataError(no_window(config, len(model.words), len(model.words)))
    return Training(replace(model, config=config), text)


class State(TypedDict):
    """The progress of a stopped run."""

    passes: Natural
    steps: Natural
    loss: Double


class Training:
    """``passes`` of the options over ``text``, as numbers of the model's words, after those that the model has made.

    A pass takes as many steps as there are windows of all words, so that a curriculum takes no fewer; each step draws
    one of the windows that the pass admits. ``loss``: the sum of the pass at work, whose steps begin after ``first``.
    """

    def __init__(self, model: LmModel, text: np.ndarray) -> None:
        self.model, self.text, self.config = model, text, model.config
        self.size = len(windows_of(text, self.config.window, len(model.words)))
        self.passes_before, self.first, self.loss = model.passes, model.steps, 0.0

    @property
    def last_pass(self) -> int:
        return self.passes_before + self.config.passes

    def run(self, monitor: Monitor) -> None:
        """Make the steps that are left. Raises DataError where a pass has no window, Diverged, Interrupted."""
        model, words = self.model, len(self.model.words)
        while model.passes < self.last_pass:
            known = self.config.known(model.passes, words)
            begin = windows_of(self.text, self.config.window, known)
            if not len(begin):
                raise DataError(no_window(self.config, known, words))
            self.make_pass(begin, known, monitor)
        known = self.config.known(model.passes - 1, words)
        if known < words:
            monitor.note(f"the last pass took windows of {known:,} of the {words:,} words: more passes take them all")

    def make_pass(self, begin: np.ndarray, known: int, monitor: Monitor) -> None:
        """What is left of one, with these windows of the ``known`` first words."""
        model, first, end = self.model, self.first, self.first + self.size
        while model.steps < end:
            with monitor.update():
                self.make_steps(begin, known, min((model.steps // AT_ONCE + 1) * AT_ONCE, end))
                if model.steps == end:
                    self.end_pass(len(begin), known, monitor)
            interrupts.raise_if_stopped()
            monitor.step(model.steps - first, self.size)

    def make_steps(self, begin: np.ndarray, known: int, last: int) -> None:
        """Make the steps up to ``last``, or fewer after a signal. Raises Diverged."""
        model, config = self.model, self.config
        rates, drawing = config.rates(model.steps // AT_ONCE * AT_ONCE), key(config.seed, STEP)
        status, step, loss = window_network.learn(
            model.network, self.text, begin, known, config.draws, drawing, model.steps, last, *rates,
            interrupts.STOP, self.loss,
        )  # fmt: skip
        arrays = model.network.arrays(config.hidden).values()
        if status == UNSTABLE or not all(np.isfinite(array).all() for array in arrays):
            raise Diverged(f"scores are not finite numbers after {step} steps: a smaller -l or --layer_rate may help")
        model.steps, self.loss = step, loss

    def end_pass(self, windows: int, known: int, monitor: Monitor) -> None:
        model, loss = self.model, self.loss / self.size
        windows_text = f"{windows:,} windows of {known:,} words" if known < len(model.words) else f"{windows:,} windows"
        model.passes, self.first, self.loss = model.passes + 1, model.steps, 0.0
        figures = {"pass": model.passes, "steps": model.steps, "windows": windows, "words": known, "loss": loss}
        monitor.row(f"pass {model.passes}: {windows_text}, average loss {loss:.6f}", **figures)

    def state(self) -> Content:
        """What ``restore`` takes."""
        header = {"passes": self.model.passes, "steps": self.model.steps, "loss": self.loss}
        return header, self.model.network.arrays(self.config.hidden)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what is no state of such a run."""
        require(header, State, "state")
        passes, steps, model = header["passes"], header["steps"], self.model
        first = self.first + (passes - self.passes_before) * self.size
        if not (self.passes_before <= passes <= self.last_pass and first <= steps < first + self.size):
            raise ValueError("its steps")
        model.network = network_from(arrays, self.config, len(model.words))
        model.passes, model.steps, self.first, self.loss = passes, steps, first, header["loss"]


def no_window(config: LmConfig, known: int, words: int) -> str:
    if known < words:
        return f"no window of {config.window} words has only the {known} most frequent: a larger --curriculum has more"
    return f"no line has {config.window} known words one after the other: take a smaller --window, or more text"
