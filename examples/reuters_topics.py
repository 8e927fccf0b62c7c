"""Ando and Zhang's figures 4(b) and 14(b) (2005), which are of Reuters-RCV1, on the texts of Reuters-21578 with topics.

3,000 texts are for testing, 1,500 to draw labelled ones from, the rest is unlabelled; a smaller collection is split in
the same proportions. Each run draws anew. A text has all topics of positive scores or, where a method's name ends in
tuned, of scores above a cut of each topic that folds of the labelled texts choose.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vwlite.features.theta import Theta
from vwlite.solvers.aso.answers import agreement
from vwlite.solvers.aso.auxiliary import SUPERVISED, read_aux
from vwlite.solvers.aso.classifier import labels_of, train
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.train import learn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from newsgroups import corpus
from newsgroups_to_vw import STOPPED, WORD, line
from reuters import TOPICS, files_of

TEXTS = 10377
DOCUMENT = re.compile(r"<REUTERS.*?</REUTERS>", re.S)
FREQ = "freq-k:10"
AUX = {
    "supervised": (),
    FREQ: (FREQ,),
    "multi-k:auto": ("multi-k:auto",),
    "multi-k:2": ("multi-k:2",),
    "multi-k:auto+freq-k:10": ("multi-k:auto", FREQ),
}
IDF, TUNED = "+idf", "+tuned"
METHODS = [*AUX, *(f"{method}{IDF}" for method in AUX)]
METHODS += [f"{method}{TUNED}" for method in METHODS if "multi-k:2" not in method]
COLUMNS = (100, 200, 500, 1000)
PAPER = {
    "supervised": (48.5, 56.3, 65.4, 71.4),
    "multi-3 + freq": (60.1, 65.8, 70.7, 73.7),
    "freq": (59.6, 64.8, 69.6, 72.8),
    "multi-3": (58.7, 65.5, 71.2, 74.6),
}
MEASURES = ("micro_f1", "macro_f1")


def documents(source: Path) -> Iterator[str]:
    """A line of VW text for each text that has topics and a body, the topics for its label."""
    for text in files_of(source):
        for match in DOCUMENT.finditer(text):
            topics = re.findall(r"<D>(.*?)</D>", TOPICS.search(match[0])[1])
            if topics and "<BODY>" in match[0]:
                body = re.sub(r"<[^>]*>|&[^;\s]*;", " ", match[0].partition("<TEXT")[2])
                yield line(",".join(topics), [word for word in WORD.findall(body.lower()) if word not in STOPPED])


class Experiment:
    """The split, and what is learned of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        texts = list(documents(options.data))
        texts = random.Random(options.seed).sample(texts, len(texts))
        unit = min(len(texts) / TEXTS, 1)
        tests, pool = int(3000 * unit), int(1500 * unit)
        self.test, self.pool = corpus(texts[:tests]), texts[tests : tests + pool]
        self.unlabelled, self.options = corpus(texts[tests + pool :]), options
        self.ready: dict[str, Theta] = {}

    def draw(self, run: int, count: int) -> Corpus:
        return corpus(random.Random(f"{run} {count}").sample(self.pool, min(count, len(self.pool))))

    def theta(self, name: str, labelled: Corpus) -> Theta | None:
        """``name``: a method without the cuts. What does not depend on labels is learned once."""
        aux, idf = tuple(map(read_aux, AUX[name.removesuffix(IDF)])), name.endswith(IDF)
        if not aux or name in self.ready:
            return self.ready.get(name)
        solver = SolverConfig(threads=self.options.threads)
        config = LearnConfig(aux, dim=self.options.dim, least=3, idf=idf, several=True, solver=solver)
        if any(one.kind in SUPERVISED for one in aux):
            return learn(config, self.unlabelled, labelled).theta
        self.ready[name] = learn(config, self.unlabelled, None).theta
        return self.ready[name]

    def measured(self, labelled: Corpus, theta: Theta | None, idf: bool, tuned: bool) -> dict[str, float]:
        """Percent on the test texts."""
        target = train(labelled, theta, TargetConfig(idf=idf and not theta), several=True, tuned=tuned)
        rows, true = labels_of(self.test, target.classes)
        scores = target.scores(self.test)[rows]
        meant = np.array([text.count(",") + 1 for text in self.test.texts])[self.test.label[rows]]
        is_true = np.zeros(scores.shape, bool)
        is_true[true.positive.owner, true.positive.indices] = True
        report = agreement(target.chosen(scores), is_true, np.ones(len(rows)), meant)
        return {name: 100 * report[name] for name in MEASURES}


def table(experiment: Experiment, options: argparse.Namespace) -> list[dict]:
    rows = []
    for count in options.labeled:
        scores: dict[str, list[dict[str, float]]] = {method: [] for method in options.methods}
        for run in range(options.runs):
            labelled, thetas = experiment.draw(run, count), {}
            for method in options.methods:
                name, tuned, idf = method.removesuffix(TUNED), method.endswith(TUNED), IDF in method
                if name not in thetas:
                    thetas[name] = experiment.theta(name, labelled)
                scores[method].append(experiment.measured(labelled, thetas[name], idf, tuned))
        for method, reports in scores.items():
            row = {"labeled": count, "method": method}
            for name in MEASURES:
                values = [report[name] for report in reports]
                row[name] = float(np.mean(values))
                row[f"{name}_std"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            rows.append(row)
        print(f"reuters_topics: {count} labelled done", file=sys.stderr)
    return rows


def shown(rows: list[dict], options: argparse.Namespace) -> str:
    """Micro F with its deviation, then macro F."""
    lines = [f"{'labelled':<36}" + "".join(f"{count:>20}" for count in options.labeled)]
    for method in options.methods:
        own = [row for row in rows if row["method"] == method]
        cells = (f"{row['micro_f1']:.1f} +- {row['micro_f1_std']:.1f} ({row['macro_f1']:.1f})" for row in own)
        lines.append(f"{method:<36}" + "".join(f"{cell:>20}" for cell in cells))
    for method, figures in PAPER.items():
        known = dict(zip(COLUMNS, figures, strict=True))
        cells = (f"{known[count]:.1f}" if count in known else "-" for count in options.labeled)
        lines.append(f"{'paper, of RCV1: ' + method:<36}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reuters_topics.sh", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--labeled", type=lambda text: [int(n) for n in text.split(",")], default=list(COLUMNS))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    parser.add_argument("--dim", type=int, default=50, help="h of each view")
    parser.add_argument("--seed", type=int, default=0, help="of the split")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.methods) - set(METHODS):
        parser.error(f"--methods: no {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    if not options.data.exists():
        print(f"reuters_topics: there is no {options.data}: it is reuters21578.tar.gz, or its folder", file=sys.stderr)
        sys.exit(66)
    return options


def main() -> None:
    options = arguments()
    rows = table(Experiment(options), options)
    print("Micro-averaged F in %, mean and standard deviation (macro-averaged F)")
    print(shown(rows, options))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
