"""Sets of topics of Reuters-21578, learned by the four losses of sets and measured by each.

The ModApte split and the features of ``reuters.py``; topics with a document in both parts; documents without any are
left out. A row is what is asked for (``--set-loss``), a column what is measured; the best of a column has a star.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reuters import documents, features, vwlite

LOSSES = ("hamming", "zero_one", "f1", "jaccard")
MEASURES = ("hamming", "subset_accuracy", "micro_f1", "macro_f1", "samples_f1", "jaccard")
RATES = "--sgd -l 20 --power_t 0 --decay_learning_rate 0.7"  # falls: the last examples count no more than others


def write(path, docs, lines, numbers):
    with open(path, "w") as out:
        for (topics, _), line in zip(docs, lines, strict=True):
            labels = sorted(numbers[topic] for topic in topics if topic in numbers)
            if labels:
                out.write(f"{','.join(map(str, labels))} | {line}\n")


def measure(work, loss, order, options, count):
    how = ["--multilabel_oaa", count, "--set-loss", loss, "--loss_function", options.loss_function]
    how += ["-b", "22", "--passes", options.passes, "--holdout_off", "--cache_file", work / "cache"]
    how += options.more.split()
    if loss != "hamming":
        how += ["--label-order", order]
    vwlite("train", work / "TRAIN.vw", *how, "-f", work / "model", "--quiet")
    report = vwlite("evaluate", "-i", work / "model", work / "TEST.vw", "--metric", ",".join(MEASURES), "--json", "-")
    return report["result"]


def table(rows):
    """The measures of every loss, with a star at the best of each column."""
    lines = [f"{'set loss':<10}{'order':<10}" + "".join(f"{name:>16} " for name in MEASURES).rstrip()]
    best = {name: (min if name == "hamming" else max)(row[name] for row in rows) for name in MEASURES}
    for row in rows:
        cells = "".join(f"{row[name]:16.4f}{'*' if row[name] == best[name] else ' '}" for name in MEASURES)
        lines.append(f"{row['loss']:<10}{row['order']:<10}{cells}".rstrip())
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser("reuters_sets.py", description=__doc__)
    parser.add_argument("source", type=Path, metavar="SOURCE", help="folder or tar of the reut2-*.sgm files")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--loss_function", default="logistic", choices=("logistic", "hinge"))
    parser.add_argument("--orders", default="given,rare", help="of given, frequent and rare, separated by commas")
    parser.add_argument("--more", default=RATES, help="further options of train (%(default)s)")
    options = parser.parse_args(arguments)
    parts = documents(options.source)
    lines = features(parts)
    counts = [Counter(topic for topics, _ in docs for topic in topics) for docs in parts.values()]
    numbers = {topic: number for number, topic in enumerate(sorted({*counts[0]} & {*counts[1]}))}
    rows = []
    with tempfile.TemporaryDirectory(prefix="reuters-") as work:
        for part in parts:
            write(Path(work) / f"{part}.vw", parts[part], lines[part], numbers)
        for loss in LOSSES:
            for order in options.orders.split(",") if loss != "hamming" else ["-"]:
                rows.append({"loss": loss, "order": order, **measure(Path(work), loss, order, options, len(numbers))})
    print(table(rows))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
