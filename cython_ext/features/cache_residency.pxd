"""An estimate of whether the slots of a learner's features are in the processor's caches anyway, so that prefetching them would
be wasted work.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from features.namespace_groups cimport Rows
from features.plan cimport Plan

cdef enum:
    SAMPLE = 4096          # features in the sample
    TABLE_BITS = 14        # log2 of the entries of the table that counts them
    ONE_IN = 16            # slots count as cached if fewer than one in 16 features of the sample occur only once


cdef inline bint slots_in_cache(const Rows *rows, const Plan *plan, size_t row, size_t end) noexcept nogil:
    """Judge by the first features of the rows ``[row, end)``: the share of those that occur once estimates the probability that
    the next feature has not occurred yet (Good, 1953). False where the sample is too small, or where the plan changes features.
    """
    cdef uint8_t seen[1 << TABLE_BITS]
    cdef size_t first = rows.namespace_start[rows.row_namespace[row]], i
    cdef uint32_t entry, seen_once = 0
    if not plan.plain or plan.interactions or rows.namespace_start[rows.row_namespace[end]] - first < SAMPLE:
        return False
    memset(seen, 0, sizeof(seen))
    for i in range(first, first + SAMPLE):
        entry = (rows.hash[i] & plan.mask) * <uint32_t>2654435769 >> (32 - TABLE_BITS)
        seen_once += seen[entry] == 0
        seen_once -= seen[entry] == 1
        seen[entry] += seen[entry] < 2
    return seen_once * ONE_IN < SAMPLE
