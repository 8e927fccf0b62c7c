"""Predictions as JSON, an object a line."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from vwlite.api.describe import classes_of
from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.label_vocabulary import tag_of
from vwlite.errors import UsageError
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.training.output_config import OutputConfig
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.predictions import Predictions

NO_ANSWER = b'{"prediction": null}\n'


class JsonPredictions(Predictions):
    """Writes ``{"prediction": 0.25, "tag": "a"}`` for every example; of a malformed line the prediction is null.

    ``key`` in place of ``prediction`` where probabilities, scores or raw predictions are asked for; those of classes
    are an object by class, several numbers a list or, with names, an object. ``confidence`` is there where it is asked
    for, ``tag`` where there is one.
    """

    def __init__(self, writer: PredictionWriter, learner: Learner, key: str, raw: bool) -> None:
        super().__init__(writer, learner, raw=raw, fill_gaps=True)
        self.key = key
        self.classes = [str(one) for one in classes_of(learner)]

    def write_gap(self) -> None:
        self.writer.write_bytes(NO_ANSWER)

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        rows = np.flatnonzero(batch.flags[begin:end] & (BLANK | SAVE) == 0) + begin
        if len(rows) and not self.writer.broken:
            answers = self.learner.answers(batch, results, rows, self.raw)
            lines = [
                json.dumps(self.entry(batch, results, int(row), answer), ensure_ascii=False)
                for row, answer in zip(rows, answers, strict=True)
            ]
            self.writer.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def entry(self, batch: Batch, results: Results, row: int, answer: Any) -> dict[str, Any]:
        found = {self.key: self.shown(answer)}
        if results.flip_importance is not None:
            found["confidence"] = number(results.flip_importance[row])
        if tag := tag_of(batch, row):
            found["tag"] = tag.decode("utf-8", "surrogateescape")
        return found

    def shown(self, answer: Any) -> Any:
        if isinstance(answer, np.ndarray) and self.learner.outputs:
            values = [number(value) for value in answer]
            named = self.learner.config.named_outputs
            return dict(zip(named, values, strict=True)) if named else values
        if isinstance(answer, np.ndarray):
            pairs = self.learner.shown(zip(self.classes, answer, strict=True), self.raw)  # type: ignore[attr-defined]
            return {name: number(value) for name, value in pairs}
        return number(answer) if isinstance(answer, np.floating) else getattr(answer, "item", lambda: answer)()


def number(value: np.floating) -> float | None:
    """As many digits as single precision needs; None, JSON's null, for what is no finite number."""
    return float(str(value)) if np.isfinite(value) else None


def opener(key: str) -> Any:
    """In place of ``open_predictions``, with its arguments."""
    return partial(open_json_predictions, key)


def open_json_predictions(
    key: str, closing: ExitStack, output: OutputConfig, learner: Learner, *, as_raw: bool, fill_gaps: bool
) -> list[JsonPredictions]:
    """Raises OutputError, UsageError for learners of groups of lines."""
    if learner.multiline:
        raise UsageError("--jsonl does not go with groups of lines")
    if as_raw and not learner.simple_labels:
        learner.want_scores()
    writer = closing.enter_context(PredictionWriter(output.predictions or "-"))
    return [JsonPredictions(writer, learner, key, as_raw)]
