"""Every output of every command given the name of every file that the command reads, in six spellings, in forks.

``python -m fuzz.overwrites`` tries all; the tests try a few. Command lines are whole: nothing but the check of names
keeps an output from being written.
"""

import argparse
import contextlib
import itertools
import os
import random
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
from commands import command as found_command

from fuzz import forks
from fuzz.doors import TEXT
from vwlite.cli.files import Writes
from vwlite.storage.output_checks import UPDATED

DATA = TEXT.decode() * 10
LABELLED = "B-NP 2 't|a b c:2 |w x\nI-NP |a b |w y\n\nO |a d:-1 |w z\nB-NP |a b c |w x\n\n" * 4
COLUMNS = "Big JJ B-NP\ndogs NNS I-NP\n\nbark VB O\n\n"
FILES = {
    "data.vw": DATA, "held.vw": DATA, "words": "the cat sat on the mat\n" * 20, "graph": "a |n b c\nb |n a c\nc |n d\n",
    "rows.svm": "1 1:0.5 7:2\n-1 3:1\n", "texts.vw": "1 |w the cat\n-1 |w the mat\n", "labelled.vw": LABELLED,
    "columns": COLUMNS, "template": "U:%x[0,0]\n", "some.toml": "[train]\n", "people": "b=x\nb=y\n",
    "tagged.vw": LABELLED,
    "tasks.vw": "1 |a x |t s\n0 |a y |t s\n1 |a z |t u\n" * 9,
}  # fmt: skip
MAKING = (
    "train data.vw -f m -b 10 --label-units raw --json run.json", "train held.vw -f n -b 10 --label-units raw",
    "train data.vw -f dy --dotproduct ab -b 10",
    "train data.vw -f base -b 10", "train data.vw --shard 1/1 -i base -f delta",
    "crr data.vw -f ranker --qid none --steps 9",
    "l1 tagged.vw -f chain --model crf", "pca data.vw -f p --dim 1", "cluster data.vw -f c -k 2",
    "lm train words -f words.lm",
    "aso learn tagged.vw --aux freq-k:2 -f theta --dim 2 --min-count 1", "aso train tagged.vw --theta theta -f target",
    "aso learn tagged.vw --aux freq-k:2 -f stream --dim 2 --online --keep-weights",
)  # fmt: skip
LINES = (  # what is read; the outputs that a command must have are named out and so forth
    "train data.vw -i m --curriculum easy --curriculum-by loss:n --passes 2 --config some.toml",
    "train data.vw --theta theta --landmarks rbf:held.vw",
    "train data.vw -i m --workers 1 --rounds 1 --holdout held.vw",
    "train data.vw -i m --shard 1/2",
    "check data.vw held.vw",
    "predict -i m data.vw",
    "explain -i m data.vw",
    "recommend -i dy data.vw --of b --exclude held.vw",
    "recommend -i dy --of b --for-file people",
    "recommend -i dy --of b --test held.vw",
    "evaluate -i m data.vw --against n --qid none",
    "inspect m",
    "inspect dy --factors a",
    "report run.json --test data.vw -i m",
    "tune data.vw --test held.vw --passes 2 --with '--curriculum easy --curriculum-by loss:m' --vary 'l 1|2' --jobs 1",
    "crr data.vw -i ranker --qid none --steps 5",
    "crr data.vw --qid none --steps 5 --landmarks rbf:held.vw",
    "l1 tagged.vw -i chain --holdout tagged.vw",
    "l1 tagged.vw --theta theta --model multinomial",
    "pca data.vw -i p",
    "pca data.vw --landmarks rbf:held.vw --dim 1",
    "project -i p data.vw",
    "landmarks data.vw held.vw --count 2",
    "cut graph -k 2",
    "cluster data.vw -i c",
    "convert conll columns --template template",
    "convert svmlight rows.svm",
    "merge m n",
    "merge delta --base base",
    "vw -d data.vw -i m --feature_mask n",
    "aso learn tagged.vw --aux top-k:2 --labeled labelled.vw --dim 2 --min-count 1",
    "aso learn tagged.vw -i stream --online --keep-weights",
    "aso problems tagged.vw --aux freq-k:2",
    "aso train tagged.vw --theta theta",
    "aso train tagged.vw -i target",
    "aso cotrain tagged.vw --unlabeled held.vw --test tagged.vw --theta theta --views a,w --rounds 1",
    "aso tasks tasks.vw --task t --test tasks.vw",
    "aso apply tagged.vw --theta theta",
    "aso inspect theta",
    "lm train words -i words.lm",
    "lm rank words -i words.lm",
    "lm vectors -i words.lm",
    "lm features texts.vw -i words.lm --namespace w",
)
STDOUT = "standard output"


class Case(NamedTuple):
    """A line with the output ``option``, or standard output, that has the name of ``file`` in a ``spelling``."""

    line: str
    option: str
    file: str
    spelling: str


class Overwritten(Exception):
    """An input was written to, or the command did not refuse to."""


def name_of(line: str) -> str:
    words = line.split()
    return " ".join(words[:2]) if words[0] in ("aso", "lm") else words[0]


def params_of(line: str, kind: type) -> Iterator[click.Parameter]:
    return (param for param in found_command(name_of(line)).params if isinstance(param.type, kind))


def inputs_of(line: str) -> list[str]:
    """The files among its words."""
    named = [word.strip("'").rpartition(":")[2] for word in line.split()]
    return sorted({word for word in named if word in files()})


def updated(line: str, option: click.Parameter, file: str) -> bool:
    """Whether the output may replace the model that it goes on from."""
    words = shlex.split(line)
    goes_on = [words[words.index(name) + 1] for name in ("-i", "--base") if name in words]
    goes_on += words[1:] if words[0] == "merge" and "--base" not in words else []
    shard = "--shard" in words and option.type.kind == "model"
    return option.type.kind in UPDATED and file in goes_on and not shard


SPELLINGS: dict[str, Callable[[str], str]] = {
    "relative": lambda file: file,
    "absolute": os.path.abspath,
    "symbolic link": lambda file: linked(file, os.symlink),
    "hard link": lambda file: linked(file, os.link),
    "by another folder": lambda file: f"./folder/.././{file}",
    "standard output": lambda file: "/dev/stdout",
}
OTHERS = ("/dev/fd/1", "/proc/self/fd/1", "-")  # names of standard output, in turn


def linked(file: str, link: Callable[[str, str], None]) -> str:
    name = f"{file}.{link.__name__}"
    with contextlib.suppress(FileExistsError):
        link(file, name)
    return name


@cache
def files() -> dict[str, bytes]:
    """Those that the lines read."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in FILES.items():
            Path(name).write_text(text)
        for line in MAKING:
            done = forks.command(shlex.split(f"{line} --quiet"))
            assert done.status == 0, (line, done.output)
        return {path.name: path.read_bytes() for path in Path().iterdir()}


def prepare() -> None:
    """The current folder has these files, and no others."""
    for path in Path().iterdir():
        if path.is_symlink() or path.is_file():
            path.unlink()
    Path("folder").mkdir(exist_ok=True)
    for name, content in files().items():
        Path(name).write_bytes(content)


def cases() -> Iterator[Case]:
    for line in LINES:
        outputs = [*params_of(line, Writes), None]
        for output, file in itertools.product(outputs, inputs_of(line)):
            if output is None:
                yield Case(line, STDOUT, file, STDOUT)
            elif not updated(line, output, file):
                yield from (Case(line, output.opts[-1], file, spelling) for spelling in SPELLINGS)


def words_of(case: Case) -> list[str]:
    """The command line: with the outputs that must be named, and without a check of what --json replaces."""
    words, outputs = shlex.split(case.line), {param.opts[-1]: param for param in params_of(case.line, Writes)}
    for number, (name, param) in enumerate(outputs.items()):
        expected = param.required or "-f" in param.opts or (name == "--output" and name_of(case.line) == "report")
        if expected and name != case.option:
            words += [name, f"out{number}"]
    if case.option != STDOUT:
        words += [case.option, SPELLINGS[case.spelling](case.file)]
    return [*words, *(["--force"] if "json" in case.option else [])]


def attempt(case: Case, number: int = 0) -> str:
    """What the command said. Raises Overwritten."""
    prepare()
    words = words_of(case)
    if case.spelling == STDOUT and case.option != STDOUT:
        words = [OTHERS[number % 3] if word == "/dev/stdout" and number % 4 else word for word in words]
    redirected = case.file if case.spelling == STDOUT else None
    done = forks.command(words, stdout=redirected)
    changed = [name for name, content in files().items() if Path(name).read_bytes() != content]
    if changed:
        raise Overwritten(f"{' '.join(words)}: {changed} written to; {case}")
    if done.status != (1 if words[0] == "vw" else 2) or not any(one in done.output for one in SAID):
        raise Overwritten(f"{' '.join(words)}: status {done.status}; {case}: {done.output[-300:]}")
    return done.output


SAID = ("would be overwritten", "two outputs have the same name", "would be a file called -")


def undeclared(line: str) -> set[str]:
    """Files of the folder that a command opens, and of which the check of names is not told."""
    from vwlite.cli import files as checked

    prepare()
    opened: set[str] = set()
    told: set[str] = set()
    check = checked.check

    def note(reads, writes, **more) -> None:
        told.update(os.path.realpath(file.path) for file in (*reads, *writes))
        check(reads, writes, **more)

    def hear(event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str) and os.path.isfile(arguments[0]):
            opened.add(os.path.realpath(arguments[0]))

    def run() -> int:
        from vwlite.cli.root import main

        checked.check = note
        sys.addaudithook(hear)
        sys.argv = ["vwlite", *words_of(Case(line, STDOUT, "", ""))]
        status = 0
        try:
            main()
        except SystemExit as left:
            status = int(left.code or 0)
        here = os.path.realpath(".")
        result = {os.path.basename(path) for path in opened - told if os.path.dirname(path) == here}
        print("undeclared:", *sorted(name for name in result if not name.endswith(".vwlite")))  # which are temporary
        return status

    done = forks.call(run)
    if done.status:
        raise Overwritten(f"{line} ended with {done.status}: {done.output[-300:]}")
    return set(done.output.rpartition("undeclared:")[2].split())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, help="so many at random; all")
    options = parser.parse_args()
    every, counts, started = list(cases()), Counter(), time.monotonic()
    chosen = random.Random(1).sample(every, options.count) if options.count else every
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for line in LINES:
            try:
                if names := undeclared(line):
                    raise Overwritten(f"{line}: {', '.join(sorted(names))} opened without being declared")
            except Overwritten as find:
                counts["undeclared"] += 1
                print(find, flush=True)
        for number, case in enumerate(chosen):
            try:
                attempt(case, number)
            except Overwritten as find:
                counts[case.spelling] += 1
                print(find, flush=True)
    print(
        f"{len(LINES)} command lines, {len(chosen)} of {len(every)} outputs over inputs in "
        f"{time.monotonic() - started:.0f} s; {counts.total()} finds"
    )
    raise SystemExit(bool(counts))


if __name__ == "__main__":
    main()
