"""Sets of weights side by side, one a class or a node of a tree: what the kinds of classes have in common."""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t

from base.byte_scan cimport unlikely
from learners.class_blocks cimport EIGHT, MOST, BlockRates, Turned, room_for_rates, score_classes, teach_block, turn_all_back
from learners.gd_update cimport (
    NORMS, SCALARS, Learner, clip, inner_product, learn_row, open_learner, sync_if_due, widen_range
)
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE

cdef enum:
    ONE_AGAINST_ALL = 0    # kinds, named in vwlite/learners/per_class.py
    COSTS = 1
    SETS = 2
    FIRST = SCALARS        # position in the scalars: number of the first class, 0 or 1; -1 while nothing told
    AT = SCALARS + 1       # where in the order of classes the next sample of them begins
    NO_CHANCE = 999        # log loss of a label that is given no probability, as in vw
    LINES = 16             # of the table asked for in advance of a feature's classes


cdef struct Many:
    Learner m              # of the class at work
    float *table           # of the first class
    double *norms          # (classes, NORMS)
    int kind
    uint32_t classes
    uint32_t models        # sets of weights: as many as classes, but for trees
    int shift              # a feature's slots begin at its hash times 2^shift
    uint32_t mask
    bint absolute          # loss is the cost of the answer, not what it costs more than the best
    bint sequential        # a label of a set is learned only while all before it were right
    bint shows             # scores or probabilities are what is written
    bint probabilities
    double *log_loss       # (2, 2) sums over the rows that were not held out and over those that were; their weights
    uint32_t sample        # classes beside the label's own that learn an example; 0: all
    const uint32_t *order  # (classes,) in which they take turns
    float bound            # of a set's answer: labels with a score above it
    # per row the classes its label names and their costs; NULL where no row has any
    const int64_t *start   # (rows + 1,)
    const uint32_t *named
    const float *cost      # infinite: unknown
    # (rows, classes) where somebody asks, else a single row
    float *raw
    float *score
    size_t wide            # classes, or 0 for a single row
    bint scores_lanes      # in blocks of classes
    Turned turned          # where they learn so
    BlockRates rates       # scratch of these


cdef inline void take(Many *q, uint32_t c) noexcept nogil:
    """Class ``c`` is the one at work."""
    q.m.table = q.table + q.m.stride * c
    q.m.norms = q.norms + NORMS * c


cdef inline void move_slots(const Many *q, Scratch *s) noexcept nogil:
    """From hashes to the slots of the first class."""
    cdef size_t i
    cdef uint32_t mask = q.mask        # not read anew behind every index that is written
    cdef int shift = q.shift
    for i in range(s.terms):
        s.index[i] = (s.index[i] << shift) & mask


cdef inline int predict_class(Many *q, const Scratch *s, uint32_t c, float base, float *raw, float *score) noexcept nogil:
    take(q, c)
    raw[c] = inner_product(&q.m, s, base)
    score[c] = clip(raw[c], &q.m)
    return OK if isfinite(raw[c]) else UNSTABLE


cdef inline int update_class(Many *q, Scratch *s, uint32_t c, float score, float label, float weight) noexcept nogil:
    """One update of class ``c``, its prediction known."""
    cdef int status
    take(q, c)
    status = learn_row(&q.m, s, score, label, weight)
    take(q, 0)
    sync_if_due(&q.m)
    return status


cdef inline void show_learned(const Many *q, uint32_t c, float *raw, float *score) noexcept nogil:
    """Where classes answer one by one, what a rule learned from counts, not what its weights said before."""
    if q.m.rule != NULL:
        raw[c] = q.m.raw
        score[c] = clip(raw[c], &q.m)


cdef inline void tell_first(Many *q, double number) noexcept nogil:
    """The first label that is 0, or the number of classes, tells from where they are counted."""
    if q.m.scalars[FIRST] < 0 and (number == 0 or number == q.classes):
        q.m.scalars[FIRST] = 0 if number == 0 else 1


cdef inline uint32_t first_class(const Many *q) noexcept nogil:
    return 0 if q.m.scalars[FIRST] == 0 else 1


cdef inline uint32_t place(const Many *q, uint32_t number) noexcept nogil:
    """The set of weights of a class number; under ``vwlite vw`` one out of range is the first or the last."""
    cdef uint32_t first = first_class(q)
    return number - first if number - first < q.classes else (q.classes - 1 if first else 0)


cdef inline int predict_all(Many *q, const Scratch *s, float base, float *raw, float *score) noexcept nogil:
    cdef uint32_t c
    cdef int status = OK
    if q.scores_lanes:
        score_classes(&q.m, q.table, s, base, q.classes, &q.turned, raw)
    for c in range(q.classes):
        if not q.scores_lanes:
            status |= predict_class(q, s, c, base, raw, score)
        else:
            score[c] = clip(raw[c], &q.m)
            if unlikely(not isfinite(raw[c])):
                status = UNSTABLE
    return status


cdef inline int teach_lanes(Many *q, const Scratch *s, const float *score, float true, float weight) noexcept nogil:
    """Every class is told whether it is number ``true``; a block at a time."""
    cdef float sign[MOST]
    cdef uint32_t begin = 0, c, n, width = q.turned.width
    cdef int status = OK
    if room_for_rates(&q.rates, s.terms) != OK:
        return NO_MEMORY
    while begin < q.classes:
        n = min(width, q.classes - begin)
        for c in range(n):
            sign[c] = 1 if true == begin + c else -1
            if not q.m.frozen:
                widen_range(&q.m, sign[c])
        status |= teach_block(&q.m, q.table + 4 * <size_t>begin, q.norms + NORMS * begin, s, score + begin, sign, weight, n,
                              width, begin == 0, &q.rates)
        if q.m.strict and status != OK:
            break                      # nothing was applied, which tells later blocks where terms share slots
        begin += width
    take(q, 0)
    return status


cdef inline int teach_anew(Many *q, const Rows *rows, size_t row, Scratch *s, uint32_t c, float sign, float weight,
                           float *raw, float *score) noexcept nogil:
    """Predict once more, within the range of labels of now, and learn."""
    cdef int status
    if not q.m.frozen:
        widen_range(&q.m, sign)
    status = predict_class(q, s, c, rows.base[row], raw, score)
    return status | (update_class(q, s, c, score[c], sign, weight) if weight > 0 else OK)


cdef inline int teach_sample(Many *q, const Rows *rows, size_t row, Scratch *s, float *raw, float *score) noexcept nogil:
    """The label's class and the next few others, whose weight makes up for those left out."""
    cdef float weight = rows.importance[row]
    cdef uint32_t at = <uint32_t>q.m.scalars[AT], left = q.sample, own
    cdef int status = OK
    own = <uint32_t>(rows.label[row] - first_class(q)) if rows.label[row] >= first_class(q) else q.classes
    if own < q.classes:
        status = teach_anew(q, rows, row, s, own, 1, weight, raw, score)
    while left:
        if q.order[at] != own:
            status |= teach_anew(q, rows, row, s, q.order[at], -1, weight * (<float>q.classes / <float>q.sample), raw, score)
            left -= 1
        at = at + 1 if at + 1 < q.classes else 0
    q.m.scalars[AT] = at
    return status


cdef inline int teach_all(Many *q, const Rows *rows, size_t row, Scratch *s, float *raw, float *score,
                          int status) noexcept nogil:
    """``status`` is that of the prediction: lanes are for finite numbers, and for examples that have features."""
    cdef float true = rows.label[row] - first_class(q), weight = rows.importance[row], sign
    cdef uint32_t c
    if q.sample:
        return teach_sample(q, rows, row, s, raw, score)
    if q.turned.on and weight > 0 and s.terms:
        if status == OK:
            return teach_lanes(q, s, score, true, weight)
        turn_all_back(&q.turned, q.table, q.shift, q.classes)
    status = OK
    for c in range(q.classes):
        sign = 1 if true == c else -1
        if not q.m.frozen:
            widen_range(&q.m, sign)
        if weight > 0:
            status |= update_class(q, s, c, score[c], sign, weight)
    return status


cdef inline int open_sets(Many *q, state, config) except -1:
    """The sets of weights of a ``vwlite.learners.per_class.Many``, and room for a single row of their scores."""
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
    q.norms, q.raw, q.score, q.wide = &norms[0, 0], &raw[0, 0], &score[0, 0], 0
    q.turned = Turned(NULL, 0, NULL, 0, EIGHT, False)
    return 0
