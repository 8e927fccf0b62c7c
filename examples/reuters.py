"""Text classification by topic on Reuters-21578: regression (alpha 1), ranking (alpha 0) and both (alpha 0.5).

The ModApte split: LEWISSPLIT TRAIN and TEST of the documents with TOPICS YES. A document is the words of title and
body, log tf times idf, scaled to length 1. Logistic loss; MSE is of the probability against 0 or 1.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

METHODS = {"regression": 1.0, "ranking": 0.0, "crr": 0.5}
DOCUMENT = re.compile(r'<REUTERS TOPICS="YES" LEWISSPLIT="(TRAIN|TEST)".*?</REUTERS>', re.S)
TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.S)
WORDS = re.compile(r"[a-z][a-z]+")


def vwlite(*arguments):
    """What the command prints, as JSON data."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout) if done.stdout else None


def files_of(source):
    """The texts of the SGML files, by name."""
    if source.is_dir() and not list(source.glob("*.sgm")) and list(source.glob("*.tar*")):
        source = next(source.glob("*.tar*"))
    if source.is_dir():
        texts = {path.name: path.read_bytes() for path in source.glob("*.sgm")}
    else:
        with tarfile.open(source) as tar:
            texts = {Path(m.name).name: tar.extractfile(m).read() for m in tar.getmembers() if m.name.endswith(".sgm")}
    if not texts:
        sys.exit(f"reuters: there is no .sgm file in {source}")
    return [texts[name].decode("latin-1") for name in sorted(texts)]


def documents(source):
    """Topics and words of every document, for TRAIN and TEST."""
    parts = {"TRAIN": [], "TEST": []}
    for text in files_of(source):
        for match in DOCUMENT.finditer(text):
            topics = set(re.findall(r"<D>(.*?)</D>", TOPICS.search(match[0])[1]))
            body = re.sub(r"<[^>]*>|&[^;\s]*;", " ", match[0].partition("<TEXT")[2])
            parts[match[1]].append((topics, Counter(WORDS.findall(body.lower()))))
    return parts


def features(parts):
    """A line of VW text without label for every document."""
    number = Counter(word for _, words in parts["TRAIN"] for word in words)
    size = len(parts["TRAIN"])
    idf = {word: math.log(size / count) for word, count in number.items() if count > 1}

    def line(words):
        values = {word: (1 + math.log(n)) * idf[word] for word, n in words.items() if word in idf}
        length = math.sqrt(sum(value * value for value in values.values())) or 1
        return " ".join(f"{word}:{value / length:.5g}" for word, value in values.items())

    return {part: [line(words) for _, words in docs] for part, docs in parts.items()}


def write(path, docs, lines, topic):
    with open(path, "w") as out:
        for (topics, _), line in zip(docs, lines, strict=True):
            out.write(f"{1 if topic in topics else -1} | {line}\n")


def measure(work, alpha, options):
    """AUC loss and MSE on the test part."""
    how = ["--alpha", alpha, "--lambda", options.penalty, "--steps", options.steps, "--seed", options.seed]
    train = ["crr", work / "TRAIN.vw", "--cache_file", work / "cache", "--loss_function", "logistic", "--quiet"]
    vwlite(*train, *how, "-f", work / "model")
    shown = vwlite("evaluate", "-i", work / "model", work / "TEST.vw", "--metric", "auc,mse", "--json", "-")
    return {"auc_loss": 1 - shown["auc"], "mse": shown["mse"]}


def options_of(arguments):
    parser = argparse.ArgumentParser("reuters.sh", description=__doc__)
    parser.add_argument("source", type=Path, metavar="SOURCE", help="folder or tar of the reut2-*.sgm files")
    parser.add_argument("--json", metavar="OUT", help="write the table as JSON")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--lambda", type=float, dest="penalty", default=0.0001, metavar="X")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=int, default=30, help="test documents a topic must have")
    return parser.parse_args(arguments)


def main(arguments):
    options = options_of(arguments)
    parts = documents(options.source)
    lines = features(parts)
    counts = {part: Counter(topic for topics, _ in docs for topic in topics) for part, docs in parts.items()}
    chosen = [topic for topic, count in counts["TEST"].items() if count >= options.least]
    chosen.sort(key=lambda topic: counts["TRAIN"][topic])
    heads = "".join(f"{method + ' auc loss':>21}{'mse':>9}" for method in METHODS)
    print(f"{'topic':<14}{'positive':>9}{heads}")
    rows = []
    for topic in chosen:
        share = counts["TRAIN"][topic] / len(parts["TRAIN"])
        row = {"topic": topic, "positive": share}
        with tempfile.TemporaryDirectory(prefix="reuters-") as work:
            for part in parts:
                write(Path(work) / f"{part}.vw", parts[part], lines[part], topic)
            for method, alpha in METHODS.items():
                row[method] = measure(Path(work), alpha, options)
        cells = "".join(f"{row[method]['auc_loss']:21.4f}{row[method]['mse']:9.4f}" for method in METHODS)
        print(f"{topic:<14}{share:9.2%}{cells}", flush=True)
        rows.append(row)
    print(summary(rows))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=2) + "\n")


def summary(rows):
    """How often the combination is best, or nearly, in both figures."""
    good = sum(
        all(row["crr"][name] <= min(row[method][name] for method in METHODS) + 0.001 for name in ("auc_loss", "mse"))
        for row in rows
    )
    rare = [row for row in rows if row["positive"] < 0.01]
    better = sum(row["crr"]["mse"] <= row["regression"]["mse"] for row in rare)
    return (
        f"crr best or within 0.001 of the best in both: {good} of {len(rows)} topics; "
        f"below 1% positive its mse is at or below regression's in {better} of {len(rare)}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
