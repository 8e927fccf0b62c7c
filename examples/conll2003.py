"""Named entities of CoNLL-2003 with few labelled words and much text without labels (Ando and Zhang 2005, section 7.3).

Labels of a sentence are chosen together, I-X after B-X or I-X only. Words without labels are the capitalised ones of
Reuters-21578, which has no tags: neither tags nor chunks are features.
"""

import argparse
import gzip
import sys
from collections.abc import Iterable
from pathlib import Path

from vwlite.reporting.charts import colour, wide_axis
from vwlite.reporting.svg import Chart, axis, drawing
from vwlite.solvers.loglinear.crfpp_templates import (
    NER,
    ColumnsConfig,
    Sentence,
    Template,
    lines_of,
    read_templates,
    sentences,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reuters_sentences import reuters
from tagging import BEST, Data, Table, Task, add_options, first_words, needed, parsed, sizes, write_json

PARTS = {"dev": "eng.testa.gz", "test": "eng.testb.gz"}
HIDDEN = {  # of features of a word, those that others tell too
    "C": "wC,tC,pC,sC,wLC,wCR,tLC,tCR,tLCR",
    "L1": "wL1,tL1,pL1,sL1,wLC,tLC,tLR,tLCR",
    "R1": "wR1,tR1,pR1,sR1,wCR,tCR,tLR,tLCR",
}
LEFT = "wL2,wL1,tL2,tL1,pL2,pL1,sL2,sL1"
RIGHT = "wR2,wR1,tR2,tR1,pR2,pR1,sR2,sR1"
CURRENT = "wC,tC,pC,sC"
WORDS = tuple(f"mask:{names}" for names in HIDDEN.values())
TOP2 = (f"top-k:2:{LEFT}", f"top-k:2:{RIGHT}")
ROWS = {
    "supervised": (), BEST: (), "words": WORDS, "top-2": TOP2, "words+top-2": (*WORDS, *TOP2),
    "CRF": (), "CRF+words": WORDS, "CRF+words+top-2": (*WORDS, *TOP2),
}  # fmt: skip
PAPER = {  # F of the development and the test part by labelled words; figures 9 and 16
    10_000: {
        "supervised": (72.74, 68.32), BEST: (73.10, 69.63), "words": (80.78, 76.77), "top-2": (79.52, 75.54),
        "words+top-2": (81.25, 78.42),
    },
    0: {
        "supervised": (90.53, 85.45), BEST: (90.64, 85.40), "words": (92.60, 88.54), "top-2": (92.46, 88.14),
        "words+top-2": (93.15, 89.31),
    },
}  # fmt: skip


def tagged(path: Path) -> Iterable[Sentence]:
    """Words and labels of a part of the collection."""
    with gzip.open(path) as lines:
        for _, sentence in sentences(lines, str(path), ColumnsConfig(iob2=True)):
            yield [[token[0], token[-1]] for token in sentence]


def capitalised(path: Path, templates: list[Template], count: int) -> list[str]:
    """The first words with a capital that are not the first of their sentence."""
    found: list[str] = []
    for words in reuters(str(path)):
        chosen = [place for place in range(1, len(words)) if words[place][:1].isupper() and len(words[place]) > 2]
        every = list(lines_of([[word] for word in words], templates, False)) if chosen else []
        found += [every[place].rstrip("\n") for place in chosen]
        if len(found) >= count:
            break
    return found[:count]


def curves(table: Table) -> str:
    """F of bootstrapping by its rounds, with the table's other rows as lines across (figure 10)."""
    last = list(table.tests)[-1]
    level = {row["row"]: row[last]["f1"] for row in table.found if row["row"] != BEST}
    values = [value for one in table.curves.values() for value in one] + list(level.values())
    longest = max((len(one) for one in table.curves.values()), default=2) - 1
    chart = Chart("F of names by rounds", axis("rounds", (0, longest), whole=True), wide_axis("F", values))
    for place, (name, one) in enumerate(table.curves.items()):
        chart.line(list(enumerate(one)), colour(place), name)
    for place, (name, value) in enumerate(level.items(), len(table.curves)):
        chart.line([(0, value), (longest, value)], colour(place), name, stroke_dasharray="4 3")
    return drawing([chart])


def main() -> None:
    parser = argparse.ArgumentParser(prog="conll2003.sh", description=__doc__)
    parser.add_argument("conll", type=Path)
    parser.add_argument("reuters", type=Path)
    add_options(parser, ROWS, 10_000, 100_000)
    parser.add_argument("--plot", metavar="SVG", help=f"F by rounds of co-training and self-training ({BEST})")
    options = parsed(parser, ROWS)
    if options.plot and BEST not in options.rows:
        parser.error(f"--plot shows the rounds of {BEST}, which --rows leaves out")
    shared = "the shared task of CoNLL-2003 (aclanthology.org/W03-0419)"
    parts = {name: needed(options.conll / file, shared) for name, file in {"train": "eng.train.gz", **PARTS}.items()}
    archive = options.reuters / "reuters21578.tar.gz" if options.reuters.is_dir() else options.reuters
    archive = needed(archive, "Reuters-21578 (daviddlewis.com/resources/testcollections/reuters21578)")
    templates = read_templates(NER)
    labelled, _ = first_words(tagged(parts["train"]), options.words)
    tests = {name: first_words(tagged(parts[name]), options.tested)[0] for name in PARTS}
    data = Data(labelled, capitalised(archive, templates, options.unlabeled), tests)
    words = sizes(data, "conll2003")
    views = tuple(tuple(f"{CURRENT},{side}".split(",")) for side in (LEFT, RIGHT))
    task = Task("names", templates, "bio", ROWS, ("wC", "wL1", "wR1", "pC", "sC"), views)
    table, paper = Table(task, data, options), PAPER.get(options.words, {})
    print(table.head() + (f"  {'paper: dev':>10} {'test':>6}" if paper else ""))

    def show(line: str) -> None:
        beside = "".join(f"{value:9.2f}" for value in paper.get(table.found[-1]["row"], ()))
        print(line + beside, flush=True)

    table.run(options.rows, show)
    if options.plot:
        Path(options.plot).write_text(curves(table), encoding="utf-8")
    write_json(options.json, table, words, paper)


if __name__ == "__main__":
    main()
