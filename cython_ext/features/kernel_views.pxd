"""Views of a batch, a plan and a kernel's results as structs of pointers, which are valid during one call; and an estimate of whether
the slots of a learner's features are in the processor's caches anyway, so that prefetching them would be wasted work.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from base.capsules cimport find_capsule
from features.namespace_groups cimport Rows
from features.plan cimport Plan


cdef struct Results:             # arrays that a kernel fills, one entry per row
    float *prediction            # clipped and linked
    float *raw                   # the prediction before it is clipped and linked
    float *loss                  # multiplied by the importance; 0 where unlabelled
    uint32_t *features           # as Vowpal Wabbit counts them
    const uint8_t *holdout_mask  # 1: held out, only predicted; NULL when no row is held out
    float *flip_importance       # importance of an update that would change the prediction's sign; NULL unless requested


cdef struct Views:               # functions of features/expand.pyx
    int (*rows)(object batch, Rows *out) except -1
    int (*plan)(object source, Plan *out) except -1
    int (*results)(object source, Results *out) except -1

cdef extern from *:
    """
    static inline void **vwl_views(void) {
        static void *found = 0;
        return &found;
    }
    """
    void **kept_views "vwl_views"()


cdef inline const Views *views() except NULL:
    return <const Views *>find_capsule(kept_views(), b"vwlite._native.expand", b"vwlite._native.expand.VIEWS")


cdef inline Rows open_rows(batch) except *:
    cdef Rows rows
    views().rows(batch, &rows)
    return rows


cdef inline Plan open_plan(source) except *:
    """A view of a ``vwlite.features.feature_plan.Plan``, whose arrays must outlive the call."""
    cdef Plan plan
    views().plan(source, &plan)
    return plan


cdef inline Results open_results(source) except *:
    cdef Results results
    views().results(source, &results)
    return results


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
