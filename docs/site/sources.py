"""Puts the pages of the site together: README, CHANGELOG, docs/*.md, and a reference from the declarations of options.

Usage: sources.py FOLDER
"""

import shutil
import sys
from pathlib import Path

from vwlite.cli.manual import markdown, pages

PROJECT = Path(__file__).resolve().parent.parent.parent
PARTS = {  # in the site's order; every page of docs/ stands in one
    "Tasks": ["choosing", "training", "dual", "ksvm", "predicting", "evaluating", "checking", "explaining",
              "inspecting", "tuning", "reports", "classes", "groups", "dyadic", "crr", "l1", "aso", "graphs",
              "nightly-job", "scaling", "serving"],
    "Reference": ["formats", "features", "kernels", "losses", "formulas", "exit-codes", "shell", "coming-from-vw"],
    "Python": ["python", "scikit-learn"],
    "About": ["guarantees", "speed", "development"],
}
COPIED = ["README.md", "CHANGELOG.md", "examples/misuse/table.md", "docs/run-1.schema.json"]
CONTENTS = """\
```{{toctree}}
:caption: {caption}
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
    parts = {"Begin": ["README"], **{caption: [f"docs/{name}" for name in names] for caption, names in PARTS.items()}}
    parts["About"] += [*(f"docs/{name}" for name in sorted(found - listed)), "CHANGELOG", "examples/misuse/table"]
    parts["Commands"] = [f"reference/{page.file}" for page in pages()]
    contents = [CONTENTS.format(caption=caption, names="\n".join(names)) for caption, names in parts.items()]
    (folder / "index.md").write_text("# vwlite\n\n" + "\n".join(contents), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
