"""Does a curriculum by vocabulary help a language model? Bengio et al. (2009), section 5, on 20 newsgroups.

    python examples/language_model.py DATA [--updates N] [--vocabulary N] [--stage N] [--seeds N] [--json OUT]

One document in twenty is held out; its windows are ranked. Both models take as many updates: with a curriculum the
first pass has windows of the N most frequent words, the second of 2 N, ...; without it every pass has them all.
Printed are the mean log ranks after every pass, those of ranking by frequency and by bigrams, and paired tests: of the
seeds, and for the first seed of the windows.
"""

import argparse
import gzip
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vwlite.data.config import BLOCK_SIZE
from vwlite.data.memory import blocks_of
from vwlite.solvers.lm.config import LmConfig, RankConfig
from vwlite.solvers.lm.model import LmModel, drawn_from, new_network, rank
from vwlite.solvers.lm.solver import Training, begin_training
from vwlite.solvers.lm.words import text_of, windows_of
from vwlite.training.listener import LineMonitor, Monitor

HELD_OUT = 20  # one document of so many
WAYS = ("none", "curriculum")


def documents(path: str) -> Iterator[str]:
    """The bodies of all documents."""
    with gzip.open(path, "rt", encoding="latin-1", newline="\n") as file:
        for line in file:
            text = line.rstrip("\n").split("|", 3)[3]
            yield text.partition("\t\t")[2] or text


def midranks(scores: np.ndarray, right: int) -> float:
    return 1 + (scores > scores[right]).sum() + ((scores == scores[right]).sum() - 1) / 2


def baselines(
    text: np.ndarray, held_out: np.ndarray, begin: np.ndarray, config: LmConfig, words: int
) -> dict[str, float]:
    """Mean log ranks by frequency, and by how often words follow the last but one and then by frequency."""
    frequency = np.bincount(text, minlength=words + 2)[:words].astype(float)
    pair = text[:-1].astype(np.int64) * (words + 2) + text[1:]
    pairs, counts = np.unique(pair[(text[:-1] < words) & (text[1:] < words)], return_counts=True)
    share, found = frequency / (frequency.sum() + 1), {"frequency": 0.0, "bigrams": 0.0}
    for at in begin.tolist():
        before, right = int(held_out[at + config.window - 2]), int(held_out[at + config.window - 1])
        first, last = np.searchsorted(pairs, [before * (words + 2), (before + 1) * (words + 2)])
        followed = share.copy()
        followed[pairs[first:last] - before * (words + 2)] += counts[first:last]
        for name, scores in (("frequency", share), ("bigrams", followed)):
            found[name] += math.log(midranks(scores, right)) / len(begin)
    return found


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """Mean of paired differences and Student's t."""
    of = np.asarray(differences, float)
    error = of.std(ddof=1) / len(of) ** 0.5 if len(of) > 1 else 0.0
    return float(of.mean()), float(of.mean() / error) if error else math.nan


def main() -> None:
    options = read_options()
    path = Path(options.data)
    documents_all = list(documents(str(path / "20news.txt.gz" if path.is_dir() else path)))
    kept = [text for number, text in enumerate(documents_all) if number % HELD_OUT]
    config = LmConfig(vocabulary=options.vocabulary)
    training = begin_training(config, blocks_of(kept, BLOCK_SIZE), math.inf, LineMonitor(print).note)
    model, text = training.model, training.text
    held_out = text_of(blocks_of(documents_all[::HELD_OUT], BLOCK_SIZE), config.tokens, model.words)
    ranking, words = RankConfig(windows=options.windows), len(model.words)
    begin = drawn_from(windows_of(held_out, config.window, words), ranking)
    size = len(windows_of(text, config.window, words))
    passes = max(1, math.ceil(options.updates / size))
    report: dict[str, Any] = {"tokens": int((text <= words).sum()), "windows": size, "ranked": len(begin), "curve": []}
    report |= baselines(text, held_out, begin, config, words)
    print("{tokens} tokens, {windows} windows; by frequency {frequency:.3f}, by bigrams {bigrams:.3f}".format(**report))
    last: dict[tuple[str, int], np.ndarray] = {}
    for seed in range(options.seeds):
        for way in WAYS:
            stage = options.stage if way == "curriculum" else 0
            own = LmConfig(vocabulary=options.vocabulary, curriculum=stage, seed=seed)
            model = LmModel(own, model.words, new_network(own, words))
            for _ in range(passes):
                Training(model, text).run(Monitor())
                last[way, seed] = np.log(rank(ranking, model.network, held_out).rank)
                row = {"seed": seed, "way": way, "updates": model.steps, "mean_log_rank": float(last[way, seed].mean())}
                report["curve"].append(row)
                print("seed {seed}  {way:<10}  {updates:>11,} updates  {mean_log_rank:.4f}".format(**row), flush=True)
    report["seeds"] = paired([last["curriculum", s].mean() - last["none", s].mean() for s in range(options.seeds)])
    report["of_windows"] = paired(last["curriculum", 0] - last["none", 0])
    for name, of in (("seeds", f"{options.seeds} seeds"), ("of_windows", f"{len(begin)} windows of seed 0")):
        print("curriculum less none, {}: {:+.4f}, t = {:.2f}".format(of, *report[name]))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mean log ranks on 20 newsgroups, with and without a curriculum.")
    parser.add_argument("data", help="20news.txt.gz, or its folder")
    parser.add_argument("--updates", type=float, default=1e8)
    parser.add_argument("--vocabulary", type=int, default=5000)
    parser.add_argument("--stage", type=int, default=1250, help="words more a pass")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--windows", type=int, default=10_000, help="that are ranked")
    parser.add_argument("--json", help="write all figures there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
