"""Gradient descent's per-coordinate rates: adaptive (AdaGrad) and normalised (NAG), as Vowpal Wabbit combines them.

A slot of the table holds ``w, G, N, r``: the weight, the sum of squared gradients, the largest |x| seen, and scratch: the rate
computed by the last scan, or a row's tag (``learners/slot_cache.pxd``). Where rates are adaptive only, a narrow slot holds
``w, G``, from which the rate is computed again. See Duchi, Hazan and Singer (2011) and Ross, Mineiro
and Langford (2013).
"""

from libc.float cimport FLT_MAX
from libc.math cimport fabsf, isfinite, powf, sqrtf
from libc.stdint cimport uint8_t, uint32_t

from base.byte_scan cimport prefetch_l2
from base.float32 cimport ONE

cdef extern from *:
    """
    /* sqrt(FLT_MIN) and its square: smaller inputs are raised to it. */
    #define VWL_X_MIN 1.084202e-19f
    #define VWL_X2_MIN (VWL_X_MIN * VWL_X_MIN)
    """
    const float X_MIN "VWL_X_MIN"
    const float X2_MIN "VWL_X2_MIN"

cdef extern from "learners/slot_prefetch.h" nogil:
    ctypedef struct Ahead "vwl_ahead":
        const uint32_t *index
        size_t left
        bint into_l2
    void prefetch_ahead "vwl_prefetch_ahead"(Ahead *ahead, const float *table, size_t stride, size_t terms, size_t left) noexcept

cdef extern from "learners/adaptive_rates_avx2.h" nogil:
    size_t scan_usual "vwl_scan_usual"(float *table, const uint32_t *index, const float *value, size_t n, int simd_width,
                                       float square_grad, float *per_update, float *norm, Ahead *ahead) noexcept


cdef enum:
    WEIGHT = 0
    ADAPTIVE = 1
    NORMALIZED = 2
    RATE = 3


cdef struct Rates:
    bint adaptive
    bint normalized
    bint sqrt_mode     # power_t == 0.5 exactly: square roots instead of powers
    int simd_width     # terms processed at a time, at most; below 4: one
    float minus_power  # -power_t
    float norm_power   # power_t - 1


cdef struct Scan:
    float per_update     # change of the prediction per unit of update
    double norm          # sum of squared inputs, each divided by its own squared scale


cdef enum:
    SHORT_ROW = 256          # terms; the slots of two such rows fit into the first-level cache
    PREFETCH_DISTANCE = 128  # terms between the prefetch of a slot of a longer row and its use


cdef inline void prefetch_within(const float *table, size_t stride, const uint32_t *index, size_t i, size_t n) noexcept nogil:
    """Prefetch four slots of a long row, PREFETCH_DISTANCE terms after term ``i``."""
    cdef size_t j
    for j in range(i + PREFETCH_DISTANCE, min(i + PREFETCH_DISTANCE + 4, n)):
        prefetch_l2(table + stride * index[j])


cdef inline float add_products(const float *table, size_t stride, const uint32_t *index, const float *value, size_t n,
                               float sum, bint prefetches) noexcept nogil:
    """``sum`` and the inner product of a row with the weights of its slots, which are fetched ahead if it ``prefetches``."""
    cdef size_t i, k, whole = n & ~<size_t>3
    for i in range(0, whole, 4):
        if prefetches:
            prefetch_within(table, stride, index, i, n)
        for k in range(i, i + 4):
            sum += table[stride * index[k]] * value[k]
    for i in range(whole, n):
        sum += table[stride * index[i]] * value[i]
    return sum


cdef inline float adaptive_rate(float total, float minus_power, bint sqrt_mode) noexcept nogil:
    """The rate of a slot with this sum of squared gradients."""
    if sqrt_mode:
        return ONE / sqrtf(total)
    return powf(total, minus_power) if minus_power != 0 else ONE   # as C's powf has it of any number


cdef inline void scan_term(float *slot, float x, float square_grad, const Rates *rates, bint adaptive, bint normalized,
                           bint sqrt_mode, Scan *scan, float *norm) noexcept nogil:
    """Update G, N and r of one slot. Where |x| is larger than any before, the weight is rescaled."""
    cdef float x2 = x * x, size, rescale, rate = 1, scale2
    if x2 < X2_MIN:
        x = X_MIN if x > 0 else -X_MIN
        x2 = X2_MIN
    if adaptive:
        slot[ADAPTIVE] += square_grad * x2
        rate = adaptive_rate(slot[ADAPTIVE], rates.minus_power, sqrt_mode)
    if normalized:
        size = fabsf(x)
        if size > slot[NORMALIZED]:
            if slot[NORMALIZED] > 0:
                if sqrt_mode:
                    rescale = slot[NORMALIZED] / size
                    slot[WEIGHT] *= rescale if adaptive else rescale * rescale
                else:
                    rescale = size / slot[NORMALIZED]
                    slot[WEIGHT] *= powf(rescale * rescale, rates.norm_power)
            slot[NORMALIZED] = size
        scale2 = slot[NORMALIZED] * slot[NORMALIZED]
        # where |x| equals its maximum, the common case, this saves two divisions and gives the same result
        norm[0] += ONE if x2 == scale2 or not isfinite(x2) else x2 / scale2
        if slot[NORMALIZED] != 1:
            if sqrt_mode:
                size = ONE / slot[NORMALIZED]
                rate *= size if adaptive else size * size
            else:
                rate *= powf(scale2, rates.norm_power)
    slot[RATE] = rate
    scan.per_update += x2 * rate


cdef inline void scan_all(float *table, const uint32_t *index, const float *value, size_t n, float square_grad,
                          const Rates *rates, bint adaptive, bint normalized, bint sqrt_mode, Scan *scan,
                          Ahead *ahead) noexcept nogil:
    cdef size_t i = 0, end
    cdef float norm = 0
    scan.per_update = 0
    while i < n:
        if adaptive and normalized and sqrt_mode:
            i += scan_usual(table, index + i, value + i, n - i, rates.simd_width, square_grad, &scan.per_update, &norm, ahead)
        prefetch_ahead(ahead, table, 4, 4, n - i)
        end = min(i + 4, n)
        while i < end:
            scan_term(table + 4 * <size_t>index[i], value[i], square_grad, rates, adaptive, normalized, sqrt_mode, scan, &norm)
            i += 1
    scan.norm = norm


cdef inline void scan_terms(float *table, const uint32_t *index, const float *value, size_t n, float square_grad,
                            const Rates *rates, Scan *scan, Ahead *ahead) noexcept nogil:
    """``scan_all`` with constant switches, so that each combination is compiled separately."""
    if rates.sqrt_mode:
        if rates.adaptive and rates.normalized:
            scan_all(table, index, value, n, square_grad, rates, True, True, True, scan, ahead)
        elif rates.adaptive:
            scan_all(table, index, value, n, square_grad, rates, True, False, True, scan, ahead)
        else:
            scan_all(table, index, value, n, square_grad, rates, False, True, True, scan, ahead)
    elif rates.adaptive and rates.normalized:
        scan_all(table, index, value, n, square_grad, rates, True, True, False, scan, ahead)
    elif rates.adaptive:
        scan_all(table, index, value, n, square_grad, rates, True, False, False, scan, ahead)
    else:
        scan_all(table, index, value, n, square_grad, rates, False, True, False, scan, ahead)


cdef inline void scan_narrow(float *table, const uint32_t *index, const float *value, size_t n, float square_grad,
                             const Rates *rates, bint sqrt_mode, Scan *scan, Ahead *ahead) noexcept nogil:
    """``scan_all`` of narrow slots: their G."""
    cdef size_t i = 0, end
    cdef float x2, sum = 0, minus_power = rates.minus_power
    cdef float *total
    while i < n:
        prefetch_ahead(ahead, table, 2, 4, n - i)
        end = min(i + 4, n)
        while i < end:
            x2 = value[i] * value[i]
            if x2 < X2_MIN:
                x2 = X2_MIN
            total = table + 2 * <size_t>index[i] + ADAPTIVE
            total[0] += square_grad * x2
            sum += x2 * adaptive_rate(total[0], minus_power, sqrt_mode)
            i += 1
    scan.per_update, scan.norm = sum, 0


cdef inline void step_narrow(float *table, const uint32_t *index, const float *value, size_t n, float step, const Rates *rates,
                             bint sqrt_mode) noexcept nogil:
    """Add ``step * x * rate`` to the weights of narrow slots, where x is finite."""
    cdef size_t i
    cdef float minus_power = rates.minus_power
    cdef float *slot
    for i in range(n):
        slot = table + 2 * <size_t>index[i]
        if fabsf(value[i]) <= FLT_MAX:
            slot[WEIGHT] += step * (value[i] * adaptive_rate(slot[ADAPTIVE], minus_power, sqrt_mode))


cdef inline void untouched_terms(const float *table, const uint8_t *mask, const uint32_t *index, const float *value, size_t n,
                                 float square_grad, const Rates *rates, Scan *scan) noexcept nogil:
    """``scan_terms`` on copies of the slots: the table is not changed, and a repeated slot is scanned each time from its stored
    state. ``mask``: of the learner, or NULL.
    """
    cdef float slot[4]
    cdef float norm = 0
    cdef const float *kept
    cdef size_t i
    scan.per_update = 0
    for i in range(n):
        if mask != NULL and not mask[index[i]]:
            continue
        kept = table + 4 * <size_t>index[i]
        slot[WEIGHT], slot[ADAPTIVE], slot[NORMALIZED] = kept[WEIGHT], kept[ADAPTIVE], kept[NORMALIZED]
        scan_term(slot, value[i], square_grad, rates, rates.adaptive, rates.normalized, rates.sqrt_mode, scan, &norm)
    scan.norm = norm
