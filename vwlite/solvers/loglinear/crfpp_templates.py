"""CoNLL column files to text, by templates in the manner of CRF++: ``U05:%x[-1,0]/%x[0,0]`` is a feature of each token.

``%x[r,c]`` is column c of the token r lines on, ``_B-1`` or ``_B+1`` one or so beyond it; ``token_macros`` has more. A
line's part before the colon names the namespace. Options pick namespaces by their first letter: those that begin with B
are meant for ``--edge B``. A line ``B`` stands for the transitions, which are there anyway. ``#`` begins a comment.

As in Wapiti's patterns ``*1:%x[0,0]`` stands for ``u1:%x[0,0]`` and ``b1:%x[0,0]``, and ``u:w=%x[0,0]`` shares its
namespace with ``u:t=%x[0,1]``.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vwlite.data.plain_text import as_name, decode, words_of
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.phrases import OUTSIDE, goes_on, tag_of
from vwlite.options import Config, config, option

Sentence = list[list[str]]  # the columns of every token, the label last
DOCUMENT = "-DOCSTART-"  # the only token between two documents


@config
class ColumnsConfig(Config):
    """How files are read. ``labels``: is the last column the label?"""

    no_labels: bool = option(
        False, "The last column is no label but one more to make features of.", spelled=("--no-labels",)
    )
    lines: bool = option(False, "Files are plain text: a sentence a line, blanks between tokens, no labels.")
    iob2: bool = option(False, "Labels of phrases begin with B-, also those that begin with I- in the file.")
    keep_docstart: bool = option(
        False, "Lines -DOCSTART- are tokens, not marks between documents to leave out.", spelled=("--keep-docstart",)
    )

    def __post_init__(self) -> None:
        if self.lines and (self.no_labels or self.keep_docstart):
            other = "--no-labels" if self.no_labels else "--keep-docstart"
            raise UsageError(f"{other} does nothing with --lines, which has neither columns nor labels")
        if self.iob2 and not self.labels:
            raise UsageError(f"--iob2 does nothing with {'--lines' if self.lines else '--no-labels'}")

    @property
    def labels(self) -> bool:
        return not (self.no_labels or self.lines)


def sentences(lines: Iterable[bytes], path: str, how: ColumnsConfig) -> Iterator[tuple[int, Sentence]]:
    """Sentences and the numbers of their first lines. Blanks or tabs separate columns.

    Raises DataError where a line has not as many columns as the first.
    """
    if how.lines:
        for number, line in enumerate(lines, 1):
            if tokens := words_of(decode(line)):
                yield number, [[token] for token in tokens]
        return
    for number, sentence in read_sentences(lines, path, how.keep_docstart):
        if how.iob2:
            for token, label in zip(sentence, begun([token[-1] for token in sentence]), strict=True):
                token[-1] = label
        yield number, sentence


def read_sentences(lines: Iterable[bytes], path: str, keep_docstart: bool) -> Iterator[tuple[int, Sentence]]:
    """The sentences of column files, which empty lines separate. Raises DataError."""
    sentence: Sentence = []
    width = first = 0
    for number, line in enumerate(lines, 1):
        columns = words_of(decode(line))
        if not columns:
            if sentence:
                yield first, sentence
            sentence = []
            continue
        if columns[0] == DOCUMENT and not keep_docstart:
            continue
        width = width or len(columns)
        if len(columns) != width:
            raise DataError(f"{path}:{number}: {len(columns)} columns where lines before have {width}")
        first = first if sentence else number
        sentence.append(columns)
    if sentence:
        yield first, sentence


def begun(labels: list[str]) -> list[str]:
    """IOB2 of IOB1: an I- that does not go on with the phrase of its type becomes B-."""
    fixed, before = [], OUTSIDE
    for label in labels:
        tag = tag_of(label)
        first = tag.mark == "I" and not goes_on(before, tag)
        fixed.append(("B" if label[0] == "I" else "b") + label[1:] if first else label)
        before = tag
    return fixed


MACRO = re.compile(
    r'%([a-zA-Z])\[\s*([+-]?\d+)\s*,\s*(\d+)\s*(?:,\s*(?:(\d+)\s*(?:-\s*(\d+))?|"((?:[^"\\]|\\.)*)")\s*)?\]', re.ASCII
)
ANYWHERE, WITH_SIZE, WITH_REGEX = "xltk", "ps", "m"
CAPITALS = "XTM"  # the value in lower case
TRANSITIONS = ("B", "b", "*")
CLASSES = {"a": "A-Za-z", "l": "a-z", "u": "A-Z", "p": r"!-/:-@\[-`{-~"}  # of Wapiti's regular expressions
LONGEST = 1000  # characters of a prefix or suffix
REMEMBERED = 1 << 16  # words whose values each macro keeps
LIKE = {"p": "%p[0,0,3]", "s": "%s[0,0,2-4]", "m": '%m[0,0,"[0-9]+"]'}


@dataclass(slots=True)
class Tokens:
    """A sentence, and what was already asked of it: values of macros, chunks by the column of their labels."""

    sentence: Sentence
    known: dict["Macro", list[list[str]]] = field(default_factory=dict)
    chunks: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    def values(self, macro: "Macro") -> list[list[str]]:
        """The macro's values at each token, escaped."""
        if macro not in self.known:
            self.known[macro] = macro.chunks(self) if macro.kind == "k" else macro.column_of(self.sentence)
        return self.known[macro]

    def bounds(self, column: int) -> tuple[list[int], list[int]]:
        """Where chunks start, the sentence's length last; and for each token the number of its chunk.

        A chunk goes on as ``phrases.goes_on`` says; a token outside of chunks is one by itself.
        """
        if column not in self.chunks:
            starts: list[int] = []
            owner, before = [], OUTSIDE
            for place, token in enumerate(self.sentence):
                tag = tag_of(token[column])
                if not goes_on(before, tag):
                    starts.append(place)
                owner.append(len(starts) - 1)
                before = tag
            self.chunks[column] = [*starts, len(self.sentence)], owner
        return self.chunks[column]


@dataclass(frozen=True, slots=True)
class Macro:
    kind: str
    row: int
    column: int
    sizes: tuple[int, ...] = ()
    regex: re.Pattern[str] | None = None
    lower: bool = False
    known: dict[str, list[str]] = field(default_factory=dict, compare=False)  # values of words met before

    def of(self, word: str) -> list[str]:
        """Nothing, the value, or several, escaped."""
        values = self.known.get(word)
        if values is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            values = self.known[word] = [
                as_name(value.lower() if self.lower else value) for value in VALUES[self.kind](self, word)
            ]
        return values

    def column_of(self, sentence: Sentence) -> list[list[str]]:
        """The values at each token: those of words ``row`` places on."""
        count, row = len(sentence), max(min(self.row, len(sentence)), -len(sentence))
        before, after = range(max(-row, 0)), range(count - max(row, 0), count)
        inside = [self.of(token[self.column]) for token in sentence[max(row, 0) : count + min(row, 0)]]
        return [*map(self.beyond(count), before), *inside, *map(self.beyond(count), after)]

    def beyond(self, count: int) -> Callable[[int], list[str]]:
        """The values at places whose words are not in a sentence of ``count`` tokens."""
        if self.kind not in "xl":
            return lambda place: []
        return lambda place: [f"_B{place + self.row}" if self.row < 0 else f"_B+{place + self.row - count + 1}"]

    def chunks(self, tokens: Tokens) -> list[list[str]]:
        """The tokens of the chunk ``row`` chunks on."""
        starts, owner = tokens.bounds(self.column)
        words = [as_name(token[0]) for token in tokens.sentence]
        chunks = [words[first:last] for first, last in pairwise(starts)]
        numbers = (own + self.row for own in owner)
        return [chunks[place] if 0 <= place < len(chunks) else [] for place in numbers]


VALUES: dict[str, Callable[[Macro, str], Sequence[str]]] = {
    "x": lambda macro, word: (word,),
    "l": lambda macro, word: (word.lower(),),
    "t": lambda macro, word: (first_match(macro.regex, word) if macro.regex else character_type(word),),
    "p": lambda macro, word: [word[:size] for size in macro.sizes if size <= len(word)],
    "s": lambda macro, word: [word[-size:] for size in macro.sizes if size <= len(word)],
    "m": lambda macro, word: found_by(macro.regex, word),
}


def character_type(word: str) -> str:
    """``McDonald-12`` is ``AaAa+-0+``."""
    kinds = ("A" if c.isupper() else "a" if c.islower() else "0" if c.isdecimal() else c for c in word)
    return re.sub(r"(.)\1+", r"\1+", "".join(kinds), flags=re.S)


def first_match(regex: re.Pattern[str], word: str) -> str:
    return "true" if regex.search(word) else "false"


def found_by(regex: re.Pattern[str] | None, word: str) -> Sequence[str]:
    match = regex.search(word) if regex else None
    return (match[0],) if match and match[0] else ()


def read_macro(found: re.Match[str]) -> Macro:
    """The macro of a match of ``MACRO``. Raises UsageError."""
    letter, row, column, size, last, regex = found.groups()
    letters = ANYWHERE + WITH_SIZE + WITH_REGEX + CAPITALS
    if letter not in letters:
        raise UsageError(f"there is no macro %{letter} (there are {', '.join(f'%{one}' for one in letters)})")
    kind = letter.lower()
    needs_regex = kind in WITH_REGEX or (kind == "t" and regex is not None)
    if (kind in WITH_SIZE) != (size is not None) or needs_regex != (regex is not None):
        raise UsageError(f"{found[0]} is not like {LIKE.get(kind, f'%{kind}[-1,0]')}")
    sizes = range(int(size), int(last or size) + 1) if size else range(0)
    if size and not (sizes and sizes[0] >= 1 and sizes[-1] <= LONGEST):
        raise UsageError(f"{found[0]}: characters are counted from 1 to {LONGEST}")
    pattern = compile_regex(regex) if regex is not None else None
    return Macro(kind, int(row), int(column), tuple(sizes), pattern, letter in CAPITALS)


def compile_regex(text: str) -> re.Pattern[str]:
    """``\\"`` is a quotation mark; Wapiti's classes are read beside Python's where no bracket is. Raises UsageError."""
    plain = text.replace('\\"', '"')
    if "[" not in plain:
        plain = re.sub(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", as_set, plain, flags=re.S)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of sets that Python may read otherwise one day
            return re.compile(plain)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{text!r} is not a regular expression ({error})") from error


def as_set(escape: re.Match[str]) -> str:
    """The character set of one of Wapiti's classes, in capitals its complement; other escapes stay as they are."""
    letter = escape[1]
    inside = CLASSES.get(letter.lower()) if letter not in "A" else None
    return f"[{'^' if letter.isupper() else ''}{inside}]" if inside else escape[0]


@dataclass(frozen=True, slots=True)
class Template:
    """One line: ``macros`` with ``literals``, escaped, around and between them."""

    name: str
    literals: tuple[str, ...]
    macros: tuple[Macro, ...]

    @property
    def columns(self) -> int:
        """The number of columns that a token must have for it."""
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
        if line and line not in TRANSITIONS and line[0] != "#":
            both = [f"u{line[1:]}", f"b{line[1:]}"] if line[0] == "*" else [line]
            templates += [read_template(one, number) for one in both]
    names = [(template.name, template.literals[0]) for template in templates]
    for name, literal in names:
        if names.count((name, literal)) > 1:
            raise UsageError(f"the template has two lines named {name}{f':{literal}' if literal else ''}")
    return templates


def read_template(line: str, number: int) -> Template:
    """Raises UsageError."""
    name, colon, pattern = line.partition(":")
    if not (name[:1].isascii() and name[:1].isalpha()) or " " in name or (not colon and "%" in name):
        raise UsageError(f"line {number} of the template is not like U01:%x[0,0]: {line!r}")
    macros, literals, end = [], [], 0
    for match in MACRO.finditer(pattern):
        try:
            macros.append(read_macro(match))
        except UsageError as error:
            raise UsageError(f"line {number} of the template: {error}") from None
        literals.append(pattern[end : match.start()])
        end = match.end()
    literals.append(pattern[end:])
    if any("%" in literal for literal in literals):
        raise UsageError(f"line {number} of the template has a % that is not like %x[-1,0]: {line!r}")
    return Template(as_name(name), tuple(map(as_name, literals)), tuple(macros))


def within(templates: Iterable[Template], columns: int) -> list[Template]:
    """The templates that use only the first ``columns`` columns."""
    return [template for template in templates if template.columns <= columns]


def lines_of(sentence: Sentence, templates: list[Template], labels: bool = True) -> Iterator[str]:
    """A line of text for each token; ``labels``: the last column is the label."""
    tokens = Tokens(sentence)
    columns = [template.features(tokens) for template in templates]
    if labels:
        columns.insert(0, [as_name(token[-1]) for token in sentence])
    for words in zip(*columns, strict=True) if columns else [()] * len(sentence):
        yield (" ".join(filter(None, words)) or "|") + "\n"


def convert(
    lines: Iterable[bytes], path: str, choose: Callable[[int], list[Template]], how: ColumnsConfig
) -> Iterator[str]:
    """The text, an empty line after each sentence. ``choose`` gives the templates for a number of columns.

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


OWN = {2: "w", 12: "t"}  # names of the word and tag of the token itself; others go by these numbers
CHUNK = "".join(
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
PLACES = {-2: "L2", -1: "L1", 0: "C", 1: "R1", 2: "R2"}


def macros_around(letter: str, macro: str) -> str:
    """``macro`` of each token of five, in namespaces of their own."""
    return "".join(f"{letter}{name}:{macro.format(row)}\n" for row, name in PLACES.items())


NER = (
    macros_around("w", "%x[{0},0]")
    + macros_around("t", "%t[{0},0]")
    + macros_around("p", "%p[{0},0,2-4]")
    + macros_around("s", "%s[{0},0,2-4]")
    + "wLC:%x[-1,0]/%x[0,0]\nwCR:%x[0,0]/%x[1,0]\n"
    + "tLC:%t[-1,0]/%t[0,0]\ntCR:%t[0,0]/%t[1,0]\ntLR:%t[-1,0]/%t[1,0]\ntLCR:%t[-1,0]/%t[0,0]/%t[1,0]\n"
)
POS = (
    macros_around("w", "%x[{0},0]")
    + "lC:%l[0,0]\ntL1:%t[-1,0]\ntC:%t[0,0]\ntR1:%t[1,0]\n"
    + "pC:%p[0,0,1-4]\nsC:%s[0,0,1-4]\nsL1:%s[-1,0,2-3]\nsR1:%s[1,0,2-3]\n"
    + "wLC:%x[-1,0]/%x[0,0]\nwCR:%x[0,0]/%x[1,0]\n"
)
READY = {"chunk": CHUNK, "ner": NER, "pos": POS}


def usual(columns: int) -> str:
    """Which is taken for tokens of that number of columns, when none is asked for."""
    return CHUNK if columns > 1 else NER
