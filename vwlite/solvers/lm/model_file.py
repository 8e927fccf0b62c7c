"""Language models as model files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import built, require
from vwlite.errors import ModelError, UsageError
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.lm.network import Network, network_of
from vwlite.solvers.lm.tokens import decoded
from vwlite.solvers.lm.words import Words
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.training.model_header import Natural

LEARNER = "lm"


class Header(TypedDict):
    """Of a model of ``vwlite lm``."""

    lm: dict
    passes: Natural
    steps: Natural


@dataclass(slots=True)
class LmModel:
    """``passes`` and ``steps`` that were made."""

    config: LmConfig
    words: Words
    network: Network
    passes: int = 0
    steps: int = 0

    def facts(self) -> dict[str, Any]:
        """What the command tells, as JSON data."""
        return {**self.config.kept(), "vocabulary": len(self.words), "passes": self.passes, "steps": self.steps}


def save(path: str, model: LmModel, open_output: OpenOutput = atomic_output) -> None:
    """Write the model, whole or not at all. Raises OutputError."""
    header = {"learner": LEARNER, "lm": model.config.kept(), "passes": model.passes, "steps": model.steps}
    texts = "\n".join(model.words.texts).encode("utf-8", "surrogateescape")
    arrays = {"lm_vocabulary": np.frombuffer(texts, np.uint8), **model.network.arrays(model.config.hidden)}
    model_file.save(path, header, arrays, open_output=open_output)


def load(path: str) -> LmModel:
    """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
    loaded = model_file.load(path)
    header = loaded.header
    if header.get("learner") != LEARNER:
        raise ModelError(f"{path} was not made by 'vwlite lm' (its learner is {header.get('learner')!a})")
    try:
        require(header, Header, "header")
        config = built(LmConfig, header["lm"])
        words, network = words_from(loaded.arrays), network_from(loaded.arrays, config)
        if len(words) != len(network.words):
            raise ValueError("its words")
        return LmModel(config, words, network, header["passes"], header["steps"])
    except ModelError:
        raise
    except (KeyError, ValueError, UsageError) as error:
        raise ModelError(f"{path} is no model of this version's vwlite lm ({error})") from error


def words_from(arrays: dict[str, Any]) -> Words:
    words = Words(decoded(numbers(arrays, "lm_vocabulary", np.uint8, (-1,)).tobytes()).split("\n"))
    if len(words.number) != len(words) or "" in words.number:
        raise ValueError("its words")
    return words


def network_from(arrays: dict[str, Any], config: LmConfig) -> Network:
    hidden, inputs = config.hidden, config.window * config.dim
    return network_of(
        numbers(arrays, "lm_words", np.float32, (-1, config.dim)),
        numbers(arrays, "lm_inputs", np.float32, (inputs, hidden)),
        numbers(arrays, "lm_bias", np.float32, (hidden,)),
        numbers(arrays, "lm_output", np.float32, (hidden,)),
    )
