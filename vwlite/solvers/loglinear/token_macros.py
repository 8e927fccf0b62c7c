"""What a template line makes of tokens: ``%x[r,c]`` as CRF++ has it, and macros for names and tags.

====================  =====================================================================================
``%x[r,c]``           column c of the token r lines on, ``_B-1`` or ``_B+1`` one beyond the sentence
``%l[r,c]``           the same in lower case
``%p[r,c,n]``         its first n characters; n may be a range, ``2-4``, which makes a feature of each
``%s[r,c,n]``         its last n characters
``%t[r,c]``           its character type: A, a, 0 for letters and digits, runs as ``A+``
``%m[r,c,"regex"]``   what the regular expression finds in it first
``%k[r,c]``           the tokens of the r-th chunk on, by the chunk labels in column c; a feature of each
====================  =====================================================================================

A macro without a value, of a word that is too short or beyond the sentence, leaves the feature out.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vwlite.errors import UsageError
from vwlite.solvers.loglinear.columns import Sentence

MACRO = re.compile(
    r'%([a-z])\[\s*([+-]?\d+)\s*,\s*(\d+)\s*(?:,\s*(?:(\d+)\s*(?:-\s*(\d+))?|"((?:[^"\\]|\\.)*)")\s*)?\]', re.ASCII
)
ESCAPED = str.maketrans({"%": "%25", ":": "%3A", "|": "%7C", " ": "%20", "\t": "%09"})
ANYWHERE, WITH_SIZE, WITH_REGEX = "xltk", "ps", "m"
LONGEST = 1000  # characters of a prefix or suffix
REMEMBERED = 1 << 16  # words whose values each macro keeps
LIKE = {"p": "%p[0,0,3]", "s": "%s[0,0,2-4]", "m": '%m[0,0,"[0-9]+"]'}


def escaped(text: str) -> str:
    return text.translate(ESCAPED)


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

        A chunk is B- or I- followed by all I- of its kind; any other token is a chunk by itself.
        """
        if column not in self.chunks:
            starts: list[int] = []
            owner, before = [], "O"
            for place, token in enumerate(self.sentence):
                label = token[column]
                if not (label[:2] == "I-" and before[:2] in ("B-", "I-") and before[2:] == label[2:]):
                    starts.append(place)
                owner.append(len(starts) - 1)
                before = label
            self.chunks[column] = [*starts, len(self.sentence)], owner
        return self.chunks[column]


@dataclass(frozen=True, slots=True)
class Macro:
    kind: str
    row: int
    column: int
    sizes: tuple[int, ...] = ()
    regex: re.Pattern[str] | None = None
    known: dict[str, list[str]] = field(default_factory=dict, compare=False)  # values of words met before

    def of(self, word: str) -> list[str]:
        """Nothing, the value, or several, escaped."""
        found = self.known.get(word)
        if found is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            found = self.known[word] = [escaped(value) for value in VALUES[self.kind](self, word)]
        return found

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
        words = [escaped(token[0]) for token in tokens.sentence]
        chunks = [words[first:last] for first, last in pairwise(starts)]
        wanted = (own + self.row for own in owner)
        return [chunks[place] if 0 <= place < len(chunks) else [] for place in wanted]


VALUES: dict[str, Callable[[Macro, str], Sequence[str]]] = {
    "x": lambda macro, word: (word,),
    "l": lambda macro, word: (word.lower(),),
    "t": lambda macro, word: (character_type(word),),
    "p": lambda macro, word: [word[:size] for size in macro.sizes if size <= len(word)],
    "s": lambda macro, word: [word[-size:] for size in macro.sizes if size <= len(word)],
    "m": lambda macro, word: found_by(macro.regex, word),
}


def character_type(word: str) -> str:
    """``McDonald-12`` is ``AaAa+-0+``."""
    kinds = ("A" if c.isupper() else "a" if c.islower() else "0" if c.isdecimal() else c for c in word)
    return re.sub(r"(.)\1+", r"\1+", "".join(kinds), flags=re.S)


def found_by(regex: re.Pattern[str] | None, word: str) -> Sequence[str]:
    found = regex.search(word) if regex else None
    return (found[0],) if found and found[0] else ()


def read_macro(found: re.Match[str]) -> Macro:
    """From what ``MACRO`` found. Raises UsageError."""
    kind, row, column, size, last, regex = found.groups()
    if kind not in ANYWHERE + WITH_SIZE + WITH_REGEX:
        known = ", ".join(f"%{letter}" for letter in ANYWHERE + WITH_SIZE + WITH_REGEX)
        raise UsageError(f"there is no macro %{kind} (there are {known})")
    if (kind in WITH_SIZE) != (size is not None) or (kind in WITH_REGEX) != (regex is not None):
        raise UsageError(f"{found[0]} is not like {LIKE.get(kind, f'%{kind}[-1,0]')}")
    sizes = range(int(size), int(last or size) + 1) if size else range(0)
    if size and not (sizes and sizes[0] >= 1 and sizes[-1] <= LONGEST):
        raise UsageError(f"{found[0]}: characters are counted from 1 to {LONGEST}")
    return Macro(kind, int(row), int(column), tuple(sizes), compiled(regex) if regex is not None else None)


def compiled(text: str) -> re.Pattern[str]:
    """``\\"`` is a quotation mark. Raises UsageError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of sets that Python may read otherwise one day
            return re.compile(text.replace('\\"', '"'))
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{text!r} is no regular expression ({error})") from error
