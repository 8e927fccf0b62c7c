"""Names whose hashes are made together: each waits until there are enough."""

from libc.stdint cimport int32_t, uint32_t

from base.byte_scan cimport digits, nondigits

cdef extern from "text/batched_hash_simd.h" nogil:
    enum:
        LONGEST "VWL_LONGEST"
        MOST "VWL_NAMES"
    ctypedef struct Names "vwl_names":
        const char *at[16]           # where the names stand; 16 bytes from there are read
        uint32_t *to[16]             # where the hashes go
        uint32_t length[16]
        uint32_t seed[16]
        uint32_t number[16]
        int32_t numeric[16]
        uint32_t count
    bint has_names "vwl_has_names"() noexcept
    void hash_names "vwl_hash_names"(Names *names) noexcept
    void open_names "vwl_open_names"(Names *names, const char *text) noexcept


cdef inline int32_t is_number(const char *p, size_t length, bint hash_all) noexcept nogil:
    """-1 where a name of up to 8 bytes is hashed as a number, else 0."""
    return -<int32_t>(not hash_all and (nondigits(p) & <uint32_t>((1 << length) - 1)) == 0)


cdef inline bint can_wait(const char *p, size_t length, bint first) noexcept nogil:
    """Whether ``wait`` takes a name: not too long, and no number but perhaps a short one at the front."""
    return length <= 8 if first else length <= LONGEST and <unsigned char>(p[0] - 48) > 9


cdef inline void wait(Names *names, const char *p, size_t length, uint32_t seed, bint hash_all, bint first,
                      uint32_t *to) noexcept nogil:
    """The hash of the name will be at ``to`` after ``hash_names``, which is due when MOST of them wait."""
    cdef uint32_t k = names.count
    names.at[k], names.to[k], names.length[k], names.seed[k] = p, to, <uint32_t>length, seed
    names.numeric[k] = 0
    if first:
        names.numeric[k] = is_number(p, length, hash_all)
        names.number[k] = <uint32_t>digits(p, <int>length) + seed
    names.count = k + 1


cdef inline void forget_names(Names *names, const uint32_t *end) noexcept nogil:
    """Nobody waits any more for what would be at ``end`` or behind it."""
    while names.count and names.to[names.count - 1] >= end:
        names.count -= 1
