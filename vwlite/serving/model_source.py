"""The model that answers: loaded anew when its file is replaced, while the one before goes on answering."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from vwlite.api.data_source import input_opener
from vwlite.api.json_predictions import json_listener
from vwlite.api.memory_run import InferenceRun
from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, Batch
from vwlite.data.columns import IGNORE, Columns, nearest, read_columns
from vwlite.data.config import COLUMNAR, EVENTS, TABLES, BadLinesConfig, InputConfig
from vwlite.errors import Diverged, UsageError, VwliteError
from vwlite.features.feature_plan import text_format
from vwlite.learners.base import Learner, has_simple_labels, shows_actions, want_scores
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.listener import Listener
from vwlite.training.model_loader import start
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.predictions import Drawing, NamedDraws, Predictions, without_features

Row = Mapping[str, Any]
NUMBERS = 3  # of rows that are named
ADVICE = (
    "it is that of a row without features; was the model trained on other data? (namespaces and names must be the same)"
)


class RowCheck:
    """The columns of features that a model knows."""

    def __init__(self, columns: Columns) -> None:
        """Any column may be missing in lines of JSON whose other members are features, too."""
        features = list(columns.features) if columns.rest == IGNORE else []
        self.known = [column.name for column in features]
        self.needed = [column.name for column in features if not column.optional]

    def warnings(self, rows: Iterable[Row | None], place: str = "rows[{}]", first: int = 0) -> list[str]:
        """A sentence for each column that is missing in some rows. Raises UsageError for a row that has none.

        None is no row. ``place``: where a row stands, with its number for {}, ``first`` the first one's.
        """
        missing: dict[str, list[str]] = {}
        like: dict[str, str] = {}
        for number, row in enumerate(rows if self.known else (), first):
            if row is None:
                continue
            if not row.keys() & self.known:
                raise UsageError(f"{place.format(number)} has no column that the model knows: {self.instead(row)}")
            for name in self.needed:
                if name not in row:
                    missing.setdefault(name, []).append(place.format(number))
                    like[name] = like.get(name, "") or self.meant(name, row)
        columns = ((name, list_places(places)) for name, places in missing.items())
        return [f"no column {name!r} in {places}: predicted without it{like[name]}" for name, places in columns]

    def instead(self, row: Row) -> str:
        has, knows = ", ".join(map(str, row)) or "none", ", ".join(self.known)
        return f"it has {has}; the model has learned {knows}"

    def meant(self, name: str, row: Row) -> str:
        near = nearest(name, [key for key in row if key not in self.known])
        return f" (is it {near!r}?)" if near else ""


class Unchanged(Listener):
    """The rows whose predictions before clip and link are the one ``without`` features.

    ``each``: they are reported also where others have another prediction.
    """

    def __init__(self, without: float, each: bool) -> None:
        self.without, self.each = without, each
        self.rows: list[str] = []  # where they stand
        self.others = 0

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        there = np.flatnonzero(batch.flags[begin:end] & BLANK == 0) + begin
        same = there[results.raw[there] == self.without]
        self.others += len(there) - len(same)
        self.rows += [place_of(batch.location(row)) for row in same.tolist()]

    def warnings(self) -> Iterator[str]:
        if self.rows and (self.each or not self.others):
            which = f"of {list_places(self.rows)}" if self.others else "of the data"
            yield f"no feature {which} changed a prediction: {ADVICE}"


def place_of(location: str) -> str:
    """Tell the place in the request, of where a row of it stands."""
    line, row = location.rpartition(":")[2], location.rpartition(" ")[2]
    return f"rows[{row if ' ' in location else int(line) - 1}]"


def list_places(places: Sequence[str]) -> str:
    """The first of them."""
    return ", ".join(places[:NUMBERS]) + (f" and {len(places) - NUMBERS} more" if len(places) > NUMBERS else "")


Version = tuple[int, int, int]
ALL = BadLinesConfig(max_ratio=1.0)  # a malformed line has an answer as well


class Kept(PredictionWriter):
    """Keeps what is written."""

    def __init__(self) -> None:
        self.data = BytesIO()
        super().__init__("the answer")

    def _open(self) -> BinaryIO:
        return self.data


class Answer(NamedTuple):
    """``content``, and the warnings of the request."""

    content: bytes
    warnings: list[str]


class Served:
    """A model in memory that predicts; one thread at a time, others wait."""

    def __init__(self, path: str, max_memory: float | None = None) -> None:
        """Raises as ``vwlite.training.model_loader.start``."""
        self.version = version_of(path)
        run = RunConfig(input=InputConfig(("-",), threads=1), learning=False, max_memory=max_memory)
        config, self.model = start(run, path, {})
        input = config.input.like(self.model.header, ())
        self.config = replace(config, input=replace(input, kind="jsonl") if input.kind in COLUMNAR else input)
        self.lock = threading.Lock()
        self.check = RowCheck(read_columns(self.config.input.columns if self.of_table else "ignore=*"))
        self.learned = bool(self.model.counters.get("example_number")) and has_simple_labels(self.model.learner)
        self.without: float | None = None  # features, the prediction

    @property
    def of_table(self) -> bool:
        """Whether the model's data had columns."""
        return self.config.input.kind in TABLES

    @property
    def kind_of_events(self) -> str:
        """How decisions as JSON are read: as those that the model has learned."""
        return self.config.input.kind if self.config.input.kind in EVENTS else EVENTS[0]

    def text(self, lines: bytes, kind: str | None = None) -> Answer:
        """The output of ``vwlite predict`` for these lines, in the format ``kind`` or that of the model's data.

        Raises UsageError for a table where the model's data had no columns, and for a row that has none of these.
        """
        if kind and not self.of_table:
            raise UsageError("the model learned from lines, not from a table: send lines as text/plain")
        warnings = []
        if self.of_table and (kind or self.config.input.kind) == "jsonl":
            warnings = self.check.warnings(map(object_of, lines.splitlines()), "line {}", 1)
        return self.run(lines, lambda writer, learner: Predictions(writer, learner, fill_gaps=True), kind, warnings)

    def json(self, data: Any, names: Sequence[str] | None = None, events: bool = False, seed: int = 0) -> Answer:
        """The output of ``vwlite predict --jsonl`` for lines or for rows, which are dicts.

        ``names``, of events: the same name and ``seed`` draw the same action of a policy that explores.
        ``events``: lines are decisions as JSON.

        Raises as ``input_opener``, and UsageError for a row that has none of the columns of the model's table.

        Rows are read as lines of JSON where the model's data were a table.
        """
        learner = self.model.learner
        if learner.config.multiline and not shows_actions(learner):
            raise UsageError("a model of groups of lines answers to text only")
        if names is not None and not shows_actions(learner):
            raise UsageError("event_id is for models of logged decisions: nothing is drawn here")
        if learner.config.multiline and not isinstance(data, bytes):
            raise UsageError("a model of groups of lines takes lines, with an empty one between two groups")
        if events and not learner.config.bare_lines:
            raise UsageError("events are for models of --cb_adf and --cb_explore_adf")
        drawing = Drawing() if names is None else NamedDraws(seed, names)
        kind, warnings, each = self.kind_of_events if events else None, list[str](), not isinstance(data, bytes)
        if self.of_table and each:
            warnings = self.check.warnings(data)
            data, kind = b"".join(json.dumps(row).encode() + b"\n" for row in data), "jsonl"

        def listener(writer: PredictionWriter, learner: Learner) -> Predictions:
            if shows_actions(learner):
                want_scores(learner)
            return json_listener(writer, learner, "prediction", False, drawing)

        answer = self.run(data, listener, kind, warnings, each)
        if isinstance(drawing, NamedDraws):
            drawing.check()
        return answer

    def run(
        self,
        data: Any,
        listener: Callable[[PredictionWriter, Learner], Predictions],
        kind: str | None,
        warnings: list[str],
        each: bool = False,
    ) -> Answer:
        writer, config = Kept(), self.config
        if not kind and config.input.kind in EVENTS and not data.lstrip().startswith(b"{"):
            kind = "vw"
        if kind:
            config = replace(config, input=replace(config.input, kind=kind))
        with self.lock:
            learner = self.model.learner.tester()
            with suppress(Diverged):  # the answers show which ones are no numbers
                watching = self.watching(each=each)
                listeners = [listener(writer, learner), *watching]
                InferenceRun(config, learner, self.model, input_opener(data, {}), ALL, listeners).run()
        more = [warning for watcher in watching for warning in watcher.warnings()]
        return Answer(writer.data.getvalue(), [*warnings, *more])

    def watching(self, each: bool) -> list[Unchanged]:
        """Listeners that report rows without any known feature; for ``each``, see there."""
        if self.learned and self.without is None:
            learner, format = self.model.learner.tester(), text_format(self.model.features, skip_malformed=True)
            self.without = without_features(learner, self.model.plan, format)
        return [] if self.without is None else [Unchanged(self.without, each)]


def object_of(line: bytes) -> JsonObject | None:
    """A line of JSON; None where it is empty or no object: it is predicted as a malformed line."""
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        return value if isinstance(value, dict) else None
    return None


class ModelSource:
    """Has the model of a file, and the one that has taken its place there."""

    def __init__(self, path: str, say: Callable[[str], None], max_memory: float | None = None) -> None:
        """Raises as ``Served``."""
        self.path, self.say, self.max_memory = path, say, max_memory
        self.current = Served(path, max_memory)
        self.loaded = 1
        self.failure = ""
        self.refused: Version | None = None  # a file that could not be loaded

    def look(self) -> None:
        """Load the model if its file is another one; when that fails, the one before stays."""
        try:
            version = version_of(self.path)
            if version in (self.current.version, self.refused):
                return
            self.refused = version
            self.current = Served(self.path, self.max_memory)
        except (VwliteError, OSError, MemoryError) as error:
            reason = str(error) or "not enough memory"
            if reason != self.failure:
                self.say(f"the previous model stays: {reason}")
            self.failure = reason
            return
        self.loaded += 1
        self.failure, self.refused = "", None
        self.say(f"{self.path} was replaced: the new model answers")


def version_of(path: str) -> Version:
    """A value that changes when a file is replaced. Raises InputMissing through ``start`` later where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size
