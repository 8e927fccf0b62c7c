"""Tables of tagging: words in sentences, few of them labelled (Ando and Zhang 2005, sections 7.3 and 7.4).

What the tables of names, parts of speech and chunks have in common: rows are learned one after the other, from the
same labelled and unlabelled words, and measured on the same sentences.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from vwlite.data.malformed_lines import BadLines
from vwlite.features.theta import Theta, save_theta
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import Target
from vwlite.solvers.aso.config import CotrainConfig, LearnConfig, SequenceConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.cotrain import cotrain
from vwlite.solvers.aso.tagger import measure_tagger, tagger_of, train_sequences
from vwlite.solvers.aso.train import GIB, learn
from vwlite.solvers.loglinear.crfpp_templates import Sentence, Template, lines_of

BEST = "co/self best"
CRF = "CRF"  # at the beginning of a row's name: not a classifier of each word but a CRF
NO_INPUT = 66


@dataclass(frozen=True)
class Task:
    """``rows``: auxiliary problems by the row's name. ``groups``: namespaces, each of which Theta has a group of.

    ``views``: of co-training, namespaces each.
    """

    name: str
    templates: list[Template]
    decode: str
    rows: dict[str, tuple[str, ...]]
    groups: tuple[str, ...]
    views: tuple[tuple[str, ...], ...] = ()
    error: bool = False  # rows are compared by the share of wrong words, not by F


@dataclass
class Data:
    """``tests`` by name, the last one that rows are compared by."""

    labelled: list[Sentence]
    unlabelled: list[str]  # lines of text
    tests: dict[str, list[Sentence]]


def text_of(sentences: Iterable[Sentence], templates: list[Template], labels: bool = True) -> str:
    return "".join("".join(lines_of(sentence, templates, labels)) + "\n" for sentence in sentences)


def corpus(text: str, sequences: bool = False) -> Corpus:
    with tempfile.NamedTemporaryFile("w", suffix=".vw", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        return Corpus(BadLines(None, None), tags=sequences).read([file.name])


def first_words(sentences: Iterable[Sentence], count: int) -> tuple[list[Sentence], list[Sentence]]:
    """The first sentences of ``count`` words together (0: all), and the others."""
    found: list[Sentence] = []
    rest: list[Sentence] = []
    words = 0
    for sentence in sentences:
        (found if not count or words < count else rest).append(sentence)
        words += len(sentence)
    return found, rest


def needed(path: Path, source: str) -> Path:
    """The path of data. Ends the program where there are none."""
    if not path.exists():
        print(f"there is no {path}: it is of {source}", file=sys.stderr)
        sys.exit(NO_INPUT)
    return path


class Table:
    """Learns and measures rows, which stay in ``found`` with their seconds and the most memory there was so far."""

    def __init__(self, task: Task, data: Data, options: argparse.Namespace) -> None:
        self.task, self.data, self.options = task, data, options
        self.labelled = corpus(text_of(data.labelled, task.templates), sequences=True)
        self.unlabelled = corpus("\n".join(data.unlabelled) + "\n")
        self.texts = {name: text_of(part, task.templates) for name, part in data.tests.items()}
        self.tests = {name: corpus(text, sequences=True) for name, text in self.texts.items()}
        self.final = TargetConfig(replace(TargetConfig().solver, penalty=options.penalty), options.scale)
        self.thetas: dict[tuple[str, ...], Theta | None] = {(): None}
        self.curves: dict[str, list[float]] = {}
        self.found: list[dict] = []

    def run(self, rows: Iterable[str], show: Callable[[str], None]) -> None:
        for name in rows:
            begin = time.perf_counter()
            if name == BEST:
                figures = self.best_of_rounds()
            elif name.startswith(CRF):
                figures = self.crf(self.theta(self.task.rows[name]))
            else:
                theta, how = self.theta(self.task.rows[name]), SequenceConfig(sequences=True, decode=self.task.decode)
                figures = self.of_target(train_sequences(self.labelled, theta, self.final, how))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            row = {"row": name, **figures, "seconds": round(time.perf_counter() - begin, 1), "peak_mib": peak}
            self.found.append(row)
            show(self.line(row))

    def theta(self, aux: tuple[str, ...]) -> Theta | None:
        """Learned once for each set of problems."""
        if aux not in self.thetas:
            options = self.options
            solver = SolverConfig(penalty=options.penalty, passes=options.passes, threads=options.threads)
            config = LearnConfig(
                tuple(map(read_aux, aux)), groups=tuple((name,) for name in self.task.groups), dim=options.dim,
                most=options.max_problems, least=options.min_count, memory=options.max_memory * GIB, solver=solver,
            )  # fmt: skip
            self.thetas[aux] = learn(config, self.unlabelled, self.labelled).theta
        return self.thetas[aux]

    def of_target(self, target: Target) -> dict[str, dict[str, float]]:
        return {name: figures_of(measure_tagger(tagger_of(target), part)) for name, part in self.tests.items()}

    def best_of_rounds(self) -> dict:
        """Of co-training, and of self-training, by the test part, as the paper has it."""
        rounds: list[dict] = []
        for name, one_view in (("co-training", False), ("self-training", True)):
            config, views = CotrainConfig(one_view=one_view, **self.steps()), () if one_view else self.task.views
            learned = self.labelled, self.unlabelled, config, self.final
            own = cotrain(*learned, spaces=views, measure=self.decoded).history
            self.curves[name] = [self.key(figures) for figures in own]
            rounds += [{part: one[part] for part in self.tests} for one in own]
        return (min if self.task.error else max)(rounds, key=self.key)

    def steps(self) -> dict[str, int]:
        return {"pool": self.options.pool, "step": self.options.step, "rounds": self.options.rounds}

    def decoded(self, target: Target) -> dict[str, dict[str, float]]:
        return self.of_target(replace(target, sequences=SequenceConfig(sequences=True, decode=self.task.decode)))

    def crf(self, theta: Theta | None) -> dict[str, dict[str, float]]:
        """By the commands."""
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            if theta:
                save_theta(str(work / "theta"), theta, {})
            text = text_of(self.data.labelled, self.task.templates)
            train = written(work / "train.vw", text, work / "theta" if theta else None)
            vwlite("l1", train, "--model", "crf", "--l1", self.options.l1, "-f", work / "model", "--quiet")
            scores = {}
            for name, text in self.texts.items():
                test = written(work / "test.vw", text, work / "theta" if theta else None)
                metrics = ("--metric", "accuracy" if self.task.error else "accuracy,conll", "--json", "-")
                scores[name] = figures_of(json.loads(vwlite("evaluate", "-i", work / "model", test, *metrics)))
            return scores

    def key(self, figures: dict) -> float:
        return figures[list(self.tests)[-1]]["error" if self.task.error else "f1"]

    def names(self) -> list[str]:
        return ["error"] if self.task.error else ["precision", "recall", "f1"]

    def head(self) -> str:
        columns = " ".join(f"{f'{part} {name[:4]}':>10}" for part in self.tests for name in self.names())
        return f"{'':<20}{columns} {'seconds':>8} {'MiB':>6}"

    def line(self, row: dict) -> str:
        columns = " ".join(f"{row[part][name]:10.2f}" for part in self.tests for name in self.names())
        return f"{row['row']:<20}{columns} {row['seconds']:8.1f} {row['peak_mib']:6d}"


def figures_of(report: dict) -> dict[str, float]:
    """In percent."""
    report = {**report, **report.get("conll", {})}
    phrases = {name: report[name] for name in ("precision", "recall", "f1") if name in report}
    return {**phrases, "error": 100 - 100 * report["accuracy"]}


def written(path: Path, text: str, theta: Path | None) -> Path:
    """A file of the text, with Theta's features."""
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    if theta:
        more = path.with_suffix(".more")
        vwlite("aso", "apply", "--theta", theta, path, "-o", more, "--quiet")
        more.replace(path)
    return path


def vwlite(*arguments: object) -> str:
    """What the command prints."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def add_options(parser: argparse.ArgumentParser, rows: Iterable[str], words: int, unlabeled: int) -> None:
    """Those that all tables have."""
    parser.add_argument("--words", type=int, default=words, help="labelled words, 0 for all (%(default)s)")
    parser.add_argument("--unlabeled", type=int, default=unlabeled, help="words without labels (%(default)s)")
    parser.add_argument("--tested", type=int, default=0, help="words of each test part, 0 for all (%(default)s)")
    parser.add_argument("--rows", type=lambda text: text.split(","), default=list(rows), help=f"of {', '.join(rows)}")
    parser.add_argument("--max-problems", type=int, default=1000, help="of each kind (%(default)s)")
    parser.add_argument("--max-memory", type=float, default=8.0, help="GiB that weights may take (%(default)s)")
    parser.add_argument("--dim", type=int, default=50, help="rows of Theta for each group (%(default)s)")
    parser.add_argument("--scale", type=float, default=0.1, help="--theta-scale of aso train (%(default)s)")
    parser.add_argument("--min-count", type=int, default=10, help="of features (%(default)s)")
    parser.add_argument("--lambda", dest="penalty", type=float, default=1e-5, help="of all problems (%(default)s)")
    parser.add_argument("--passes", type=int, default=3, help="over the words without labels (%(default)s)")
    parser.add_argument("--l1", type=float, default=0.3, help="penalty of CRFs (%(default)s)")
    parser.add_argument("--pool", type=int, default=50_000, help="of co-training (%(default)s)")
    parser.add_argument("--step", type=int, default=1000, help="words that each classifier labels (%(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="of co-training (%(default)s)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")


def parsed(parser: argparse.ArgumentParser, rows: Iterable[str]) -> argparse.Namespace:
    options = parser.parse_args()
    for name in options.rows:
        if name not in rows:
            parser.error(f"--rows: there are {', '.join(rows)}, and no {name}")
    return options


def sizes(data: Data, title: str) -> dict[str, int]:
    """Words by what they are for, which are told."""
    counts = {"labelled": sum(map(len, data.labelled)), "unlabelled": len(data.unlabelled)}
    counts |= {name: sum(map(len, part)) for name, part in data.tests.items()}
    print(f"{title}: words: {', '.join(f'{count:,} {name}' for name, count in counts.items())}", file=sys.stderr)
    return counts


def write_json(path: str | None, table: Table, words: dict[str, int], paper: dict) -> None:
    if path:
        whole = {"task": table.task.name, "words": words, "rows": table.found, "rounds": table.curves, "paper": paper}
        Path(path).write_text(json.dumps(whole, indent=2) + "\n")
