"""Whether a learner's slots are in the caches anyway, so that nobody need ask for them ahead."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from features.namespace_groups cimport Rows
from features.plan cimport Plan

cdef enum:
    SAMPLE = 4096          # features looked at
    PLACE_BITS = 14        # of the table of those met
    FEW = 16               # of these one may be rare


cdef inline bint are_near(const Rows *rows, const Plan *plan, size_t row, size_t end) noexcept nogil:
    """By the first features of the rows ``[row, end)``: the share of those met once is about the chance that the next one has
    not been met (the Good-Turing estimate; Good, 1953).
    """
    cdef uint8_t met[1 << PLACE_BITS]
    cdef size_t first = rows.namespace_start[rows.row_namespace[row]], i
    cdef uint32_t place, rare = 0
    if not plan.plain or plan.interactions or rows.namespace_start[rows.row_namespace[end]] - first < SAMPLE:
        return False
    memset(met, 0, sizeof(met))
    for i in range(first, first + SAMPLE):
        place = (rows.hash[i] & plan.mask) * <uint32_t>2654435769 >> (32 - PLACE_BITS)
        rare += met[place] == 0
        rare -= met[place] == 1
        met[place] += met[place] < 2
    return rare * FEW < SAMPLE
