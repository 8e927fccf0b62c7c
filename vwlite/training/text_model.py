"""Models as text, laid out as Vowpal Wabbit's ``--readable_model`` and ``--invert_hash``; support vectors as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import mmh3
import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.text_writer import hexadecimal
from vwlite.features.config import FeatureConfig
from vwlite.features.interactions import decode_letters
from vwlite.learners.base import label_range
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import atomic_output
from vwlite.storage.weight_table import written_chunks
from vwlite.training.listener import Listener
from vwlite.version import __version__

OF_CLASSES = ("oaa", "csoaa", "multilabel_oaa", "log_multi", "ect", "error")
CHUNK = 1 << 16  # slots at a time


def write_readable(
    file: BinaryIO,
    learner: Gd,
    features: FeatureConfig,
    counters: Mapping[str, float | int | None],
    *,
    predict_only: bool = False,
    names: Mapping[int, str] | None = None,
    hexfloat: bool = False,
) -> None:
    """Write ``learner`` to a binary ``file``.

    ``counters`` is ``Counters.state()``, to which ``current_pass`` may be added (else 1).
    ``predict_only`` leaves out what only further learning needs. ``names``, by slot, make it an
    ``--invert_hash`` file. Weights are written as they stand in the table, outstanding L1 and L2
    shrinkage aside. Only non-zero slots are looked at one by one. Raises OSError, UsageError.
    """
    learner.config.check_text_form()
    head = "".join(f"{line}\n" for line in header(learner, features, predict_only))
    checksum = mmh3.hash(head.encode("utf-8", "surrogateescape"), signed=False)
    head += f"Checksum: {checksum}\n:{int(not predict_only)}\n"
    if not predict_only:
        state = state_lines(learner, counters)
        head += "".join(f"{name} {number(value)}\n" for name, value in state)
    file.write(head.encode("utf-8", "surrogateescape"))
    columns = weight_columns(learner, predict_only)
    for slots, table in nonzero_slots(learner.weights, columns):
        lines = plain_lines(slots, table, hexadecimal if hexfloat else None)
        if names is not None:
            shown = np.ones(len(slots)) if learner.names_zero_weights else table[:, 0]
            lines = named_lines(lines, slots, shown, names, "" if not predict_only else ":")
        file.write(lines.encode("utf-8", "surrogateescape"))


def write_regularizer(path: str, learner: Gd, features: FeatureConfig) -> None:
    """Write lines ``2 slot:strength``, of the regularisation, and ``2 slot + 1:weight`` for each slot, as vw's bfgs
    does."""
    strength = f"{2 * learner.config.l2:g}"
    with atomic_output(path) as file:
        head = "".join(f"{line}\n" for line in header(learner, features, predict_only=True))
        file.write(f"{head}Checksum: {mmh3.hash(head, signed=False)}\n:1\n".encode("utf-8", "surrogateescape"))
        for slot, weight in enumerate(learner.weights[:, 0].tolist()):
            lines = f"{2 * slot}:{strength}\n" * bool(learner.config.l2) + f"{2 * slot + 1}:{weight:g}\n" * bool(weight)
            file.write(lines.encode())


def number(value: float | int | str | None) -> str:
    """Counts in full, other numbers with six significant digits; None, the counters' NaN, as ``nan``."""
    if value is None or isinstance(value, str):
        return value or "nan"
    return str(value) if isinstance(value, int) else f"{value:g}"


def header(learner: Gd, features: FeatureConfig, predict_only: bool) -> list[str]:
    low, high = label_range(learner)
    options = "".join(f" {option}" for option in kept_options(learner, features, predict_only))
    return [
        f"Version {__version__}",
        "Id ",
        f"Min label:{low:g}",
        f"Max label:{high:g}",
        f"bits:{learner.bits}",
        "lda:0",
        f"{len(features.ngram)} ngram:" + "".join(f"{spec} " for spec in features.ngram),
        f"{len(features.skips)} skip:" + "".join(f"{spec} " for spec in features.skips),
        f"options:{options}",
    ]


def kept_options(learner: Gd, features: FeatureConfig, predict_only: bool) -> list[str]:
    """The options that whoever loads the model need not repeat, by name; letters come last."""
    kept: dict[str, object] = {
        "affix": features.affix,
        "cubic": features.cubic,
        "hash": features.hash if features.hash != "strings" else "",
        "hash_seed": features.hash_seed or "",
        "interactions": features.interactions,
        "link": learner.config.link if learner.config.link != "identity" else "",
        "noconstant": features.noconstant,
        "quadratic": features.quadratic,
        "redefine": features.redefine,
        "spelling": features.spelling,
        **{name: getattr(learner.config, name, 0) for name in OF_CLASSES},
    }
    for name in ("csoaa_ldf", "wap_ldf", "csoaa_rank"):
        kept[name] = getattr(learner.config, name, "")
    if not predict_only:
        kept |= update_options(learner)
    options = []
    for name in sorted(kept):
        given = kept[name]
        if given is True:
            options.append(f"--{name}")
        elif given:
            values = given if isinstance(given, tuple) else (given,)
            options += [f"--{name} {value}" for value in values]
    for name in ("ignore", "ignore_linear", "keep"):
        letters = set(b"".join(map(decode_letters, getattr(features, name))))
        if letters:
            shown = bytes(sorted(letters)).decode("utf-8", "surrogateescape")
            options.append(f"--{name} {shown}")
    return options


def update_options(learner: Gd) -> dict[str, object]:
    config = learner.config
    rate = config.learning_rate
    rule = {name: getattr(config, name) for name in ("adaptive", "invariant", "normalized", "sgd")}
    for name in ("ftrl", "coin", "pistol"):
        if getattr(config, name, False):
            rule = {name: True}
    return rule | {
        "learning_rate": "" if rate is None else double_text(rate),
        "power_t": "" if config.power_t == 0.5 else double_text(config.power_t),
    }


def double_text(value: float) -> str:
    """A single-precision number with the digits of a double."""
    return f"{float(np.float32(value)):.15g}"


def state_lines(
    learner: Gd, counters: Mapping[str, float | int | None]
) -> Iterator[tuple[str, float | int]]:
    """The state for further training, by Vowpal Wabbit's names."""
    low, high = label_range(learner)
    yield "initial_t", learner.start_time
    norm_sum, norm_weight = learner.first_norms
    yield "norm normalizer", norm_sum
    yield "t", learner.get("time")
    yield "sum_loss", counters["sum_loss"]
    yield "sum_loss_since_last_dump", counters["sum_loss_since_dump"]
    yield "dump_interval", float(counters["dump_interval"])
    yield "min_label", low
    yield "max_label", high
    yield "weighted_labeled_examples", counters["labeled_weight"]
    yield "weighted_labels", counters["weighted_labels"]
    yield "weighted_unlabeled_examples", counters["unlabeled_weight"]
    yield "example_number", counters["example_number"]
    yield "total_features", counters["total_features"]
    yield "total_weight", norm_weight
    yield "sd::oec.weighted_labeled_examples", counters["old_labeled_weight"]
    yield "current_pass", int(counters.get("current_pass") or 1)
    yield "l1_state", learner.get("gravity")
    yield "l2_state", learner.get("contraction")


def weight_columns(learner: Gd, predict_only: bool) -> list[int]:
    """Columns of the table that are shown."""
    if predict_only or learner.stride == 1:
        return [0]
    return learner.text_columns


def nonzero_slots(weights: np.ndarray, columns: list[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Slots with a non-zero number in ``columns`` and those numbers, a chunk at a time."""
    for begin, end, _ in written_chunks(weights, CHUNK):
        chunk = weights[begin:end]
        used = chunk[:, columns[0]] != 0
        for column in columns[1:]:
            used |= chunk[:, column] != 0
        rows = np.flatnonzero(used)
        if len(rows):
            yield rows + begin, chunk[np.ix_(rows, columns)]


def plain_lines(slots: np.ndarray, table: np.ndarray, shown: Callable[[float], str] | None = None) -> str:
    line = "%d:" + " ".join(["%s" if shown else "%g"] * table.shape[1]) + "\n"
    columns = table.T.tolist()
    fields = [slots.tolist(), *([map(shown, column) for column in columns] if shown else columns)]
    return (line * len(slots)) % tuple(value for row in zip(*fields, strict=True) for value in row)


def named_lines(
    lines: str, slots: np.ndarray, weights: np.ndarray, names: Mapping[int, str], nameless: str
) -> str:
    """``lines`` with the slot's name in front, or ``nameless`` where none is known or w is 0."""
    fields = zip(slots.tolist(), weights.tolist(), lines.splitlines(keepends=True), strict=True)
    return "".join(
        (f"{names[slot]}:" if weight and slot in names else nameless) + line
        for slot, weight, line in fields
    )


Place = tuple[bytes, int, bytes]  # file, line, tag
NOWHERE: Place = (b"", 0, b"")
MANY = 1000


class SupportVectors(Listener):
    """Writes a line for each example whose dual variable is not 0, in the order of the examples.

    Its columns, between tabs: file, line, tag, label, the variable, the margin y p (of losses of residuals y - p), and
    "bound" where the variable is as large as it may be. Examples of a cache have no file, and numbers for lines.
    """

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: ``vwlite.learners.dual.Dual``."""
        self.path, self.learner = path, learner
        self.learner.keeps_solution = True
        self.places: list[Place] = []  # of the rows that are learned

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if not self.learner.gathered:
            self.places += places_of(batch, self.learner.store.kept)

    def end(self) -> None:
        solution = self.learner.solution
        with atomic_output(self.path) as file:
            if solution is None or self.learner.has_no_model:
                return
            file.write(support_header("residual" if solution.of_residuals else "margin"))
            bound, shown = solution.bound, solution.margin
            for row in np.flatnonzero(solution.support):
                numbers = f"{solution.label[row]:g}\t{solution.a[row]:.12g}\t{shown[row]:.12g}"
                file.write(support_line(self.places[row], numbers, bound[row]))


class KernelSupportVectors(Listener):
    """The same of a kernel machine. Vectors that were merged, or come from a model, have no file, and line 0."""

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: ``vwlite.learners.ksvm.Ksvm``."""
        self.path, self.learner = path, learner
        self.places: dict[int, Place] = {}  # by the number of the row in a pass

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        origin = self.learner.origins
        first = self.learner.rows - end  # number of the batch's row 0
        here = np.sort(origin[(origin >= first + begin) & (origin < first + end)])
        self.places |= zip(here.tolist(), places_of(batch, here - first), strict=True)
        if len(self.places) > 2 * len(origin) + MANY:
            self.places = {row: self.places[row] for row in origin.tolist() if row in self.places}

    def end(self) -> None:
        origin, (a, label, most, margin) = self.learner.origins, self.learner.solution
        with atomic_output(self.path) as file:
            file.write(support_header("margin"))
            for row in np.argsort(origin, kind="stable"):
                numbers = f"{label[row]:g}\t{a[row]:.8g}\t{margin[row]:.8g}"
                file.write(support_line(self.places.get(int(origin[row]), NOWHERE), numbers, a[row] >= most[row]))


def places_of(batch: Batch, rows: np.ndarray) -> list[Place]:
    """Return where the rows, int64[n], of a batch come from."""
    file = batch.path.encode("utf-8", "surrogateescape")
    if batch.path:
        lines = batch.first_line + batch.line.astype(np.int64)
    else:
        lines = batch.first_line + np.arange(len(batch)) if batch.numbers is None else batch.numbers
    return [(file, int(lines[row]) + 1, batch.tag(row)) for row in rows]


def support_header(said: str) -> bytes:
    return f"file\tline\ttag\tlabel\ta\t{said}\tbound\n".encode()


def support_line(place: Place, numbers: str, bound: bool) -> bytes:
    file, number, tag = place
    return b"%s\t%d\t%s\t%s\t%s\n" % (file, number, tag, numbers.encode(), b"bound" * int(bound))


def support_of(path: str, learner: Any) -> Listener:
    """The listener that writes the support vectors of ``learner``."""
    return (SupportVectors if hasattr(learner, "store") else KernelSupportVectors)(path, learner)
