"""Multiclass reductions with one set of weights per class: one against all, cost-sensitive one against all, label sets."""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, isfinite, isnan, log
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from base.byte_scan cimport prefetch
from learners.class_blocks cimport (
    MAX_WIDTH, close_rates, learns_in_blocks, open_transposed, score_classes, scores_in_blocks, transpose_all_back,
    transpose_terms
)
from learners.gd_update cimport NORMS, count_time, widen_range
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport LINK_LOGISTIC, apply_link
from learners.class_update cimport (
    COSTS, NEXT_SAMPLE, ONE_AGAINST_ALL, PREFETCH_LINES, SETS, ZERO_PROBABILITY_LOSS, PerClass, can_update_blocks, clip_class,
    first_class, infer_first_class, keep_learned_score, move_slots, open_weight_sets, predict_all, predict_class,
    score_before_updates, select_class, set_target, update_all_classes, update_blocks, update_class, weight_set_of
)
from learners.set_losses cimport HAMMING, set_cost, set_decision_weight
from features.row_buffer cimport Scratch
from base.status cimport OK
from features.kernel_views cimport Results


cdef inline uint32_t highest(const float *score, uint32_t n) noexcept nogil:
    cdef uint32_t c, best = 0
    for c in range(1, n):
        if score[c] > score[best]:
            best = c
    return best


cdef inline void answer_part(const PerClass *q, size_t row, Results *out, const float *score) noexcept nogil:
    """For one thread's classes: the best one, and instead of a loss its score, of which the highest answers."""
    cdef uint32_t c, best = 0
    cdef float most = -INFINITY
    for c in range(q.count):
        if score[c] > most:
            most, best = score[c], c
    out.prediction[row] = <float>(q.begin + best + first_class(q))
    out.loss[row] = most


cdef inline void make_probabilities(PerClass *q, float y, float weight, bint held, float *score) noexcept nogil:
    cdef uint32_t c, true
    cdef float total = 0
    for c in range(q.classes):
        score[c] = apply_link(LINK_LOGISTIC, score[c])
        total += score[c]
    for c in range(q.classes):
        score[c] /= total
    if not isnan(y):
        true = weight_set_of(q, <uint32_t>y)
        q.log_loss[held] += weight * (-log(score[true]) if score[true] > 0 else ZERO_PROBABILITY_LOSS)
        q.log_loss[2 + held] += weight


cdef inline int process_one_against_all(PerClass *q, const Rows *rows, size_t row, Scratch *s, Results *out, bint learn, float *raw,
                                        float *score) noexcept nogil:
    """One against all: every class learns whether it is the label, from scores that are all computed before the first update."""
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y)
    cdef int status = predict_all(q, s, rows.initial_prediction[row], raw, score)
    if learn and q.writes_scores:
        infer_first_class(q, y)               # otherwise this row still has the first class assumed so far
    if q.count < q.classes:
        answer_part(q, row, out, score)
    else:
        out.prediction[row] = highest(score, q.classes) + first_class(q)
        out.loss[row] = weight if labeled and weight > 0 and out.prediction[row] != y else 0
    out.raw[row] = first_class(q)
    if learn and (q.m.vw_compat or status == OK):
        infer_first_class(q, y)
        status |= update_all_classes(q, rows, row, s, raw, score, status)
    if q.probabilities:
        make_probabilities(q, y, weight, out.holdout_mask != NULL and out.holdout_mask[row], score)
    return status


cdef inline bint lists_every_class(const PerClass *q, size_t begin, size_t end) noexcept nogil:
    """Whether a row has a cost, known or not, of each class."""
    cdef size_t i
    cdef uint32_t c, listed = 0
    if end - begin != q.classes:
        return False
    for i in range(begin, end):
        c = weight_set_of(q, q.named[i])
        listed += not q.is_meant[c]
        q.is_meant[c] = True
    memset(q.is_meant, 0, q.classes)
    return listed == q.classes


cdef inline bint score_costs(PerClass *q, const Scratch *s, float initial, size_t begin, size_t end, bint learn,
                             float *raw) noexcept nogil:
    """Fill ``raw`` of a row with costs in blocks, if they are of each class. If not, slots are transposed no more."""
    if not q.transposed.on and (learn or not q.score_blocks):
        return False
    if not lists_every_class(q, begin, end):
        transpose_all_back(&q.transposed, q.table, q.shift, q.classes)
        return False
    score_classes(&q.m, q.table, s, initial, q.classes, &q.transposed, raw)
    return True


cdef inline bint update_costs(PerClass *q, const Scratch *s, size_t begin, size_t end, const float *raw, float *score,
                              int *status) noexcept nogil:
    """Learn the costs of all classes in blocks, if they are known. If that is not possible, slots are transposed no more."""
    cdef size_t i
    cdef bint known = True
    for i in range(begin, end):
        known = known and isfinite(q.cost[i])
    if not known or not can_update_blocks(q, s, raw):
        transpose_all_back(&q.transposed, q.table, q.shift, q.classes)
        return False
    for i in range(begin, end):
        set_target(q, weight_set_of(q, q.named[i]), q.cost[i], raw, score)
    status[0] = update_blocks(q, s, score, 0, 1)
    return True


cdef inline int process_costs(PerClass *q, const Rows *rows, size_t row, Scratch *s, Results *out, bint learn, float *raw,
                              float *score) noexcept nogil:
    """Every class with a cost learns it by regression; the prediction is the class with the lowest predicted cost."""
    cdef size_t i, begin = q.start[row] if q.start else 0, end = q.start[row + 1] if q.start else 0
    cdef uint32_t c, best = 0
    cdef float least = INFINITY, cost, lowest = INFINITY, chosen = INFINITY
    cdef int status = OK
    cdef bint known, learned, scored
    for i in range(begin, end):
        infer_first_class(q, q.named[i])
    scored = begin < end and score_costs(q, s, rows.initial_prediction[row], begin, end, learn, raw)
    learned = scored and learn and update_costs(q, s, begin, end, raw, score, &status)
    if begin == end:
        status = predict_all(q, s, rows.initial_prediction[row], raw, score)
        for c in range(q.classes):
            if raw[c] < least:
                least, best = raw[c], c
    for i in range(begin, end):
        c = weight_set_of(q, q.named[i])
        cost = q.cost[i]
        known = isfinite(cost) and learn and not learned
        if known and not q.m.frozen:
            widen_range(&q.m, cost)
        if not learned:
            status |= clip_class(q, c, raw, score) if scored else predict_class(q, s, c, rows.initial_prediction[row], raw, score)
        if known and (q.m.vw_compat or status == OK):
            status |= update_class(q, s, c, score[c], cost, 1)
            keep_learned_score(q, c, raw, score)
        if raw[c] < least or (raw[c] == least and c < best):
            least, best = raw[c], c
    out.prediction[row] = best + first_class(q)
    out.raw[row] = first_class(q)
    for i in range(begin, end):
        lowest = q.cost[i] if q.cost[i] < lowest else lowest
        if weight_set_of(q, q.named[i]) == best:
            chosen = q.cost[i]
    out.loss[row] = 0
    if not isnan(rows.label[row]):
        if isfinite(chosen):
            out.loss[row] = chosen if q.absolute else chosen - lowest
        elif q.m.vw_compat:
            out.loss[row] = FLT_MAX - lowest   # to vw a cost that is not known is that large
    return status


cdef inline uint32_t mark_labels(PerClass *q, size_t begin, size_t end, bint on) noexcept nogil:
    """Mark the labels of a row as meant, or take the marks away; how many there are."""
    cdef size_t i
    cdef uint32_t marked = 0
    for i in range(begin, end):
        if q.named[i] < q.classes:
            q.is_meant[q.named[i]] = on
            marked += 1
    return marked


cdef inline int process_label_set(PerClass *q, const Rows *rows, size_t row, Scratch *s, Results *out, bint learn, float *raw,
                                  float *score) noexcept nogil:
    """Every label, numbered from 0, learns whether the row has it; the prediction is the labels with a score above ``bound``.

    Labels are decided one after the other; each is learned with what depends on it, given the answers before it and if those
    behind it will be right. The result holds only the number of labels predicted; ``score``, linked, holds the rest.
    """
    cdef float weight = rows.importance[row], decision
    cdef size_t begin = q.start[row] if q.start else 0, end = q.start[row + 1] if q.start else 0
    cdef uint32_t n, c, size = 0, shared = 0, meant = end - begin, later = mark_labels(q, begin, end, True)
    cdef int status = OK
    cdef bint true, learns, learned = False, scored = score_before_updates(q, s, rows.initial_prediction[row], learn, raw)
    if learn and weight > 0 and can_update_blocks(q, s, raw):
        for n in range(q.classes):
            set_target(q, q.order[n], 1 if q.is_meant[q.order[n]] else -1, raw, score)
        status, learned = update_blocks(q, s, score, 0, weight), True
    for n in range(q.classes):
        c = q.order[n]
        true = q.is_meant[c]
        later -= true
        decision = set_decision_weight(q.set_loss, size + later, meant, shared + later, true)
        learns = learn and decision > 0 and not learned
        if learns and not q.m.frozen:
            widen_range(&q.m, 1 if true else -1)
        if not learned:
            status |= clip_class(q, c, raw, score) if scored else predict_class(q, s, c, rows.initial_prediction[row], raw, score)
        if learns and weight > 0 and (q.m.vw_compat or status == OK):
            status |= update_class(q, s, c, score[c], 1 if true else -1, weight * decision)
            keep_learned_score(q, c, raw, score)
        score[c] = apply_link(q.m.link, score[c])
        size += score[c] > q.bound
        shared += true and score[c] > q.bound
    mark_labels(q, begin, end, False)
    out.prediction[row] = size
    out.raw[row] = 0
    out.loss[row] = set_cost(q.set_loss, size, meant, shared) if not isnan(rows.label[row]) else 0
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef PerClass *q = <PerClass *>learner
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint learn = learning and labeled and not held
    cdef float *raw = q.raw + row * q.score_stride
    cdef float *score = q.score + row * q.score_stride
    cdef int status
    if q.transposed.on:
        transpose_terms(&q.transposed, q.table, s, q.shift, q.count)
    if q.reduction == ONE_AGAINST_ALL:
        status = process_one_against_all(q, rows, row, s, out, learn, raw, score)
    elif q.reduction == COSTS:
        status = process_costs(q, rows, row, s, out, learn, raw, score)
    else:
        status = process_label_set(q, rows, row, s, out, learn, raw, score)
    out.features[row] = <uint32_t>s.count
    # to vw an example of which a sample of classes has learned has no label
    count_time(&q.m, rows.importance[row], labeled and not (learn and q.sample and q.m.vw_compat), held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef PerClass *q = <PerClass *>learner
    cdef size_t i, line, lines = (q.m.stride * q.count + 15) / 16
    move_slots(q, s)
    for i in range(0 if s.in_cache else s.terms):
        for line in range(lines if lines < PREFETCH_LINES else PREFETCH_LINES):
            prefetch(q.table + q.m.stride * s.index[i] + 16 * line)
    for i in range(s.terms if q.transposed.on and not s.in_cache else 0):
        prefetch(q.transposed.is_transposed + (s.index[i] >> q.shift))


cdef PerClass open_per_class(state, config, lists, Py_ssize_t rows):
    """From a ``vwlite.learners.per_class.PerClass``, its ``KernelConfig`` and a batch's label lists, a ``vwlite.data.batch.Csr``,
    if any.
    """
    cdef double[:, ::1] log_loss = state.log_loss
    cdef const uint32_t[::1] order = state.order
    cdef const int64_t[::1] start
    cdef const uint32_t[::1] named
    cdef const float[::1] cost
    cdef PerClass q
    open_weight_sets(&q, state, config)
    q.reduction, q.set_loss = config.kind, config.set_loss
    q.absolute, q.bound = config.absolute, config.bound
    q.writes_scores, q.probabilities = config.shows, config.probabilities
    q.log_loss = &log_loss[0, 0]
    if log_loss.shape[0] != 2 or log_loss.shape[1] != 2 or q.models != q.classes:
        raise ValueError("two sums of log losses and two of weights; a set of weights for each class")
    q.sample, q.order = config.sample, &order[0]
    if order.shape[0] != q.classes or q.sample >= q.classes or not 0 <= q.m.scalars[NEXT_SAMPLE] < q.classes:
        raise ValueError("the order of classes does not fit them")
    q.start, q.named, q.cost = NULL, NULL, NULL
    if lists is not None:
        start, named, cost = lists.indptr, lists.indices, lists.values
        if start.shape[0] != rows + 1 or named.shape[0] < start[rows] or cost.shape[0] < start[rows]:
            raise ValueError("the label lists do not fit the batch")
        q.start = &start[0]
        q.named = &named[0] if named.shape[0] else NULL
        q.cost = &cost[0] if cost.shape[0] else NULL
    if state.wants_scores:
        q.score_stride = q.classes
        if min(len(state.raw), len(state.score)) < rows:
            raise ValueError("no room for the scores")
    q.rates.r = NULL
    q.score_blocks = config.simd_width and scores_in_blocks(&q.m, q.shift)
    if config.part is not None:
        take_part(&q, config.part[0], config.part[1])
    return q


cdef int take_part(PerClass *q, uint32_t begin, uint32_t count) except -1:
    """Have only ``count`` classes from ``begin`` on: another thread has the others."""
    if q.reduction != ONE_AGAINST_ALL or q.sample or q.score_stride or not q.score_blocks or begin % MAX_WIDTH or \
            not begin < begin + count <= q.classes:
        raise ValueError("these classes cannot be learned by themselves")
    q.begin, q.count = begin, count
    q.table += q.m.stride * begin
    q.norms += NORMS * begin
    select_class(q, 0)
    return 0


cdef inline bint costs_list_classes(const PerClass *q, size_t begin, size_t end) noexcept nogil:
    """Whether the costs of the rows ``[begin, end)`` are those of as many classes as there are, or of none."""
    cdef size_t row, size
    for row in range(begin, end if q.start != NULL else begin):
        size = q.start[row + 1] - q.start[row]
        if size and size != q.classes:
            return False
    return q.start != NULL


cdef inline bint learns_transposed(const PerClass *q, config, size_t begin, size_t end) except -1:
    """Whether classes learn in blocks: all those of a row, and what one of them learns does not depend on another."""
    if not config.simd_width or not learns_in_blocks(&q.m, q.shift):
        return False
    if q.reduction == ONE_AGAINST_ALL:
        return not q.sample
    return q.set_loss == HAMMING if q.reduction == SETS else not q.m.signs and costs_list_classes(q, begin, end)


def can_split(state, config):
    """Whether threads can each learn some of the classes: these share nothing but the numbers of all rows."""
    cdef PerClass q = open_per_class(state, config, None, 0)
    return q.reduction == ONE_AGAINST_ALL and learns_transposed(&q, config, 0, 0) and not q.score_stride


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    Instead of raw predictions the results hold the number of the first class as known at that row; with ``config.part``, the
    first one of these classes and their number, instead of losses the scores of the predicted ones.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef PerClass q = open_per_class(state, config, batch.lists, call.rows.size)
    cdef int status
    call.plan.flat = plan.flat and (q.m.stride > 1 or not call.learning)
    check_fit(state, &call)
    if q.reduction != ONE_AGAINST_ALL:
        q.is_meant = <uint8_t *>calloc(q.classes, 1)
        q.target = <float *>calloc(q.classes, sizeof(float))
        if q.is_meant == NULL or q.target == NULL:
            raise MemoryError("no memory for the labels of a row")
    if call.learning and learns_transposed(&q, config, call.row, call.end):
        open_transposed(&q.transposed, state, q.m.slots >> q.shift, q.count, config.simd_width)
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
        transpose_all_back(&q.transposed, q.table, q.shift, q.count)
    close_rates(&q.rates)
    free(q.transposed.page_has_transposed)
    free(q.is_meant)
    free(q.target)
    return status, call.row
