"""Puts the pages of the site together: the home page, README, CHANGELOG, docs/, a reference of the options, pictures.

Usage: sources.py FOLDER
"""

import re
import shutil
import sys
from html import escape
from pathlib import Path

from vwlite.cli.manual import make_pages, to_markdown
from vwlite.reporting.svg import PLAIN, dark_rules

sys.path.append(str(Path(__file__).resolve().parent))

from pictures import placed

PROJECT = Path(__file__).resolve().parent.parent.parent
PARTS = {  # in the site's order; every page of docs/ stands in one
    "Begin": ["start", "choosing", "formats", "gallery", "coming-from-vw", "coming-from"],
    "Tasks": [
        "training",
        "predicting",
        "evaluating",
        "checking",
        "explaining",
        "inspecting",
        "tuning",
        "reports",
        "nightly-job",
        "scaling",
        "serving",
    ],
    "Models": [
        "features",
        "losses",
        "outputs",
        "classes",
        "groups",
        "bandits",
        "dyadic",
        "crr",
        "l1",
        "dual",
        "ksvm",
        "kernels",
        "networks",
    ],
    "Few labels or none": ["aso", "language-model", "unsupervised", "clusters", "graphs"],
    "Python": ["python", "scikit-learn"],
    "Reference": ["formulas", "papers", "exit-codes", "shell", "guarantees", "speed", "how-fast"],
    "To change it": ["development", "experiments"],
}
HOW_TO = {  # pages of docs/how-to/, and what the cards say
    "predict-a-number": "prices, demand, delivery times",
    "predict-yes-or-no": "clicks, churn, fraud: a probability",
    "predict-a-range": "a low and a high answer, by quantiles",
    "predict-a-count": "visits, defects, calls",
    "sort-into-classes": "departments, languages, species",
    "give-several-labels": "tags of pictures, topics of articles",
    "rank-search-results": "the best result of a query first",
    "recommend-items": "what a person would like next",
    "tag-words": "names and parts of speech in sentences",
    "find-topics": "clusters of texts without labels",
    "learn-from-few-labels": "a dozen labels and much text without",
    "choose-an-action": "better decisions from a log of past ones",
    "explain-a-prediction": "which features spoke for it",
    "find-good-options": "a search on held-out data",
    "update-every-night": "a model that goes on learning",
    "train-on-several-machines": "parts of the data, one model",
}
COPIED = ["README.md", "CHANGELOG.md", "examples/misuse/table.md", "docs/run-1.schema.json"]
CONTENTS = """\
```{{toctree}}
:caption: {caption}
:hidden:
:maxdepth: 1

{names}
```
"""


def write(folder: Path) -> None:
    """Sphinx's source folder, with a link between pages leading where it does in the project."""
    found = {path.stem for path in (PROJECT / "docs").glob("*.md")}
    listed = {name for names in PARTS.values() for name in names}
    if listed - found:
        raise SystemExit(f"docs/ lacks {sorted(listed - found)}")
    shutil.rmtree(folder, ignore_errors=True)
    names = [f"docs/{name}.md" for name in sorted(found)] + [f"docs/how-to/{name}.md" for name in HOW_TO]
    for name in [*COPIED, *names]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)
    (folder / "reference").mkdir()
    for page in make_pages():
        (folder / "reference" / f"{page.file}.md").write_text(to_markdown(page), encoding="utf-8")
    parts = {caption: [f"docs/{name}" for name in names] for caption, names in PARTS.items()}
    begin, tasks = ["Overview <README>", *parts.pop("Begin")], [f"docs/how-to/{name}" for name in HOW_TO]
    parts = {"Begin": begin, "How to": tasks, **parts}
    parts["To change it"] += [*(f"docs/{name}" for name in sorted(found - listed)), "CHANGELOG"]
    parts["Reference"].append("examples/misuse/table")
    parts["Commands"] = [f"reference/{page.file}" for page in make_pages()]
    contents = [CONTENTS.format(caption=caption, names="\n".join(names)) for caption, names in parts.items()]
    front = (PROJECT / "docs" / "site" / "home.md").read_text(encoding="utf-8").replace("<!-- cards -->", cards())
    front = front.replace("](../../", "](").replace("](../", "](docs/")
    (folder / "index.md").write_text("\n".join([front, *contents]), encoding="utf-8")
    for path in [folder / "index.md", *folder.glob("docs/*.md")]:
        path.write_text(placed(path.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "static").mkdir()
    (folder / "static" / "charts.css").write_text(style(), encoding="utf-8")


def cards() -> str:
    """Links to the pages of tasks."""
    lines = []
    for name, about in HOW_TO.items():
        title = (PROJECT / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8").splitlines()[0]
        link = f'<a class="card" href="docs/how-to/{name}.html">'
        lines.append(f"{link}<strong>{escape(title.removeprefix('# '))}</strong><span>{escape(about)}</span></a>")
    return f'<div class="cards">{"".join(lines)}</div>'


def style() -> str:
    """Of charts and sketches; a reader's choice of light or dark goes before that of the system."""
    scoped = re.sub(r"(?<![\w-])svg ", ".picture svg ", PLAIN)
    dark = dark_rules('body[data-theme="dark"] .picture')
    system = dark_rules('body:not([data-theme="light"]) .picture')
    return f"{scoped}\n{dark}\n@media (prefers-color-scheme: dark) {{\n{system}\n}}\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
