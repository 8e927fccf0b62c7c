"""How the values of options are read, typed or given in Python, and the options of vw that vwlite does not have."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from vwlite.options import AUTO, FLOAT32_MAX, read_decimal, read_whole
from vwlite.storage.named_files import NamesInFile

MAX_LEVELS = 10000  # of a range


def number(value: Any) -> float:
    """A finite number of single precision."""
    try:
        read = read_decimal(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        read = math.nan
    if not math.isfinite(read):
        raise ValueError(f"{value!r} is not a finite number")
    if abs(read) > FLOAT32_MAX:
        raise ValueError(f"{value!r} is beyond the numbers of single precision, up to {FLOAT32_MAX:.7g}")
    return read


def integer(value: Any) -> int:
    """A whole number, also one of NumPy's."""
    try:
        return read_whole(value) if isinstance(value, str) else value.__index__()
    except (AttributeError, ValueError):
        raise ValueError(f"{value!r} is not a valid integer") from None


def text(value: Any) -> str:
    """A str, or a path."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a str")
    return value


def words(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas, or ``@FILE``, which has one in each line."""
    names = value if isinstance(value, tuple) else tuple(value.split(","))
    if isinstance(value, str) and value.startswith("@"):
        names = names_in_file(value[1:])
    if not all(names):
        raise ValueError(f"{value!r} has an empty name")
    return names


def names_in_file(path: str) -> tuple[str, ...]:
    try:
        with open(path, "rb") as file:
            lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    return NamesInFile.of((name for line in lines if (name := line.strip())), path)


def classes(value: Any) -> Any:
    """A whole number, or ``auto``."""
    return value if value == AUTO else integer(value)


def class_weights(value: str | tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """``label:weight,label:weight``: pairs of numbers, the weights 0 or more."""
    if isinstance(value, tuple):
        return value
    pairs = label_weights(value, like="1:2,0:0.5")
    if not all(isinstance(label, float) and math.isfinite(label) for label, _ in pairs):
        raise ValueError(f"{value!r} is not like 1:2,0:0.5")
    return pairs  # type: ignore[return-value]


def label_weights(value: str, like: str = "red:2,blue:0.5") -> tuple[tuple[float | str, float], ...]:
    """The same of labels that are names or numbers."""
    pairs: list[tuple[float | str, float]] = []
    for pair in value.split(","):
        label, _, typed = pair.rpartition(":")
        weight = decimal_or_none(typed)
        if not label or weight is None or not 0 <= weight < math.inf:
            raise ValueError(f"{value!r} is not like {like}")
        number = decimal_or_none(label)
        pairs.append((label if number is None else number, weight))
    return tuple(pairs)


def decimal_or_none(text: str) -> float | None:
    try:
        return read_decimal(text)
    except ValueError:
        return None


def levels(value: str | tuple[float, ...]) -> tuple[float, ...]:
    """``1..5``, whole numbers one apart, or ``1,2,4``."""
    if isinstance(value, tuple):
        return tuple(map(number, value))
    low, dots, high = value.partition("..")
    if not dots:
        return tuple(map(number, value.split(",")))
    first, last = integer(low), integer(high)
    if last <= first:
        raise ValueError(f"{value!r} is no range of levels: the first is below the last")
    if last - first > MAX_LEVELS:
        raise ValueError(f"{value!r} are more than {MAX_LEVELS} levels")
    return tuple(map(float, range(first, last + 1)))


def per_output(value: Any) -> Any:
    """A number, or several: ``0.1,0.5,0.9``."""
    several = value.split(",") if isinstance(value, str) and "," in value else value
    return tuple(map(number, several)) if isinstance(several, list | tuple) else number(value)


def duration(value: Any) -> float:
    """Seconds: a number, or ``90s``, ``10m``, ``2h``."""
    if isinstance(value, int | float):
        return number(value)
    match = re.fullmatch(r"(\d+(?:\.\d*)?)([smh]?)", value, re.ASCII)
    if not match:
        raise ValueError(f"{value!r} is no length of time: 90s, 10m and 2h are")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def decays(value: Any) -> Any:
    """A number, or ``NS=X,NS=Y`` as it is."""
    return value if isinstance(value, str) and "=" in value else number(value)


def units(value: Any) -> str:
    """``300,200``, or the whole numbers themselves: one, or several."""
    if isinstance(value, str):
        return value
    return ",".join(str(integer(number)) for number in (value if isinstance(value, list | tuple) else (value,)))


READERS: dict[str, Callable[[Any], Any]] = {
    "float": number,
    "int": integer,
    "names": words,
    "classes": classes,
    "class_weights": class_weights,
    "label_weights": label_weights,
    "levels": levels,
    "decays": decays,
    "per_output": per_output,
    "duration": duration,
    "units": units,
}


class Absent(NamedTuple):
    """``options`` may end in ``*``; ``instead`` has commands and options between backticks."""

    what: str
    options: tuple[str, ...]
    instead: str


ABSENT = (
    Absent(
        "other bandits",
        (
            "cb_force_legacy", "cb_sample", "cb_dro", "cbzo", "ccb_*", "cats*",
            "slates", "warm_cb*", "multiworld_test", "large_action_space",
            "epsilon_decay*", "rnd*", "synthcover*",
        ),
        "`--cb K` for decisions that were logged, or `--cb_adf` for actions with features, and `--cb_explore K` or "
        "`--cb_explore_adf` for the probabilities of actions",
    ),
    Absent("learning to search", ("search*",), "`vwlite l1 --model crf` for label sequences"),
    Absent("topics", ("lda*",), "`vwlite aso learn` for structure in text without labels"),
    Absent(
        "neural networks",
        ("multitask", "meanfield"),
        "`vwlite train --nn`, with `--multiclass` for classes, or with `--inpass` and `--dropout`",
    ),
    Absent("kernel machines learned in parallel", ("para_active",), "`--ksvm` by itself"),
    Absent("boosting", ("boosting", "alg"), "one model with crossed features (`-q`, `--interactions`)"),
    Absent(
        "bootstrap",
        ("bootstrap", "bs_type"),
        "several models, each of lines drawn anew; `--confidence` shows how firm the sign of a prediction is",
    ),
    Absent(
        "polynomials by stages",
        ("stage_poly", "autolink", "interact"),
        "the crossings by name: `-q`, `--cubic`, `--interactions`",
    ),
    Absent("other factorisations", ("new_mf", "lrqfa"), "`--dotproduct ui --rank 10`, or `--lrq ui10`"),
    Absent(
        "marginals and baselines",
        ("marginal", "baseline*"),
        "a mean calculated beforehand, as a feature or as the base (the third number of a line)",
    ),
    Absent(
        "other trees of classes",
        ("recall_tree", "memory_tree", "emt*", "plt", "ot"),
        "`--log_multi`, `--ect` or `--filter_tree`; `--multilabel_oaa` for sets of labels",
    ),
    Absent("other active learning", ("active_cover", "cs_active", "direct"), "`--active`, or `--active --simulation`"),
    Absent("the best K", ("top", "topk"), "`--csoaa_ldf m --csoaa_rank`, which gives all in order"),
    Absent(
        "other formats of data",
        ("chain_hash", "flatbuffer", "csv*"),
        "text, one example a line, LIBSVM's format with `--format svmlight`, or tables and objects with "
        "`--format csv`, `--format jsonl` and `--columns`",
    ),
    Absent(
        "sending examples to a daemon",
        ("sendto",),
        "lines of text sent to its port, as by `nc localhost 26542`",
    ),
    Absent(
        "several machines",
        ("span_server*", "unique_id", "total", "node"),
        "one machine, all of whose cores take part (`--threads`)",
    ),
    Absent("dictionaries", ("dictionary*",), "the features of the dictionary in the lines themselves"),
    Absent(
        "other update rules",
        ("freegrad", "OjaNewton", "svrg", "adax"),
        "`--coin`, `--pistol`, `--ftrl` or `--bfgs`",
    ),
    Absent("search for options while learning", ("automl*",), "`vwlite tune`"),
    Absent("experience replay", ("replay_*",), "several passes: `--passes 3 -c`"),
    Absent(
        "models as JSON, regularisers as files",
        ("dump_json_weights*", "input_feature_regularizer", "output_feature_regularizer_binary"),
        "`--readable_model`, `--invert_hash` or `vwlite inspect --json`",
    ),
    Absent("figures of a run as JSON", ("extra_metrics",), "`vwlite train --json`"),
    Absent("runs that learn nothing", ("noop", "print"), "`vwlite check`"),
)
FORMATS = ("flatbuffer",)  # options of vw that are formats
CONVERTED = {  # formats of other tools, by their names, and what 'vwlite convert' calls them
    **dict.fromkeys(("fasttext", "fast_text"), "fasttext"),
    **dict.fromkeys(("libffm", "ffm", "xlearn"), "libffm"),
    **dict.fromkeys(("crfsuite", "python_crfsuite"), "crfsuite"),
    **dict.fromkeys(("conll", "conll2000", "conll2003", "crfpp", "crf++", "wapiti"), "conll"),
}
SAME = {"libsvm": "svmlight", "svm": "svmlight", "svm_light": "svmlight", "ndjson": "jsonl", "json_lines": "jsonl"}
SAME |= {"feather": "arrow", "ipc": "arrow", "text": "vw", "txt": "vw", "vowpal_wabbit": "vw", "libfm": "svmlight"}


def format_instead(name: str) -> str:
    """Tell what to use in place of a format of vw's or another tool's, as ``what_instead``."""
    plain = name.lower().replace("-", "_")
    if plain in CONVERTED:
        return f" ('vwlite convert {CONVERTED[plain]} FILE > data.vw' turns it into text)"
    if plain in SAME:
        return f" (it is called {SAME[plain]} here)"
    return what_instead(name) if name in FORMATS else ""


def what_instead(option: str) -> str:
    """Tell what to use in place of an option of vw, to stand behind its name; empty if it is none of those above."""
    name = option.lstrip("-").replace("-", "_")
    matching = (absent for absent in ABSENT if any(fnmatchcase(name, pattern) for pattern in absent.options))
    replacement = next(matching, None)
    if replacement is None:
        return ""
    return f" (not in vwlite: {replacement.what}; use {replacement.instead.replace('`', chr(39))})"
