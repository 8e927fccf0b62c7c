"""CoNLL column files to text, by templates in the manner of CRF++: ``U05:%x[-1,0]/%x[0,0]`` is a feature of each token.

``%x[r,c]`` is column c of the token r lines on, ``_B-1`` or ``_B+1`` one or so beyond it; ``token_macros`` has more. A
line's part before the colon names the namespace. Options pick namespaces by their first letter: those that begin with B
are meant for ``--edge B``. A line ``B`` stands for the transitions, which are there anyway. ``#`` begins a comment.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from vwlite.errors import DataError, UsageError
from vwlite.solvers.loglinear.columns import ColumnsConfig, Sentence, sentences
from vwlite.solvers.loglinear.token_macros import MACRO, Macro, Tokens, escaped, read_macro


@dataclass(frozen=True, slots=True)
class Template:
    """One line: ``macros`` with ``literals``, escaped, around and between them."""

    name: str
    literals: tuple[str, ...]
    macros: tuple[Macro, ...]

    @property
    def columns(self) -> int:
        """How many columns a token must have for it."""
        return max((macro.column + 1 for macro in self.macros), default=0)

    def features(self, tokens: Tokens) -> list[str]:
        """Each token's namespace, in text, with a feature for each way to fill the macros in; empty without any."""
        if self.literals == ("", ""):  # most are like that
            words = tokens.values(self.macros[0])
        else:
            words = [[self.literals[0]]] * len(tokens.sentence)
            for macro, literal in zip(self.macros, self.literals[1:], strict=True):
                values = zip(words, tokens.values(macro), strict=True)
                words = [[a + b + literal for a in some for b in more] for some, more in values]
        return [f"|{self.name} {' '.join(some)}" if some else "" for some in words]


def read_templates(text: str) -> list[Template]:
    """Raises UsageError for a line that is none."""
    templates: list[Template] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t\r")
        if line and line != "B" and line[0] != "#":
            templates.append(read_template(line, number))
    names = [template.name for template in templates]
    for template in templates:
        if names.count(template.name) > 1:
            raise UsageError(f"the template has two lines named {template.name}")
    return templates


def read_template(line: str, number: int) -> Template:
    """Raises UsageError."""
    name, colon, pattern = line.partition(":")
    if not (name[:1].isascii() and name[:1].isalpha()) or " " in name or (not colon and "%" in name):
        raise UsageError(f"line {number} of the template is not like U01:%x[0,0]: {line!r}")
    macros, literals, end = [], [], 0
    for found in MACRO.finditer(pattern):
        try:
            macros.append(read_macro(found))
        except UsageError as error:
            raise UsageError(f"line {number} of the template: {error}") from None
        literals.append(pattern[end : found.start()])
        end = found.end()
    literals.append(pattern[end:])
    if any("%" in literal for literal in literals):
        raise UsageError(f"line {number} of the template has a % that is not like %x[-1,0]: {line!r}")
    return Template(escaped(name), tuple(map(escaped, literals)), tuple(macros))


def within(templates: Iterable[Template], columns: int) -> list[Template]:
    """Those that the first ``columns`` columns are enough for."""
    return [template for template in templates if template.columns <= columns]


def lines_of(sentence: Sentence, templates: list[Template], labels: bool = True) -> Iterator[str]:
    """A line of text for each token; ``labels``: the last column is the label."""
    tokens = Tokens(sentence)
    columns = [template.features(tokens) for template in templates]
    if labels:
        columns.insert(0, [escaped(token[-1]) for token in sentence])
    for words in zip(*columns, strict=True) if columns else [()] * len(sentence):
        yield (" ".join(filter(None, words)) or "|") + "\n"


def convert(
    lines: Iterable[bytes], path: str, choose: Callable[[int], list[Template]], how: ColumnsConfig
) -> Iterator[str]:
    """The text, an empty line after each sentence. ``choose`` says which templates columns so many have.

    Raises DataError when a template needs a column there is not.
    """
    templates: list[Template] | None = None
    for number, sentence in sentences(lines, path, how):
        if templates is None:
            templates = choose(len(sentence[0]) - how.labels)
            check_columns(templates, len(sentence[0]), how, f"{path}:{number}")
        yield "".join(lines_of(sentence, templates, how.labels)) + "\n"


def check_columns(templates: list[Template], columns: int, how: ColumnsConfig, where: str) -> None:
    """Raises DataError."""
    needed = max((template.columns for template in templates), default=0)
    if needed > columns - how.labels:
        there = f"{columns - how.labels} columns{' and the label' if how.labels else ''}"
        raise DataError(f"{where}: the template takes column {needed - 1}, but there are only {there}")
