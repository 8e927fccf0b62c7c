"""The default update of one set of weights per class, in blocks of eight or sixteen classes; see ``learners/class_blocks.h``."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from learners.gd_update cimport L2_SCALE, MULTIPLIER, NORMS, Learner, balance, scaled_step, step_scale
from losses.loss_types cimport needs_update
from learners.adaptive_rates cimport Rates, Scan, scan_term
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE

cdef enum:
    EIGHT = 8       # classes of a block whose slots are not transposed
    MAX_WIDTH = 16  # classes of any block at most
    PAGE = 64       # features of a page, see Transposed

cdef extern from "learners/class_blocks.h" nogil:
    ctypedef float (*ScanOne "vwl_scan_one")(float *slot, float x, float gradient, float *reach, float *norm) noexcept

    ctypedef struct Block "vwl_block":
        float gradient[MAX_WIDTH]
        float reach[MAX_WIDTH]
        float norm[MAX_WIDTH]
        float step[MAX_WIDTH]
        int32_t active[MAX_WIDTH]
        int32_t learns[MAX_WIDTH]
        int32_t unused[MAX_WIDTH]
        float score[MAX_WIDTH]
        float sign[MAX_WIDTH]
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

    void transpose "vwl_transpose"(float *slots, int width)
    void transpose_back "vwl_transpose_back"(float *slots, int width)
    int widest "vwl_widest"()
    bint has_classes "vwl_has_classes"()
    void score_block "vwl_score"(const float *table, const uint32_t *index, const float *value, size_t n, float initial,
                                 float *raw)
    void score_row "vwl_score_row"(const float *table, size_t stride, int width, const uint32_t *index, const float *value,
                                   size_t n, float initial, float *raw)
    void scan_block "vwl_scan"(float *table, const uint32_t *index, const float *value, size_t n, Block *block, Scales *scales,
                               float *r)
    bint find_logistic_gradients "vwl_find_gradients"(Block *block, float weight)
    void find_logistic_steps "vwl_find_steps"(Block *block, float u)
    void apply_block "vwl_apply"(float *table, const uint32_t *index, const float *value, size_t n, const Block *block,
                                 const Scales *scales, const float *r)

    void score_rows "vwl_score_rows"(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, float *s)
    void scan_rows "vwl_scan_rows"(float *g, const uint32_t *index, const float *value, const float *inverse, size_t n,
                                   size_t width, const float *gradient, float *reach, float *r)
    void apply_rows "vwl_apply_rows"(float *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                     const float *step, const float *r)
    void step_rows "vwl_step_rows"(float *w, const uint32_t *index, const float *value, size_t n, size_t width, const float *step)
    void sum_rows "vwl_sum_rows"(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, double *z)
    void sum_rows_float64 "vwl_sum_rows_float64"(const double *w, const uint32_t *index, const float *value, size_t n, size_t width,
                                                 double *z)
    void add_rows "vwl_add_rows"(double *w, const uint32_t *index, const float *value, size_t n, size_t width, const double *step,
                                 double weight, int squared)


cdef inline float scan_one(float *slot, float x, float gradient, float *reach, float *norm) noexcept nogil:
    cdef Rates rates
    cdef Scan scan
    rates.adaptive = rates.normalized = rates.sqrt_mode = True
    scan.per_update = reach[0]
    scan_term(slot, x, gradient, &rates, True, True, True, &scan, norm)
    reach[0] = scan.per_update
    return slot[3]


cdef struct Transposed:              # which features have transposed slots
    uint8_t *is_transposed        # (features,) 1 if the feature's slots are transposed
    size_t features
    uint8_t *page_has_transposed  # (pages,) 1 if those of any of the page's features are
    size_t pages
    uint32_t width                # classes of a block
    bint on                       # whether the slots of the next rows are to be transposed


cdef inline int open_transposed(Transposed *transposed, state, size_t features, uint32_t classes, uint32_t width) except -1:
    """``state.is_transposed`` is all 0 between batches. ``width``: classes of the widest blocks wanted; with few classes blocks
    have eight.
    """
    cdef uint8_t[::1] is_transposed = state.is_transposed
    if <size_t>is_transposed.shape[0] != features:
        raise ValueError("the marks do not fit the table")
    transposed.is_transposed, transposed.features, transposed.pages = &is_transposed[0], features, (features + PAGE - 1) // PAGE
    transposed.width = min(width, <uint32_t>widest()) if classes > EIGHT else <uint32_t>EIGHT
    transposed.page_has_transposed = <uint8_t *>calloc(transposed.pages, 1)
    transposed.on = transposed.page_has_transposed != NULL
    if not transposed.on:
        raise MemoryError("not enough memory for the classes")
    return 0


cdef inline void transpose_feature(float *slots, uint32_t classes, uint32_t width, bint back) noexcept nogil:
    cdef uint32_t begin = 0
    while begin < classes:
        if back:
            transpose_back(slots + 4 * begin, <int>width)
        else:
            transpose(slots + 4 * begin, <int>width)
        begin += width


cdef inline void transpose_terms(Transposed *transposed, float *table, const Scratch *s, int shift,
                                 uint32_t classes) noexcept nogil:
    """Transpose the slots of a row's features that are not transposed yet. Mostly all are, which is tested without branches."""
    cdef size_t i, feature
    cdef uint8_t all_transposed = 1
    for i in range(s.terms):
        all_transposed &= transposed.is_transposed[s.index[i] >> shift]
    for i in range(0 if all_transposed else s.terms):
        feature = s.index[i] >> shift
        if not transposed.is_transposed[feature]:
            transposed.is_transposed[feature] = transposed.page_has_transposed[feature // PAGE] = 1
            transpose_feature(table + 4 * <size_t>s.index[i], classes, transposed.width, False)


cdef inline void transpose_page_back(Transposed *transposed, float *table, size_t page, int shift,
                                     uint32_t classes) noexcept nogil:
    cdef size_t feature
    for feature in range(page * PAGE, min((page + 1) * PAGE, transposed.features)):
        if transposed.is_transposed[feature]:
            transposed.is_transposed[feature] = 0
            transpose_feature(table + 4 * (feature << shift), classes, transposed.width, True)


cdef inline void transpose_all_back(Transposed *transposed, float *table, int shift, uint32_t classes) noexcept nogil:
    cdef size_t page
    transposed.on = False
    for page in range(transposed.pages):
        if transposed.page_has_transposed[page]:
            transposed.page_has_transposed[page] = 0
            transpose_page_back(transposed, table, page, shift, classes)


cdef inline void score_classes(const Learner *m, const float *table, const Scratch *s, float initial, uint32_t classes,
                               const Transposed *transposed, float *raw) noexcept nogil:
    """Raw predictions of all classes. The learner's ``shift`` is at least 3, so the table holds complete blocks of slots."""
    cdef float found[MAX_WIDTH]
    cdef float l2_scale = <float>m.scalars[L2_SCALE]
    cdef uint32_t begin = 0, c, width = transposed.width if transposed.on else EIGHT
    while begin < classes:
        if transposed.on or m.stride == 1:
            score_row(table + m.stride * begin, m.stride, <int>width, s.index, s.value, s.terms, initial, found)
        else:
            score_block(table + 4 * begin, s.index, s.value, s.terms, initial, found)
        for c in range(begin, min(begin + width, classes)):
            raw[c] = found[c - begin] * l2_scale
        begin += width


cdef inline bint scores_in_blocks(const Learner *m, int shift) noexcept nogil:
    return has_classes() and shift >= 3 and m.l1 == 0 and m.rule == NULL


cdef inline bint learns_in_blocks(const Learner *m, int shift) noexcept nogil:
    """Whether the classes of a learner can be updated in blocks."""
    cdef bint usual = m.rates.adaptive and m.rates.normalized and m.rates.sqrt_mode and not m.ftrl and m.stride == 4
    return scores_in_blocks(m, shift) and usual and m.l2 == 0 and m.sparse_l2 == 0


cdef struct BlockRates:          # scratch memory for one example
    float *r                     # (terms, MOST)
    Scales scales                # (terms,) each, in the same memory behind r
    size_t terms


cdef inline int reserve_rates(BlockRates *rates, size_t terms) noexcept nogil:
    if terms > rates.terms or rates.r == NULL:
        close_rates(rates)
        rates.terms = 2 * terms + MAX_WIDTH
        rates.r = <float *>malloc(rates.terms * (MAX_WIDTH + 4) * sizeof(float))
        if rates.r == NULL:
            return NO_MEMORY
        rates.scales.largest = rates.r + MAX_WIDTH * rates.terms
        rates.scales.inverse = rates.scales.largest + rates.terms
        rates.scales.share = rates.scales.inverse + rates.terms
        rates.scales.last = <uint32_t *>(rates.scales.share + rates.terms)
    return OK


cdef inline void close_rates(BlockRates *rates) noexcept nogil:
    free(rates.r)
    rates.r = NULL


cdef inline void open_block(Block *block, const float *score, const float *sign, uint32_t classes, uint32_t width) noexcept nogil:
    """Set up a block of ``classes`` classes, none of them active yet."""
    cdef uint32_t c
    memset(block, 0, sizeof(Block))
    block.scan_one, block.width = scan_one, <int32_t>width
    for c in range(classes):
        block.score[c], block.sign[c] = score[c], sign[c]
    for c in range(classes, width):
        block.unused[c] = -1


cdef inline bint find_gradients(const Learner *m, Block *block, uint32_t classes, float weight) noexcept nogil:
    """Find the gradients of the classes with a loss. Returns whether that was vectorised; then find_steps can be, too."""
    cdef uint32_t c
    if m.signs and m.invariant and find_logistic_gradients(block, weight):
        return True
    for c in range(classes):
        if needs_update(&m.loss, &m.params, block.score[c], block.sign[c]):
            block.gradient[c] = weight * m.loss.square_grad(&m.params, block.score[c], block.sign[c])
            block.active[c] = -(block.gradient[c] != 0)
    return False


cdef inline int find_steps(Learner *m, Block *block, double *norms, uint32_t classes, float weight,
                           bint vectorized) noexcept nogil:
    """Find the steps of the active classes. UNSTABLE where one is not finite."""
    cdef Scan scan
    cdef int status = OK
    cdef uint32_t c
    for c in range(classes):
        if block.active[c]:
            m.norms = norms + NORMS * c
            scan.per_update, scan.norm = block.reach[c], block.norm[c]
            balance(m, weight, &scan)
            block.reach[c] = scan.per_update
    if vectorized:
        find_logistic_steps(block, step_scale(m, weight))
    for c in range(classes):
        if not block.active[c]:
            continue
        if not vectorized:
            block.step[c] = scaled_step(m, block.score[c], block.sign[c], weight, block.reach[c])
        if not isfinite(block.step[c]):
            status = UNSTABLE
            block.step[c] = 0 if isnan(block.step[c]) else block.step[c]
        block.learns[c] = -(block.step[c] != 0)
        block.step[c] = block.step[c] * <float>norms[NORMS * c + MULTIPLIER]
    return status


cdef inline int update_block(Learner *m, float *table, double *norms, const Scratch *s, const float *score, const float *sign,
                             float weight, uint32_t classes, uint32_t width, bint first, bint last,
                             BlockRates *rates) noexcept nogil:
    """Update the classes of a block, whose slots are transposed; ``score`` are their predictions, ``sign`` their labels.

    ``first`` and ``last``: the block holds the first and the last of a feature's classes. Blocks behind the first one need what
    that records.
    """
    cdef Block block
    cdef int status
    cdef uint32_t c
    cdef bint vectorized, any_step = False
    open_block(&block, score, sign, classes, width)
    block.first = first
    vectorized = find_gradients(m, &block, classes, weight)
    for c in range(classes):
        any_step = any_step or block.active[c]
    if not any_step and (last or not first):
        return OK
    scan_block(table, s.index, s.value, s.terms, &block, &rates.scales, rates.r)
    status = find_steps(m, &block, norms, classes, weight, vectorized)
    if m.vw_compat or status == OK:
        apply_block(table, s.index, s.value, s.terms, &block, &rates.scales, rates.r)
    return status
