"""N-grams with skips over one group's stored features."""

from libc.stdint cimport uint32_t

from core.scratch cimport Scratch, room_to_store


cdef enum:
    MAX_GRAM = 64


cdef struct Grams:
    size_t first                 # position of the group's first feature in the store
    size_t size                  # features of the group, n-grams not included
    size_t offset[MAX_GRAM]      # of each member from the first
    bint ok


cdef inline void emit_pattern(Grams *g, int members, Scratch *s) noexcept nogil:
    """One feature of value 1 for every place the finished pattern fits."""
    cdef size_t start, fits
    cdef uint32_t h
    cdef int m
    if g.offset[members - 1] >= g.size:
        return
    fits = g.size - g.offset[members - 1]
    if not room_to_store(s, fits):
        g.ok = False
        return
    for start in range(fits):
        h = s.store_index[g.first + start]
        for m in range(1, members):
            h = h * 27942141 + s.store_index[g.first + start + g.offset[m]]
        s.store_index[s.stored] = h
        s.store_value[s.stored] = 1
        s.stored += 1


cdef inline void extend_pattern(Grams *g, int members, int missing, size_t skips_left, size_t skipped,
                                Scratch *s) noexcept nogil:
    """Vowpal Wabbit's order: first without a further skip, then the same level with one more."""
    while True:
        if missing == 0:
            emit_pattern(g, members, s)
            return
        g.offset[members] = g.offset[members - 1] + 1 + skipped
        extend_pattern(g, members + 1, missing - 1, skips_left, 0, s)
        if skips_left == 0 or not g.ok:
            return
        skips_left -= 1
        skipped += 1


cdef inline bint add_ngrams(size_t first, size_t size, int longest, int skips, Scratch *s) noexcept nogil:
    """Append the n-grams of sizes 2 to ``longest`` of the stored features ``[first, first + size)``."""
    cdef Grams g
    cdef int length
    g.first, g.size, g.ok = first, size, True
    g.offset[0] = 0
    for length in range(2, longest + 1):
        extend_pattern(&g, 1, length - 1, <size_t>skips, 0, s)
    return g.ok
