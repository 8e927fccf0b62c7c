"""What calls of the Python API take, within one process: `make calls`.

    python tests/bench/python_api.py [TEXT] [--rounds 30] [--mb 20]

TEXT holds lines in vw's format; without it, lines of the standard library are repeated until they fill --mb megabytes.
The least and the median of the rounds are printed: the least is what the work takes, the median what it took here.
"""

import argparse
import gc
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from workloads import lines_of_python, repeated

from vwlite import Model
from vwlite.data.memory import line_batches
from vwlite.data.text_format import TextFormat

OPTIONS = "--loss_function logistic -b 22"
LINE = "1 'tag|user u4711 age:34 city_rome c12 d77 |ad " + " ".join(f"w{number * 7919}" for number in range(40))
IMPORT = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


def show(title: str, figures: list[float], unit: float, name: str) -> None:
    least, median = min(figures) / unit, statistics.median(figures) / unit
    print(f"| {title} | {least:.3g} | {median:.3g} | {name} |", flush=True)


def timed(call: Callable[[], Any], rounds: int, calls: int = 1) -> list[float]:
    """Seconds of one call, in every round."""
    result = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        result.append((time.perf_counter() - begin) / calls)
    return result


def small(rounds: int) -> None:
    line = LINE[:239] + "\n"
    model = Model(OPTIONS)
    show("`learn`, one line of 240 bytes", timed(lambda: model.learn(line), rounds, 100), 1e-6, "us")
    show("`predict`, one line of 240 bytes", timed(lambda: model.predict(line), rounds, 100), 1e-6, "us")
    text, lines = line * 1000, [line] * 1000
    show("`learn`, a text of 1,000 lines, a line", timed(lambda: model.learn(text), rounds), 1e-3, "us")
    show("`learn`, a list of 1,000 lines, a line", timed(lambda: model.learn(lines), rounds), 1e-3, "us")


def matrix_of(path: Path) -> tuple[Any, np.ndarray]:
    """CSR rows with the features of the text's lines as columns, and their labels."""
    columns, values, sizes, labels = [], [], [], []
    with open(path, "rb") as file:
        for batch in line_batches(file, TextFormat()):
            columns.append(batch.feature_hash.astype(np.int32) & ((1 << 22) - 1))
            values.append(batch.value.copy())
            sizes.append(np.diff(batch.namespace_start[batch.row_namespace].astype(np.int64)))
            labels.append(batch.label.copy())
            batch.release()
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int32)
    parts = SimpleNamespace(indptr=indptr, indices=np.concatenate(columns), data=np.concatenate(values))
    parts.shape = (len(indptr) - 1, 1 << 22)
    return parts, np.concatenate(labels)


def tables(path: Path, rounds: int) -> None:
    rows, y = matrix_of(path)
    print(f"| CSR: {rows.shape[0]:,} rows, {len(rows.data):,} features | | | |")
    y = np.where(y > np.median(y), np.float32(1), np.float32(-1)) if len({*y.tolist()}) > 2 else y
    kept, learn = Model(OPTIONS), []
    for number in range(rounds + 1):
        model = Model(OPTIONS)
        begin = time.perf_counter()
        model.learn(rows, y)
        learn += [time.perf_counter() - begin] * bool(number)
        del model
        gc.collect()
    show("`learn(csr)`, a new model", learn, 1e-3, "ms")
    kept.learn(rows, y)
    show("`learn(csr)`, a model that has learned", timed(lambda: kept.learn(rows, y), rounds), 1e-3, "ms")
    show("`predict(csr)`", timed(lambda: kept.predict(rows), rounds), 1e-3, "ms")


def imports(rounds: int) -> None:
    for module in ("vwlite", "sklearn.linear_model, sklearn.utils.validation", "vwlite.sklearn"):
        command = [sys.executable, "-c", IMPORT.format(module)]
        result = [subprocess.run(command, capture_output=True, text=True) for _ in range(rounds)]
        if not any(done.returncode for done in result):
            show(f"`import {module}`", [float(done.stdout) for done in result], 1e-3, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--mb", type=int, default=20)
    options = parser.parse_args()
    print("| | least | median | |\n|---|---|---|---|")
    small(options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.vw"
        repeated(options.text, path, options.mb) if options.text else lines_of_python(Path(folder), options.mb)
        tables(path, max(options.rounds // 3, 3))
    imports(max(options.rounds // 3, 3))


if __name__ == "__main__":
    main()
