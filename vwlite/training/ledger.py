"""The ledger of a model: which files it has learned, in ``MODEL.ledger`` beside it.

It is no part of the model: the same examples give the same bytes, from whatever files or pipes they came. It names the
model it belongs to by the digest of its header, so that it is never believed of another one, and is written before the
model gets its name, with what is known of the model that stood there: whichever of the two a crash leaves is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Protocol

from mmh3 import mmh3_x64_128

from vwlite.config_check import JsonObject, require
from vwlite.data.blocks import HEAD, fingerprint, prefixes, same_file
from vwlite.errors import ModelError
from vwlite.options import Request
from vwlite.storage.atomic_file import atomic_copy, beside_output, is_replaceable
from vwlite.storage.output_checks import LEDGER, is_url, lock
from vwlite.training import ledger
from vwlite.training.config import CheckpointConfig
from vwlite.training.model_header import LedgerFile

FORMAT = 2
FORMATS = (1, 2)  # that are read; entries of 1 have a digest of samples in place of text
DIGITS = 32  # of the digest that ends a model file

Entry = JsonObject  # ``source.fingerprint``; text: ``blocks.Mark.as_json``; lines; whole


def ledger_path(model: str) -> str:
    return f"{model}{LEDGER}"


def model_digest(path: str) -> str:
    """The digest at the end of a model file; empty if there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(-min(DIGITS, os.fstat(file.fileno()).st_size), os.SEEK_END)
            return file.read(DIGITS).decode("ascii", "replace")
    except (OSError, ValueError):
        return ""


def read(model: str) -> list[Entry]:
    """The entries of the ledger of ``model``. Raises ModelError when that is damaged."""
    return _models(ledger_path(model)).get(model_digest(model), [])


def doubt_about(model: str) -> str:
    """Why nothing is known of what the model ``model`` has learned."""
    path = ledger_path(model)
    if os.path.exists(path):
        return f"{path} does not know {model}, which went on without it or is another model"
    return f"there is no {path}, which records what {model} has learned"


def _models(path: str) -> dict[str, list[Entry]]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if isinstance(content, dict) and content.get("format", FORMAT) not in FORMATS:
            raise ModelError(f"{path} was written by another version of vwlite: remove it to continue without it")
        require(content, LedgerFile, "the ledger")
    except FileNotFoundError:
        return {}
    except ModelError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} is damaged: remove it to continue without a record of what was learned") from error
    return content["models"]


class Source(Protocol):
    """Where a run reads from: ``vwlite.training.file_batches.FileBatches``."""

    @property
    def contents(self) -> dict[str, JsonObject]: ...
    @property
    def lines(self) -> dict[str, int]: ...


class Ledger:
    """The files that a run learns, and those that its model had learned before: ``known``."""

    def __init__(self, model: str, known: list[Entry], paths: tuple[str, ...], whole: bool = True) -> None:
        """``model``: the file to be written. Take it before reading, so that a change meanwhile is noticed later."""
        self.model, self.known = model, known
        self.learned: list[Entry] = [{**entry, "whole": whole} for entry in fingerprint(paths) if entry]
        self.source: Source | None = None

    def watch(self, source: Source) -> None:
        """Take from it what is read of each file."""
        self.source = source

    def entries(self) -> list[Entry]:
        contents, lines = (self.source.contents, self.source.lines) if self.source else ({}, {})
        read = [(contents.get(entry["path"]), lines.get(entry["path"])) for entry in self.learned]
        learned = zip(self.learned, read, strict=True)
        return [*self.known, *({**entry, "text": text, "lines": count} for entry, (text, count) in learned)]

    def write(self, digest: str) -> None:
        """Write the ledger of the model with this digest, which is about to get its name. Raises OutputError."""
        entries, path = self.entries(), ledger_path(self.model)
        if not entries:
            return
        standing = model_digest(self.model)
        try:
            before = _models(path).get(standing)
        except ModelError:
            before = None
        models = {digest: entries, **({standing: before} if before and standing != digest else {})}
        with beside_output(path, "w", like=self.model) as file:
            file.write(json.dumps({"format": FORMAT, "models": models}, indent=1) + "\n")


SAMPLE, SAMPLES = 1 << 16, 16  # in ledgers of format 1


class Seen(NamedTuple):
    """The known file that an input is; ``grown``: it has more lines now."""

    entry: Entry
    grown: bool = False
    sampled: bool = False  # only samples of it are known to be the same

    @property
    def whole(self) -> bool:
        return self.entry.get("whole", True) and not self.grown

    def describe(self, path: str) -> str:
        entry = self.entry
        name = "" if path == entry["path"] else f" as {entry['path']}"
        lines = f" ({entry['lines']} lines)" if entry.get("lines") else ""
        if self.grown:
            return f"{path} has grown since it was learned{name}{lines}"
        part = "" if self.whole else ", in part"
        samples = ", as far as samples in the ledger of an older version tell" if self.sampled else ""
        return f"{path} was learned before{name}{part}{lines}{samples}"


def known_files(known: Sequence[Entry], paths: Sequence[str]) -> dict[str, Seen]:
    """The known files of ``paths``, whatever their names and compression. Raises as reading them does."""
    by_path = {}
    for path, now in zip(paths, fingerprint(paths), strict=True) if known else ():
        seen = now and (same_status(known, now) or same_text(known, path) or same_samples(known, path, now["size"]))
        if seen:
            by_path[path] = seen
    return by_path


def same_status(known: Sequence[Entry], now: JsonObject) -> Seen | None:
    """The entry of the very same file, unchanged since."""
    same = [entry for entry in known if entry.get("settled") and same_file(entry, now)]
    return Seen(max(same, key=lambda entry: entry.get("whole", True))) if same else None


def same_text(known: Sequence[Entry], path: str) -> Seen | None:
    """The entry of the same text or, if there is none, that of the longest beginning of it.

    Where the start is like none, no more is read.
    """
    left = [entry for entry in known if entry.get("text") and entry["text"]["size"]]
    longest, end = None, 0
    for size, digest in prefixes(path, {HEAD, *(entry["text"]["size"] for entry in left)}) if left else ():
        same = [entry for entry in left if entry["text"]["size"] == size and entry["text"]["digest"] == digest]
        longest, end = max(same, key=lambda entry: entry.get("whole", True), default=longest), size
        left = [entry for entry in left if entry["text"]["size"] > size]
        if size == HEAD:
            left = [entry for entry in left if entry["text"]["head"] == digest]
        if not left and (not longest or longest["text"]["size"] < size):
            break
    if longest is None or not longest.get("whole", True):
        return longest and Seen(longest)
    return Seen(longest, grown=longest["text"]["size"] < end)


def same_samples(known: Sequence[Entry], path: str, size: int) -> Seen | None:
    """The entry of a ledger of format 1 whose samples are the same: those of up to 1 MiB are the whole file."""
    if is_url(path):
        return None
    left = {entry["digest"]: entry for entry in known if entry.get("size") == size and "digest" in entry}
    entry = left.get(samples_of(path, size)) if left else None
    return entry and Seen(entry, sampled=size > SAMPLE * SAMPLES)


def samples_of(path: str, size: int) -> str:
    digest, last = mmh3_x64_128(b"%d\n" % size), max(size - SAMPLE, 0)
    with open(path, "rb") as file:
        for sample in range(SAMPLES):
            file.seek(last * sample // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
    return digest.digest().hex()


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
        """A context in which no other process writes the model. Raises Locked, OutputError."""
        return lock(self.model, self.restart.lock_wait) if self.model else nullcontext()

    def settle_initial(self) -> None:
        """A command that is repeated for ever begins without a model: nothing can be lost or mistaken."""
        initial, model = self.initial, self.model
        same = initial and model and os.path.realpath(initial) == os.path.realpath(model)
        if same and self.restart.skip_seen and not os.path.lexists(initial):
            self.remarks.say(f"there is no {initial} yet: training starts from the beginning")
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
            tell(f"{ledger.doubt_about(initial)}{': no file is skipped' if skip else ''}")

    def unseen(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """The inputs but for those that were learned before, where these are to be skipped."""
        again, skip = known_files(self.known, paths), self.restart.skip_seen
        skipped = {path for path, seen in again.items() if skip and seen.whole}
        for path, seen in again.items():
            tell = self.remarks.say if path in skipped else self.remarks.warn
            tell(f"{seen.describe(path)}{advice(seen, skip)}")
        return tuple(path for path in paths if path not in skipped)

    def keep_model(self) -> None:
        """Keep the model where there is nothing new: it stays as it is, under the name it is to have, with what is
        known of it.
        """
        initial, model = self.initial, self.model
        if initial and model and os.path.realpath(initial) != os.path.realpath(model):
            Ledger(model, self.known, ()).write(ledger.model_digest(initial))
            atomic_copy(initial, model)

    @property
    def keeps_record(self) -> bool:
        """Whether a ledger and a checkpoint stand beside the model: it is a file."""
        return bool(self.model) and is_replaceable(self.model)

    def ledger(self, paths: tuple[str, ...], whole: bool = True) -> Ledger | None:
        """The ledger of a run that is about to read these inputs, all of them or a part."""
        return Ledger(self.model, self.known, paths, whole) if self.keeps_record else None


def advice(seen: Seen, skip: bool) -> str:
    """Advice on an input that was learned before."""
    if seen.grown:
        return ": all of it is learned again; give what is new a file of its own"
    if seen.whole:
        return ": skipped" if skip else "; --skip-seen would skip it"
    return ": all of it is learned" if skip else ""
