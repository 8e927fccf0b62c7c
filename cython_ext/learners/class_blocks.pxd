"""The usual update of many classes, eight or sixteen at a time; see ``learners/class_blocks.h``."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from learners.gd_update cimport CONTRACTION, MULTIPLIER, NORMS, Learner, balance, scaled_step, step_scale
from losses.loss_types cimport has_loss
from learners.adaptive_rates cimport Rates, Scan, scan_term
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE

cdef enum:
    EIGHT = 8              # classes of a block whose slots are not turned
    MOST = 16              # of any
    PAGE = 64              # features

cdef extern from "learners/class_blocks.h" nogil:
    ctypedef float (*ScanOne "vwl_scan_one")(float *slot, float x, float gradient, float *reach, float *norm) noexcept

    ctypedef struct Block "vwl_block":
        float gradient[MOST]
        float reach[MOST]
        float norm[MOST]
        float step[MOST]
        int32_t active[MOST]
        int32_t learns[MOST]
        int32_t dead[MOST]
        float score[MOST]
        float sign[MOST]
        int32_t first
        int32_t width
        ScanOne scan_one

    ctypedef struct Scales "vwl_scales":
        float *largest
        float *inverse
        float *share
        uint32_t *last
        int32_t distinct
        int32_t usual

    void turn "vwl_turn"(float *slots, int width)
    void turn_back "vwl_turn_back"(float *slots, int width)
    int widest "vwl_widest"()
    bint has_classes "vwl_has_classes"()
    void score_block "vwl_score"(const float *table, const uint32_t *index, const float *value, size_t n, float base,
                                 float *raw)
    void score_row "vwl_score_row"(const float *table, size_t stride, int width, const uint32_t *index, const float *value,
                                   size_t n, float base, float *raw)
    void scan_block "vwl_scan"(float *table, const uint32_t *index, const float *value, size_t n, Block *block, Scales *scales,
                               float *r)
    bint find_logistic_gradients "vwl_find_gradients"(Block *block, float weight)
    void find_logistic_steps "vwl_find_steps"(Block *block, float u)
    void apply_block "vwl_apply"(float *table, const uint32_t *index, const float *value, size_t n, const Block *block,
                                 const Scales *scales, const float *r)


cdef inline float scan_one(float *slot, float x, float gradient, float *reach, float *norm) noexcept nogil:
    cdef Rates rates
    cdef Scan scan
    rates.adaptive = rates.normalized = rates.sqrt_mode = True
    scan.per_update = reach[0]
    scan_term(slot, x, gradient, &rates, True, True, True, &scan, norm)
    reach[0] = scan.per_update
    return slot[3]


cdef struct Turned:              # which features have their slots turned
    uint8_t *met                 # (features,) 1 for each
    size_t features
    uint8_t *met_in              # (pages,) 1 where any of a page's features is
    size_t pages
    uint32_t width               # classes of a block
    bint on                      # whether those of the next rows are to be


cdef inline int open_turned(Turned *turned, state, size_t features, uint32_t classes, uint32_t width) except -1:
    """``state.met`` is 0 throughout between batches. ``width``: of the widest blocks wanted. What has few classes has narrow
    ones.
    """
    cdef uint8_t[::1] met = state.met
    if <size_t>met.shape[0] != features:
        raise ValueError("the marks do not fit the table")
    turned.met, turned.features, turned.pages = &met[0], features, (features + PAGE - 1) // PAGE
    turned.width = min(width, <uint32_t>widest()) if classes > EIGHT else <uint32_t>EIGHT
    turned.met_in = <uint8_t *>calloc(turned.pages, 1)
    turned.on = turned.met_in != NULL
    if not turned.on:
        raise MemoryError("not enough memory for the classes")
    return 0


cdef inline void turn_feature(float *slots, uint32_t classes, uint32_t width, bint back) noexcept nogil:
    cdef uint32_t begin = 0
    while begin < classes:
        if back:
            turn_back(slots + 4 * begin, <int>width)
        else:
            turn(slots + 4 * begin, <int>width)
        begin += width


cdef inline void turn_terms(Turned *turned, float *table, const Scratch *s, int shift, uint32_t classes) noexcept nogil:
    """Turn the slots of a row's features, those that are not; mostly all of them are, which is found without branches."""
    cdef size_t i, feature
    cdef uint8_t all_met = 1
    for i in range(s.terms):
        all_met &= turned.met[s.index[i] >> shift]
    for i in range(0 if all_met else s.terms):
        feature = s.index[i] >> shift
        if not turned.met[feature]:
            turned.met[feature] = turned.met_in[feature // PAGE] = 1
            turn_feature(table + 4 * <size_t>s.index[i], classes, turned.width, False)


cdef inline void turn_page_back(Turned *turned, float *table, size_t page, int shift, uint32_t classes) noexcept nogil:
    cdef size_t feature
    for feature in range(page * PAGE, min((page + 1) * PAGE, turned.features)):
        if turned.met[feature]:
            turned.met[feature] = 0
            turn_feature(table + 4 * (feature << shift), classes, turned.width, True)


cdef inline void turn_all_back(Turned *turned, float *table, int shift, uint32_t classes) noexcept nogil:
    cdef size_t page
    turned.on = False
    for page in range(turned.pages):
        if turned.met_in[page]:
            turned.met_in[page] = 0
            turn_page_back(turned, table, page, shift, classes)


cdef inline void score_classes(const Learner *m, const float *table, const Scratch *s, float base, uint32_t classes,
                               const Turned *turned, float *raw) noexcept nogil:
    """Raw predictions of all classes; ``shift`` is at least 3, so that whole blocks of slots are there."""
    cdef float found[MOST]
    cdef float contraction = <float>m.scalars[CONTRACTION]
    cdef uint32_t begin = 0, c, width = turned.width if turned.on else EIGHT
    while begin < classes:
        if turned.on or m.stride == 1:
            score_row(table + m.stride * begin, m.stride, <int>width, s.index, s.value, s.terms, base, found)
        else:
            score_block(table + 4 * begin, s.index, s.value, s.terms, base, found)
        for c in range(begin, min(begin + width, classes)):
            raw[c] = found[c - begin] * contraction
        begin += width


cdef inline bint scores_in_lanes(const Learner *m, int shift) noexcept nogil:
    return has_classes() and shift >= 3 and m.l1 == 0 and m.rule == NULL


cdef inline bint learns_in_lanes(const Learner *m, int shift) noexcept nogil:
    """Whether the classes of a learner can be taught in blocks."""
    cdef bint usual = m.rates.adaptive and m.rates.normalized and m.rates.sqrt_mode and not m.ftrl and m.stride == 4
    return scores_in_lanes(m, shift) and usual and m.l2 == 0 and m.sparse_l2 == 0


cdef struct BlockRates:          # scratch of one example
    float *r                     # (terms, MOST)
    Scales scales                # (terms,) of each, one behind the other
    size_t terms


cdef inline int room_for_rates(BlockRates *room, size_t terms) noexcept nogil:
    if terms > room.terms or room.r == NULL:
        close_rates(room)
        room.terms = 2 * terms + MOST
        room.r = <float *>malloc(room.terms * (MOST + 4) * sizeof(float))
        if room.r == NULL:
            return NO_MEMORY
        room.scales.largest = room.r + MOST * room.terms
        room.scales.inverse = room.scales.largest + room.terms
        room.scales.share = room.scales.inverse + room.terms
        room.scales.last = <uint32_t *>(room.scales.share + room.terms)
    return OK


cdef inline void close_rates(BlockRates *room) noexcept nogil:
    free(room.r)
    room.r = NULL


cdef inline void open_block(Block *block, const float *score, const float *sign, uint32_t classes, uint32_t width) noexcept nogil:
    """For the first ``classes`` classes of the block; none of them active yet."""
    cdef uint32_t c
    memset(block, 0, sizeof(Block))
    block.scan_one, block.width = scan_one, <int32_t>width
    for c in range(classes):
        block.score[c], block.sign[c] = score[c], sign[c]
    for c in range(classes, width):
        block.dead[c] = -1


cdef inline bint find_gradients(const Learner *m, Block *block, uint32_t classes, float weight) noexcept nogil:
    """Of the classes with a loss. Whether that was done in lanes, so that steps can be found there."""
    cdef uint32_t c
    if m.signs and m.invariant and find_logistic_gradients(block, weight):
        return True
    for c in range(classes):
        if has_loss(&m.loss, &m.params, block.score[c], block.sign[c]):
            block.gradient[c] = weight * m.loss.square_grad(&m.params, block.score[c], block.sign[c])
            block.active[c] = -(block.gradient[c] != 0)
    return False


cdef inline int find_steps(Learner *m, Block *block, double *norms, uint32_t classes, float weight, bint lanes) noexcept nogil:
    """UNSTABLE where a step is not finite."""
    cdef Scan scan
    cdef int status = OK
    cdef uint32_t c
    for c in range(classes):
        if block.active[c]:
            m.norms = norms + NORMS * c
            scan.per_update, scan.norm = block.reach[c], block.norm[c]
            balance(m, weight, &scan)
            block.reach[c] = scan.per_update
    if lanes:
        find_logistic_steps(block, step_scale(m, weight))
    for c in range(classes):
        if not block.active[c]:
            continue
        if not lanes:
            block.step[c] = scaled_step(m, block.score[c], block.sign[c], weight, block.reach[c])
        if not isfinite(block.step[c]):
            status = UNSTABLE
            block.step[c] = 0 if isnan(block.step[c]) else block.step[c]
        block.learns[c] = -(block.step[c] != 0)
        block.step[c] = block.step[c] * <float>norms[NORMS * c + MULTIPLIER]
    return status


cdef inline int teach_block(Learner *m, float *table, double *norms, const Scratch *s, const float *score, const float *sign,
                            float weight, uint32_t classes, uint32_t width, bint first, BlockRates *room) noexcept nogil:
    """One update of a block's classes, their slots turned: ``score`` predicted, ``sign`` their labels.

    ``first``: they are the first of a feature's classes.
    """
    cdef Block block
    cdef int status
    cdef uint32_t c
    cdef bint lanes, any_step = False
    open_block(&block, score, sign, classes, width)
    block.first = first
    lanes = find_gradients(m, &block, classes, weight)
    for c in range(classes):
        any_step = any_step or block.active[c]
    if not any_step and not first:
        return OK
    scan_block(table, s.index, s.value, s.terms, &block, &room.scales, room.r)
    status = find_steps(m, &block, norms, classes, weight, lanes)
    if not (m.strict and status != OK):
        apply_block(table, s.index, s.value, s.terms, &block, &room.scales, room.r)
    return status
