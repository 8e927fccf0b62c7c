"""The page of the gallery, from the results."""

import re
import textwrap

ABOUT = {  # title, why, what was measured, where to read on
    "prices": (
        "Prices of diamonds",
        "What is a thing worth, by what is known of it? Labels of thousands are learned in units of their spread, "
        "so no rate has to be found; pairs of columns (`-q ::`) tell what size and colour are worth together.",
        "53,940 diamonds of ggplot2, a fifth held out; Ridge with its default penalty on one-hot and standardised "
        "columns",
        [("losses", "labels-in-units-of-their-spread"), ("features", "")],
    ),
    "clicks": (
        "Clicks on advertisements",
        "A rare event, and columns with a hundred thousand different values: which click leads to an "
        "installation? One pass over the table finds most of it.",
        "100,000 clicks of TalkingData in the order of time, the last fifth held out; 227 led to an installation",
        [("losses", ""), ("crr", "clicks")],
    ),
    "churn": (
        "Customers who leave",
        "Who is about to leave, and can the probability be trusted? The picture shows predictions beside what "
        "happened: on the diagonal they are right.",
        "5,000 customers of modeldata's `mlc_churn`, a fifth held out; logistic regression on one-hot and "
        "standardised columns",
        [("evaluating", "calibration"), ("explaining", "")],
    ),
    "queues": (
        "Messages to twenty queues",
        "Mail comes in and has to reach whoever knows the answer. One pass over a table of texts.",
        "20 newsgroups, split by date, in random order; TF-IDF and logistic regression (C = 10)",
        [("classes", "classes-of-texts")],
    ),
    "search": (
        "Search results",
        "The best results should come first; the scores themselves do not matter. Steps take whole queries and "
        "aim at NDCG.",
        "the first fold of LETOR 4.0, MQ2008; Ridge on the grades",
        [("crr", "whole-queries")],
    ),
    "films": (
        "Films",
        "Who would like which film? Vectors of people and films, learned from ratings.",
        "split u1 of MovieLens 100K; `vw` learns factors of the same rank by `--lrq`",
        [("dyadic", "")],
    ),
    "names": (
        "Names in sentences",
        "People, places and organisations in running text: a label for every word, in view of its neighbours.",
        "CoNLL-2003, tested on `testb`; CRFsuite has the features of the first row",
        [("l1", "")],
    ),
    "few-labels": (
        "Few labels",
        "Two hundred labelled texts, and thousands without a label. What words go together is learned from all of "
        "them.",
        "20 newsgroups without headers, a tenth held out; scikit-learn's weights of words are those of all texts",
        [("aso", "")],
    ),
    "topics": (
        "Topics",
        "What is in a pile of unsorted texts? Twenty clusters, beside the groups that the texts came from.",
        "20 newsgroups without headers; normalised mutual information of clusters and groups",
        [("clusters", ""), ("unsupervised", "")],
    ),
    "nights": (
        "A job that gates itself",
        "Every night brings data, and one bad file can spoil a model. A candidate learns most of the new data, and "
        "takes the model's place only where it does no worse on the rest.",
        "which flights from New York arrive late, 2013; a month is a night, and is predicted before it is "
        "learned; mean of eleven months",
        [("nightly-job", ""), ("reports", "as-pictures")],
    ),
    "bandits": (
        "Decisions from a log",
        "A log knows only what was done and what that cost. The policy learned from it answers right nine times out "
        "of ten, where the one that wrote the log did so once.",
        "a log made of MNIST's training images, in which each was answered by chance; tested on the test images",
        [("bandits", "")],
    ),
    "machines": (
        "From one machine to a cluster",
        "Parts of the data are learned apart, wherever they are, and merged. What does that cost in quality?",
        "flights as above, in random order, a fifth held out; each shard sees its part only, and all are merged once",
        [("scaling", "")],
    ),
}
HEAD = """\
# Gallery

Twelve tasks on real data, each beside the tool that one would take otherwise. All figures of a task are from one run,
on the same rows held out.

```console
$ vwlite samples
vwlite: the data files of the pages are in .
$ vwlite train clicks.vw -f model --loss_function logistic -q ua --quiet
```

This is the shape of all of them; `vwlite samples` writes small data to try it. The data below are not part of vwlite: a
[script](experiments.md#learning) fetches none of them, and says which files and packages it wants.
"""
TITLES = {
    "aso": "few labels",
    "bandits": "logged decisions",
    "classes": "classes of texts",
    "crr": "ranking and regression",
    "dyadic": "dyadic models",
    "evaluating": "calibration",
    "l1": "log-linear models",
    "nightly-job": "nightly jobs",
    "unsupervised": "components",
}  # where it is another than the file's name


def text(found: dict) -> str:
    return "\n".join([HEAD, *(section(name, one) for name, one in found.items())])


def section(name: str, one: dict) -> str:
    title, why, data, links = ABOUT[name]
    train, test = one["counts"]
    counted = f"{train:,} rows" if train == test else f"{train:,} rows to learn, {test:,} to test"
    counted = f"{train:,} rows" if name == "nights" else counted
    heads = [one["metric"], *one.get("more", [])]
    rows = [f"| {label} | {' | '.join(map(shown, values))} |" for label, *values in one["rows"]]
    read = ", ".join(f"[{TITLES.get(page, page)}]({page}.md{'#' + place if place else ''})" for page, place in links)
    parts = [
        f"## {title}\n",
        wrapped(why) + "\n",
        "<!-- not run: the data are not part of vwlite -->",
        "```console\n" + "\n".join(f"$ {line}" for line in commands(one)) + "\n```\n",
        f"| | {' | '.join(heads)} |",
        "|---|" + "---|" * len(heads),
        *rows,
        "",
        wrapped(f"Data: {data} ({counted}). {one.get('note', '')} Read on: {read}.".replace("  ", " ")) + "\n",
        f"<!-- gallery: {name} -->\n",
    ]
    return "\n".join(parts)


def commands(one: dict) -> list[str]:
    """Without what only the script needs."""
    return [re.sub(r" --json \S+| --quiet", "", line) for line in one["commands"]]


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.4f}"


def wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, 138, break_long_words=False, break_on_hyphens=False)
