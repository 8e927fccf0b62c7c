"""Training, and testing on labelled data, as a function."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vwlite.data.malformed_lines import BadLines
from vwlite.errors import Diverged, ModelError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.interrupts import Interrupted
from vwlite.learners import learner_class
from vwlite.learners.label_check import LabelCheck
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.loop import run
from vwlite.training.model_loader import Restored, restore
from vwlite.training.progress import tell
from vwlite.training.trainer import Session

NOT_FINITE = "1 prediction is not a finite number"

if TYPE_CHECKING:
    from vwlite.data.class_labels import ClassLabels
    from vwlite.training.checkpoint import Checkpoints
    from vwlite.training.ledger import Ledger


@dataclass(frozen=True, slots=True)
class BadLinesConfig:
    """What happens to malformed lines; see ``vwlite.data.malformed_lines.BadLines``."""

    max_ratio: float = 0.01
    strict: bool = False
    keep: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.max_ratio <= 1:
            raise UsageError(f"--max-bad-ratio takes a number from 0 to 1, not {self.max_ratio:g}")


def say(line: str) -> None:
    """A line for the user, on standard error."""
    tell(f"vwlite: {line}")


def start(
    config: RunConfig,
    initial: str | None = None,
    learner_changes: Mapping[str, Any] | None = None,
    feature_changes: Mapping[str, Any] | None = None,
    loss_changes: Mapping[str, Any] | None = None,
    confident: bool = False,
) -> tuple[RunConfig, Restored | None]:
    """The configuration to run with and, with ``initial``, the model to go on from, some options changed.

    ``confident``: it is to tell how sure its predictions are, if it can.

    Raises ModelError when it is to go on learning and cannot, and as ``vwlite.training.model_loader.restore``.
    """
    if initial is None:
        return config, None
    model = restore(
        initial,
        learning=config.learning,
        strict=config.strict,
        learner_changes=dict(learner_changes or {}),
        feature_changes=dict(feature_changes or {}),
        loss_changes=dict(loss_changes or {}),
        confident=confident,
    )
    if config.learning:
        go_on(initial, model, dict(learner_changes or {}))
        if model.learner.config.decay_learning_rate != 1 and not config.output.quiet:
            rate = f"the learning rate has decayed to {model.learner.get('rate'):g}"
            say(f"{rate} over {model.passes} passes, each run being one; -l sets another")
        if model.header["names"]:
            config = replace(config, output=replace(config.output, names=True))
    return replace(config, features=model.features, learner=model.learner.config), model


def go_on(path: str, model: Restored, typed: Mapping[str, Any]) -> None:
    """Let options that differ from the model's take the place of what it had come to."""
    if not model.header["resumable"]:
        raise ModelError(f"{path} cannot go on learning: it was saved with --predict_only_model")
    config, old = model.learner.config, model.header["config"]
    if "learning_rate" in typed and typed["learning_rate"] != old["learning_rate"]:
        model.learner.set(rate=config.initial_learning_rate)
    bounds = config.prediction_bounds
    if bounds and bounds != (old["min_prediction"], old["max_prediction"]):
        model.learner.set(min_label=bounds[0], max_label=bounds[1])


def train(
    config: RunConfig,
    model: Restored | None = None,
    bad_lines: BadLinesConfig | None = None,
    checkpoints: "Checkpoints | None" = None,
    ledger: "Ledger | None" = None,
) -> Session:
    """Run through the data once per pass; the session, finished, holds counters and learner.

    ``model``: what to go on from, a checkpoint's when ``checkpoints`` has loaded it. ``ledger`` is written with the
    model. Raises the errors of ``vwlite.errors``, and ``Interrupted``; what is written then is described in
    ``vwlite.storage.atomic_file``.
    """
    session = open_session(config, model, bad_lines or BadLinesConfig(), config.output.quiet)
    if ledger:
        session.saver.ledger = ledger
        ledger.watch(session.inputs)
    with session:
        if not checkpoints:
            run(session, config.output.audit)
            return session
        try:
            checkpoints.attach(session)
            run(session, config.output.audit)
        except Interrupted as signal:
            if checkpoints.save():
                signal.kept = checkpoints.kept
            raise
        except Diverged as error:
            raise Diverged(f"{error}{checkpoints.kept}") from error
    if checkpoints:
        checkpoints.remove()
    return session


def predict(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig | None = None,
    quiet: bool = False,
    confidence: bool = False,
    as_raw: bool = False,
) -> Session:
    """Predict every example, whatever its label; a malformed line's prediction is ``nan``.

    ``confidence`` adds the importance that would flip the prediction's sign; ``as_raw`` writes answers of a model of
    classes as raw predictions are. Raises UsageError when the model, which is
    to be started for it, cannot tell. DataError (too many lines were malformed) and Diverged (a prediction was not a
    finite number) are raised only at the end, when all predictions are written.
    """
    session = open_session(config, model, bad_lines or BadLinesConfig(), quiet, predicting=True)
    if confidence:
        if not model.learner.supports_confidence:
            raise UsageError(
                "--confidence needs a model of plain gradient descent or dot products that can go on learning (no "
                "--predict_only_model)"
            )
        session.results.want_flips()
    session.fill_gaps, session.answers_raw = True, as_raw
    model.learner.answer_all()
    with session:
        run(session, config.output.audit)
    if not quiet:
        tell_unmoved(session)
    session.policy.check_ratio(session.policy.lines)
    if odd := model.learner.odd:
        several = f"{len(odd)} predictions are not finite numbers" if len(odd) > 1 else NOT_FINITE
        raise Diverged(f"{several}; the first: {odd[0]}")
    return session


def tell_unmoved(session: Session) -> None:
    """That the model knows nothing of these data, where that is so."""
    unmoved = session.unmoved
    warning = unmoved and unmoved.warning(session.learner, session.plan, session.inputs.format)
    if warning:
        say(f"note: {warning}")


def open_session(
    config: RunConfig,
    model: Restored | None,
    bad_lines: BadLinesConfig,
    quiet: bool,
    check_labels: bool = True,
    predicting: bool = False,
) -> Session:
    """A session for commands other than ``vwlite vw``. ``predicting``: labels do not matter."""
    if model:
        learner, plan = model.learner, model.plan
    else:
        kind = learner_class(config.learner.learner)
        learner = kind(config.learner, config.features.bits, learning=config.learning, strict=True)
        plan = Plan(config.features, drop_pairs=learner.drops_pairs)
    labels: LabelCheck | ClassLabels | None = None
    check_labels = check_labels and not predicting
    if check_labels and learner.simple_labels:
        labels = LabelCheck(config.learner.loss, model.negative_label if model else None)
    elif check_labels or learner.multiline:  # whose labels say what can be predicted
        labels = learner.labels()
    policy = BadLines(
        labels,
        None if quiet else say,
        max_ratio=bad_lines.max_ratio,
        strict=bad_lines.strict,
        to_the_end=predicting,
        class_weights=config.input.class_weights,
    )
    session = Session(config, learner, plan, policy, Counters(config.output.progress, learner.simple_labels), model)
    session.bad_lines = bad_lines.keep
    return session
