"""N-grams with skips of the stored features of one group."""

from libc.stdint cimport uint32_t

from features.row_buffer cimport MAX_TERMS, Scratch, reserve_store
from base.status cimport NO_MEMORY, OK, TOO_MANY


cdef enum:
    MAX_GRAM = 64


cdef struct Pattern:
    size_t first                 # position of the group's first feature in the store
    size_t size                  # features of the group, n-grams not included
    size_t offset[MAX_GRAM]      # distance of each member of the pattern from the first


cdef inline double count_ngrams(size_t size, int longest, int skips) noexcept nogil:
    """How many n-grams of sizes 2 to ``longest`` a group of ``size`` features has."""
    cdef double total = 0, arrangements
    cdef size_t members, skipped, span
    for members in range(2, <size_t>longest + 1):
        arrangements = 1                 # ways to distribute the skips among the gaps between the members
        for skipped in range(<size_t>skips + 1):
            span = members - 1 + skipped
            if span >= size:
                break
            total += arrangements * <double>(size - span)
            arrangements = arrangements * <double>(span) / <double>(skipped + 1)
    return total


cdef inline void emit_pattern(Pattern *g, int members, Scratch *s) noexcept nogil:
    """Append a feature of value 1 for every position at which the complete pattern fits; memory is reserved."""
    cdef size_t start, fits
    cdef uint32_t h
    cdef int m
    fits = g.size - g.offset[members - 1]
    for start in range(fits):
        h = s.store_index[g.first + start]
        for m in range(1, members):
            h = h * 27942141 + s.store_index[g.first + start + g.offset[m]]
        s.store_index[s.stored] = h
        s.store_value[s.stored] = 1
        s.stored += 1


cdef inline void extend_pattern(Pattern *g, int members, int missing, size_t skips_left, size_t skipped,
                                Scratch *s) noexcept nogil:
    """Add the ``missing`` members of the pattern in all ways and emit the results, in Vowpal Wabbit's order: the next member
    without a skip first, then with one more skip each time. Patterns longer than the group are given up early.
    """
    while g.offset[members - 1] + missing + skipped < g.size:
        if missing == 0:
            emit_pattern(g, members, s)
            return
        g.offset[members] = g.offset[members - 1] + 1 + skipped
        extend_pattern(g, members + 1, missing - 1, skips_left, 0, s)
        if skips_left == 0:
            return
        skips_left -= 1
        skipped += 1


cdef inline int add_ngrams(size_t first, size_t size, int longest, int skips, Scratch *s) noexcept nogil:
    """Append the n-grams of sizes 2 to ``longest`` of the stored features ``[first, first + size)``. Returns OK, NO_MEMORY or
    TOO_MANY.
    """
    cdef Pattern g
    cdef int length
    cdef double count = count_ngrams(size, longest, skips)
    if count + <double>s.stored > MAX_TERMS:
        return TOO_MANY
    if not reserve_store(s, <size_t>count):
        return NO_MEMORY
    g.first, g.size = first, size
    g.offset[0] = 0
    for length in range(2, longest + 1):
        extend_pattern(&g, 1, length - 1, <size_t>skips, 0, s)
    return OK
