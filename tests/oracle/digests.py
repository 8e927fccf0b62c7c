"""The running digest of ``cython_ext/base/digest.pyx`` in plain Python."""

import mmh3

MASK = (1 << 64) - 1
STRIPE, ROUND, SUMS = 64, 16, 8


def draw(number):
    z = number * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


KEYS = [draw(number) for number in range(1, ROUND + SUMS + 1)]
START = [draw(number) for number in range(ROUND + SUMS + 1, ROUND + 2 * SUMS + 1)]


def digest(data):
    """In hexadecimal digits."""
    sums = list(START)
    whole = len(data) // STRIPE
    for stripe in range(whole):
        words = [int.from_bytes(data[STRIPE * stripe + 8 * i :][:8], "little") for i in range(SUMS)]
        for i, word in enumerate(words):
            mixed = word ^ KEYS[stripe % ROUND + i]
            sums[i ^ 1] += word
            sums[i] += (mixed & 0xFFFFFFFF) * (mixed >> 32)
        sums = [one & MASK for one in sums]
        if stripe % ROUND == ROUND - 1:
            sums = [((one ^ one >> 47) ^ KEYS[ROUND + i]) * 0x9E3779B1 & MASK for i, one in enumerate(sums)]
    rest = data[STRIPE * whole :].ljust(STRIPE, b"\0")
    state = b"".join(word.to_bytes(8, "little") for word in (*sums, len(data))) + rest
    return mmh3.mmh3_x64_128(state).digest().hex()
