"""Predicting, as a function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from vwlite.data.config import BadLinesConfig
from vwlite.errors import Diverged, ModelError, UsageError
from vwlite.training.assembly import MalformedLineCheck, audit_of, goes_by_rows, malformed_line_policy
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display
from vwlite.training.model_loader import Restored
from vwlite.training.predictions import Predictions, Unmoved, open_predictions
from vwlite.training.trainer import Trainer

NOT_FINITE = "1 prediction is not a finite number"


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
    """Predict every example, whatever its label; a malformed line's prediction is ``nan``.

    ``confidence`` adds the importance that would flip the prediction's sign, ``importance_to`` that which would carry
    the prediction there (see ``vwlite.learners.active.aimed``; with ``as_raw`` before the link); ``as_raw`` writes
    answers of a model of classes as raw predictions are; ``top``: of scores or probabilities, those of so many classes;
    ``with_labels``: labels that are words are read, too; ``quiet``: no messages; ``open_answers`` opens what writes
    them. True when the reader of the predictions went away.

    Raises UsageError when the model, which is to be started for it, cannot tell. DataError (too many lines were
    malformed) and Diverged (a prediction was not a finite number) are raised only at the end, when all predictions are
    written.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    learner, plan = model.learner, model.plan
    if importance_to is not None:
        from vwlite.learners.active import aimed  # which other predictions need not

        learner = aimed(resumable(model).learner, importance_to, as_raw)
    say = None if quiet else display.message
    words = with_labels and config.learner.label_words is not None
    wanted = words or importance_to is not None  # labels
    policy = malformed_line_policy(
        config, learner, model, bad_lines, say, check_labels=wanted, to_the_end=True, insist=display.message
    )
    audit = audit_of(config, learner, plan, display)
    source = FileBatches(config, learner, policy, display)
    if confidence and not learner.supports_confidence:
        raise UsageError(
            "--confidence needs a model of gradient descent (also --ftrl) or dot products that can go on learning (no "
            "--predict_only_model)"
        )
    if confidence and learner.custom_output and open_answers is open_predictions:
        raise UsageError("--confidence stands beside answers, not beside numbers of classes: drop one, or add --jsonl")
    if top is not None:
        learner.show_top(top, as_raw)
    learner.collect_non_finite()
    unmoved = Unmoved()
    with ExitStack() as closing:
        closing.callback(source.close)
        predictions = open_answers(closing, config.output, learner, as_raw=as_raw, fill_gaps=True)
        closing.enter_context(policy.keeping())
        closing.callback(display.close)
        display.start(source.inputs.size())
        watching = [unmoved] if learner.simple_labels else []
        listeners = [*audit, *predictions, *watching, MalformedLineCheck(policy)]
        beside = confidence or importance_to is not None
        Trainer(learner, plan, source, listeners, row_by_row=goes_by_rows(audit), confidence=beside).run()
    if say and (warning := unmoved.warning(learner, plan, source.inputs.format)):
        say(f"note: {warning}")
    if say and (missing := source.inputs.missing_columns(labelled=False)):
        say(f"note: {missing}")
    policy.check_ratio(policy.lines)
    source.inputs.check_columns(labelled=False)
    if learner.non_finite:
        raise Diverged(not_finite(learner.non_finite))
    return any(one.writer.broken for one in predictions)


def not_finite(places: list[str]) -> str:
    """The error for predictions, one or more, that are not finite numbers."""
    several = f"{len(places)} predictions are not finite numbers" if len(places) > 1 else NOT_FINITE
    return f"{several}; the first: {places[0]}"


def resumable(model: Restored) -> Restored:
    """The model. Raises ModelError where it has no rates, with which to know how far an update moves a prediction."""
    if not model.header.get("resumable", True):
        raise ModelError("the model was saved with --predict_only_model: it does not have the rates of training")
    return model
