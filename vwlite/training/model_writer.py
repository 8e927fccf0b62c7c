"""What a run leaves behind: the model and its readable forms.

The files of the best pass so far wait beside their targets until the run knows which pass is to stay. A run that is
stopped keeps them as ``FILE.ckpt.best`` beside its checkpoint. Resumed from a checkpoint that is older than they are,
it comes by the same passes again and writes them anew before it may need them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Protocol

from mmh3 import mmh3_x64_128

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.errors import Diverged, ModelError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import SupportVectors
from vwlite.learners.base import Learner, apply_shrinkage, counted_rows, predicting
from vwlite.learners.row_results import Results
from vwlite.options import FLOAT32_MAX
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, PendingFile, atomic_output, beside_output, is_replaceable, rename
from vwlite.storage.model_file import NotFinite
from vwlite.storage.output_checks import BEST
from vwlite.training.config import ProgressRule, RunConfig
from vwlite.training.counters import Counters
from vwlite.training.ledger import model_digest
from vwlite.training.listener import Listener

if TYPE_CHECKING:
    from vwlite.features.name_index import NameIndex
    from vwlite.training.ledger import Ledger
    from vwlite.training.model_loader import Restored


PIECE = 1 << 20  # bytes looked at together


class BestPass:
    """The files by their targets: ``waiting`` those of this run, ``kept`` the digests of those of a stopped one."""

    def __init__(self) -> None:
        self.waiting: dict[str, PendingFile | Spooled] = {}
        self.kept: dict[str, str] = {}

    @contextlib.contextmanager
    def output(self, path: str, mode: str = "wb") -> Iterator[IO[Any]]:
        """Open an output as ``atomic_output``, but the file waits for its name. Raises OutputError."""
        self.waiting[path] = file = PendingFile(path) if is_replaceable(path) else Spooled(path)
        with file.open(mode) as opened:
            yield opened

    def place(self, path: str) -> str:
        """Return where the file for ``path`` is now. Raises ModelError if it was removed."""
        if path in self.waiting:
            return self.waiting[path].temporary
        target = os.path.realpath(path)
        for place in (kept_path(path), target):  # a run that ended while files took their names has named some
            if digest_of(place) == self.kept[path]:
                return place
        raise ModelError(f"{kept_path(path)}, of the best pass, is gone or was changed: start again without --resume")

    def take_names(self) -> None:
        """Give all of the files their names. Raises OutputError, ModelError."""
        places = {path: self.place(path) for path in {**self.kept, **self.waiting}}
        for path, place in places.items():
            target = os.path.realpath(path)
            if path in self.waiting:
                self.waiting.pop(path).take_name()
            elif place != target:
                rename(place, target)
        self.kept = {}

    def go_on(self, kept: dict[str, str], targets: list[str]) -> None:
        """Continue with the files that a stopped run kept. Raises UsageError for other targets than that had,
        ModelError for devices."""
        if not kept:
            return
        if set(kept) != set(targets):
            outputs = ", ".join(kept)
            raise UsageError(f"--resume continues the command that was stopped, whose outputs were {outputs}")
        for path, digest in kept.items():
            if not digest:
                raise ModelError(f"what the best pass had for {path} is gone: start again without --resume")
        self.kept = dict(kept)

    def keep(self) -> dict[str, str]:
        """Give the files names that outlast the run; their digests by target. Raises OutputError."""
        for path, file in self.waiting.items():
            self.kept[path] = digest_of(file.temporary)
            file.take_name(kept_path(path))
        self.waiting = {}
        return self.kept

    def drop(self) -> None:
        """Remove the files that are not kept."""
        for file in self.waiting.values():
            file.drop()
        self.waiting = {}


class Spooled:
    """Output to a device or a pipe, held in a file without a name until the end."""

    temporary = ""

    def __init__(self, path: str) -> None:
        from vwlite.data.dataset import temporary_file

        self.path, self.file = path, temporary_file(f"keep the best pass's {path}")

    @contextlib.contextmanager
    def open(self, mode: str = "wb") -> Iterator[IO[Any]]:
        yield self.file

    def take_name(self, name: str | None = None) -> None:
        """Write it out; it cannot be kept. Raises OutputError."""
        import shutil

        if name is None:
            self.file.seek(0)
            with atomic_output(self.path) as out:
                shutil.copyfileobj(self.file, out)
        self.drop()

    def drop(self) -> None:
        self.file.close()


def kept_path(path: str) -> str:
    return os.path.realpath(path) + BEST


def digest_of(path: str) -> str:
    """The digest of a file; empty for anything but a readable regular file, links included."""
    digest = mmh3_x64_128()
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    except OSError:
        return ""
    return digest.digest().hex()


def remove_kept(path: str) -> None:
    """Remove the files that a stopped run kept for ``path``."""
    with contextlib.suppress(OSError):
        os.unlink(kept_path(path))


class Labels(Protocol):
    """``vwlite.learners.label_check.LabelCheck``, which finds out whether -1 or 0 stands for the negative class."""

    negative: float | None


def _is_finite(data: JsonObject) -> bool:
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return False
    return True


class ModelWriter(Listener):
    """Writes the model of a run, whole and with everything needed to go on exactly."""

    finite = True  # a model with a number that is not finite is refused

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        counters: Counters,
        *,
        names: NameIndex | None = None,
        labels: Labels | None = None,
        ledger: Ledger | None = None,
        model: Restored | None = None,
    ) -> None:
        """``names`` of features, which the run collects; ``labels``: how it has read them; ``ledger`` is written with
        the model. ``model`` is what the run goes on from.
        """
        self.config, self.learner, self.plan, self.counters = config, learner, plan, counters
        self.input = config.input  # as it was read
        self.names, self.labels, self.ledger, self.best = names, labels, ledger, BestPass()
        self.passes = model.passes if model else 0  # finished in all, this run's and those before
        self.totals: Counters | None = None  # this run's counts and those of the runs before, where there were any
        self.ends_with_best = False
        if model:
            self.begin_totals(model.counters)

    def begin_totals(self, counts: JsonObject) -> None:
        """Count on from those of the runs before."""
        self.totals = Counters(ProgressRule(True, FLOAT32_MAX), self.counters.simple_labels)
        self.totals.restore(counts)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.totals:
            counted = counted_rows(self.learner, batch)
            if counted is not batch:
                self.totals.record_labels(batch, begin, end)
            self.totals.tally(counted, results, results.holdout_mask, begin, end)

    def pass_read(self, number: int) -> None:
        if self.config.output.predict_only_model:
            apply_shrinkage(self.learner)

    def end_pass(self, number: int) -> None:
        self.passes += 1
        output = self.config.output
        if output.save_per_pass and output.model:
            open_output = partial(beside_output, like=output.model)
            self.write_model(f"{output.model}.{self.passes}", open_output=open_output)

    def end(self) -> None:
        """The model and its texts, of the best pass where early stopping ended the run."""
        if isinstance(self.learner, SupportVectors) and self.learner.has_no_model:
            self.best.drop()
        elif self.ends_with_best:
            self.name_best()
        else:
            self.best.drop()
            self.write_all()

    def state(self) -> JsonObject:
        return {
            "totals": self.totals.state() if self.totals else None,
            "known": self.ledger.known if self.ledger else [],
            "best": self.best.keep(),
        }

    def restore(self, state: JsonObject) -> None:
        self.totals = None
        if state["totals"] is not None:
            self.begin_totals(state["totals"])
        self.best.go_on(state["best"], self.targets)

    @property
    def targets(self) -> list[str]:
        """The files that a run writes at its end."""
        output = self.config.output
        return [path for path in (output.model, output.readable_model, output.invert_hash) if path]

    def write_all(self, open_output: OpenOutput = atomic_output) -> None:
        output = self.config.output
        if output.model:
            self.write_model(output.model, open_output=open_output)
        if output.readable_model:
            self.write_text(output.readable_model, None, open_output)
        if output.invert_hash and self.names:
            self.write_text(output.invert_hash, self.names.names, open_output)

    def keep_best(self) -> None:
        """Keep this pass as the best so far: its files wait for the end of the run."""
        self.best.drop()
        self.write_all(self.best.output)

    def end_with_best(self) -> None:
        """The best pass is kept, and its model is the run's."""
        self.ends_with_best = True

    def name_best(self) -> None:
        """The run ends, and an earlier pass was better. Raises OutputError, ModelError."""
        model = self.config.output.model
        if self.ledger is not None and model:
            self.ledger.write(model_digest(self.best.place(model)))
        self.best.take_names()

    def write_model(
        self, path: str, run: JsonObject | None = None, open_output: OpenOutput = atomic_output
    ) -> None:
        """``run``: the state of a run that is to go on with this model, as JSON data.

        The ledger is written before the model has its name, unless ``open_output`` lets it wait for that.
        Raises Diverged for a model of which nothing good can come.
        """
        learner, output = self.learner, self.config.output
        predict_only = output.predict_only_model and run is None
        named = self.names if output.names or run else None
        header = {**self.header(not predict_only, named is not None), **({"run": run} if run else {})}
        arrays = {**learner.tables(predict_only), **self.plan.arrays()}
        if named is not None:
            arrays |= named.arrays()
        final = self.ledger is not None and path == output.model and run is None and open_output is atomic_output
        try:
            if not _is_finite(header):
                raise NotFinite
            announce = self.ledger.write if final else None
            model_file.save(path, header, arrays, announce, check_finite=self.finite, open_output=open_output)
        except NotFinite:
            raise Diverged(
                "a number in the model is not finite, so it is not saved; try a smaller learning rate (-l) or scale "
                "the features"
            ) from None

    def header(self, resumable: bool = True, names: bool = False) -> JsonObject:
        """The header of the model, as JSON data; ``names``: the model has the names of its features."""
        return {
            **self.learner.header(),
            "features": self.config.features.header(),
            "counters": self.saved_counters(),
            "negative_label": self.labels.negative if self.labels else None,
            "seen": sorted(self.plan.seen),
            "passes": self.passes,
            "resumable": resumable,
            **self.input.kept,
            **self.plan.header,
            "names": names,
        }

    def saved_counters(self) -> dict[str, float | int | None]:
        """The counters in the model, without those that depend on where a run was stopped and resumed."""
        return (self.totals or self.counters).totals()

    def write_text(self, path: str, names: dict[int, str] | None, open_output: OpenOutput) -> None:
        from vwlite.training.text_model import write_readable

        output = self.config.output
        with open_output(path) as file:
            write_readable(
                file,
                predicting(self.learner),
                self.config.features,
                {**Counters().state(), **self.saved_counters(), "current_pass": self.passes},
                predict_only=output.predict_only_model,
                names=names,
                hexfloat=output.hexfloat_weights,
            )
