"""The default update (adaptive, normalised, power_t 0.5) on copies of a long row's slots.

Each slot of the table is accessed twice, to be copied and to be written back, instead of once for each phase of the update. For
rows with more slots than the TLB has entries, these accesses take most of the time. Results equal those of
``learners/adaptive_rates.pxd`` and ``add_step``, bit by bit.

Copies are stored in blocks of four terms by column: four w, four G, four N, four r. A row whose terms share a slot cannot be
learned on copies. This is detected while copying: the row's tag is written to the last column of each slot, which is scratch,
and a slot that has it already is repeated.
"""

from libc.float cimport FLT_MAX
from libc.math cimport fabsf
from libc.stdint cimport uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

from learners.adaptive_rates cimport (
    ADAPTIVE, NORMALIZED, RATE, WEIGHT, Ahead, Rates, Scan, prefetch_ahead, prefetch_within, scan_term
)
from features.row_buffer cimport Scratch

cdef extern from "learners/adaptive_rates_simd.h" nogil:
    bint has_simd "vwl_has_simd"() noexcept
    bint copy_four "vwl_copy_four"(float *table, const uint32_t *index, const float *value, uint32_t tag, float *copy,
                                   float *sum) noexcept
    bint rate_copy "vwl_rate_copy"(float *copy, const float *value, float square_grad, float *per_update, float *norm) noexcept
    void write_back_four "vwl_write_back_four"(const float *copy, float *table, const uint32_t *index, const float *value,
                                               bint moves,
                                               float step) noexcept


cdef enum:
    BLOCK = 16             # floats of four slots
    TAG = 1 << 31          # the sign bit: tags are negative as floats, rates are not


cdef inline bint reserve_copies(Scratch *s) noexcept nogil:
    """False when memory has run out."""
    cdef size_t needed = (s.terms + 3) // 4
    cdef void *grown
    if needed > s.max_copies:
        needed += needed // 2
        grown = realloc(s.copies, needed * BLOCK * sizeof(float))
        if grown == NULL:
            return False
        s.copies, s.max_copies = <float *>grown, needed
    return True


cdef inline void load_slot(const float *copy, int k, float *slot) noexcept nogil:
    """Load slot ``k`` of a block of copies."""
    slot[WEIGHT], slot[ADAPTIVE], slot[NORMALIZED], slot[RATE] = copy[k], copy[4 + k], copy[8 + k], copy[12 + k]


cdef inline void store_slot(const float *slot, float *copy, int k) noexcept nogil:
    copy[k], copy[4 + k], copy[8 + k], copy[12 + k] = slot[WEIGHT], slot[ADAPTIVE], slot[NORMALIZED], slot[RATE]


cdef inline float copy_row(float *table, Scratch *s, size_t row, float sum) noexcept nogil:
    """Copy the row's slots; returns ``sum`` and the inner product. ``s.copied`` is set if no slot is repeated, so
    that the copies can be learned on."""
    cdef uint32_t tag = TAG | <uint32_t>(row & 0x3fffffff), found
    cdef size_t i = 0, j, n = s.terms
    cdef float *slot
    cdef bint repeated = False
    while i + 4 <= n:
        prefetch_within(table, 4, s.index, i, n)
        repeated |= copy_four(table, s.index + i, s.value + i, tag, s.copies + 4 * i, &sum)
        i += 4
    for j in range(i, n):
        slot = table + 4 * <size_t>s.index[j]
        memcpy(&found, slot + RATE, sizeof(found))
        repeated |= found == tag
        store_slot(slot, s.copies + 4 * i, <int>(j - i))
        sum += slot[WEIGHT] * s.value[j]
        memcpy(slot + RATE, &tag, sizeof(tag))
    s.copied = not repeated
    return sum


cdef inline void scan_copies(Scratch *s, const float *table, float square_grad, const Rates *rates, Scan *scan,
                             Ahead *ahead) noexcept nogil:
    """``scan_terms`` on the copies."""
    cdef float slot[4]
    cdef float norm = 0
    cdef float *copy = s.copies
    cdef size_t i = 0, end, n = s.terms
    cdef int k
    scan.per_update = 0
    while i < n:
        prefetch_ahead(ahead, table, 4, 4, n - i)
        end = min(i + 4, n)
        if end < i + 4 or not rate_copy(copy, s.value + i, square_grad, &scan.per_update, &norm):
            for k in range(<int>(end - i)):
                load_slot(copy, k, slot)
                scan_term(slot, s.value[i + k], square_grad, rates, True, True, True, scan, &norm)
                store_slot(slot, copy, k)
        i = end
        copy += BLOCK
    scan.norm = norm


cdef inline void write_back_copies(const Scratch *s, float *table, bint moves, float step) noexcept nogil:
    """Write the copies back to the table; if ``moves``, with ``step * x * rate`` added to every weight."""
    cdef const float *copy = s.copies
    cdef float *slot
    cdef size_t i = 0, j, n = s.terms
    while i + 4 <= n:
        write_back_four(copy, table, s.index + i, s.value + i, moves, step)
        i += 4
        copy += BLOCK
    for j in range(i, n):
        slot = table + 4 * <size_t>s.index[j]
        load_slot(copy, <int>(j - i), slot)
        if moves and fabsf(s.value[j]) <= FLT_MAX:
            slot[WEIGHT] += step * (s.value[j] * slot[RATE])
