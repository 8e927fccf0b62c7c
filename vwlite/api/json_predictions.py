"""Predictions as JSON, an object a line."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import numpy as np

from vwlite.api.describe import classes_of
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, tag_of
from vwlite.errors import UsageError
from vwlite.learners.base import Learner, answers_of, has_simple_labels, output_names, shows_actions, want_scores
from vwlite.learners.row_results import Results
from vwlite.training.config import OutputConfig
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.predictions import SETS, Drawing, Draws, Predictions, check_labels_shown, event_rows, label_kind

NO_ANSWER = b'{"prediction": null}\n'


class JsonPredictions(Predictions):
    """Writes ``{"prediction": 0.25, "tag": "a"}`` for every example; of a malformed line the prediction is null.

    ``key`` in place of ``prediction`` where probabilities, scores or raw predictions are asked for; those of classes
    are an object by class, several numbers a list or, with names, an object. ``confidence`` or ``importance`` is there
    where it is asked for, ``tag`` where there is one.
    """

    def __init__(
        self, writer: PredictionWriter, learner: Learner, key: str, raw: bool, labels: bool = False
    ) -> None:
        """``labels``: that of the example is in ``label``, null without one."""
        super().__init__(writer, learner, raw=raw, fill_gaps=True)
        self.key, self.labels = key, labels
        self.classes = [str(label) for label in classes_of(learner)]

    def write_gap(self) -> None:
        self.writer.write_bytes(NO_ANSWER)

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        rows = batch.example_rows(begin, end)
        if len(rows) and not self.writer.broken:
            answers = answers_of(self.learner, batch, results, rows, self.raw)
            lines = [
                json.dumps(self.entry(batch, results, int(row), answer), ensure_ascii=False)
                for row, answer in zip(rows, answers, strict=True)
            ]
            self.writer.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def entry(self, batch: Batch, results: Results, row: int, answer: Any) -> JsonObject:
        entry = {self.key: self.shown(answer)}
        if results.flip_importance is not None:
            key = "confidence" if self.learner.kernel.target is None else "importance"
            entry[key] = number(results.flip_importance[row])
        if self.labels:
            entry["label"] = self.label_of(batch, row)
        if tag := tag_of(batch, row):
            entry["tag"] = tag.decode("utf-8", "surrogateescape")
        return entry

    def label_of(self, batch: Batch, row: int) -> Any:
        learner: Any = self.learner
        if np.isnan(batch.label[row]):
            return None
        if output_names(learner):
            return self.shown(learner.label_of(batch, row))
        if has_simple_labels(learner):
            return number(batch.label[row])
        text = learner.label_text(batch, row)
        sets = label_kind(learner) == SETS
        names = (text.split(",") if text else []) if sets else [text]
        classes = names if learner.config.classes.names else [int(name) for name in names]
        return classes if sets else classes[0]

    def shown(self, answer: Any) -> Any:
        if isinstance(answer, np.ndarray) and output_names(self.learner):
            values = [number(value) for value in answer]
            named = self.learner.config.named_outputs
            return dict(zip(named, values, strict=True)) if named else values
        if isinstance(answer, np.ndarray):
            pairs = self.learner.shown(zip(self.classes, answer, strict=True), self.raw)  # type: ignore[attr-defined]
            return {name: number(value) for name, value in pairs}
        return number(answer) if isinstance(answer, np.floating) else getattr(answer, "item", lambda: answer)()


class JsonDecisions(Predictions):
    """Writes ``{"action": 2, "probability": 0.9, "actions": [...], "tag": "a"}`` for every event.

    ``actions``: objects of action, score, probability and, of lines with one, tag, the best first. The action is the
    best one or, where ``drawing`` has a number for the event, the one that this draws.
    """

    def __init__(self, writer: PredictionWriter, learner: Learner, drawing: Drawing) -> None:
        super().__init__(writer, learner, fill_gaps=True)
        self.drawing = drawing

    def write_gap(self) -> None:
        self.drawing.skip()
        self.writer.write_bytes(b'{"action": null}\n')

    def write_rows(self, batch: Batch, results: Results, values: np.ndarray, begin: int, end: int) -> None:
        learner: Any = self.learner
        for row in event_rows(learner, batch, begin, end):
            chosen, every, tag = learner.decision(batch, results, row, self.drawing.next())
            entry = {"action": chosen.action, "probability": short_number(chosen.probability)}
            entry["actions"] = [
                {"action": action, "score": short_number(score), "probability": short_number(p), **tag_entry(name)}
                for action, p, score, name in every
            ]
            line = json.dumps({**entry, **tag_entry(tag)}, ensure_ascii=False) + "\n"
            self.writer.write_bytes(line.encode("utf-8", "surrogateescape"))


def tag_entry(tag: bytes) -> dict[str, str]:
    return {"tag": tag.decode("utf-8", "surrogateescape")} if tag else {}


def short_number(value: float) -> float | None:
    return number(np.float32(value))


def number(value: np.floating) -> float | None:
    """Round to as many digits as single precision needs; None, JSON's null, for what is no finite number."""
    return float(str(value)) if np.isfinite(value) else None


def open_json_predictions(
    key: str, sample: int | None, labels: bool, closing: ExitStack, output: OutputConfig, learner: Learner, *,
    as_raw: bool, fill_gaps: bool,
) -> list[Predictions]:
    """Raises OutputError, UsageError for learners of groups of lines that are no actions, and as ``Draws``."""
    if labels:
        check_labels_shown(learner)
    draws = Drawing() if sample is None else Draws(learner, sample)
    if learner.config.multiline and (as_raw or not shows_actions(learner)):
        raise UsageError("--jsonl does not go with groups of lines")
    if (as_raw or shows_actions(learner)) and not has_simple_labels(learner):
        want_scores(learner)
    writer = closing.enter_context(PredictionWriter(output.predictions or "-"))
    return [json_listener(writer, learner, key, as_raw, draws, labels)]


def json_listener(
    writer: PredictionWriter, learner: Learner, key: str, raw: bool, drawing: Drawing, labels: bool = False
) -> Predictions:
    if shows_actions(learner) and not raw:
        return JsonDecisions(writer, learner, drawing)
    return JsonPredictions(writer, learner, key, raw, labels)
