"""Queues, few labels, topics, names in sentences."""

import gzip
import random
import re
import sys
from collections import Counter
from pathlib import Path

from work import Timed, Work, curve

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for newsgroups_to_vw

from newsgroups_to_vw import documents, line


def messages(work: Work) -> dict[str, list[tuple[str, str]]]:
    """Group and text of each message, of 'train' and of 'test', in random order."""
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with gzip.open(work.source("20news/20news.txt.gz"), "rt", encoding="latin-1", newline="\n") as file:
        for record in file:
            part, group, _, text = (field.strip(" ") for field in record.rstrip("\n").split("|", 3))
            parts[part].append((group, text))
    for rows in parts.values():
        random.Random(1).shuffle(rows)
        del rows[work.rows or len(rows) :]
    return parts


def tabled(rows: list[tuple[str, str]]) -> list[str]:
    """As tab-separated values, without the names of columns."""
    return [f"{group}\t" + " ".join(re.sub(r"[\t\"]", " ", text).split()) for group, text in rows]


def queues(work: Work) -> dict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    parts = messages(work)
    for part, rows in parts.items():
        work.write(f"{part}.tsv", ["queue\tbody", *tabled(rows)])
    names = ",".join(sorted({group for group, _ in parts["train"]}))
    learn = "train train.tsv --columns 'label=queue text=body:tokens' --value log --weight idf --unit -b 22"
    work.vwlite(f"{learn} --oaa 20 --named_labels {names} -f model --json run.json --quiet", listed=False)
    work.commands.append(f"vwlite {learn} --oaa 20 --named_labels NAME,... -f model --quiet")
    ours = work.measured("evaluate -i model test.tsv --metric accuracy,macro_f1 --quiet")
    with Timed() as timed:
        vectors = TfidfVectorizer(sublinear_tf=True, min_df=3)
        x = vectors.fit_transform(text for _, text in parts["train"])
        labels = [group for group, _ in parts["train"]]
        peer = LogisticRegression(C=10, max_iter=300).fit(x, labels)
        right = peer.score(vectors.transform(text for _, text in parts["test"]), [group for group, _ in parts["test"]])
    return {
        "counts": [len(parts["train"]), len(parts["test"])],
        "metric": "accuracy",
        "rows": [["vwlite, one pass", ours["accuracy"]], ["TF-IDF, LogisticRegression (scikit-learn)", right]],
        "peer_seconds": timed.seconds,
        "chart": {"title": "Share of errors since the row before", "x": "examples", "y": "share of errors",
                  "lines": [curve("vwlite", work.run("run.json"), "since_last")]},
    }  # fmt: skip


def few_labels(work: Work) -> dict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import RidgeClassifier

    texts = [(group, words) for group, words in documents(str(work.source("20news/20news.txt.gz"))) if words]
    random.Random(1).shuffle(texts)
    del texts[work.rows or len(texts) :]
    cut = len(texts) // 10
    test, rest = texts[:cut], texts[cut:]
    work.write("unlabeled.vw", (" " + line(group, words).partition(" ")[2] for group, words in rest))
    work.write("test.vw", (line(group, words) for group, words in test))
    counts = (100, 200, 500)
    points: dict[str, list] = {"with Theta": [], "without": [], "scikit-learn": []}
    work.vwlite("aso learn unlabeled.vw --aux freq-k:10 --dim 100 --idf -f theta --quiet")
    with Timed() as timed:
        vectors = TfidfVectorizer(sublinear_tf=True, analyzer=lambda words: words)
        vectors.fit(words for _, words in rest)
        other = vectors.transform(words for _, words in test)
    for count in counts:
        labeled = rest[:count]
        work.write("labeled.vw", (line(group, words) for group, words in labeled))
        for name, theta in (("with Theta", "--theta theta "), ("without", "")):
            listed = count == 200 and name == "with Theta"
            work.vwlite(f"aso train labeled.vw {theta}-f model --quiet", listed)
            measured = work.measured("evaluate -i model test.vw --metric accuracy --quiet", listed)
            points[name].append([count, measured["accuracy"]])
        peer = RidgeClassifier()
        peer.fit(vectors.transform(words for _, words in labeled), [group for group, _ in labeled])
        points["scikit-learn"].append([count, peer.score(other, [group for group, _ in test])])
    place = counts.index(200)
    return {
        "counts": [200, len(test)],
        "metric": "accuracy",
        "rows": [["vwlite aso, with Theta", points["with Theta"][place][1]],
                 ["vwlite aso, labelled texts alone", points["without"][place][1]],
                 ["TF-IDF of all texts, RidgeClassifier (scikit-learn)", points["scikit-learn"][place][1]]],
        "note": f"{len(rest):,} texts without labels.",
        "peer_seconds": timed.seconds,
        "chart": {"title": "Accuracy by the number of labelled texts", "x": "labelled texts", "y": "accuracy",
                  "lines": [{"name": name, "points": one} for name, one in points.items()]},
    }  # fmt: skip


def topics(work: Work) -> dict:
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import normalized_mutual_info_score

    texts = [(group, words) for group, words in documents(str(work.source("20news/20news.txt.gz"))) if words]
    random.Random(1).shuffle(texts)
    del texts[work.rows or len(texts) :]
    work.write("text.vw", (line(group, words) for group, words in texts))
    work.vwlite("cluster text.vw -f clusters -k 20 --spherical --weight idf --names --quiet")
    ours = work.measured("evaluate -i clusters text.vw --metric nmi,purity --quiet")
    shown = work.vwlite("inspect clusters --top 6")
    with Timed() as timed:
        x = TfidfVectorizer(sublinear_tf=True, min_df=3, analyzer=lambda words: words).fit_transform(
            words for _, words in texts
        )
        clusters = KMeans(20, n_init=1, random_state=1).fit_predict(x)
    peer = normalized_mutual_info_score([group for group, _ in texts], clusters)
    sizes = sorted(Counter(work.vwlite("predict -i clusters text.vw", listed=False).split()).values(), reverse=True)
    return {
        "counts": [len(texts), len(texts)],
        "metric": "NMI",
        "rows": [["vwlite", ours["nmi"]], ["TF-IDF, KMeans (scikit-learn)", peer]],
        "peer_seconds": timed.seconds,
        "shown": shown.splitlines()[-20:],
        "chart": {"title": "Texts in each cluster", "x": "cluster, the largest first", "y": "texts",
                  "lines": [{"name": "vwlite", "points": [[place, size] for place, size in enumerate(sizes, 1)]}]},
    }  # fmt: skip


def sentences(path: Path, most: int | None) -> list[str]:
    """The words and the labels of each, in columns; documents are not marked."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        paragraphs = [one for one in file.read().split("\n\n") if one.strip() and not one.startswith("-DOCSTART-")]
    rows = [[row.split() for row in one.strip().splitlines()] for one in paragraphs[:most]]
    return ["\n".join(f"{row[0]} {row[1]} {row[-1]}" for row in one) + "\n\n" for one in rows]


def names(work: Work) -> dict:
    import pycrfsuite

    parts = {"train": sentences(work.source("conll2003/eng.train.gz"), work.rows),
             "test": sentences(work.source("conll2003/eng.testb.gz"), work.rows)}  # fmt: skip
    for part, rows in parts.items():
        work.write(f"{part}.txt", rows)
        work.vwlite(f"convert conll {part}.txt --iob2 -o {part}.vw")
    learn, more = "l1 train.vw --model crf --l1 1 --passes 12", "--affix +3w,-3w --spelling w"
    work.vwlite(f"{learn} {more} -f model --json run.json --quiet")
    ours = work.measured("evaluate -i model test.vw --metric conll --quiet")
    work.vwlite(f"{learn} -f plain --quiet", listed=False)
    same = work.measured("evaluate -i plain test.vw --metric conll --quiet", listed=False)
    with Timed() as timed:
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": 1.0, "c2": 0.0, "max_iterations": 60})
        for features, labels in sequences(work.folder / "train.vw"):
            trainer.append(features, labels)
        trainer.train(str(work.folder / "crf"))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(work.folder / "crf"))
        pairs = [(labels, tagger.tag(features)) for features, labels in sequences(work.folder / "test.vw")]
    return {
        "counts": [len(parts["train"]), len(parts["test"])],
        "metric": "F1 of phrases",
        "rows": [["vwlite l1, words and tags around", same["f1"] / 100],
                 ["CRFsuite, the same features, 60 iterations", phrase_f1(pairs)],
                 ["vwlite l1, prefixes, suffixes and spelling too", ours["f1"] / 100]],
        "peer_seconds": timed.seconds,
        "chart": {"title": "Objective by pass, to be maximised", "x": "pass", "y": "objective",
                  "lines": [{"name": "vwlite l1", "points": [[one["pass"], one["objective"]]
                                                             for one in work.run("run.json")["history"]]}]},
    }  # fmt: skip


def sequences(path: Path):
    """Features and labels of each sentence, as CRFsuite takes them."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [row.split() for row in block.splitlines() if row.strip()]
        if rows:
            yield [[f"{place}{word}" for place, word in enumerate(row[1:])] for row in rows], [row[0] for row in rows]


def phrases(labels: list[str]) -> set[tuple[int, int, str]]:
    """Begin, end and kind, of labels B-X, I-X and O."""
    phrases_of_labels, begin, kind = set(), 0, ""
    for place, label in enumerate([*labels, "O"]):
        mark, _, name = label.partition("-")
        if kind and (mark != "I" or name != kind):
            phrases_of_labels.add((begin, place, kind))
            kind = ""
        if mark in "BI" and name and not kind:
            begin, kind = place, name
    return phrases_of_labels


def phrase_f1(pairs: list[tuple[list[str], list[str]]]) -> float:
    right = wanted = predicted = 0
    for labels, answers in pairs:
        one, other = phrases(labels), phrases(answers)
        right, wanted, predicted = right + len(one & other), wanted + len(one), predicted + len(other)
    return 2 * right / (wanted + predicted) if wanted + predicted else 0.0
