"""Named entities with few labelled words and much text without labels (Ando and Zhang 2005, section 7.3).

Words are tagged one by one, without the tags of their neighbours; F is of whole entities, on eng.testb.
"""

import argparse
import json
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from vwlite.data.malformed_lines import BadLines
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import train
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.train import GIB, learn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conll2003_to_vw import iob2, lines, reuters, sentences

LEFT = "wL2,wL1,tL2,tL1,pL2,pL1,sL2,sL1"
RIGHT = "wR2,wR1,tR2,tR1,pR2,pR1,sR2,sR1"
WORDS = tuple(f"mask:w{place},t{place},p{place},s{place},wLC,wCR" for place in ("C", "L1", "R1"))
TOP2 = (f"top-k:2:{LEFT}", f"top-k:2:{RIGHT}")
METHODS = {"supervised": (), "words": WORDS, "top-2": TOP2, "words+top-2": (*WORDS, *TOP2)}


def corpus(text: list[str]) -> Corpus:
    with tempfile.NamedTemporaryFile("w", suffix=".vw", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
        file.flush()
        return Corpus(BadLines(None, None)).read([file.name])


def entities(tags: list[str]) -> set[tuple[int, int, str]]:
    """First word, one past the last, kind; an I- tag that follows no word of its kind begins an entity."""
    found, start = set(), -1
    fixed = [*iob2(tags), "O"]
    for place, tag in enumerate(fixed):
        if start >= 0 and not tag.startswith("I-"):
            found.add((start, place, fixed[start][2:]))
            start = -1
        if tag.startswith("B-"):
            start = place
    return found


def f_measure(true: list[list[str]], said: list[list[str]]) -> float:
    hits = found = meant = 0
    for a, b in zip(true, said, strict=True):
        right, chosen = entities(a), entities(b)
        hits, found, meant = hits + len(right & chosen), found + len(chosen), meant + len(right)
    return 200 * hits / max(found + meant, 1)


def labelled_words(path: str, count: int) -> list[str]:
    """The first sentences of ``count`` words together."""
    found: list[str] = []
    for words, tags in sentences(path):
        found += lines(words, tags)
        if len(found) >= count:
            break
    return found


def unlabelled_words(path: str, count: int, seed: int) -> list[str]:
    """Names and their like: words with a capital, not first in their sentence; the first such, in a random order."""
    found = []
    for words in reuters(path):
        chosen = [place for place in range(1, len(words)) if words[place][0].isalpha() and len(words[place]) > 2]
        every = lines(words, None) if chosen else []
        found += [every[place] for place in chosen if words[place][0].isupper()]
        if len(found) >= 2 * count:
            break
    random.Random(seed).shuffle(found)
    return found[:count]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conll2003.sh", description=__doc__)
    parser.add_argument("conll", type=Path)
    parser.add_argument("reuters", type=Path)
    parser.add_argument("--words", type=int, default=10_000, help="labelled words")
    parser.add_argument("--unlabeled", type=int, default=300_000, help="words without labels")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--max-problems", type=int, default=1000)
    parser.add_argument("--max-memory", type=float, default=8.0, help="GiB that weights may take")
    parser.add_argument("--dim", type=int, default=50)
    parser.add_argument("--scale", type=float, default=0.1, help="--theta-scale of aso train")
    parser.add_argument("--min-count", type=int, default=10)
    parser.add_argument("--lambda", dest="penalty", type=float, default=1e-5, help="of all problems")
    parser.add_argument("--passes", type=int, default=3, help="over the words without labels")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="OUT")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    archive = options.reuters / "reuters21578.tar.gz" if options.reuters.is_dir() else options.reuters
    labelled = corpus(labelled_words(str(options.conll / "eng.train.gz"), options.words))
    text = unlabelled_words(str(archive), options.unlabeled, 0)
    print(f"conll2003: {len(labelled.label)} labelled words, {len(text)} without labels", file=sys.stderr)
    unlabelled = corpus(text)
    tests = list(sentences(str(options.conll / "eng.testb.gz")))
    test = corpus([line for words, tags in tests for line in lines(words, tags)])
    solver = SolverConfig(penalty=options.penalty, passes=options.passes, threads=options.threads)
    final = replace(TargetConfig().solver, penalty=options.penalty)
    rows = []
    for method in options.methods:
        theta = None
        if METHODS[method]:
            aux = tuple(map(read_aux, METHODS[method]))
            same = {"dim": options.dim, "most": options.max_problems, "least": options.min_count}
            config = LearnConfig(aux, **same, memory=options.max_memory * GIB, solver=solver)
            theta = learn(config, unlabelled, labelled).theta
        target = train(labelled, theta, TargetConfig(final, options.scale))
        names = target.classes.names
        said = iter([names[best] for best in target.scores(test).argmax(1).tolist()])
        f = f_measure([tags for _, tags in tests], [[next(said) for _ in words] for words, _ in tests])
        rows.append({"method": method, "f": f})
        print(f"{method:<12} F {f:.2f}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
