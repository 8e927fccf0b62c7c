"""Turn files of ratings into VW text: one rating, one line, the user in namespace u, the item in namespace i.

    5 |u 1 age=1 sex=F occupation=10 |i 1193 genre=Drama

Reads what GroupLens publishes and what looks like it, gzip, bzip2 and xz included:

    ml-1m, ml-10m       ratings.dat          user::movie::rating::time
    ml-100k             u.data, u1.base      user, item, rating, time, between tabs
    ml-20m and later    ratings.csv          userId,movieId,rating,timestamp, with a header
    others              --separator, --columns

The time is not used and may be missing. --users and --items add what is known of a user (u.user, users.dat) or an
item (u.item, movies.dat, movies.csv) to its namespace: age, sex, occupation, genres.
"""

import argparse
import bz2
import csv
import gzip
import io
import lzma
import math
import os
import random
import re
import signal
import sys
import zlib
from bisect import bisect_right
from itertools import chain

EXAMPLES = """examples:
  movielens_to_vw.py ratings.dat.gz --split 10 train.vw test.vw       one rating in ten is for testing
  movielens_to_vw.py ratings.dat --split 10 train.vw test.vw --users users.dat --items movies.dat
  movielens_to_vw.py u1.base.gz u1.train.vw                           a file that is split already
  movielens_to_vw.py --separator ';' --columns 2,1,3 books.txt books.vw
  unzip -p ml-20m.zip '*/ratings.csv' | movielens_to_vw.py - >all.vw

The split goes by the rating's number n in the input, from 1: it is for testing when
(n * 2654435761) mod 2^32 < PERCENT / 100 * 2^32. Then the ratings to learn from are shuffled.
"""
SPREAD = 2654435761  # Knuth's multiplicative hash
COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
SEPARATORS = ("::", "\t", "|", ",", ";")  # the first that a file's first line holds
UNSAFE = re.compile(r"[\s:|]")  # what VW text gives a meaning to
AGES = (1, 18, 25, 35, 45, 50, 56)  # the lower bounds of MovieLens-1M's groups
GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)  # the last columns of MovieLens-100K's u.item


class Malformed(Exception):
    """What is wrong, with file and line."""


def open_text(name):
    """The lines of a file or, for -, of standard input; bytes that are not UTF-8 come through unchanged."""
    raw = sys.stdin.buffer if name == "-" else open(name, "rb")  # noqa: SIM115
    start = raw.peek(6)
    for magic, opener in COMPRESSIONS.items():
        if start.startswith(magic):
            raw = opener(raw)
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")


def records(name, separator=None):
    """(place, fields) of every line that is not blank; all have as many fields as the first."""
    title = "standard input" if name == "-" else name
    with open_text(name) as file:
        first = next(file, "")
        separator = separator or next((mark for mark in SEPARATORS if mark in first), None)
        lines = chain([first], file)
        if separator in (",", ";"):
            rows = csv.reader(lines, delimiter=separator)
        else:
            rows = (line.rstrip("\r\n").split(separator) if line.strip() else [] for line in lines)
        width = None
        for number, fields in enumerate(rows, 1):
            if not fields:
                continue
            width = width or len(fields)
            place = f"{title}:{rows.line_num if hasattr(rows, 'line_num') else number}"
            if len(fields) != width:
                raise Malformed(f"{place}: {len(fields)} fields where the first line has {width}")
            yield place, fields


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def ratings(name, separator, columns):
    """(user, item, rating) as text; a first line without a number is a header."""
    user, item, rating = (column - 1 for column in columns)
    first = True
    for place, fields in records(name, separator):
        if len(fields) <= max(user, item, rating):
            raise Malformed(f"{place}: expected user, item and rating, found {len(fields)} fields (see --separator)")
        row = fields[user].strip(), fields[item].strip(), fields[rating].strip()
        header, first = first and not any(map(is_number, fields)), False
        if header:
            continue
        if not is_number(row[2]):
            raise Malformed(f"{place}: the rating is {row[2]!r}, not a number")
        for text in row[:2]:
            if not text or UNSAFE.search(text):
                raise Malformed(f"{place}: {text!r} cannot be an id: it is empty or holds a blank, a colon or a bar")
        yield row


def user_features(fields):
    """Of u.user (id, age, sex, occupation, zip) or users.dat (id, sex, age, occupation, zip)."""
    first, second, occupation = fields[1:4]
    age, sex = (first, second) if first.isdigit() else (second, first)
    group = AGES[max(bisect_right(AGES, int(age)) - 1, 0)]
    return [f"age={group}", f"sex={sex}", f"occupation={occupation}"]


def item_features(fields):
    """Of u.item (19 columns of 0 and 1 at the end) or movies.dat, movies.csv (id, title, genres between bars)."""
    if len(fields) > len(GENRES):
        genres = [name for name, flag in zip(GENRES, fields[-len(GENRES) :], strict=True) if flag == "1"]
    else:
        genres = fields[2].split("|")
    return [f"genre={genre}" for genre in genres]


def side_information(name, features):
    """Features by id, each with a blank before it, as the lines need them."""
    known = {}
    for place, fields in records(name):
        try:
            known[fields[0]] = "".join(" " + UNSAFE.sub("_", feature) for feature in features(fields))
        except (ValueError, IndexError):
            if known or any(map(is_number, fields)):
                raise Malformed(f"{place}: not a line of u.user, users.dat, u.item, movies.dat or movies.csv") from None
    return known


def convert(options):
    """The ratings as lines of VW text."""
    users = side_information(options.users, user_features) if options.users else {}
    items = side_information(options.items, item_features) if options.items else {}
    seen = set(), set()
    for user, item, rating in ratings(options.ratings, options.separator, options.columns):
        seen[0].add(user)
        seen[1].add(item)
        yield f"{rating} |u {user}{users.get(user, '')} |i {item}{items.get(item, '')}\n"
    for name, ids, known in ((options.users, seen[0], users), (options.items, seen[1], items)):
        if name and ids.isdisjoint(known):
            raise Malformed(f"{name}: knows nothing of any id in {options.ratings}; is it of the same data set?")


def is_test(number, percent):
    return number * SPREAD % 2**32 < percent / 100 * 2**32


def write(name, lines):
    out = sys.stdout if name == "-" else open(name, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    with out:
        out.writelines(lines)


def column_numbers(text):
    numbers = [int(number) for number in text.split(",")]
    if len(numbers) != 3 or min(numbers) < 1:
        raise ValueError
    return numbers


def percentage(text):
    if not 0 < float(text) < 100:
        raise ValueError
    return float(text)


def arguments():
    about, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about, epilog=rest + "\n" + EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ratings", metavar="RATINGS", help="file of ratings, - for standard input")
    parser.add_argument("train", metavar="TRAIN", nargs="?", default="-", help="VW text to write (standard output)")
    parser.add_argument("test", metavar="TEST", nargs="?", help="with --split, ratings held out")
    parser.add_argument("--split", type=percentage, metavar="PERCENT", help="share of the ratings that goes to TEST")
    parser.add_argument(
        "--shuffle", action=argparse.BooleanOptionalAction, help="random order of TRAIN (default: with --split)"
    )
    parser.add_argument("--seed", type=int, help="seed of that order (0); asks for --shuffle")
    parser.add_argument("--users", metavar="FILE", help="u.user or users.dat")
    parser.add_argument("--items", metavar="FILE", help="u.item, movies.dat or movies.csv")
    parser.add_argument("--separator", help="between fields (the first of '::', tab, '|', ',', ';' in the first line)")
    parser.add_argument(
        "--columns", type=column_numbers, default=[1, 2, 3], metavar="U,I,R", help="user, item, rating (1,2,3)"
    )
    options = parser.parse_intermixed_args()
    if (options.split is None) != (options.test is None):
        parser.error("--split PERCENT and the file TEST go together")
    outputs = [os.path.realpath(name) for name in (options.train, options.test) if name not in ("-", None)]
    inputs = [os.path.realpath(name) for name in (options.ratings, options.users, options.items) if name]
    if len({*outputs, *inputs}) < len(outputs) + len(set(inputs)):
        parser.error("a file to write is also read, or written twice: give it another name")
    if options.separator:
        options.separator = options.separator.replace("\\t", "\t")
    if options.shuffle is None:
        options.shuffle = options.split is not None or options.seed is not None
    return options


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as head expects
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    options = arguments()
    train, test = [], []
    for number, line in enumerate(convert(options), 1):
        (test if options.split and is_test(number, options.split) else train).append(line)
    if options.shuffle:
        random.Random(options.seed or 0).shuffle(train)
    write(options.train, train)
    if options.split:
        write(options.test, test)
    print(f"{len(train)} ratings to learn from, {len(test)} held out", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (Malformed, OSError, EOFError, csv.Error, lzma.LZMAError, zlib.error) as error:
        raise SystemExit(f"movielens_to_vw.py: {error}") from None
