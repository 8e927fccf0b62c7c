"""Predicting, as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from vwlite.data.config import BadLinesConfig
from vwlite.errors import Diverged, ModelError, UsageError
from vwlite.learners.abilities import ClassScores, Confident
from vwlite.learners.base import Learner, collect_non_finite, has_simple_labels, writes_lines
from vwlite.training.assembly import MalformedLineCheck, audit_of, goes_by_rows, malformed_line_policy
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored
from vwlite.training.predictions import Predictions, Unmoved, open_predictions
from vwlite.training.trainer import Trainer

NOT_FINITE = "1 prediction is not a finite number"


class Unread(Exception):
    """The readers of all predictions went away."""


class Readers(Listener):
    """Ends the run when nobody reads its predictions any more."""

    def __init__(self, predictions: Sequence[Predictions]) -> None:
        self.writers = [prediction.writer for prediction in predictions]

    def between(self) -> None:
        """Raises Unread."""
        if all(writer.broken for writer in self.writers):
            raise Unread


def predict(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig | None = None,
    *,
    quiet: bool = False,
    confidence: bool = False,
    importance_to: float | None = None,
    as_raw: bool = False,
    top: int | None = None,
    with_labels: bool = False,
    display: Display | None = None,
    open_answers: Callable[..., list[Predictions]] = open_predictions,
) -> bool:
    """Predict every example, whatever its label; the prediction for a malformed line is ``nan``.

    ``confidence`` adds the importance that would flip the sign of the prediction, ``importance_to`` the importance
    that would move the prediction to this value (see ``vwlite.learners.active.target_importance_learner``; before the
    link with ``as_raw``). ``as_raw``: write answers of a model of classes in the format of raw predictions; ``top``:
    write scores or probabilities of this number of classes; ``with_labels``: also read labels that are words;
    ``quiet``: print no messages; ``open_answers``: opens the writer of the answers. Returns whether the predictions
    went to a pipe that was closed, at which the run ends if there are no others.

    Raises UsageError when the model, which is to be started for it, cannot tell. DataError (too many lines were
    malformed) and Diverged (a prediction was not a finite number) are raised only at the end, when all predictions are
    written.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    learner, plan = model.learner, model.plan
    if importance_to is not None:
        from vwlite.learners.active import target_importance_learner  # imported only here

        learner = target_importance_learner(check_resumable(model).learner, importance_to, as_raw)
    say = None if quiet else display.message
    words = with_labels and config.learner.label_words is not None
    needs_labels = words or importance_to is not None
    policy = malformed_line_policy(
        config, learner, model, bad_lines, say, check_labels=needs_labels, to_the_end=True, insist=display.message
    )
    audit = audit_of(config, learner, plan, display)
    source = FileBatches(config, learner, policy, display)
    if confidence:
        check_confidence(learner, beside_lines=open_answers is open_predictions)
    if top is not None:
        if not isinstance(learner, ClassScores):
            raise UsageError("--top is for the scores and probabilities of models of classes")
        learner.show_top(top, as_raw)
    collect_non_finite(learner)
    unmoved = Unmoved()
    with ExitStack() as closing:
        closing.callback(source.close)
        predictions = open_answers(closing, config.output, learner, as_raw=as_raw, fill_gaps=True)
        closing.enter_context(policy.keeping())
        closing.callback(display.close)
        display.start(source.inputs.size())
        watching = [unmoved] if has_simple_labels(learner) else []
        listeners = [*audit, *predictions, *watching, MalformedLineCheck(policy)]
        listeners += [Readers(predictions)] if predictions else []
        beside = confidence or importance_to is not None
        try:
            Trainer(learner, plan, source, listeners, row_by_row=goes_by_rows(audit), confidence=beside).run()
        except Unread:
            return True
    if say and (warning := unmoved.warning(learner, plan, source.inputs.format)):
        say(f"note: {warning}")
    if say and (missing := source.inputs.missing_columns(labelled=False)):
        say(f"note: {missing}")
    policy.check_ratio(policy.lines)
    source.inputs.check_columns(labelled=False)
    if learner.non_finite:
        raise Diverged(not_finite(learner.non_finite))
    return any(prediction.writer.broken for prediction in predictions)


def check_confidence(learner: Learner, beside_lines: bool) -> None:
    """Raises UsageError where no confidence can be told, or, ``beside_lines`` as they are printed, none shown."""
    if not (isinstance(learner, Confident) and learner.tells_confidence):
        raise UsageError(
            "--confidence needs a model of gradient descent (also --ftrl) or dot products that can go on learning (no "
            "--predict_only_model)"
        )
    if beside_lines and writes_lines(learner):
        raise UsageError("--confidence stands beside answers, not beside numbers of classes: drop one, or add --jsonl")


def not_finite(places: list[str]) -> str:
    """The error for predictions, one or more, that are not finite numbers."""
    several = f"{len(places)} predictions are not finite numbers" if len(places) > 1 else NOT_FINITE
    return f"{several}; the first: {places[0]}"


def check_resumable(model: Restored) -> Restored:
    """The model. Raises ModelError where it has no rates, with which to know how far an update moves a prediction."""
    if not model.header.get("resumable", True):
        raise ModelError("the model was saved with --predict_only_model: it does not have the rates of training")
    return model
