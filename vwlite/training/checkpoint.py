"""Checkpoints: what a stopped run needs to go on to the very bytes an uninterrupted run would have written.

``MODEL.ckpt`` is a model as any other, which says in addition how far the run had come. A resumed run reads its input
again from the start of the pass, passes over the rows it had learned, and goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any
from weakref import proxy

from vwlite.data.blocks import fingerprint, same_file
from vwlite.data.digests import is_unchanged_text
from vwlite.errors import Diverged, ModelError, UsageError, VwliteError
from vwlite.interrupts import Interrupted
from vwlite.storage.atomic_file import beside_output
from vwlite.storage.output_checks import CHECKPOINT
from vwlite.training.best_pass import remove_kept
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Listener
from vwlite.training.model_header import stored
from vwlite.training.model_loader import Restored, restore
from vwlite.training.model_writer import ModelWriter
from vwlite.training.partial_predictions import Partial
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.trainer import Trainer
from vwlite.version import __version__

# On what is learned; ``types`` are those of the model that the checkpoint goes on from.
OF_NO_EFFECT = frozenset(["threads", "block_size", "cache", "kill_cache", "types"])


class Checkpoints:
    """The checkpoint of a run, as ``--resume`` reads it. ``every``: seconds from one to the next, None for only on a
    signal. ``say`` tells the user.
    """

    def __init__(self, config: RunConfig, say: Callable[[str], None], *, every: float | None = None) -> None:
        self.path, self.say, self.every = checkpoint_path(config), say, every
        self.max_memory = config.max_memory
        self.told = told(config)
        self.found = fingerprint(config.input.paths)
        self.run: dict[str, Any] | None = None  # of the checkpoint to go on from

    def load(self) -> Restored | None:
        """What to go on from, None when there is no checkpoint.

        Raises ModelError when it is damaged or its input has changed, UsageError when the command has.
        """
        if not os.path.exists(self.path):
            self.say(f"there is no {self.path} to go on from: training begins at the start")
            return None
        changes: dict[str, Any] = {"learner_changes": {}, "feature_changes": {}}
        restored = restore(self.path, learning=True, vw_compat=False, max_memory=self.max_memory, **changes)
        run = restored.header.get("run")
        if run is None:
            raise ModelError(f"{self.path} is a model, not a checkpoint")
        check_same(self.path, run.get("told"), self.told)
        if not are_still(run["inputs"], self.found):
            raise ModelError(f"the input has changed since {self.path} was written: start anew, without --resume")
        self.run = run
        return restored

    def writer(
        self, source: FileBatches, model: ModelWriter, predictions: Iterable[PredictionWriter]
    ) -> CheckpointWriter:
        """What writes it while the run goes on."""
        return CheckpointWriter(self, source, model, predictions)

    @property
    def passes_done(self) -> int:
        """By the run that is resumed."""
        return self.run["passes_done"] if self.run else 0


class CheckpointWriter(Listener):
    """Writes the checkpoint: of the trainer, all its listeners, and what they have written so far."""

    def __init__(
        self, checkpoints: Checkpoints, source: FileBatches, model: ModelWriter, writers: Iterable[PredictionWriter]
    ) -> None:
        """``writers`` of predictions are to be open."""
        self.checkpoints, self.source, self.model = checkpoints, source, model
        self.partials = [Partial(writer) for writer in writers]
        self.trainer: Trainer | None = None
        self.written = checkpoints.run is not None
        self.last = time.monotonic()

    def begin(self, run: Trainer) -> None:
        """Go on from the checkpoint loaded, if one was. Raises ModelError."""
        self.trainer = proxy(run)  # no circle: tables of a run that is over are freed at once
        state, checkpoints = self.checkpoints.run, self.checkpoints
        if not state:
            return
        try:
            for part in (run, *run.listeners):
                part.restore(state)
            for partial, size in zip(self.partials, state["partials"], strict=True):
                partial.restore(size)
        except VwliteError:
            raise
        except (KeyError, ValueError) as error:
            raise ModelError(f"{checkpoints.path} is no checkpoint of this version ({error})") from error
        checkpoints.say(f"going on after {run.position.skip} examples of pass {run.passes_done + 1}")

    def between(self) -> None:
        every = self.checkpoints.every
        if every is not None and time.monotonic() - self.last >= every:
            self.save()

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Within, a run that is stopped leaves a checkpoint, and what ends it says so."""
        try:
            yield
        except Interrupted as signal:
            raise Interrupted(signal.number, self.kept if self.save() else "") from signal
        except Diverged as error:
            raise Diverged(f"{error}{self.kept}") from error

    def save(self) -> bool:
        """Write the checkpoint, unless it would say less than the one there is. Raises OutputError, Diverged."""
        run = self.trainer
        started = run is not None and (run.passes_done or run.position.rows)
        if not started or not run.position.reached or not run.learner.resumable:
            return self.written
        partials = [partial.save() for partial in self.partials]
        contents = self.source.contents
        inputs = [found and {**found, "text": contents.get(found["path"])} for found in self.checkpoints.found]
        state = {"told": self.checkpoints.told, "inputs": inputs, "partials": partials, **run.state()}
        for listener in run.listeners:
            state |= listener.state()
        model_path = self.model.config.output.model
        self.model.write_model(self.checkpoints.path, state, lambda path: beside_output(path, like=model_path))
        self.written, self.last = True, time.monotonic()
        return True

    @property
    def kept(self) -> str:
        return f"; {self.checkpoints.path} keeps what was learned, --resume goes on with it" if self.written else ""

    def remove(self) -> None:
        """The model is complete."""
        with contextlib.suppress(OSError):
            os.unlink(self.checkpoints.path)
        for partial in self.partials:
            partial.remove()
        for path in self.model.targets:
            remove_kept(path)


def known_then(config: RunConfig) -> list[dict[str, Any]] | None:
    """The ledger as a stopped run found it, None where none was stopped. Raises ModelError."""
    path = checkpoint_path(config)
    if not config.output.model or not os.path.exists(path):
        return None
    run = stored(path).header.get("run")
    return run["known"] if run else None


def checkpoint_path(config: RunConfig) -> str:
    return f"{config.output.model}{CHECKPOINT}"


def told(config: RunConfig) -> dict[str, Any]:
    """What the run was told that decides what it learns and keeps, as JSON data."""
    output = config.output
    kept = {"predictions": output.predictions, "raw_predictions": output.raw_predictions, "names": output.names}
    options = {
        **{name: value for name, value in asdict(config.input).items() if name not in OF_NO_EFFECT},
        **config.features.header(),
        **asdict(config.learner),
        **asdict(config.holdout),
        "curriculum": {**asdict(config.curriculum), "passes": config.curriculum.passes or 0},  # 0: half of all
        **kept,
        "predict_only_model": output.predict_only_model,
        "invert_hash": bool(output.invert_hash),
        "passes": config.passes,
        "version of vwlite": __version__,
    }
    return json.loads(json.dumps(options))


def check_same(path: str, then: Any, now: dict[str, Any]) -> None:
    """Raises UsageError for the first option that differs."""
    then = then if isinstance(then, dict) else {}
    for name in {**then, **now}:
        if then.get(name) != now.get(name):
            raise UsageError(
                f"--resume goes on with the command that was stopped, but {name} was {then.get(name)} there and is "
                f"{now.get(name)} here: give the same options, or start anew without --resume ({path})"
            )


def are_still(then: list[dict[str, Any] | None], now: list[dict[str, Any] | None]) -> bool:
    """Whether the inputs have what the stopped run had read of them; None stands for pipes, known by their labels.

    Raises as reading them does.
    """
    if len(then) != len(now):
        return False
    for before, after in zip(then, now, strict=True):
        if before is None or after is None or before["path"] != after["path"]:
            if before is not after:
                return False
        elif not (before["settled"] and same_file(before, after)):
            text = before["text"]
            if text and not is_unchanged_text(after["path"], text):
                return False
    return True
