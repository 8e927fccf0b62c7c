"""Checkpoints: what a stopped run needs to go on to the very bytes an uninterrupted run would have written.

``MODEL.ckpt`` is a model as any other, which says in addition how far the run had come. A resumed run reads its input
again from the start of the pass, passes over the rows it had learned, and goes on.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from vwlite.data.blocks import fingerprint, same_file
from vwlite.data.digests import is_still
from vwlite.errors import ModelError, UsageError
from vwlite.interrupts import Guard
from vwlite.storage.atomic_file import beside_output
from vwlite.storage.output_checks import CHECKPOINT
from vwlite.training.best_pass import remove_kept
from vwlite.training.config import RunConfig
from vwlite.training.model_header import stored
from vwlite.training.model_loader import Restored, restore
from vwlite.training.partial_predictions import Partial
from vwlite.training.trainer import Session
from vwlite.version import __version__

OF_NO_EFFECT = frozenset(["threads", "block_size", "cache", "kill_cache"])  # on what is learned


class Checkpoints:
    """Writes and reads the checkpoint of a run. ``every``: seconds from one to the next, None for only on a signal."""

    def __init__(
        self,
        config: RunConfig,
        say: Callable[[str], None],
        guard: Guard | None = None,
        *,
        every: float | None = None,
    ) -> None:
        self.path, self.say, self.every = checkpoint_path(config), say, every
        self.guard = guard or Guard()
        self.told = told(config)
        self.found = fingerprint(config.input.paths)
        self.run: dict[str, Any] | None = None  # of the checkpoint to go on from
        self.session: Session | None = None
        self.partials: list[Partial] = []
        self.targets: list[str] = []  # files that the run writes at its end
        self.written = False
        self.last = time.monotonic()

    def load(self) -> Restored | None:
        """What to go on from, None when there is no checkpoint.

        Raises ModelError when it is damaged or its input has changed, UsageError when the command has.
        """
        if not os.path.exists(self.path):
            self.say(f"there is no {self.path} to go on from: training begins at the start")
            return None
        restored = restore(self.path, learning=True, strict=True, learner_changes={}, feature_changes={})
        run = restored.header.get("run")
        if run is None:
            raise ModelError(f"{self.path} is a model, not a checkpoint")
        check_same(self.path, run.get("told"), self.told)
        if not are_still(run["inputs"], self.found):
            raise ModelError(f"the input has changed since {self.path} was written: start anew, without --resume")
        self.run, self.written = run, True
        return restored

    def attach(self, session: Session) -> None:
        """Look after a session that has been entered."""
        self.session, self.targets = session, session.saver.targets
        session.undisturbed, session.between = self.guard.undisturbed, self.look
        session.inputs.digested = True
        self.partials = [Partial(writer) for writer in (session.predictions, session.raw) if writer]
        if not self.run:
            return
        try:
            go_on(session, self.run)
            for partial, size in zip(self.partials, self.run["partials"], strict=True):
                partial.restore(size)
        except (KeyError, ValueError) as error:
            raise ModelError(f"{self.path} is no checkpoint of this version ({error})") from error
        self.say(f"going on after {session.place.skip} examples of pass {session.passes_done + 1}")

    def look(self) -> None:
        """Between two batches: has a signal arrived, is it time to write?"""
        self.guard.check()
        if self.every is not None and time.monotonic() - self.last >= self.every:
            self.save()

    def save(self) -> bool:
        """Write the checkpoint, unless it would say less than the one there is. Raises OutputError, Diverged."""
        session = self.session
        started = session is not None and (session.passes_done or session.place.rows)
        if not started or not session.place.reached or not session.learner.resumable:
            return self.written
        partials = [partial.save() for partial in self.partials]
        contents = session.inputs.contents
        inputs = [found and {**found, "text": contents.get(found["path"])} for found in self.found]
        run = {"told": self.told, "inputs": inputs, "partials": partials, **state_of(session)}
        model_path = session.config.output.model
        session.saver.write_model(self.path, run, lambda path: beside_output(path, like=model_path))
        self.written, self.last = True, time.monotonic()
        return True

    @property
    def kept(self) -> str:
        return f"; {self.path} keeps what was learned, --resume goes on with it" if self.written else ""

    def remove(self) -> None:
        """The model is complete."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        for partial in self.partials:
            partial.remove()
        for path in self.targets:
            remove_kept(path)


def state_of(session: Session) -> dict[str, Any]:
    """How far a run has come, beyond what its model tells, as JSON data."""
    saver, place = session.saver, session.place
    return {
        "passes_done": session.passes_done,
        "failures": session.failures,
        "fresh": session.fresh,
        "rows": place.rows,
        "checksum": place.checksum,
        "counters": session.counters.state(),
        "totals": saver.totals.state() if saver.totals else None,
        "namespace_report": list(session.namespace_report.met),
        "matched": [list(one) for one in session.plan.matching()],
        "known": saver.ledger.known if saver.ledger else [],
        "best": saver.best.keep(),
    }


def go_on(session: Session, run: dict[str, Any]) -> None:
    """Bring a session with the checkpoint's model to where ``state_of`` was taken."""
    session.passes_done, session.failures, session.fresh = run["passes_done"], run["failures"], run["fresh"]
    session.place.skip, session.place.expected = run["rows"], run["checksum"]
    session.counters.restore(run["counters"])
    session.saver.totals = None
    if run["totals"] is not None:
        session.saver.begin_totals(run["totals"])
    session.namespace_report.met = bytes(run["namespace_report"])
    session.saver.best.go_on(run["best"], session.saver.targets)
    plan, matched = session.plan, set(map(tuple, run["matched"]))
    for place, one in enumerate(plan.interactions):
        plan.matched[place] = one in matched


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
        **asdict(config.features),
        **asdict(config.learner),
        **asdict(config.holdout),
        "curriculum": asdict(config.curriculum),
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
            if text and not is_still(after["path"], text):
                return False
    return True
