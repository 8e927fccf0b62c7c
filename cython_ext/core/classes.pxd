"""The usual update of many classes, eight at a time; see ``core/classes.h``."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from core.descent cimport CONTRACTION, MULTIPLIER, NORMS, Learner, balance, scaled_step
from core.rates cimport Rates, Scan, scan_term
from core.scratch cimport Scratch
from core.status cimport NO_MEMORY, OK, UNSTABLE

cdef enum:
    LANES = 8

cdef extern from "core/classes.h" nogil:
    ctypedef float (*ScanOne "vwl_scan_one")(float *slot, float x, float gradient, float *reach, float *norm) noexcept

    ctypedef struct Block "vwl_block":
        float gradient[LANES]
        float reach[LANES]
        float norm[LANES]
        float step[LANES]
        int32_t active[LANES]
        int32_t learns[LANES]
        int32_t first
        int32_t whole
        int32_t dead[4][LANES]
        ScanOne scan_one

    ctypedef struct Scale "vwl_scale":
        pass

    const int class_of_lane "vwl_class_of_lane"[LANES]
    bint has_classes "vwl_has_classes"()
    void score_block "vwl_score"(const float *table, const uint32_t *index, const float *value, size_t n, float base,
                                 float *raw)
    void score_bare "vwl_score_bare"(const float *table, const uint32_t *index, const float *value, size_t n, float base,
                                     float *raw)
    void scan_block "vwl_scan"(float *table, const uint32_t *index, const float *value, size_t n, Block *block, Scale *scales,
                               float *r)
    void apply_block "vwl_apply"(float *table, const uint32_t *index, const float *value, size_t n, const Block *block,
                                 Scale *scales, const float *r)


cdef inline float scan_one(float *slot, float x, float gradient, float *reach, float *norm) noexcept nogil:
    cdef Rates rates
    cdef Scan scan
    rates.adaptive = rates.normalized = rates.sqrt_mode = True
    scan.per_update = reach[0]
    scan_term(slot, x, gradient, &rates, True, True, True, &scan, norm)
    reach[0] = scan.per_update
    return slot[3]


cdef inline void score_classes(const Learner *m, const float *table, const Scratch *s, float base, uint32_t classes,
                               float *raw) noexcept nogil:
    """Raw predictions of all classes; ``shift`` is at least 3, so that whole blocks of slots are there."""
    cdef float found[LANES]
    cdef float contraction = <float>m.scalars[CONTRACTION]
    cdef uint32_t begin = 0, c
    while begin < classes:
        if m.stride == 1:
            score_bare(table + begin, s.index, s.value, s.terms, base, found)
        else:
            score_block(table + 4 * begin, s.index, s.value, s.terms, base, found)
        for c in range(begin, min(<uint32_t>(begin + LANES), classes)):
            raw[c] = found[c - begin] * contraction
        begin += LANES


cdef inline bint scores_in_lanes(const Learner *m, int shift) noexcept nogil:
    return has_classes() and shift >= 3 and m.l1 == 0


cdef inline bint learns_in_lanes(const Learner *m, int shift) noexcept nogil:
    """Whether the classes of a learner can be taught eight at a time."""
    cdef bint usual = m.rates.adaptive and m.rates.normalized and m.rates.sqrt_mode and not m.ftrl and m.stride == 4
    return scores_in_lanes(m, shift) and usual and m.l2 == 0 and m.sparse_l2 == 0


cdef struct Rates8:              # scratch of one example
    float *r                     # (terms, LANES)
    Scale *scales                # (terms,)
    size_t terms


cdef inline int room_for_rates(Rates8 *room, size_t terms) noexcept nogil:
    """Have room for ``terms``, and forget the last example."""
    if terms > room.terms or room.r == NULL:
        close_rates(room)
        room.terms = 2 * terms + LANES
        room.r = <float *>malloc(room.terms * LANES * sizeof(float))
        room.scales = <Scale *>malloc(room.terms * sizeof(Scale))
        if room.r == NULL or room.scales == NULL:
            return NO_MEMORY
    memset(room.scales, 0, terms * sizeof(Scale))
    return OK


cdef inline void close_rates(Rates8 *room) noexcept nogil:
    free(room.r)
    free(room.scales)
    room.r = NULL
    room.scales = NULL


cdef inline void open_block(Block *block, uint32_t classes) noexcept nogil:
    """For the first ``classes`` classes of the block, at most ``LANES``; none of them active yet."""
    cdef int lane, c
    memset(block, 0, sizeof(Block))
    block.scan_one = scan_one
    block.whole = classes == LANES
    for lane in range(LANES):
        c = class_of_lane[lane]
        if <uint32_t>c >= classes:
            block.dead[c >> 1][2 if c % 2 == 0 else 6] = -1


cdef inline int teach_block(Learner *m, float *table, double *norms, const Scratch *s, const float *score, const float *sign,
                            float weight, uint32_t classes, bint first, Rates8 *room) noexcept nogil:
    """One update of up to eight classes: ``score`` predicted, ``sign`` their labels; ``first``: a feature's first ones."""
    cdef Block block
    cdef Scan scan
    cdef int lane, c, status = OK
    cdef bint any_step = False
    open_block(&block, classes)
    block.first = first
    for lane in range(LANES):
        c = class_of_lane[lane]
        if <uint32_t>c < classes and m.loss.value(&m.params, score[c], sign[c]) > 0:
            block.gradient[lane] = weight * m.loss.square_grad(&m.params, score[c], sign[c])
            block.active[lane] = -(block.gradient[lane] != 0)
            any_step = any_step or block.active[lane]
    if not any_step and not first:
        return OK
    scan_block(table, s.index, s.value, s.terms, &block, room.scales, room.r)
    for lane in range(LANES):
        if block.active[lane]:
            c = class_of_lane[lane]
            m.norms = norms + NORMS * c
            scan.per_update, scan.norm = block.reach[lane], block.norm[lane]
            balance(m, weight, &scan)
            block.step[lane] = scaled_step(m, score[c], sign[c], weight, scan.per_update)
            if not isfinite(block.step[lane]):
                status = UNSTABLE
                block.step[lane] = 0 if isnan(block.step[lane]) else block.step[lane]
            block.learns[lane] = -(block.step[lane] != 0)
            block.step[lane] = block.step[lane] * <float>m.norms[MULTIPLIER]
    if not (m.strict and status != OK):
        apply_block(table, s.index, s.value, s.terms, &block, room.scales, room.r)
    return status
