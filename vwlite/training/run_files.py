"""The files around a run that writes a model: the model it goes on from, its lock, and its ledger of files learned."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from vwlite.options import Request
from vwlite.storage.atomic_file import atomic_copy, is_replaceable
from vwlite.storage.file_lock import lock
from vwlite.training import ledger
from vwlite.training.ledger import Entry, Ledger, Seen, seen
from vwlite.training.output_config import CheckpointConfig

Say = Callable[[str], None]


class Remarks(NamedTuple):
    """Where remarks on files go, and warnings that something may be learned that should not be."""

    say: Say
    warn: Say

    @classmethod
    def of(cls, say: Say, quiet: bool) -> Remarks:
        """``quiet``: warnings only."""
        return cls(be_silent if quiet else say, say)


def be_silent(line: str) -> None:
    """Says nothing."""


class RunFiles:
    """``initial``: the model to go on from; ``model``: the one to be written; None for none."""

    def __init__(self, initial: str | None, model: str | None, restart: CheckpointConfig, remarks: Remarks) -> None:
        self.initial, self.model, self.restart, self.remarks = initial, model, restart, remarks
        self.known: list[Entry] = []  # what the model of ``initial`` has learned

    @classmethod
    def of(cls, request: Request, remarks: Remarks) -> RunFiles:
        values = request.values
        return cls(values.get("initial"), values.get("model"), request.config(CheckpointConfig), remarks)

    def locked(self) -> AbstractContextManager[None]:
        """Within, nobody else writes the model. Raises Locked, OutputError."""
        return lock(self.model, self.restart.lock_wait) if self.model else nullcontext()

    def settle_initial(self) -> None:
        """A command that is repeated for ever begins without a model: nothing can be lost or mistaken."""
        initial, model = self.initial, self.model
        same = initial and model and os.path.realpath(initial) == os.path.realpath(model)
        if same and self.restart.skip_seen and not os.path.lexists(initial):
            self.remarks.say(f"there is no {initial} yet: training begins at the start")
            self.initial = None

    def read_ledger(self, stopped: list[Entry] | None = None) -> None:
        """Find out what the model of ``initial`` has learned; ``stopped``: what it had when a stopped run began.

        Raises ModelError for a damaged ledger.
        """
        initial, skip = self.initial, self.restart.skip_seen
        if not initial or stopped is not None:
            self.known = stopped or []
            return
        self.known = ledger.read(initial)
        if not self.known and (skip or os.path.exists(ledger.ledger_path(initial))):
            tell = self.remarks.warn if skip else self.remarks.say
            tell(f"{ledger.doubt(initial)}{': no file is skipped' if skip else ''}")

    def unseen(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """The inputs but for those that were learned before, where these are to be skipped."""
        again, skip = seen(self.known, paths), self.restart.skip_seen
        skipped = {path for path, one in again.items() if skip and one.whole}
        for path, one in again.items():
            tell = self.remarks.say if path in skipped else self.remarks.warn
            tell(f"{one.told(path)}{advice(one, skip)}")
        return tuple(path for path in paths if path not in skipped)

    def keep_model(self) -> None:
        """There is nothing new: the model stays as it is, under the name it is to have, with what is known of it."""
        initial, model = self.initial, self.model
        if initial and model and os.path.realpath(initial) != os.path.realpath(model):
            Ledger(model, self.known, ()).write(ledger.model_digest(initial))
            atomic_copy(initial, model)

    @property
    def keeps_record(self) -> bool:
        """Whether a ledger and a checkpoint stand beside the model: it is a file."""
        return bool(self.model) and is_replaceable(self.model)

    def ledger(self, paths: tuple[str, ...], whole: bool = True) -> Ledger | None:
        """Of a run that is about to read these inputs, all of them or a part."""
        return Ledger(self.model, self.known, paths, whole) if self.keeps_record else None


def advice(one: Seen, skip: bool) -> str:
    """What becomes of an input that was learned before, and what would be better."""
    if one.grown:
        return ": all of it is learned again; give what is new a file of its own"
    if one.whole:
        return ": skipped" if skip else "; --skip-seen would skip it"
    return ": all of it is learned" if skip else ""
