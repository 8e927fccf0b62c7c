"""CoNLL column files to text, by templates in the manner of CRF++: ``U05:%x[-1,0]/%x[0,0]`` is a feature of each token.

``%x[r,c]`` is column c of the token r lines on, ``_B-1`` or ``_B+1`` one or so beyond it. A line's part before
the colon names the namespace. Options pick namespaces by their first letter: those that begin with B are meant for
``--edge B``, and in the default the token's own word and tag have letters to themselves, w and t (``--affix +3w``). A
line ``B`` stands for the transitions, which are there anyway. ``#`` begins a comment.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vwlite.errors import DataError, UsageError

MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]", re.ASCII)
ESCAPED = str.maketrans({"%": "%25", ":": "%3A", "|": "%7C", " ": "%20", "\t": "%09"})
OWN = {2: "w", 12: "t"}  # names of the default's word and tag of the token itself; others go by these numbers
DEFAULT = "".join(
    [
        f"{OWN.get(10 * column + place, f'U{10 * column + place:02}')}:%x[{place - 2},{column}]\n"
        for column in (0, 1)
        for place in range(5)
    ]
    + ["U05:%x[-1,0]/%x[0,0]\nU06:%x[0,0]/%x[1,0]\n"]
    + [f"U{15 + place}:%x[{place - 2},1]/%x[{place - 1},1]\n" for place in range(4)]
    + [f"U{20 + place}:%x[{place - 2},1]/%x[{place - 1},1]/%x[{place},1]\n" for place in range(3)]
    + ["B\n"]
)
Sentence = list[list[str]]  # the columns of every token, the label last


@dataclass(frozen=True, slots=True)
class Template:
    """One line: ``parts`` are literal texts and ``(row, column)`` in turn, a literal first and last."""

    name: str
    parts: tuple[str | tuple[int, int], ...]

    @property
    def columns(self) -> int:
        """How many columns a token must have for it."""
        return max((part[1] + 1 for part in self.parts if not isinstance(part, str)), default=0)


def read_templates(text: str) -> list[Template]:
    """Raises UsageError for a line that is none."""
    templates: list[Template] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip() if line.lstrip().startswith("#") else line.strip()
        if not line or line == "B":
            continue
        name, colon, pattern = line.partition(":")
        if not (name[:1].isascii() and name[:1].isalpha()) or " " in name or (not colon and "%" in name):
            raise UsageError(f"line {number} of the template is not like U01:%x[0,0]: {line!r}")
        if "%" in MACRO.sub("", pattern):
            raise UsageError(f"line {number} of the template has a % that is not like %x[-1,0]: {line!r}")
        pieces = MACRO.split(pattern)
        parts: list[str | tuple[int, int]] = [pieces[0]]
        for row, column, literal in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            parts += [(int(row), int(column)), literal]
        templates.append(Template(name.translate(ESCAPED), tuple(parts)))
    names = [template.name for template in templates]
    for template in templates:
        if names.count(template.name) > 1:
            raise UsageError(f"the template has two lines named {template.name}")
    return templates


def within(templates: Iterable[Template], columns: int) -> list[Template]:
    """Those that the first ``columns`` columns are enough for."""
    return [template for template in templates if template.columns <= columns]


def sentences(lines: Iterable[bytes], path: str) -> Iterator[tuple[int, Sentence]]:
    """Sentences and the numbers of their first lines. Blank lines separate them, blanks or tabs the columns.

    Raises DataError where a line has not as many columns as the first.
    """
    sentence: Sentence = []
    width = number = 0
    for number, line in enumerate(lines, 1):
        columns = line.decode("utf-8", "surrogateescape").split()
        if not columns:
            if sentence:
                yield number - len(sentence), sentence
            sentence = []
            continue
        width = width or len(columns)
        if len(columns) != width:
            raise DataError(f"{path}:{number}: {len(columns)} columns where lines before have {width}")
        sentence.append(columns)
    if sentence:
        yield number - len(sentence) + 1, sentence


def value_at(sentence: Sentence, row: int, column: int) -> str:
    if row < 0:
        return f"_B{row}"
    if row >= len(sentence):
        return f"_B+{row - len(sentence) + 1}"
    return sentence[row][column]


def lines_of(sentence: Sentence, templates: list[Template], labels: bool = True) -> Iterator[str]:
    """A line of text for each token; ``labels``: the last column is the label."""
    for place, token in enumerate(sentence):
        words = [token[-1].translate(ESCAPED)] if labels else []
        for template in templates:
            value = "".join(
                part if isinstance(part, str) else value_at(sentence, place + part[0], part[1])
                for part in template.parts
            )
            words.append(f"|{template.name} {value.translate(ESCAPED)}")
        yield " ".join(words) + "\n"


def convert(lines: Iterable[bytes], path: str, templates: list[Template], labels: bool = True) -> Iterator[str]:
    """The text, an empty line after each sentence. Raises DataError when a template needs a column there is not."""
    needed = max((template.columns for template in templates), default=0)
    for number, sentence in sentences(lines, path):
        if needed > len(sentence[0]) - labels:
            raise DataError(
                f"{path}:{number}: the template takes column {needed - 1}, but there are only "
                f"{len(sentence[0]) - labels} columns{' and the label' if labels else ''}"
            )
        yield "".join(lines_of(sentence, templates, labels)) + "\n"
