"""Numbers in text, read the way Vowpal Wabbit reads them: all in float32, step by step."""

import ctypes

import numpy as np

F32 = np.float32
DIGITS = b"0123456789"
MAX_FRACTION = 35  # fraction digits that count
strtof = ctypes.CDLL(None).strtof
strtof.restype = ctypes.c_float
strtof.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def power_table() -> dict[int, np.float32]:
    """10**n for n in -37..38, by repeated float32 multiplication and division."""
    table = {0: F32(1)}
    for n in range(1, 39):
        table[n] = table[n - 1] * F32(10)
    for n in range(-1, -38, -1):
        table[n] = table[n + 1] / F32(10)
    return table


POWERS = power_table()


def power_of_ten(exponent: int) -> np.float32:
    exponent = (exponent + 128) % 256 - 128  # an int8
    return POWERS.get(exponent, F32(np.inf if exponent > 0 else 0))


def slow_number(text: bytes) -> tuple[np.float32, int]:
    """C ``strtof`` of ``text``: the value and how many bytes it took, 0 when it is not a number."""
    buffer = ctypes.create_string_buffer(text)
    start = ctypes.addressof(buffer)
    stop = ctypes.c_void_p()
    value = strtof(start, ctypes.byref(stop))
    return F32(value), stop.value - start


def parse_number(text: bytes, start: int, end: int) -> tuple[np.float32, int]:
    """The number at ``text[start:end]`` and the bytes it takes; 0 bytes mean "not a number"."""
    at = start
    byte = lambda: text[at : at + 1] if at < end else b""  # noqa: E731
    while byte() == b" ":
        at += 1
    sign = F32(-1 if byte() == b"-" else 1)
    at += sign < 0
    value, decimals, exponent = F32(0), 0, 0
    with np.errstate(all="ignore"):
        while byte() and byte() in DIGITS:
            value = (value * F32(10) + F32(byte()[0])) - F32(48)
            at += 1
        if byte() == b".":
            at += 1
            while byte() and byte() in DIGITS:
                if decimals < MAX_FRACTION:
                    value = value * F32(10) + F32(int(byte()))
                    decimals += 1
                at += 1
        if byte() in (b"e", b"E"):
            at += 1
            negative = byte() == b"-"
            at += negative
            while byte() and byte() in DIGITS:
                exponent = exponent * 10 + int(byte())
                at += 1
            exponent = -exponent if negative else exponent
        if byte() in (b"", b" ", b"\t", b"\n"):
            return sign * (value * power_of_ten(exponent - decimals)), at - start
    return slow_number(text[start:end])
