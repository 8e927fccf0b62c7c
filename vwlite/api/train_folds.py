"""What ``vwlite train --folds`` does: a model for all data but a fold, measured on the fold, for every fold."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vwlite.api.run_configs import input_config
from vwlite.api.train_files import new_config, train_files
from vwlite.data.blocks import file_size
from vwlite.data.config import COLUMNAR, BadLinesConfig, InputConfig
from vwlite.data.input_stream import display_name
from vwlite.data.shuffle import Folds, split_files, units_of
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.measure import measure
from vwlite.interrupts import TemporaryFolder
from vwlite.options import Request
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.ledger import be_silent
from vwlite.training.listener import Display
from vwlite.training.model_header import read_stored
from vwlite.training.model_loader import Restored, start
from vwlite.training.predict import predict
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.train import Figures

COUNTS = ("examples", "weight", "queries")  # which are added up, not averaged
REFUSED = {  # options by their keys, and why they do not go with --folds
    **dict.fromkeys(("initial", "resume", "checkpoint_every", "skip_seen"), "every model begins anew"),
    **dict.fromkeys(("cache", "cache_file"), "every model has data of its own"),
    **dict.fromkeys(("cbify", "cbify_ldf"), "a simulated bandit is measured while it learns"),
    **dict.fromkeys(("cb", "cb_adf", "cb_explore", "cb_explore_adf"), "'vwlite evaluate --value' values policies"),
    "by_file": "it measures on folds, not on files",
    "raw_predictions": "only predictions (-p) are of folds",
    "examples": "all of the data are divided",
}


class FoldScores(NamedTuple):
    """``each``: the metrics of every fold, by name. ``broken``: the reader of predictions went away."""

    each: list[Figures]
    broken: bool

    def summary(self) -> list[Figures]:
        """Mean and standard deviation (of a sample) of every metric that is a number, NaN where a fold has none."""
        names = [
            name
            for name in self.each[0]
            if name not in COUNTS and all(is_number(scores.get(name)) for scores in self.each)
        ]
        rows = []
        for name in names:
            values = np.array([math.nan if scores[name] is None else scores[name] for scores in self.each], float)
            rows.append({"metric": name, "mean": float(values.mean()), "deviation": float(values.std(ddof=1))})
        return rows

    def report(self) -> Figures:
        """The figures as JSON data."""
        rows = self.summary()
        figures = {key: {row["metric"]: row[key] for row in rows} for key in ("mean", "deviation")}
        columns = (*COUNTS, *(row["metric"] for row in rows))
        each = [{name: scores[name] for name in scores if name in columns} for scores in self.each]
        return {"count": len(self.each), **figures, "each": each}


def is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def train_folds(request: Request, count: int, note: Callable[[str], None]) -> FoldScores:
    """Train and measure ``count`` models, and write what each predicts of its fold where ``request`` has predictions.

    Raises as ``train_files`` and ``measure``, DataError for fewer examples than folds, and UsageError as
    ``check_folds``.
    """
    predictions, request = request.values.get("predictions"), without_outputs(request)
    config = new_config(request, be_silent)
    input, grouped = config.input, True if config.learner.multiline else None
    folds = Folds(count, input.seed)
    each, ends = [], [0]
    bad_lines = replace(request.config(BadLinesConfig), keep=None, max_ratio=1.0)  # the run over all data checked them
    with ExitStack() as closing:
        folder = Path(closing.enter_context(TemporaryFolder("vwlite-folds-")))
        for number in range(count):
            measured = partial(is_in, folds, number)
            try:
                learned, held = split_files(input.paths, input.kind, input.columns, folder, measured, grouped)
            except DataError:
                raise DataError(f"--folds {count}: there are fewer examples, or groups of lines") from None
            model = str(folder / "model")
            more = {"files": (learned,), "model": model, "quiet": True, "kind": input.kind, "max_bad_ratio": 1.0}
            try:
                train_files(request.having(more), say=be_silent, display=lambda output: Display())
                report = measure(*open_model(model, held, input, measured=True), bad_lines, quiet=True)
            except DataError as error:
                why = str(error).replace(f"{folder}/", "")
                raise DataError(f"--folds {count}: fold {number + 1} cannot be measured: {why}") from None
            each.append({name: report[name] for name in report if name in COUNTS or is_number(report[name])})
            note(f"fold {number + 1} of {count}: " + ", ".join(report_lines(each[-1])))
            if predictions:
                predict(*open_model(model, held, input, to=str(folder / "predictions")), bad_lines, quiet=True)
                with open(folder / "predictions", "rb") as part, open(folder / "answers", "ab") as every:
                    shutil.copyfileobj(part, every)
                    ends.append(every.tell())
        broken = False
        if predictions:
            file = closing.enter_context(open(folder / "answers", "rb"))
            data = closing.enter_context(mmap(file.fileno(), 0, access=ACCESS_READ)) if ends[-1] else b""
            answers = [Part(data, begin, end) for begin, end in pairwise(ends)]
            writer = closing.enter_context(PredictionWriter(predictions))
            for unit in in_order(
                units_of(input.paths, input.kind, input.columns, grouped), folds, answers, bool(grouped)
            ):
                writer.write_bytes(unit)
            broken = writer.broken
    return FoldScores(each, broken)


def is_in(folds: Folds, number: int, unit: int) -> bool:
    return folds.fold(unit) == number


def report_lines(report: Figures) -> Iterator[str]:
    """The first metric and the number of examples."""
    for name in ("examples", *[name for name in report if name not in COUNTS][:1]):
        if report.get(name) is not None:
            yield f"{name} {report[name]:.6g}"


def check_folds(request: Request) -> None:
    """Raises UsageError for options that do not go with folds, and for data that are not split, or not read again."""
    for key, why in REFUSED.items():
        if request.given.get(key):
            raise UsageError(f"{request.spelled(key)} does not go with --folds: {why}")
    input = input_config(without_outputs(request).values)
    if input.kind in COLUMNAR:
        raise UsageError(
            f"--folds divides text, and --format {input.kind} is not text: 'vwlite convert' makes text of it"
        )
    if odd := next((path for path in input.paths if path == "-" or file_size(path) is None), ""):
        raise UsageError(f"--folds reads the data several times, which {display_name(odd)} does not allow: name files")


OUTPUTS = ("predictions", "json_path", "readable_model", "invert_hash", "support", "save_per_pass", "log", "bad_lines")


def without_outputs(request: Request) -> Request:
    """The same without the files that the run over all data writes."""
    for key in OUTPUTS:
        if request.given.get(key):
            request = request.without(key)
    return request


def open_model(
    model: str, path: str, input: InputConfig, *, measured: bool = False, to: str | None = None
) -> tuple[RunConfig, Restored]:
    """A model and how it reads ``path``; ``measured``: with probabilities of classes, ``to``: where it predicts."""
    read = InputConfig((path,), input.kind, threads=input.threads)
    run = RunConfig(input=read, output=OutputConfig(predictions=to, quiet=True), learning=False)
    changes = read_stored(model).config.shows_probabilities_of_classes if measured else {}
    config, restored = start(run, model, changes)
    assert restored is not None
    return replace(config, input=config.input.like(restored.header, ())), restored


class Part:
    """Lines of a part of a file: one file for all folds, as the number of open files is limited."""

    def __init__(self, data: mmap | bytes, begin: int, end: int) -> None:
        self.data, self.at, self.end = data, begin, end

    def readline(self) -> bytes:
        begin, self.at = self.at, self.data.find(b"\n", self.at, self.end) + 1 or self.end
        return self.data[begin : self.at]


def in_order(
    units: Iterator[tuple[int, bytes]], folds: Folds, answers: Sequence[Part], grouped: bool
) -> Iterator[bytes]:
    """Copy what stands in the ``answers`` of each unit's fold, in the order of the units: a line for each of its lines,
    or, of groups, all up to an empty line.
    """
    for unit, lines in groupby(units, key=lambda pair: pair[0]):
        if unit < 0:
            continue
        file = answers[folds.fold(unit)]
        if not grouped:
            yield b"".join(file.readline() for _, line in lines if line.strip())
            continue
        block = [file.readline()]
        while block[-1].strip():
            block.append(file.readline())
        yield b"".join(block)
