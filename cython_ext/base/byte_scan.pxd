"""Declarations of ``base/byte_scan.h``: classification of 16 bytes at a time, prefetches and branch hints."""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from "base/byte_scan.h" nogil:
    uint32_t delimiters "vwl_delimiters"(const char *p) noexcept
    uint32_t delimiters_scalar "vwl_delimiters_scalar"(const char *p) noexcept
    uint32_t breaks "vwl_breaks"(const char *p) noexcept
    uint32_t breaks_scalar "vwl_breaks_scalar"(const char *p) noexcept
    uint32_t nondigits "vwl_nondigits"(const char *p) noexcept
    uint32_t nondigits_scalar "vwl_nondigits_scalar"(const char *p) noexcept
    uint32_t either "vwl_either"(const char *p, char a, char b) noexcept
    uint32_t either_scalar "vwl_either_scalar"(const char *p, char a, char b) noexcept
    uint64_t digits "vwl_digits"(const char *p, int n) noexcept
    const uint32_t *INTEGER_POWERS "vwl_integer_powers"  # 10^0 to 10^7
    int first_bit "vwl_first_bit"(uint32_t mask) noexcept
    void prefetch "vwl_prefetch"(const void *address) noexcept         # into all cache levels
    void prefetch_l2 "vwl_prefetch_l2"(const void *address) noexcept   # into the second level and beyond
    bint likely "vwl_likely"(bint x) noexcept
    bint unlikely "vwl_unlikely"(bint x) noexcept
