"""Checkpoints: what a stopped run needs to go on to the very bytes an uninterrupted run would have written.

``MODEL.ckpt`` is a model as any other, which says in addition how far the run had come. A resumed run reads its input
again from the start of the pass, passes over the rows it had learned, and goes on.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, BinaryIO, Protocol, TypeVar
from weakref import proxy

from vwlite.config_check import JsonObject
from vwlite.data.blocks import fingerprint, is_unchanged_text, same_file
from vwlite.errors import Diverged, ModelError, UsageError, VwliteError
from vwlite.interrupts import Interrupted
from vwlite.options import OptionValues
from vwlite.storage.atomic_file import OpenOutput, beside_output, output_error
from vwlite.storage.output_checks import CHECKPOINT
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.ledger import Entry, RunFiles
from vwlite.training.listener import Listener
from vwlite.training.model_writer import ModelWriter, remove_kept
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.trainer import Trainer
from vwlite.version import __version__

PIECE = 1 << 20  # bytes copied at once


class Partial:
    """``FILE.ckpt``, the first bytes of what ``writer`` writes; nothing for a stream, whose bytes are gone."""

    def __init__(self, writer: PredictionWriter) -> None:
        self.writer, self.path = writer, f"{writer.name}{CHECKPOINT}"
        self.streams = writer.regular_file is None
        self.kept = 0  # bytes that stand in the file

    def save(self) -> int:
        """Keep all that has been written; returns how many bytes that is. Raises OutputError."""
        if self.streams:
            return 0
        file, before = self.writer.regular_file, self.kept
        try:
            file.flush()
            end = os.fstat(file.fileno()).st_size
            with self.open(stat.S_IMODE(os.fstat(file.fileno()).st_mode)) as out:
                out.seek(self.kept)
                while self.kept < end:
                    piece = os.pread(file.fileno(), min(PIECE, end - self.kept), self.kept)
                    out.write(piece)
                    self.kept += len(piece)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            self.kept = before  # what an earlier checkpoint counts on stays
            if not before:
                self.remove()
            raise output_error(self.path, error) from None
        return end

    def open(self, mode: int) -> BinaryIO:
        """The file as it was left, or in place of what has its name a new one with these permission bits."""
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        if not self.kept:
            flags |= os.O_CREAT | os.O_EXCL
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
        return open(os.open(self.path, flags, mode), "wb")

    def restore(self, size: int) -> None:
        """Write the first ``size`` bytes again. Raises ModelError when they are gone."""
        if self.streams:
            return
        left = size
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            while left and (piece := file.read(min(PIECE, left))):
                self.writer.write_bytes(piece)
                left -= len(piece)
        if left:
            raise ModelError(f"{self.path} lacks predictions of the stopped run: start again without --resume")
        self.kept = size

    def remove(self) -> None:
        if not self.streams:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


# On what is learned; ``types`` are those of the model that the checkpoint goes on from.
OF_NO_EFFECT = frozenset(["threads", "block_size", "cache", "kill_cache", "types"])


class Loaded(Protocol):
    """A model with its state: what ``Checkpoint.load`` reads."""

    @property
    def header(self) -> JsonObject: ...


Read = TypeVar("Read", bound=Loaded)
Write = Callable[[str, JsonObject, OpenOutput], None]  # takes path, run and what opens files


class Checkpoint:
    """``MODEL.ckpt`` of whatever learns in files: its owner reads and writes the state, this says whose it is.

    ``options``: those that decide what the run learns, as JSON data. ``every``: seconds between two checkpoints,
    None: one is written on a signal only. ``say`` tells the user.
    """

    def __init__(
        self, model: str, options: OptionValues, paths: Sequence[str], say: Callable[[str], None],
        every: float | None = None,
    ) -> None:
        self.model, self.path, self.say, self.every = model, f"{model}{CHECKPOINT}", say, every
        self.options = json.loads(json.dumps({**options, "version of vwlite": __version__}))
        self.found = fingerprint(paths)
        self.written = False
        self.last = time.monotonic()
        self.run: JsonObject | None = None  # what the loaded one says of the run to go on from

    @property
    def stands(self) -> bool:
        return os.path.exists(self.path)

    def remark_on_standing(self) -> None:
        """Print a note if a new run ignores an existing checkpoint."""
        if self.stands:
            self.say(f"training starts again; --resume would have continued from {self.path}, left by a stopped run")

    def load(self, read: Callable[[str], Read]) -> Read | None:
        """Return what to go on from, as ``read`` makes it of the file's path, None when there is no checkpoint.

        Raises ModelError when it is none, is damaged or its input has changed, UsageError when the command has.
        """
        if not self.stands:
            self.say(f"there is no {self.path} to resume: training starts from the beginning")
            return None
        loaded = read(self.path)
        self.run = self.check(loaded.header)
        return loaded

    def check(self, header: Mapping[str, Any]) -> JsonObject:
        """Return what the checkpoint with this header says of its run, which is to be this one. Raises as ``load``."""
        run = header.get("run")
        if not isinstance(run, dict):
            raise ModelError(f"{self.path} is a model, not a checkpoint")
        check_same(self.path, run.get("told"), self.options)
        if not are_still(run["inputs"], self.found):
            raise ModelError(f"the input has changed since {self.path} was written: start again without --resume")
        self.written = True
        return run

    def save(self, state: Mapping[str, Any], contents: Mapping[str, Any], write: Write) -> bool:
        """Write it; returns True.

        ``state``: what the owner goes on from, JSON data. ``contents``: of files, digested as far as they were read.
        ``write`` takes the path, what the header has as ``run``, and what opens files beside the model. Raises
        OutputError, Diverged.
        """
        inputs = [found and {**found, "text": contents.get(found["path"])} for found in self.found]
        open_output = functools.partial(beside_output, like=self.model)
        write(self.path, {"told": self.options, "inputs": inputs, **state}, open_output)
        self.written, self.last = True, time.monotonic()
        return True

    @property
    def due(self) -> bool:
        return self.every is not None and time.monotonic() - self.last >= self.every

    @property
    def kept(self) -> str:
        return f"; {self.path} keeps what was learned, --resume goes on with it" if self.written else ""

    def remove(self) -> None:
        """The model is complete."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    @contextlib.contextmanager
    def saving(self, save: Callable[[], bool]) -> Iterator[None]:
        """A context in which a stopped run writes a checkpoint and says so. ``save`` returns whether it wrote one.
        """
        try:
            yield
        except Interrupted as signal:
            raise Interrupted(signal.number, self.kept if save() else "") from signal
        except Diverged as error:
            raise Diverged(f"{error}{self.kept}") from error


class CheckpointWriter(Listener):
    """Writes the checkpoint: of the trainer, all its listeners, and what they have written so far."""

    def __init__(
        self, checkpoint: Checkpoint, source: FileBatches, model: ModelWriter, writers: Iterable[PredictionWriter]
    ) -> None:
        """``writers`` of predictions are to be open."""
        self.checkpoint, self.source, self.model = checkpoint, source, model
        self.partials = [Partial(writer) for writer in writers]
        self.trainer: Trainer | None = None

    def begin(self, run: Trainer) -> None:
        """Go on from the checkpoint loaded, if one was. Raises ModelError."""
        self.trainer = proxy(run)  # no circle: tables of a run that is over are freed at once
        state, checkpoint = self.checkpoint.run, self.checkpoint
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
            raise ModelError(f"{checkpoint.path} is not a checkpoint of this version ({error})") from error
        checkpoint.say(f"continuing after {run.position.skip} examples of pass {run.passes_done + 1}")

    def between(self) -> None:
        if self.checkpoint.due:
            self.save()

    def saving(self) -> AbstractContextManager[None]:
        return self.checkpoint.saving(self.save)

    def save(self) -> bool:
        """Write the checkpoint, unless it would say less than the one there is. Raises OutputError, Diverged."""
        run = self.trainer
        started = run is not None and (run.passes_done or run.position.rows)
        if not started or not run.position.reached:
            return self.checkpoint.written
        if run.learner.config.needs_full_passes or run.learner.stopped_in_group:
            return self.checkpoint.written
        state = {"partials": [partial.save() for partial in self.partials], **run.state()}
        for listener in run.listeners:
            state |= listener.state()
        return self.checkpoint.save(state, self.source.contents, self.model.write_model)

    def remove(self) -> None:
        """The model is complete."""
        self.checkpoint.remove()
        for partial in self.partials:
            partial.remove()
        for path in self.model.targets:
            remove_kept(path)


def known_when_stopped(files: RunFiles, read_header: Callable[[str], Mapping[str, Any]]) -> list[Entry] | None:
    """The ledger as a stopped run found it, None where none was stopped. Raises ModelError, as ``read_header`` does."""
    path = f"{files.model}{CHECKPOINT}"
    if not (files.restart.resume and files.initial and files.keeps_record and os.path.exists(path)):
        return None
    run = read_header(path).get("run")
    return run["known"] if run else None


def deciding_options(config: RunConfig) -> OptionValues:
    """The options that decide what a run learns and keeps, as JSON data."""
    output = config.output
    kept = {"predictions": output.predictions, "raw_predictions": output.raw_predictions, "names": output.names}
    return {
        **{name: value for name, value in asdict(config.input).items() if name not in OF_NO_EFFECT},
        **config.features.header(),
        **{name: value for name, value in asdict(config.learner).items() if (name, value) != ("label_units", "raw")},
        **{name: value for name, value in asdict(config.holdout).items() if (name, value) != ("path", None)},
        "curriculum": {**asdict(config.curriculum), "passes": config.curriculum.passes or 0},  # 0: half of all
        **kept,
        "predict_only_model": output.predict_only_model,
        "invert_hash": bool(output.invert_hash),
        "passes": config.passes,
    }


def check_same(path: str, then: Any, now: JsonObject) -> None:
    """Raises UsageError for the first option that differs."""
    then = then if isinstance(then, dict) else {}
    for name in {**then, **now}:
        if then.get(name) != now.get(name):
            raise UsageError(
                f"--resume continues the command that was stopped, but {name} was {then.get(name)} there and is "
                f"{now.get(name)} here: give the same options, or start again without --resume ({path})"
            )


def are_still(then: list[JsonObject | None], now: list[JsonObject | None]) -> bool:
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
