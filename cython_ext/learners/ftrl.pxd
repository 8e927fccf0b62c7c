"""The update of FTRL-proximal (McMahan et al., 2013, algorithm 1). A slot of the table holds ``w, z, n``: the weight, the sum of
gradients from which it follows, and the sum of their squares.
"""

from libc.math cimport fabsf, isfinite, sqrtf
from libc.stdint cimport uint8_t, uint32_t

from learners.adaptive_rates cimport Ahead, prefetch_ahead
from base.status cimport OK, UNSTABLE

cdef extern from "learners/ftrl_simd.h" nogil:
    ctypedef struct Ftrl "vwl_ftrl":
        float slope        # of the loss, times the importance
        float alpha
        float beta
        float l1
        float l2
    size_t update_usual "vwl_ftrl_usual"(float *table, const uint32_t *index, const float *value, size_t n, int simd_width,
                                         const Ftrl *rule, Ahead *ahead) noexcept


cdef inline int update_term(float *slot, float x, const Ftrl *rule) noexcept nogil:
    cdef float g = rule.slope * x, n = slot[2] + g * g, root = sqrtf(n)
    slot[1] += g - (root - sqrtf(slot[2])) / rule.alpha * slot[0]
    slot[2] = n
    if fabsf(slot[1]) <= rule.l1:
        slot[0] = 0
    else:
        g = rule.l1 - slot[1] if slot[1] > 0 else -rule.l1 - slot[1]
        slot[0] = g / (rule.l2 + (rule.beta + root) / rule.alpha)
    return OK if isfinite(slot[0]) else UNSTABLE


cdef inline int update_terms(float *table, const uint8_t *mask, const uint32_t *index, const float *value, size_t n,
                             int simd_width, const Ftrl *rule, Ahead *ahead) noexcept nogil:
    """Update terms in their order up to the first weight that is not finite. ``mask``: of the learner, or NULL."""
    cdef size_t i = 0, end
    while i < n:
        if mask == NULL:
            i += update_usual(table, index + i, value + i, n - i, simd_width, rule, ahead)
        prefetch_ahead(ahead, table, 4, 4, n - i)
        end = min(i + 4, n)
        while i < end:
            if (mask == NULL or mask[index[i]]) and update_term(table + 4 * <size_t>index[i], value[i], rule) != OK:
                return UNSTABLE
            i += 1
    return OK
