"""What ``--columns`` says: which column of a table is the label, and what the others are.

    label=click weight=w tag=id user=age,city:text text=body:words =price ignore=day

An item is a role (``label``, ``weight``, ``base``, ``tag``, ``ignore``) or else a namespace, empty for the anonymous
one, and its columns. ``:number``, ``:text``, ``:words`` and ``:tokens`` say how a column is read, ``?`` that it may be
missing, and ``*`` stands for the columns that are not named; without it these are anonymous features. Names with blanks
and with ``,=:?*"`` are quoted, as ``"annual income"``. ``no-header`` says that the first line of a table of cells is
data, ``header`` that it names the columns.

The names of columns and keys are hashed as the parser hashes those of a line of text. A line cannot hold every name:
white space, ``:`` and ``|`` count as ``_``, and so does an empty name. In text values ``:`` may stand; one that is
empty or reads like a number gets ``_`` in front. Letters are made small as Unicode 3.2 has them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any
from unicodedata import ucd_3_2_0

import mmh3
import numpy as np

from vwlite._native.hash_names import hash_numbers, hash_texts, text_of
from vwlite.data.batch import offsets
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError, first_words
from vwlite.options import not_one_of

ROLES = ("label", "weight", "base", "tag")
IGNORE, REST = "ignore", "*"
NUMBER, TEXT, WORDS, TOKENS = TYPES = ("number", "text", "words", "tokens")
OF_WORDS = (WORDS, TOKENS)
NAME = r'(?:"(?:[^"]|"")*"|[^\s,=:"?]+)'
MEMBER = re.compile(rf"({NAME})(?::([a-z]*))?(\?)?")
ITEM = re.compile(rf"\s*({NAME}?)=({MEMBER.pattern}(?:,{MEMBER.pattern})*)(?=\s|$)")
BARE = re.compile(r'[^\s,=:"?*]+')
HEADERS = {"header": True, "no-header": False}
HEADER = re.compile(rf"\s*({'|'.join(HEADERS)})(?=\s|$)")
MANY = 20  # columns: more of one type, in one namespace, are not named one by one
EXAMPLE = "label=click user=age,city:text"


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its name; ``type`` is one of ``TYPES``, or empty where the data decide."""

    name: str
    type: str = ""
    optional: bool = False

    def is_of_words(self) -> bool:
        return self.type in OF_WORDS

    def __str__(self) -> str:
        return quote_name(self.name) + (f":{self.type}" if self.type else "") + "?" * self.optional


@dataclass(frozen=True, slots=True)
class Columns:
    """``roles`` by name; ``spaces``: the columns of each namespace; ``rest``: where the columns that are not named go,
    a namespace or ``ignore``, and how they are read. ``types`` are known of columns of which nothing is said.
    ``headed``: whether the first line of a table of cells names its columns; None: unknown.
    """

    roles: Mapping[str, Column]
    spaces: Mapping[str, tuple[Column, ...]]
    ignored: tuple[str, ...] = ()
    rest: str = ""
    rest_type: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    headed: bool | None = None

    def __str__(self) -> str:
        """Write the columns as ``read_columns`` takes them."""
        items = [item for item, headed in HEADERS.items() if headed is self.headed]
        items += [f"{role}={column}" for role, column in self.roles.items()]
        for space, members in self.spaces.items():
            items += [f"{quote_name(space)}={','.join(map(str, members))}"] if members else []
        if self.rest == IGNORE:
            items.append(f"{IGNORE}={','.join([*map(quote_name, self.ignored), REST])}")
        elif self.ignored:
            items.append(f"{IGNORE}={','.join(map(quote_name, self.ignored))}")
        if self.rest_type or self.rest not in ("", IGNORE):
            items.append(f"{quote_name(self.rest)}={REST}{self.rest_type and ':' + self.rest_type}")
        return " ".join(items)

    @property
    def named(self) -> Iterator[Column]:
        """The columns that are read, by name."""
        return chain(self.roles.values(), self.features)

    @property
    def features(self) -> Iterator[Column]:
        """The columns that are features, by namespace."""
        return chain.from_iterable(self.spaces.values())

    @property
    def is_typed(self) -> bool:
        """Whether nothing is left to find out from the data."""
        return self.rest == IGNORE and all(column.type for column in self.features)

    def shown(self) -> str:
        """The text of --columns without what only later files and models need; ``*`` stands for many columns."""
        plain = replace(self, roles={role: replace(column, optional=False) for role, column in self.roles.items()})
        if self.rest != IGNORE or len(self.ignored) > MANY:
            return str(replace(plain, ignored=() if self.rest == IGNORE else self.ignored))
        spaces = self.spaces.items()
        sizes = Counter((space, column.type) for space, columns in spaces for column in columns if not column.optional)
        (most, type), size = max(sizes.items(), key=itemgetter(1), default=(("", ""), 0))
        if size <= MANY:
            return str(replace(plain, rest=""))
        many = (most, type, False)
        few = {
            space: tuple(column for column in columns if (space, column.type, column.optional) != many)
            for space, columns in spaces
        }
        return str(replace(plain, spaces=few, rest=most, rest_type=type))

    def placed(self, header: Sequence[str], source: str) -> Columns:
        """The same for a table of these columns: every column is named, in the order in which features are read.

        In a namespace the columns stand in the table's order, those of words last. Raises DataError, which names
        ``source``, for columns that are not there or are twice.
        """
        check_header(header, source)
        known = {name: Column(name) for name in header if name}
        there = frozenset(known)
        owner: dict[str, str] = {}
        for space, members in self.spaces.items():
            for column in members:
                known[column.name] = column
                owner[column.name] = space
        missing = [column.name for column in self.named if column.name not in there and not column.optional]
        if missing:
            raise DataError(f"{source} has no column {missing[0]!r}{proposal_text(missing[0], header)}")
        roles = {role: column for role, column in self.roles.items() if column.name in there}
        absent = {*self.ignored, *(column.name for column in roles.values())}
        left = [name for name in header if name and name not in absent and name not in owner]
        if self.rest != IGNORE:
            owner.update(dict.fromkeys(left, self.rest))
            known.update({name: Column(name, self.rest_type) for name in left})
            left = []
        spaces: dict[str, list[Column]] = {space: [] for space in ("", *self.spaces, self.rest) if space != IGNORE}
        for name in header:
            if name in owner and name not in absent:
                column = known[name]
                spaces[owner[name]].append(column if column.type else replace(column, type=self.types.get(name, "")))
        placed = {space: tuple(sorted(members, key=Column.is_of_words)) for space, members in spaces.items() if members}
        ignored = frozenset(self.ignored)
        aside = (*(name for name in header if name in ignored), *left)
        return Columns(roles, placed, aside, IGNORE, headed=self.headed)

    def typed(self, types: Mapping[str, str]) -> Columns:
        """The same with the types of columns that have none."""
        spaces = {
            space: tuple(column if column.type else replace(column, type=types[column.name]) for column in members)
            for space, members in self.spaces.items()
        }
        return replace(self, spaces=spaces)

    @property
    def found_types(self) -> dict[str, str]:
        """The types of feature columns, by name, that may have been detected in the data."""
        return {column.name: column.type for column in self.features if column.type in (NUMBER, TEXT)}

    def kept(self, asked: Columns) -> Columns:
        """The columns that a model keeps, for other tables: only columns of features must be there.

        ``asked``: the columns that were asked for, of which those that the data lack may be there again.
        """
        roles = {role: replace(column, optional=True) for role, column in {**asked.roles, **self.roles}.items()}
        there = {column.name for column in self.named}
        spaces = dict(self.spaces)
        for space, members in asked.spaces.items():
            missing = tuple(column for column in members if column.type and column.name not in there)
            spaces[space] = (*spaces.get(space, ()), *missing)
        spaces = {space: members for space, members in spaces.items() if members}
        return replace(self, roles=roles, spaces=spaces, ignored=())


def quote_name(name: str) -> str:
    return name if BARE.fullmatch(name) or not name else '"{}"'.format(name.replace('"', '""'))


def unquote_name(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def nearest(name: str, known: Collection[str]) -> str:
    """The one that is spelled most like ``name``, whatever the case of letters; empty where none is."""
    from difflib import get_close_matches

    typed = {word.lower(): word for word in known}
    return next((typed[match] for match in get_close_matches(name.lower(), typed, n=1)), "")


def proposal_text(name: str, known: Collection[str]) -> str:
    """The columns there are, and the one that is spelled most like ``name``."""
    if any("|" in word for word in known):
        return ": its first line is one of text, which --format vw reads"
    near = nearest(name, known)
    return f" (it has {first_words(known, 10)}{f'; did you mean {near}?' if near else ''})"


def check_header(header: Sequence[str], source: str) -> None:
    """Raises DataError for names that are twice; columns without a name are left out."""
    seen: set[str] = set()
    for name in header:
        if name and name in seen:
            raise DataError(f"{source} has two columns {name!r}")
        seen.add(name)


def read_columns(text: str) -> Columns:
    """The columns that the text of ``--columns`` describes. Raises UsageError."""
    roles: dict[str, Column] = {}
    spaces: dict[str, tuple[Column, ...]] = {}
    ignored: tuple[str, ...] = ()
    rest: tuple[str, str] | None = None
    headed: bool | None = None
    seen: set[str] = set()
    at, text = 0, text.rstrip()
    while at < len(text):
        if header := HEADER.match(text, at):
            at, headed = header.end(), HEADERS[header[1]]
            continue
        item = ITEM.match(text, at)
        if not item:
            blanks = "; a name with blanks stands in double quotes, as in label=\"a b\"" if "'" in text else ""
            raise UsageError(f"--columns: expected items like {EXAMPLE}, not {text[at:].strip()!r}{blanks}")
        at = item.end()
        key = unquote_name(item[1])
        members = [column_of(*groups) for groups in MEMBER.findall(item[2])]
        for name, column in members:
            if name in seen:
                raise UsageError(f"--columns: column {column.name!r} is named twice")
            seen.add(name)
            if name == REST and key in ROLES:
                raise UsageError(f"--columns: {key}=* is not possible: {key} is one column")
            if column.type and key in (*ROLES, IGNORE):
                raise UsageError(f"--columns: {key}={column}: a type goes with columns that are features")
        plain = [column for name, column in members if name != REST]
        rest = next(((key, column.type) for name, column in members if name == REST), rest)
        if key == IGNORE:
            ignored += tuple(column.name for column in plain)
        elif key in ROLES:
            if len(plain) > 1 or key in roles:
                several = "; several numbers for --outputs stand in one cell, as \"2.5,7\"" * (key == "label")
                raise UsageError(f"--columns: {key} is one column{several}")
            roles[key] = plain[0]
        else:
            spaces[key] = (*spaces.get(key, ()), *plain)
    return Columns(roles, spaces, ignored, *(rest or ("", "")), headed=headed)


def column_of(name: str, type: str, optional: str) -> tuple[str, Column]:
    """A column, and its name as it was typed where that means something else."""
    if type and type not in TYPES:
        raise UsageError(f"--columns: {not_one_of(type, TYPES)}")
    column = Column(unquote_name(name), type, bool(optional))
    return (name if name == REST else f"={column.name}"), column


def encode_name(name: Any) -> bytes:
    """The name as a line holds it. Raises UsageError for what is no text."""
    if not isinstance(name, str):
        raise UsageError(f"expected names that are text, not {type(name).__name__}: {name!r}")
    return text_of(name.encode("utf-8", "surrogateescape"), False)


def namespace_hash(name: bytes, format: TextFormat) -> int:
    """The hash of a namespace's name, empty where it is anonymous."""
    if name:
        return int(hashes_of([name], format.hash_seed, format)[0])
    return mmh3.hash(b"", format.hash_seed, signed=False)


def hashes_of(names: Sequence[bytes], seed: int, format: TextFormat, text_values: bool = False) -> np.ndarray:
    """uint32[names]: the hashes of names in a namespace of the hash ``seed``; of text values, in a feature of it."""
    out = np.empty(len(names), np.uint32)
    hash_texts(b"".join(names), offsets([len(name) for name in names]), seed, format.hash_all, text_values, out)
    return out


class ColumnNames:
    """The names of a table's columns: those given, or their numbers."""

    def __init__(self, namespace: bytes, names: Sequence[Any] | None, format: TextFormat) -> None:
        """Raises UsageError for names that are no text."""
        self.namespace, self.format = namespace, format
        self.seed = namespace_hash(namespace, format)
        self.names = None if names is None else [encode_name(name) for name in names]
        self.table = None if self.names is None else hashes_of(self.names, self.seed, format)

    def hashes(self, columns: np.ndarray) -> np.ndarray:
        """uint32[n] of columns, int32 or int64[n]; shares their memory where it can."""
        if self.table is not None:
            return self.table[columns]
        if self.format.hash_all:
            out = np.empty(len(columns), np.uint32)
            hash_numbers(columns.astype(np.int64), self.seed, out)
            return out
        numbers = columns.view(np.uint32) if columns.dtype == np.int32 else columns.astype(np.uint32)
        return numbers + np.uint32(self.seed) if self.seed else numbers

    def texts(self, columns: np.ndarray) -> tuple[bytes, np.ndarray, np.ndarray]:
        """Return bytes, and where in them the name of each of the columns begins and ends, int64[n]."""
        if self.names is not None:
            names, which = self.names, columns
        else:
            distinct, which = np.unique(columns, return_inverse=True)
            names = [b"%d" % number for number in distinct.tolist()]
        starts = offsets([len(name) for name in names])
        return b"".join(names), starts[which], starts[1:][which]

    def shown(self, column: int) -> str:
        """The column in messages."""
        return str(column) if self.names is None else repr(self.names[column].decode("utf-8", "surrogateescape"))


CHARACTERS = 1 << 16
NONE = np.zeros(CHARACTERS, np.uint16)  # for tables without such words


@cache
def lower_table() -> np.ndarray:
    """uint16[65536]: each letter, digit, mark and ``_`` in lower case, if that takes as many bytes; 0 for all else."""
    return np.array([lower_character(chr(code)) for code in range(CHARACTERS)], np.uint16)


def lower_character(character: str) -> int:
    if character != "_" and ucd_3_2_0.category(character)[0] not in "LNM":
        return 0
    small = character.lower()
    known = len(small) == 1 and ucd_3_2_0.category(small) != "Cn"
    return ord(small if known and len(small.encode()) == len(character.encode()) else character)
