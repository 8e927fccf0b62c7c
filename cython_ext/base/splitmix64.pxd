"""Pseudo-random numbers as functions of a 64-bit state."""

from libc.stdint cimport uint64_t


cdef inline uint64_t mix64(uint64_t z) noexcept nogil:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    z = (z ^ (z >> 27)) * <uint64_t>0x94d049bb133111eb
    return z ^ (z >> 31)


cdef inline double unit_interval(uint64_t bits) noexcept nogil:
    """A number in (0, 1) from the upper 52 bits."""
    return (<double>(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0)
