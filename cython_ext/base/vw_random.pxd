"""Vowpal Wabbit's random numbers; see ``vwlite/learners/vw_random.py``."""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    static inline float vwl_random_after(uint64_t state) {
        union { uint32_t bits; float number; } shown;
        state = state * 0xeece66d5deece66dull + 2147483647u;
        shown.bits = (uint32_t)(state >> 25 & 0x7fffff) | 0x3f800000u;
        return shown.number - 1;
    }
    static inline float vwl_random_next(uint64_t *state) {
        float number = vwl_random_after(*state);
        *state = *state * 0xeece66d5deece66dull + 2147483647u;
        return number;
    }
    """
    float random_after "vwl_random_after"(uint64_t state) noexcept nogil        # the first number of the sequence, in [0, 1)
    float random_next "vwl_random_next"(uint64_t *state) noexcept nogil         # the same, and the state goes on
