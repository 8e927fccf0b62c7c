"""Vowpal Wabbit's random numbers: a linear congruential generator of 64 bits, of whose state 23 bits show."""

from __future__ import annotations

import numpy as np

MULTIPLIER, INCREMENT = 0xEECE66D5DEECE66D, 2147483647
MASK = (1 << 64) - 1


def uniform(seed: int, count: int) -> np.ndarray:
    """The first ``count`` numbers of the sequence ``seed`` begins, float32[count] in [0, 1)."""
    return unit_number(states(seed, count))


def states(seed: int, count: int) -> np.ndarray:
    """The states after ``seed``, uint64[count]: as many again are made of those there are."""
    values = np.empty(max(count, 1), np.uint64)
    values[0] = (seed * MULTIPLIER + INCREMENT) & MASK
    known, factor, offset = 1, MULTIPLIER, INCREMENT  # state i + known = factor * state i + offset
    while known < count:
        more = min(known, count - known)
        values[known : known + more] = values[:more] * np.uint64(factor) + np.uint64(offset)
        known, factor, offset = known + more, factor * factor & MASK, (factor + 1) * offset & MASK
    return values[:count]


def unit_number(state: np.ndarray) -> np.ndarray:
    """The number in [0, 1) that a state, uint64[n], shows."""
    bits = (state >> np.uint64(25) & np.uint64(0x7FFFFF) | np.uint64(0x3F800000)).astype(np.uint32)
    return bits.view(np.float32) - np.float32(1)


def normal(seeds: np.ndarray) -> np.ndarray:
    """One standard normal number for each of the states ``seeds``, uint64[n], by the polar method of Box and Muller."""
    numbers, state, left = np.zeros(len(seeds), np.float32), seeds.copy(), np.arange(len(seeds))
    while len(left):
        pair = []
        for _ in range(2):
            state = state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)
            pair.append(np.float32(2) * unit_number(state) - np.float32(1))
        size = pair[0] * pair[0] + pair[1] * pair[1]
        inside = (size < 1) & (size > 0)
        numbers[left[inside]] = pair[0][inside] * np.sqrt(np.float32(-2) * np.log(size[inside]) / size[inside])
        left, state = left[~inside], state[~inside]
    return numbers


def truncate(values: np.ndarray) -> np.ndarray:
    """Numbers, float32[n], of which those beyond two standard deviations are replaced by a remainder within them."""
    bound = 2 * float(np.std(values, dtype=np.float64))
    apart = values - bound * np.round(values / bound)
    return np.where(abs(values) > bound, apart, values).astype(np.float32)


def permutation(seed: int, count: int) -> np.ndarray:
    """0 to ``count - 1`` shuffled, uint32[count]: from the first place on, each is exchanged with one not before it."""
    order = np.arange(count, dtype=np.uint32)
    for place, chance in enumerate(uniform(seed, count)):
        other = place + int(chance * np.float32(count - place))
        order[[place, other]] = order[[other, place]]
    return order
