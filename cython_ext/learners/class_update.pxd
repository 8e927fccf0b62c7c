"""One set of weights per class or per node of a tree, in one table: predictions and updates that the multiclass learners share.
"""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free

from learners.class_blocks cimport (
    EIGHT, MAX_WIDTH, BlockRates, Transposed, reserve_rates, score_classes, transpose_all_back, update_block
)
from learners.row_copies cimport RowCopies, begin_copies, close_copies, copy_of, end_copies, open_copies, write_back
from learners.gd_update cimport (
    NORMS, SCALARS, Learner, clip, inner_product, learn_row, open_learner, sync_if_due, widen_range
)
from base.byte_scan cimport unlikely
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE

cdef enum:
    ONE_AGAINST_ALL = 0          # reductions, named in vwlite/learners/per_class.py
    COSTS = 1
    SETS = 2
    FIRST = SCALARS              # index into the scalars: number of the first class, 0 or 1; -1 while unknown
    NEXT_SAMPLE = SCALARS + 1    # index into the scalars: position in ``order`` at which the next sample begins
    ZERO_PROBABILITY_LOSS = 999  # log loss of a label whose probability is 0, as in vw
    FAR_SHIFT = 7                # a set's slots are so far apart that rows are copied: 2 KB
    PREFETCH_LINES = 16          # cache lines of a feature's slots that are prefetched, at most


cdef struct PerClass:
    Learner m              # the current class; its table and norms point to that class
    float *table           # (slots, stride) slots of the first class
    double *norms          # (classes, NORMS)
    int reduction
    uint32_t classes
    uint32_t begin         # the classes that this thread has: ``count`` of them from here on; table, norms, raw and score
    uint32_t count         # begin with the first of these
    uint32_t models        # number of sets of weights: one per class, or per inner node of a tree
    int shift              # the slots of a feature begin at its hash * 2^shift
    uint32_t mask
    bint absolute          # the loss is the cost of the predicted class, not its difference to the lowest cost
    int set_loss           # what sets of labels cost, see set_losses.pxd
    uint8_t *is_meant      # (classes,) which labels or costs the row at work has; 0 between rows
    float *target          # (classes,) what they learn at once; NULL: whether they are the label
    bint writes_scores     # scores or probabilities are written, not classes
    bint probabilities
    double *log_loss       # (2, 2) sums of log loss over rows not held out and held out; their weights
    uint32_t sample        # number of other classes that learn an example beside the label's; 0: all
    const uint32_t *order  # (classes,) the order in which classes are sampled, or labels of a set are decided
    float bound            # a set's prediction is the labels with a score above it
    # CSR lists of each row's labels: classes and their costs; NULL where no row has any
    const int64_t *start   # (rows + 1,)
    const uint32_t *named
    const float *cost      # infinite: unknown
    # (rows, classes) if they are wanted, else a single row that is overwritten
    float *raw
    float *score
    size_t score_stride    # number of classes, or 0 for a single row
    size_t *scored         # (models,) 1 + the row of which ``raw`` is, by the weights as they are; NULL: predict again
    RowCopies copies       # of the slots of the row at work
    bint copying           # whether rows are copied
    bint score_blocks      # whether classes are scored in blocks
    Transposed transposed  # slots that are transposed to be learned in blocks
    BlockRates rates       # scratch memory for blocks


cdef inline void select_class(PerClass *q, uint32_t c) noexcept nogil:
    """Make class ``c`` the current one."""
    q.m.table = q.table + q.m.stride * c
    if unlikely(q.copies.on):
        q.m.table = copy_of(&q.copies, q.m.table, c)
    q.m.norms = q.norms + NORMS * c


cdef inline void move_slots(const PerClass *q, Scratch *s) noexcept nogil:
    """Replace hashes by the slots of the first class."""
    cdef size_t i
    cdef uint32_t mask = q.mask        # a local: the compiler would reload it after every store to index
    cdef int shift = q.shift
    for i in range(s.terms):
        s.index[i] = (s.index[i] << shift) & mask


cdef inline int clip_class(const PerClass *q, uint32_t c, const float *raw, float *score) noexcept nogil:
    """The score of a class whose raw prediction is known."""
    score[c] = clip(raw[c], &q.m)
    return OK if isfinite(raw[c]) else UNSTABLE


cdef inline int predict_class(
    PerClass *q, const Scratch *s, uint32_t c, float initial, float *raw, float *score
) noexcept nogil:
    select_class(q, c)
    raw[c] = inner_product(&q.m, s, initial)
    return clip_class(q, c, raw, score)


cdef inline int update_class(PerClass *q, Scratch *s, uint32_t c, float score, float label, float weight) noexcept nogil:
    """Update class ``c``, whose prediction is ``score``."""
    cdef int status
    select_class(q, c)
    status = learn_row(&q.m, s, score, label, weight)
    if unlikely(q.copies.on):
        write_back(&q.copies, q.m.table, q.table + q.m.stride * c)
        return status
    select_class(q, 0)
    sync_if_due(&q.m)
    return status


cdef inline void keep_learned_score(const PerClass *q, uint32_t c, float *raw, float *score) noexcept nogil:
    """Where classes answer one by one, what a rule learned from counts, not what its weights said before."""
    if q.m.rule != NULL:
        raw[c] = q.m.raw
        score[c] = clip(raw[c], &q.m)


cdef inline void infer_first_class(PerClass *q, double number) noexcept nogil:
    """Decide whether classes are numbered from 0 or 1, by the first label that is 0 or the number of classes."""
    if q.m.scalars[FIRST] < 0 and (number == 0 or number == q.classes):
        q.m.scalars[FIRST] = 0 if number == 0 else 1


cdef inline uint32_t first_class(const PerClass *q) noexcept nogil:
    return 0 if q.m.scalars[FIRST] == 0 else 1


cdef inline uint32_t weight_set_of(const PerClass *q, uint32_t number) noexcept nogil:
    """The set of weights of a class. As in vw, a number out of range gives the first or the last one."""
    cdef uint32_t first = first_class(q)
    return number - first if number - first < q.classes else (q.classes - 1 if first else 0)


cdef inline int predict_all(PerClass *q, const Scratch *s, float initial, float *raw, float *score) noexcept nogil:
    cdef uint32_t c
    cdef int status = OK
    if q.score_blocks:
        score_classes(&q.m, q.table, s, initial, q.count, &q.transposed, raw)
    for c in range(q.count):
        status |= clip_class(q, c, raw, score) if q.score_blocks else predict_class(q, s, c, initial, raw, score)
    return status


cdef inline int update_blocks(PerClass *q, const Scratch *s, const float *score, float true, float weight) noexcept nogil:
    """Update every class, in blocks: towards ``target`` or, without one, 1 for class ``true``, -1 for the others."""
    cdef float sign[MAX_WIDTH]
    cdef uint32_t begin = 0, c, n, width = q.transposed.width
    cdef int status = OK
    if reserve_rates(&q.rates, s.terms) != OK:
        return NO_MEMORY
    while begin < q.count:
        n = min(width, q.count - begin)
        for c in range(n):
            sign[c] = q.target[begin + c] if q.target else 1 if true == begin + c else -1
            if not q.m.frozen:
                widen_range(&q.m, sign[c])
        status |= update_block(&q.m, q.table + 4 * <size_t>begin, q.norms + NORMS * begin, s, score + begin, sign, weight, n,
                              width, begin == 0, begin + width >= q.count, &q.rates)
        if not q.m.vw_compat and status != OK:
            break                      # the first block was not applied, and later blocks need what that records
        begin += width
    select_class(q, 0)
    return status


cdef inline bint score_before_updates(PerClass *q, const Scratch *s, float initial, bint learns, float *raw) noexcept nogil:
    """Fill ``raw`` for all classes in blocks, where no update of one of them will change the prediction of another."""
    if not q.score_blocks or (learns and q.m.l2 > 0):
        return False
    score_classes(&q.m, q.table, s, initial, q.classes, &q.transposed, raw)
    return True


cdef inline bint can_update_blocks(PerClass *q, const Scratch *s, const float *raw) noexcept nogil:
    """Whether a row is learned in blocks: it has terms, and all scores are finite. If not, slots are transposed no more."""
    cdef uint32_t c
    if not q.transposed.on or s.terms == 0:
        return False
    for c in range(q.classes):
        if not isfinite(raw[c]):
            transpose_all_back(&q.transposed, q.table, q.shift, q.classes)
            return False
    return True


cdef inline void set_target(PerClass *q, uint32_t c, float label, const float *raw, float *score) noexcept nogil:
    """What a class is to learn when blocks are updated, and its score in the range of labels up to that."""
    if not q.m.frozen:
        widen_range(&q.m, label)
    q.target[c] = label
    score[c] = clip(raw[c], &q.m)


cdef inline int predict_once(PerClass *q, const Rows *rows, size_t row, const Scratch *s, uint32_t c, float *raw,
                             float *score) noexcept nogil:
    """``predict_class``; with ``scored``, the sum is taken once until the class learns."""
    if q.scored != NULL:
        if q.scored[c] == row + 1:
            return clip_class(q, c, raw, score)
        q.scored[c] = row + 1
    return predict_class(q, s, c, rows.initial_prediction[row], raw, score)


cdef inline int predict_and_update(PerClass *q, const Rows *rows, size_t row, Scratch *s, uint32_t c, float sign, float weight,
                                   float *raw, float *score) noexcept nogil:
    """Predict again, clipped to the current range of labels, and update."""
    cdef int status
    if not q.m.frozen:
        widen_range(&q.m, sign)
    status = predict_once(q, rows, row, s, c, raw, score)
    if weight > 0:
        status |= update_class(q, s, c, score[c], sign, weight)
        if q.scored != NULL:
            q.scored[c] = 0
    return status


cdef inline int update_sample(PerClass *q, const Rows *rows, size_t row, Scratch *s, float *raw, float *score) noexcept nogil:
    """Update the label's class and the next ``sample`` other classes, whose weight is increased to make up for those left out."""
    cdef float weight = rows.importance[row]
    cdef uint32_t at = <uint32_t>q.m.scalars[NEXT_SAMPLE], left = q.sample, own
    cdef int status = OK
    own = <uint32_t>(rows.label[row] - first_class(q)) if rows.label[row] >= first_class(q) else q.classes
    if own < q.classes:
        status = predict_and_update(q, rows, row, s, own, 1, weight, raw, score)
    while left:
        if q.order[at] != own:
            status |= predict_and_update(q, rows, row, s, q.order[at], -1, weight * (<float>q.classes / <float>q.sample), raw,
                                         score)
            left -= 1
        at = at + 1 if at + 1 < q.classes else 0
    q.m.scalars[NEXT_SAMPLE] = at
    return status


cdef inline int update_all_classes(PerClass *q, const Rows *rows, size_t row, Scratch *s, float *raw, float *score,
                                   int status) noexcept nogil:
    """Update every class. ``status`` is that of the prediction: blocks need finite scores and at least one term."""
    cdef float true = rows.label[row] - first_class(q) - q.begin, weight = rows.importance[row], sign
    cdef uint32_t c
    if q.sample:
        return update_sample(q, rows, row, s, raw, score)
    if q.transposed.on and weight > 0 and s.terms:
        if status == OK:
            return update_blocks(q, s, score, true, weight)
        transpose_all_back(&q.transposed, q.table, q.shift, q.count)
    status = OK
    for c in range(q.count):
        sign = 1 if true == c else -1
        if not q.m.frozen:
            widen_range(&q.m, sign)
        if weight > 0:
            status |= update_class(q, s, c, score[c], sign, weight)
    return status


cdef inline void begin_row(PerClass *q, Scratch *s, bint learns) noexcept nogil:
    """Copy the slots of a row that is to be learned, where no set of weights changes with another."""
    if learns and q.copying:
        begin_copies(&q.copies, s)


cdef inline void end_row(PerClass *q, Scratch *s, uint32_t first) noexcept nogil:
    """``first``: the set of weights by which rows are predicted first, whose slots are prefetched."""
    end_copies(&q.copies, s)
    select_class(q, first)


cdef inline int open_path(PerClass *q, config) except -1:
    """For learners that predict with some of the sets of weights, one after the other, and learn by the same.

    Sums are kept where what one set of weights learns changes no other's predictions. Not as ``vwlite vw``: vw takes
    every sum again.
    """
    cdef bint apart = config.simd_width and q.m.l1 == 0 and q.m.l2 == 0 and q.m.rule == NULL
    q.copying = apart and q.m.stride == 4 and q.shift >= FAR_SHIFT
    if q.copying:
        open_copies(&q.copies)
    if apart and not q.m.vw_compat:
        q.scored = <size_t *>calloc(q.models, sizeof(size_t))
    return 0


cdef inline void close_path(PerClass *q) noexcept nogil:
    free(q.scored)
    if q.copying:
        close_copies(&q.copies)


cdef inline int open_weight_sets(PerClass *q, state, config) except -1:
    """A view of the sets of weights of a ``vwlite.learners.per_class.PerClass``, with scores of a single row."""
    cdef double[:, ::1] norms = state.norms
    cdef float[:, ::1] raw = state.raw, score = state.score
    q.m = open_learner(state, config)
    q.table, q.mask = q.m.table, <uint32_t>q.m.slots - 1
    q.classes, q.models, q.shift = config.classes, config.models, config.shift
    if norms.shape[0] != q.models or norms.shape[1] != NORMS or not 1 <= q.models <= <uint32_t>1 << q.shift:
        raise ValueError("the sets of weights do not fit their norms")
    if state.mask is not None or q.m.slots >> q.shift == 0 or state.scalars.shape[0] != SCALARS + 2:
        raise ValueError("the table does not fit the sets of weights")
    if raw.shape[0] < 1 or score.shape[0] < 1 or raw.shape[1] != q.models or score.shape[1] != q.models:
        raise ValueError("no room for the scores")
    q.norms, q.raw, q.score, q.score_stride = &norms[0, 0], &raw[0, 0], &score[0, 0], 0
    q.begin, q.count = 0, q.classes
    q.is_meant = NULL
    q.target = NULL
    q.scored = NULL
    q.copying = q.copies.on = False
    q.transposed = Transposed(NULL, 0, NULL, 0, EIGHT, False)
    return 0
