"""The text of files that Python reads: columns, templates, and lines of fastText, libffm and CRFsuite."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from vwlite.errors import DataError
from vwlite.options import DECIMAL

BOM = b"\xef\xbb\xbf"  # which some editors put before the text
WORD = re.compile(r"[^ \t\r\n]+")  # other blanks, such as no-break spaces, are characters of words
ESCAPED = str.maketrans({"%": "%25", ":": "%3A", "|": "%7C", " ": "%20", "\t": "%09"})
UNSAFE = re.compile("[%:|]")
LABEL = "__label__"  # what fastText's labels begin with
LABELS = re.compile(rf"(?<![^ \t\r\n]){LABEL}([^ \t\r\n]*)")
NUMBER = re.compile(DECIMAL)
ATTRIBUTE = re.compile(r"((?:[^\\:]|\\.)+)(?::(.*))?", re.DOTALL)  # of CRFsuite: a backslash is before : and \ in names
ENTRY = re.compile(rf"([0-9]+):([0-9]+):({DECIMAL})", re.ASCII)


def decode(text: bytes) -> str:
    """Decode text without a byte order mark; bytes that are not UTF-8 become surrogates."""
    return text.removeprefix(BOM).decode("utf-8", "surrogateescape")


def words_of(text: str) -> list[str]:
    """The words between blanks, tabs and line ends."""
    return WORD.findall(text)


def as_name(text: str) -> str:
    """Escaped, so that it can be the name of a feature, namespace or label."""
    return text.translate(ESCAPED)


def fasttext_labels(text: str) -> list[str]:
    """The labels of a line of fastText, escaped, without ``__label__``; each once, in the line's order."""
    return [*dict.fromkeys(map(as_name, LABELS.findall(text)))]


def names_of_sets(texts: Iterable[Iterable[bytes]]) -> list[str]:
    """List all labels of these texts of fastText, sorted, if a line has several; otherwise none."""
    names: set[str] = set()
    several = False
    for line in chain.from_iterable(texts):
        labels = fasttext_labels(decode(line))
        several = several or len(labels) > 1
        names.update(labels)
    return sorted(names) if several else []


def text_of_fasttext(lines: Iterable[bytes], path: str, names: Sequence[str]) -> Iterator[str]:
    """Lines with the words in the namespace ``w``; empty ones are left out.

    The label is a name or, where there are ``names``, a set of numbers: places in ``names``, from 0. Raises DataError
    for several labels without ``names``, and for labels that are not among them.
    """
    numbers = {name: str(number) for number, name in enumerate(names)}
    for row, line in enumerate(lines, 1):
        text = decode(line)
        words = words_of(text)
        labels = fasttext_labels(text)
        if names:
            if odd := next((label for label in labels if label not in numbers), ""):
                raise DataError(f"{path}:{row}: --named_labels has no label {odd}")
            labels = [",".join(sorted((numbers[label] for label in labels), key=int))] if labels else []
        if len(labels) > 1 or "" in labels:
            found = f"{len(labels)} labels: --named_labels lists those of all lines" if labels[1:] else "an empty label"
            raise DataError(f"{path}:{row}: {found}")
        if words:
            features = [word for word in words if not word.startswith(LABEL)]
            if UNSAFE.search(text):
                features = [*map(as_name, features)]
            yield " ".join([*labels, "|w", *features]) + "\n"


def text_of_libffm(lines: Iterable[bytes], path: str) -> Iterator[str]:
    """Lines of ``label field:index:value``: field 7 is the namespace ``f7``; empty lines are left out.

    Raises DataError for a line of other words.
    """
    for row, line in enumerate(lines, 1):
        words = words_of(decode(line))
        fields: dict[str, list[str]] = {}
        for place, word in enumerate(words[1:], 2):
            if not (entry := ENTRY.fullmatch(word)):
                raise DataError(f"{path}:{row}: word {place} is not like field:index:value: {word}")
            field, index, value = entry.groups()
            fields.setdefault(field, []).append(index if value == "1" else f"{index}:{value}")
        if words:
            if not NUMBER.fullmatch(words[0]):
                raise DataError(f"{path}:{row}: bad label, expected a number: {words[0]}")
            blocks = [f"|f{field} {' '.join(words)}" for field, words in fields.items()] or ["|"]
            yield " ".join([words[0], *blocks]) + "\n"


def text_of_crfsuite(lines: Iterable[bytes], path: str) -> Iterator[str]:
    """Lines of a label and attributes between tabs, in the anonymous namespace; empty lines between sequences.

    Raises DataError for a value that is not a number, an empty label, and weights of sequences.
    """
    for row, line in enumerate(lines, 1):
        label, *entries = decode(line).rstrip("\r\n").split("\t")
        if not label and not any(entries):
            yield "\n"
            continue
        if not label or label.startswith("@weight"):
            raise DataError(f"{path}:{row}: {'weights of sequences are not read' if label else 'an empty label'}")
        features = []
        for entry in filter(None, entries):
            match = ATTRIBUTE.fullmatch(entry)
            if not match or not (match[2] is None or NUMBER.fullmatch(match[2])):
                raise DataError(f"{path}:{row}: not like attribute:value, with \\: for a colon in its name: {entry}")
            name = as_name(re.sub(r"\\(.)", r"\1", match[1]))
            features.append(name if match[2] in (None, "1") else f"{name}:{match[2]}")
        yield " ".join([as_name(label), "|", *features]) + "\n"
