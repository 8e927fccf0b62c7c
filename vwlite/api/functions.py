"""What the commands do with files, as functions; and data in memory as lines of text, of which the parser makes the
very batches that are made of the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from vwlite.api.data_source import is_array
from vwlite.api.keywords import declared_options, read_options
from vwlite.api.memory_run import Log, MemoryWriter, load_file, log, model_after
from vwlite.api.model import Model
from vwlite.api.run_configs import check_option_effects
from vwlite.api.train_files import train_files
from vwlite.api.train_shards import engine_of, train_shards
from vwlite.data.frame_batches import type_of
from vwlite.data.frames import is_frame, is_text, pyarrow
from vwlite.data.row_columns import are_number_lists
from vwlite.data.tables import is_table, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.data.text_writer import TextWriter
from vwlite.distributed.engines import Engine, engine_for
from vwlite.distributed.merge import merge_files, write
from vwlite.errors import UsageError
from vwlite.options import Request
from vwlite.storage.atomic_file import as_path, atomic_output, capture_bytes, is_replaceable
from vwlite.storage.named_files import FileToRead, expand_name, file_named_by, files_of
from vwlite.storage.output_checks import Url, check, is_url
from vwlite.training.model_writer import ModelWriter

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def train(
    paths: Paths, args: str = "", /, *, model: Model | None = None, executor: Any = None, **options: Any
) -> Model:
    """Do what ``vwlite train PATHS ARGS`` does, files included; return the model that has learned.

    Options are those of ``vwlite train``: of models, as ``Model`` takes them, and ``final_regressor``,
    ``initial_regressor``, ``cache``, ``predictions``, ``checkpoint_every``, ``resume``, ``skip_seen`` and others that
    name files or are about them. Without ``final_regressor`` no model is written. ``model`` goes on learning in place
    of a new one, with the options that it has.

    With an ``executor`` (of ``concurrent.futures``, or a Dask client), or the options ``workers`` or ``shards``, the
    data are learned in rounds over shards, on the executor, in processes, or one after the other in this one. Learners
    that do not average raise UsageError. The executor stays open. Raises as ``Model`` and its ``learn``, Locked,
    OutputError, WorkerLost.
    """
    if model is not None:
        if not isinstance(model, Model):
            raise UsageError(
                "model takes a Model that goes on learning: final_regressor=FILE writes the model to a file, "
                "initial_regressor=FILE goes on from that of a file"
            )
        if args or options or executor is not None:
            raise UsageError("a model keeps its options: give none beside it")
        model.learn(expand_paths(paths))
        return model
    known = declared_options(files=True)
    typed = read_options(args, options, files=True)
    inputs = [os.fspath(path) for path in expand_paths(paths)]
    if not inputs:
        raise UsageError("there are no files to learn")
    request = Request({"files": inputs}, typed, known)
    named = [
        (kind, typed.get(option.key), option.display_name)
        for option in known.values()
        if (kind := file_named_by(option))
    ]
    check(*files_of([(FileToRead("input"), inputs, "FILE"), *named], request.values))
    in_rounds = executor is not None or not {"workers", "scheduler", "shards"}.isdisjoint(typed)
    given = {key: value for key, value in typed.items() if key != "names"} | ({"workers": 1} if in_rounds else {})
    check_option_effects(given, known, "initial" in typed)
    if in_rounds:
        return train_in_rounds(request, executor)
    final = typed.get("model")
    writer = ModelWriter if final and is_replaceable(final) else MemoryWriter
    done = train_files(request, say=log.info, display=lambda output: Log(), writer=writer)
    in_memory = done if writer is MemoryWriter else None
    trained = model_after(in_memory.parts) if in_memory else load_file(final or typed["initial"])
    return Model._of(trained, {key: value for key, value in typed.items() if key in declared_options()})


def train_in_rounds(request: Request, executor: Any) -> Model:
    typed = request.given
    named = next((name for name in ("workers", "scheduler") if name in typed), None)
    if executor is not None and named:
        raise UsageError(f"executor and {named} both say where shards are learned: drop one")

    def engine() -> Engine:
        return engine_of(typed.get("workers"), typed.get("scheduler")) if named else engine_for(executor)

    done = train_shards(request, engine, say=log.info, display=lambda output: Log())
    if done is None:
        return Model.load(typed.get("model") or typed["initial"])
    model = done[1]
    return Model.loads(capture_bytes(lambda open_output: write("the model", model, open_output)))


def load(path: str | os.PathLike[str], /, **changes: Any) -> Model:
    """The model of a file; as ``Model.load``."""
    return Model.load(path, **changes)


def predict(model: Model | str | os.PathLike[str], paths: Paths, **how: Any) -> np.ndarray | list[Any]:
    """The predictions of a model, or of a model's file, for all examples of these files; ``how`` as ``Model.predict``.

    Raises as ``load`` and ``Model.predict``.
    """
    loaded = model if isinstance(model, Model) else Model.load(model)
    return loaded.predict(expand_paths(paths), **how)


def evaluate(model: Model | str | os.PathLike[str], paths: Paths, **how: Any) -> dict[str, Any]:
    """The metrics of a model, or of a model's file, on the labelled examples of files; ``how`` as ``Model.evaluate``.

    Raises as ``load`` and ``Model.evaluate``.
    """
    loaded = model if isinstance(model, Model) else Model.load(model)
    return loaded.evaluate(expand_paths(paths), **how)


def merge(
    models: Sequence[Model | str | os.PathLike[str]], base: Model | str | os.PathLike[str] | None = None
) -> Model:
    """Make one model of several that were made apart, or of the files of the deltas of a round, as ``vwlite merge``.

    ``base``: the model that all of them began with; None: they began with nothing. Models of ``vwlite crr`` make an
    ordinary linear model. Raises UsageError, ModelError for what does not fit, InputMissing.
    """
    with ExitStack() as closing:
        *paths, begun = (path_of(model, closing) for model in (*models, base))
        merged = merge_files([path for path in paths if path is not None], begun)
    return Model.loads(capture_bytes(lambda open_output: write("the model", merged, open_output)))


def path_of(model: Model | str | os.PathLike[str] | None, closing: ExitStack) -> str | None:
    """The path where a model can be read, until ``closing`` is closed."""
    if isinstance(model, Model):
        return closing.enter_context(as_path(model.dumps(), "the model"))
    return None if model is None else os.fspath(model)


def expand_paths(paths: Paths) -> list[os.PathLike[str]]:
    """Put the files in the place of folders and patterns.

    Raises UsageError for data in memory, InputMissing as ``vwlite.storage.named_files.expand_name``.
    """
    if is_table(paths) or is_array(paths):
        raise UsageError("vwlite.train and its like read files: Model(...).learn(data, y) learns what is in memory")
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [path for name in names for path in expand_name(os.fspath(name))]
    return [Url(name) if is_url(name) else Path(name) for name in files]


def write_text(
    file: str | os.PathLike[str] | BinaryIO,
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    base: Any = None,
    tags: Any = None,
    names: Any = None,
    namespaces: Any = None,
) -> None:
    """Write ``data`` as text in the format of Vowpal Wabbit, a line for each row.

    ``file``: a path, where the file appears when it is complete, or a file open for writing bytes. ``data`` and what
    stands beside it are as ``Model.learn`` takes them. A number is written as the shortest decimal where this is read
    back to the same bits of single precision, else in hexadecimal; names that a line cannot hold are changed as
    ``learn`` changes them. Labels may be numbers, names, lists of classes, dicts of class and cost, or
    lists of numbers with a point, some of which may be NaN (a matrix is always of these). Namespaces of
    matrices are the keys of a dict of matrices; ``namespaces`` is for the columns of frames, as with ``learn``.

    Raises DataError for numbers that are not finite, for importance or an initial prediction without a label and a row
    without features whose tag begins with ``save``, which text cannot say; UsageError for other data; OutputError.
    """
    format = format_of_column(data, y) if isinstance(y, str) and is_frame(data) else format_of_labels(y)
    columns = {"weight": weight, "base": base, "tags": tags, "names": names, "namespaces": namespaces}
    batches = table_batches(data, y, **columns, text_format=format)
    writer = TextWriter(format)
    with open_output(file) as out:
        for batch in batches:
            out.write(writer.lines(batch))


def format_of_column(data: Any, name: str) -> TextFormat:
    """Tell the format as ``format_of_labels`` does, of a frame's column."""
    kind, types = type_of(data, name), pyarrow().types
    if kind is not None and types.is_dictionary(kind):
        kind = kind.value_type
    lists = kind is not None and (types.is_list(kind) or types.is_large_list(kind))
    words = kind is not None and is_text(kind)
    return TextFormat(names=True).of_words(lists=lists) if lists or words else TextFormat(names=True)


def format_of_labels(y: Any) -> TextFormat:
    """Tell how text is read that has these labels: the first one that is not missing tells."""
    format = TextFormat(names=True)
    if are_number_lists(y):
        return format.of_words(numbers=True)
    first = None if y is None or isinstance(y, str) else next(iter(without_missing(y)), None)
    if isinstance(first, str):
        return format.of_words()
    return format.of_words(lists=True) if isinstance(first, Iterable) else format


def without_missing(y: Iterable[Any]) -> Iterator[Any]:
    """The entries that are not missing."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
        return iter(())  # no names
    return (label for label in y if label is not None and not (isinstance(label, float) and label != label))


@contextmanager
def open_output(file: str | os.PathLike[str] | BinaryIO) -> Iterator[IO[bytes]]:
    if isinstance(file, str | os.PathLike):
        with atomic_output(os.fspath(file)) as out:
            yield out
    else:
        yield file
