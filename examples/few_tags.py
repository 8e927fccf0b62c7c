"""Parts of speech and chunks of CoNLL-2000 with few labelled words (Ando and Zhang 2005, section 7.4).

The first words of the training part have labels, others have none, for parts of speech also those of CoNLL-2003.
For parts of speech figures are percentages of wrong words, and the paper's are those of the Brown corpus.
"""

import argparse
import gzip
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from vwlite.solvers.loglinear.crfpp_templates import (
    CHUNK,
    POS,
    ColumnsConfig,
    Sentence,
    lines_of,
    read_templates,
    sentences,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tagging import BEST, Data, Table, Task, add_options, first_words, needed, parsed, sizes, write_json

HIDDEN = ("mask:wC,lC,tC,pC,sC,wLC,wCR", "mask:wL1,tL1,sL1,wLC")
TOP1 = ("top-k:1:wL2,wL1,tL1,sL1", "top-k:1:wR2,wR1,tR1,sR1")
POS_TASK = Task(
    "pos", read_templates(POS), "none",
    {"supervised": (), "left+curr": HIDDEN, "top-1": TOP1, "left+curr+top-1": (*HIDDEN, *TOP1)},
    ("wC", "wL1", "wR1", "pC", "sC"), error=True,
)  # fmt: skip
LEFT, RIGHT = "U00,U01,U10,U11,U15", "U03,U04,U13,U14,U18"  # of the template chunk
WORDS = ("mask:w,U05,U06", "mask:U01,U05", "mask:U03,U06")
TOP2 = (f"top-k:2:{LEFT}", f"top-k:2:{RIGHT}")
CHUNK_TASK = Task(
    "chunks", read_templates(CHUNK), "bio",
    {
        "supervised": (), BEST: (), "words": WORDS, "top-2": TOP2, "words+top-2": (*WORDS, *TOP2),
        "CRF": (), "CRF+words": WORDS, "CRF+words+top-2": (*WORDS, *TOP2),
    },
    ("w", "U01", "U03"), tuple(tuple(f"w,t,{side}".split(",")) for side in (LEFT, RIGHT)),
)  # fmt: skip
TASKS = {"pos": POS_TASK, "chunks": CHUNK_TASK}
LABELLED = {"pos": 23_000, "chunks": 10_000}
PAPER = {"supervised": 8.9, "left+curr": 7.0, "top-1": 6.9, "left+curr+top-1": 6.9}  # figure 12


def columns(path: Path, kept: slice) -> Iterable[Sentence]:
    with gzip.open(path) as lines:
        for _, sentence in sentences(lines, str(path), ColumnsConfig(no_labels=True)):
            yield [token[kept] for token in sentence]


def chosen(unlabelled: list[Sentence], task: Task, count: int, seed: int) -> list[str]:
    """Words out of the sentences in a random order; the last column is the label, which is left out."""
    random.Random(seed).shuffle(unlabelled)
    lines: list[str] = []
    for sentence in unlabelled:
        if len(lines) >= count:
            break
        lines += [line.rstrip("\n") for line in lines_of([token[:-1] for token in sentence], task.templates, False)]
    return lines[:count]


def data_of(options: argparse.Namespace, task: Task) -> Data:
    shared = "the shared task of CoNLL-2000 (aclanthology.org/W00-0726)"
    parts = [needed(options.conll2000 / name, shared) for name in ("train.txt.gz", "test.txt.gz")]
    kept = slice(0, 2 if task.name == "pos" else 3)
    labelled, others = first_words(columns(parts[0], kept), options.words)
    if options.conll2003:
        more = needed(options.conll2003 / "eng.train.gz", "the shared task of CoNLL-2003 (aclanthology.org/W03-0419)")
        others += columns(more, kept)
    tests = {"test": first_words(columns(parts[1], kept), options.tested)[0]}
    return Data(labelled, chosen(others, task, options.unlabeled, 0), tests)


def less(error: float, other: float) -> float:
    """By how many percent the one is below the other."""
    return 100 * (1 - error / other) if other else 0.0


def main() -> None:
    task = TASKS[sys.argv.pop(1)]
    parser = argparse.ArgumentParser(prog=f"{task.name}.sh", description=__doc__)
    parser.add_argument("conll2000", type=Path)
    parser.add_argument("--conll2003", type=Path, help="its words are unlabelled ones too")
    add_options(parser, task.rows, LABELLED[task.name], 200_000)
    options = parsed(parser, task.rows)
    if options.conll2003 and task.name != "pos":
        parser.error("--conll2003 is for parts of speech: that collection has chunks of another kind")
    data = data_of(options, task)
    words, paper = sizes(data, task.name), PAPER if task.error else {}
    table = Table(task, data, options)
    print(table.head() + (f" {'less':>7} {'paper':>6} {'less':>7}" if paper else ""))

    def show(line: str) -> None:
        row = table.found[-1]
        if paper and table.found[0]["row"] == "supervised":
            own = less(row["test"]["error"], table.found[0]["test"]["error"])
            its = paper[row["row"]]
            line += f" {own:6.1f}% {its:6.1f} {less(its, paper['supervised']):6.1f}%"
        print(line, flush=True)

    table.run(options.rows, show)
    write_json(options.json, table, words, paper)


if __name__ == "__main__":
    main()
