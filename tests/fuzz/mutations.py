"""Ways to spoil an input."""

import copy
import json
import math
import random
import struct

from vwlite.data.cache import TAIL

WORDS = (
    b"|", b" |", b"|a ", b":", b"::", b"'tag", b"\n", b"\r\n", b"\t", b"\0", b" ", b"#", b"qid:", b"\xff", b"|a:2 ",
    b"nan", b"-nan", b"inf", b"-inf", b"1e39", b"1e-46", b"-0", b"0x1p3", b".", b"-", b"+", b"e", b"1e", b"1e+",
    b"4294967296", b"18446744073709551616", b"-1", b"0", b"1", b"2147483648", b"9" * 40, b"0." + b"0" * 400 + b"1",
    b"null", b"[]", b"{}", b"true", b'""', b"[[[[", b'"<f4"', b'"|u1"', b'"<u4"', b"1e999", b"NaN", b'"bits": 32',
    b"user", b"item", b"constant", b"save", b"\xef\xbb\xbf", b"\xe2\x82\xac", b"a" * 300, b"|a b c d " * 20,
    b",", b'"', b'""', b'","', b",\n", b"true", b"n/a", b'{"a":', b'"a":[', b"\\u00e9", b"\\ud83d", b"\\",
)
BYTES = b"|: \n'0123456789.-+eE\0\xff#ab,[]{}\""
NUMBERS = (0, 1, 2, 7, 8, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


VALUES = (
    *NUMBERS, -1, 0.5, 1e300, "inf", "nan", "", "w", "a.b", "<f4", "<u4", "|u1", "dyadic", "gd", "logistic", "::",
    None, True, False, [], {}, [0], [[]], [2**31], ["::"], ["a,b", "::"], {"name": "poisson"},
    10**400, -(2**63) - 1, 2**1100, math.nan, math.inf, [["a"]], {"a": {"b": [1]}}, "\x1b[31m", "\ud800",
)  # fmt: skip


def mutated(draw: random.Random, corpus: list[bytes], target: str = "") -> bytes:
    """One of the corpus after a few changes. Where checksums will be put in order, changes that keep JSON whole too."""
    data = bytearray(draw.choice(corpus))
    if target.startswith("sealed") and draw.randrange(4):
        data = bytearray((change_header if target == "sealed_model" else change_footer)(draw, bytes(data)))
        if draw.randrange(2):
            return bytes(data)
        start = 4 + int.from_bytes(data[:4], "little") if target == "sealed_model" else 16
        return bytes(data[:start] + number(draw, data[start:], corpus))
    for _ in range(1 << draw.randrange(4)):
        data = draw.choice(CHANGES)(draw, data, corpus)
    return bytes(data)


def change_header(draw: random.Random, data: bytes) -> bytes:
    """Another value in the header of what ``sealed_model`` takes."""
    size = int.from_bytes(data[:4], "little")
    text = change_json(draw, data[4 : 4 + size])
    return len(text).to_bytes(4, "little") + text + data[4 + size :]


def change_footer(draw: random.Random, data: bytes) -> bytes:
    """Another value in the list of a cache's batches."""
    if len(data) < TAIL.size:
        return data
    offset = TAIL.unpack_from(data, len(data) - TAIL.size)[0]
    text = change_json(draw, data[offset : len(data) - TAIL.size])
    return data[:offset] + text + TAIL.pack(offset, len(text), 0, b"vwlc")


def change_json(draw: random.Random, text: bytes) -> bytes:
    """Some values somewhere in it changed, taken away or doubled."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(1 << draw.randrange(3)):
        place = root
        while isinstance(place, (dict, list)) and place:
            key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
            inner = place[key]
            if isinstance(inner, (dict, list)) and inner and draw.randrange(8):
                place = inner
                continue
            change(draw, place, key)
            break
    return json.dumps(root).encode()


def change(draw: random.Random, place: dict | list, key: str | int) -> None:
    how, old = draw.randrange(8), place[key]
    if how == 0:
        del place[key]
    elif how == 1 and isinstance(place, list):
        place.insert(key, old)
    elif how < 5 and type(old) is int:
        place[key] = old + draw.choice((-1, 1, 8, -8, 64, 2**20, -(2**20)))
    else:
        place[key] = copy.deepcopy(draw.choice(VALUES))


def flip(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return data


def replace(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    if data:
        data[draw.randrange(len(data))] = draw.choice(BYTES + bytes([draw.randrange(256)]))
    return data


def number(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    form = draw.choice(["<B", "<H", "<I", "<Q"])
    size = struct.calcsize(form)
    if len(data) >= size:
        place = draw.randrange(len(data) - size + 1)
        struct.pack_into(form, data, place, draw.choice(NUMBERS) & (256**size - 1))
    return data


def word(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    place = draw.randrange(len(data) + 1)
    over = draw.randrange(3) * draw.randrange(8)
    data[place : place + over] = draw.choice(WORDS)
    return data


def digits(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    """Another number where there is one in the text."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        begin = end = draw.choice(places)
        while end < len(data) and 48 <= data[end] <= 57:
            end += 1
        data[begin:end] = str(draw.choice(NUMBERS) * draw.choice((1, 1, 1, -1))).encode()
    return data


def cut(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    begin = draw.randrange(len(data) + 1)
    del data[begin : begin + draw.choice((1, 2, 8, 64, len(data)))]
    return data


def repeat(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    begin = draw.randrange(len(data) + 1)
    piece = data[begin : begin + draw.choice((1, 4, 16, 200))]
    data[begin:begin] = piece * draw.choice((1, 1, 2, 20))
    return data


def splice(draw: random.Random, data: bytearray, corpus: list[bytes]) -> bytearray:
    other = draw.choice(corpus)
    return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]


CHANGES = (flip, replace, number, word, word, digits, cut, repeat, splice)
