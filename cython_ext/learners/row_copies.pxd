"""Copies of a row's slots, without repetitions, for the sets of weights that the row is predicted with and learned by.

The slots of one set are a power of two apart, so that a processor's cache has room for few of them at a time. A copy is
contiguous: of the table each slot is read once and written once. Results are the same bytes, as terms keep their order.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from features.row_buffer cimport Scratch

cdef enum:
    COPIES = 32            # of a row at most; another takes the place of the oldest
    FEWEST_TERMS = 16      # of a row that is copied
    MOST_TERMS = 2048
    BUCKET_BITS = 12       # log2 of twice as many


cdef struct RowCopies:
    uint32_t *slot         # (distinct,) of the first set of weights
    uint32_t *place        # (terms,) where in ``slot`` that of a term is
    uint32_t *bucket       # (buckets,) 1 + a place; all 0 between rows
    uint32_t *index        # the row's own, while it is copied
    float *copy            # (COPIES, MOST_TERMS, 4)
    uint32_t owner[COPIES] # the set of weights that each is of
    size_t distinct
    uint32_t made          # copies of the row so far
    bint on                # the row at work is copied


cdef inline void open_copies(RowCopies *r) noexcept nogil:
    """Where memory has run out, rows are not copied."""
    r.copy = <float *>malloc(COPIES * MOST_TERMS * 4 * sizeof(float))
    r.slot = <uint32_t *>malloc((2 * MOST_TERMS + (1 << BUCKET_BITS)) * sizeof(uint32_t))
    r.on = False
    if r.slot != NULL:
        r.place, r.bucket = r.slot + MOST_TERMS, r.slot + 2 * MOST_TERMS
        memset(r.bucket, 0, sizeof(uint32_t) << BUCKET_BITS)


cdef inline void close_copies(RowCopies *r) noexcept nogil:
    free(r.copy)
    free(r.slot)


cdef inline void find_distinct(RowCopies *r, const uint32_t *index, size_t terms) noexcept nogil:
    cdef size_t i
    cdef uint32_t at, distinct = 0
    cdef int bits = 5
    while bits < BUCKET_BITS and <size_t>1 << bits < 2 * terms:
        bits += 1
    for i in range(terms):
        at = index[i] * <uint32_t>2654435769 >> (32 - bits)
        while r.bucket[at] and r.slot[r.bucket[at] - 1] != index[i]:
            at = (at + 1) & ((<uint32_t>1 << bits) - 1)
        if r.bucket[at] == 0:
            r.slot[distinct] = index[i]
            distinct += 1
            r.bucket[at] = distinct
        r.place[i] = r.bucket[at] - 1
    memset(r.bucket, 0, sizeof(uint32_t) << bits)
    r.distinct = distinct


cdef inline void begin_copies(RowCopies *r, Scratch *s) noexcept nogil:
    """Copy the row's slots from here on, if it is neither short nor long; its terms then refer to the copies."""
    if not FEWEST_TERMS <= s.terms <= MOST_TERMS or r.copy == NULL or r.slot == NULL:
        return
    find_distinct(r, s.index, s.terms)
    r.index, s.index = s.index, r.place
    r.made, r.on = 0, True


cdef inline void end_copies(RowCopies *r, Scratch *s) noexcept nogil:
    if r.on:
        s.index, r.on = r.index, False


cdef inline float *copy_of(RowCopies *r, const float *table, uint32_t c) noexcept nogil:
    """The copy of a set of weights, whose slots are read from ``table`` if there is none."""
    cdef uint32_t k
    cdef size_t i
    cdef float *copy
    for k in range(min(r.made, <uint32_t>COPIES)):
        if r.owner[k] == c:
            return r.copy + k * (4 * <size_t>MOST_TERMS)
    k = r.made % COPIES
    r.made += 1
    r.owner[k] = c
    copy = r.copy + k * (4 * <size_t>MOST_TERMS)
    for i in range(r.distinct):
        memcpy(copy + 4 * i, table + 4 * <size_t>r.slot[i], 4 * sizeof(float))
    return copy


cdef inline void write_back(const RowCopies *r, const float *copy, float *table) noexcept nogil:
    cdef size_t i
    for i in range(r.distinct):
        memcpy(table + 4 * <size_t>r.slot[i], copy + 4 * i, 4 * sizeof(float))
