"""Vowpal Wabbit's pseudo-random numbers, a linear congruential generator; see ``vwlite/learners/vw_random.py``."""

from libc.stdint cimport uint64_t

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
