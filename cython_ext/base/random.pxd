"""Pseudo-random numbers as functions of a 64-bit state: SplitMix64, and Vowpal Wabbit's linear congruential generator, see
``vwlite/learners/vw_random.py``.
"""

from libc.stdint cimport uint64_t


cdef inline uint64_t mix64(uint64_t z) noexcept nogil:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    z = (z ^ (z >> 27)) * <uint64_t>0x94d049bb133111eb
    return z ^ (z >> 31)


cdef inline double unit_interval(uint64_t bits) noexcept nogil:
    """A number in (0, 1) from the upper 52 bits."""
    return (<double>(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0)


cdef extern from *:
    """
    static inline float vwl_random_after(uint64_t state) {
        union { uint32_t bits; float number; } converted;
        state = state * 0xeece66d5deece66dull + 2147483647u;
        converted.bits = (uint32_t)(state >> 25 & 0x7fffff) | 0x3f800000u;
        return converted.number - 1;
    }
    static inline float vwl_random_next(uint64_t *state) {
        float number = vwl_random_after(*state);
        *state = *state * 0xeece66d5deece66dull + 2147483647u;
        return number;
    }
    """
    float random_after "vwl_random_after"(uint64_t state) noexcept nogil        # the number after this state, in [0, 1)
    float random_next "vwl_random_next"(uint64_t *state) noexcept nogil         # the same; advances the state
