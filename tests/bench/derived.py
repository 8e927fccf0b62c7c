"""Texts of other forms, made of a text with one label a line: costs, groups, sets of labels, tables, tagged words."""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

FIELDS = "abcdefghijklmnopqrstuvwxyz"  # the namespaces of clicks
TAGS = ("B-NP", "I-NP", "B-VP", "O", "B-PP")


def number(line: str, count: int) -> int:
    """One of so many, by the first terms of a line, so that there is something to learn."""
    return zlib.crc32(line.partition("|")[2][:24].encode()) % count


def features(line: str) -> str:
    return line[line.index("|") :]


def classes(count: int) -> Callable[[Iterator[str]], Iterator[str]]:
    return lambda lines: (f"{1 + number(line, count)} {features(line)}" for line in lines)


def costs(lines: Iterator[str]) -> Iterator[str]:
    """Costs of ten classes."""
    for line in lines:
        best = number(line, 10)
        yield " ".join(f"{k + 1}:{min(abs(k - best), 3)}" for k in range(10)) + " " + features(line)


def sets(lines: Iterator[str]) -> Iterator[str]:
    """Three of twenty labels."""
    for line in lines:
        first = number(line, 20)
        yield ",".join(str(k) for k in sorted({first, (first + 7) % 20, len(line) % 20})) + " " + features(line)


def groups(lines: Iterator[str]) -> Iterator[str]:
    """Groups of four lines, the first of which costs nothing."""
    for four in zip(lines, lines, lines, lines, strict=False):
        yield "".join(f"{place + 1}:{float(place > 0)} {features(line)}\n" for place, line in enumerate(four))


def decisions(lines: Iterator[str]) -> Iterator[str]:
    """One of ten actions, shown with the probability 0.1."""
    for row, line in enumerate(lines):
        shown = row * 7 % 10
        yield f"{shown + 1}:{int(shown != number(line, 10))}:0.1 {features(line)}"


def offers(lines: Iterator[str]) -> Iterator[str]:
    """The same in groups of lines: what all share is the namespace x."""
    for row, line in enumerate(lines):
        shown, words = row * 7 % 10, features(line).replace("|", " ").split()
        yield f"shared |x {' '.join(words)}"
        for action in range(10):
            label = f"{action}:{int(shown != number(line, 10))}:0.1 " if action == shown else ""
            yield f"{label}|a a{action}"
        yield ""


def tokens(lines: Iterator[str]) -> Iterator[str]:
    """Sentences of tagged words, an example a word."""
    for line in lines:
        words = features(line).split()[1:30]
        yield "".join(f"{TAGS[number(f'|{word}', len(TAGS))]} |w {word} |s {word[-2:]}\n" for word in words)


def fields_of(line: str) -> dict[str, str]:
    """A line of clicks by column."""
    label, _, rest = line.partition(" ")
    fields = {"label": label}
    for part in rest.split("|")[1:]:
        name, *values = part.split()
        fields |= dict(value.split(":") for value in values) if name == "num" else {name: "".join(values)}
    return fields


def csv(lines: Iterator[str]) -> Iterator[str]:
    names = ["label", *(f"i{k}" for k in range(13)), *FIELDS]
    yield ",".join(names)
    for line in lines:
        fields = fields_of(line)
        yield ",".join(fields.get(name, "") for name in names)


def jsonl(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        fields = fields_of(line)
        yield json.dumps({name: float(value) if len(name) > 1 else value for name, value in fields.items()})


FORMS: dict[str, tuple[str, Callable[[Iterator[str]], Iterator[str]]]] = {
    **{f"classes{count}": ("text", classes(count)) for count in (10, 20, 1000)},
    **{"costs": ("text", costs), "sets": ("text", sets), "groups": ("clicks", groups), "tokens": ("text", tokens)},
    **{"decisions": ("text", decisions), "offers": ("text", offers)},
    **{"csv": ("clicks", csv), "jsonl": ("clicks", jsonl)},
}
PACKERS = {"gz": ("gzip", "-6"), "zst": ("zstd", "-q", "-3")}


def made(name: str, workloads: dict[str, Path], scratch: Path, megabytes: float) -> Path | None:
    """The file of that name: the beginning of a workload, or made of it; None without its workload."""
    path = scratch / name
    if path.exists():
        return path
    base, _, form = name.rpartition(".") if name.rpartition(".")[2] in {*PACKERS, "svm"} else (name, "", "")
    if form:
        plain = made(base, workloads, scratch, megabytes)
        if plain:
            transformed(plain, path, form)
        return path if plain else None
    source, form_lines = FORMS.get(name, (name, lambda lines: lines))
    if source not in workloads:
        return None
    with open(workloads[source], encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
        for line in form_lines(text.rstrip("\n") for text in lines):
            out.write(line + "\n")
            if out.tell() > megabytes * 1e6:
                break
    return path


def transformed(plain: Path, path: Path, form: str) -> None:
    with open(path, "wb") as out:
        if form == "svm":
            command = [sys.executable, "-m", "vwlite", "convert", "vw", str(plain), "--to", "svmlight"]
        else:
            command = [*PACKERS[form], "-c", str(plain)]
        subprocess.run(command, check=True, stdout=out)
