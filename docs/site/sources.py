"""Puts the pages of the site together: README (the front page), CHANGELOG, docs/*.md, and a reference of the options.

Usage: sources.py FOLDER
"""

import shutil
import sys
from pathlib import Path

from vwlite.cli.manual import markdown, pages

PROJECT = Path(__file__).resolve().parent.parent.parent
PARTS = {  # in the site's order; every page of docs/ stands in one
    "Begin": ["start", "choosing", "formats", "coming-from-vw"],
    "Tasks": ["training", "predicting", "evaluating", "checking", "explaining", "inspecting", "tuning", "reports",
              "nightly-job", "scaling", "serving"],
    "Models": ["features", "losses", "outputs", "classes", "groups", "bandits", "dyadic", "crr", "l1", "dual", "ksvm",
               "kernels", "networks"],
    "Few labels or none": ["aso", "language-model", "unsupervised", "clusters", "graphs"],
    "Python": ["python", "scikit-learn"],
    "Reference": ["formulas", "exit-codes", "shell", "guarantees", "speed", "how-fast"],
    "To change it": ["development", "experiments"],
}
COPIED = ["CHANGELOG.md", "examples/misuse/table.md", "docs/run-1.schema.json"]
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
    for name in [*COPIED, *(f"docs/{name}.md" for name in sorted(found))]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)
    (folder / "reference").mkdir()
    for page in pages():
        (folder / "reference" / f"{page.file}.md").write_text(markdown(page), encoding="utf-8")
    parts = {caption: [f"docs/{name}" for name in names] for caption, names in PARTS.items()}
    parts["To change it"] += [*(f"docs/{name}" for name in sorted(found - listed)), "CHANGELOG"]
    parts["Reference"].append("examples/misuse/table")
    parts["Commands"] = [f"reference/{page.file}" for page in pages()]
    contents = [CONTENTS.format(caption=caption, names="\n".join(names)) for caption, names in parts.items()]
    front = (PROJECT / "README.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text("\n".join([front, *contents]), encoding="utf-8")
    for path in folder.glob("docs/*.md"):
        path.write_text(path.read_text(encoding="utf-8").replace("](../README.md", "](../index.md"), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
