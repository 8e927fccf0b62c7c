"""Label-dependent features: one set of weights scores every line of a group, and the prediction is the line with the lowest
score.
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, expf, fabsf, isfinite, isinf, isnan, logf
from libc.stdint cimport int64_t, uint8_t, uint32_t

from base.byte_scan cimport unlikely
from learners.gd_update cimport Learner, clip, inner_product, learn_row, prefetch_slots, sync_if_due, widen_range
from features.namespace_groups cimport Rows
from features.group_lines cimport LONG_LINE, NO_ROW, GroupLines, find_line, release_long_line, set_row
from features.multiline_expand cimport Line, expand_line, grow, subtract_line
from features.plan cimport Plan
from text.batch_builder cimport SHARED
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, STOPPED, STOPPED_IN_GROUP, UNSTABLE
from features.kernel_views cimport Results


cdef enum:
    ZERO_PROBABILITY_LOSS = 999     # log loss of a line whose probability is 0, as in vw
    NO_CLASS = 0xffffffff           # as in vw lines of this class are in no pair
    MAX_TERMS_AFTER_STOP = 1 << 25  # most terms for which a group in progress is finished after a request to stop

# Called for every score of a line: for the prediction, and again (``learns``) before an update. ``other`` is the line with
# which it is compared, or the line itself.
ctypedef void (*ScoreObserver)(void *observer, size_t row, size_t other, bint learns, float score) noexcept nogil


cdef struct Multiline:
    Learner m
    bint classifier          # lines of the lowest cost have the label -1, others 1, weighted by the difference in cost
    bint pairs               # differences of two lines are learned, not lines
    bint probabilities
    bint ranks               # ties are broken by the smallest class; if all scores are NaN the first line is predicted
    # CSR lists of each line's classes and their costs, infinite where unknown
    const int64_t *start     # (rows + 1,)
    const uint32_t *named
    const float *cost
    uint32_t *answer         # (rows,) at a group's last row: the predicted class
    uint8_t *found           # (rows,) at a group's last row: whether a line has that class
    double *log_loss         # (2, 2) sums of log loss over groups not held out and held out; their weights
    GroupLines *lines        # the group's lines, expanded
    Scratch difference
    float *share             # (max_lines,) scratch
    uint32_t *order          # (max_lines,) scratch
    size_t max_lines
    void *observer           # NULL for none
    ScoreObserver on_score


cdef struct Lines:           # a group
    size_t first, last       # rows; the lines without the shared one are [first, last], and none when first > last
    size_t shared            # row of the shared line
    const size_t *has_shared # NULL without one, else the address of ``shared``


cdef inline float cost_of(const Multiline *q, size_t row) noexcept nogil:
    """The cost of a line, infinite where unknown."""
    return q.cost[q.start[row]] if q.start[row] < q.start[row + 1] else INFINITY


cdef inline uint32_t class_of(const Multiline *q, size_t row) noexcept nogil:
    return q.named[q.start[row]] if q.start[row] < q.start[row + 1] else 0


cdef inline bint has_class(const Multiline *q, size_t row, uint32_t number) noexcept nogil:
    cdef uint32_t i
    for i in range(q.start[row], q.start[row + 1]):
        if q.named[i] == number:
            return True
    return False


cdef inline float score(Multiline *q, const Scratch *s, size_t row, size_t other, bint learns) noexcept nogil:
    cdef float raw = inner_product(&q.m, s, 0)
    if unlikely(q.observer != NULL):
        q.on_score(q.observer, row, other, learns, clip(raw, &q.m))
    return raw


cdef inline int ready_line(Multiline *q, const Rows *rows, const Plan *plan, const Lines *lines, size_t row, bint other,
                           Line **line) noexcept nogil:
    """Point ``line`` to the terms of a row, which are expanded and their slots prefetched unless they are kept."""
    cdef int done = OK
    if not find_line(q.lines, row, lines.first, other, line):
        set_row(q.lines, line[0], NO_ROW)
        done = expand_line(rows, row, lines.has_shared, plan, line[0])
        if done == OK:
            set_row(q.lines, line[0], <ssize_t>row)
            prefetch_slots(&q.m, &line[0].s)
    return done


cdef inline int score_lines(Multiline *q, const Rows *rows, const Plan *plan, const Lines *lines, Results *out, uint32_t *features,
                            size_t *best) noexcept nogil:
    """Fill ``out.raw`` for the group's lines; ``best`` is set to the row of the lowest score, or one past the last row if none
    is.
    """
    cdef size_t row
    cdef int status = OK, done
    cdef float least = FLT_MAX
    cdef Line *line
    cdef Line *next
    features[0] = 0
    best[0] = lines.last + 1
    for row in range(lines.first, lines.last + 1):
        done = STOPPED if plan.stop[0] else ready_line(q, rows, plan, lines, row, row & 1, &line)
        if done != OK:
            return done
        if row < lines.last and line.s.terms <= LONG_LINE:  # its slots arrive meanwhile; where it fails, it does so in its turn
            ready_line(q, rows, plan, lines, row + 1, (row + 1) & 1, &next)
        out.raw[row] = score(q, &line.s, row, row, False)
        features[0] += <uint32_t>line.s.count
        release_long_line(q.lines, line)
        if unlikely(not isfinite(out.raw[row])):
            status = UNSTABLE
        if out.raw[row] < least or (q.ranks and out.raw[row] == least and class_of(q, row) < class_of(q, best[0])):
            least, best[0] = out.raw[row], row
    if q.ranks and best[0] > lines.last:
        best[0] = lines.first
    return status


cdef inline int update_line(Multiline *q, Scratch *s, size_t row, size_t other, float y, float weight) noexcept nogil:
    """Update on a line. Its score is computed again, as other lines of the group have been learned since the prediction."""
    cdef float raw
    cdef int status
    if not q.m.frozen:
        widen_range(&q.m, y)
    raw = score(q, s, row, other, True)
    status = OK if isfinite(raw) else UNSTABLE
    if weight > 0 and (q.m.vw_compat or status == OK):
        status |= learn_row(&q.m, s, clip(raw, &q.m), y, weight)
        sync_if_due(&q.m)
    return status


cdef inline bint may_continue(const Plan *plan, size_t *left, const Scratch *s) noexcept nogil:
    """Whether learning of a group continues: after a signal, only if the group is short."""
    if not plan.stop[0]:
        return True
    left[0] -= min(s.terms + 64, left[0])
    return left[0] > 0


cdef inline int update_costs(Multiline *q, const Rows *rows, const Plan *plan, const Lines *lines) noexcept nogil:
    """Update on every line in turn: on its cost or, as a classifier, on whether its cost is the lowest."""
    cdef size_t row
    cdef float lowest = FLT_MAX, highest = -FLT_MAX, y, weight = 1
    cdef size_t left = MAX_TERMS_AFTER_STOP
    cdef int status = OK, done
    cdef Line *line
    for row in range(lines.first, lines.last + 1):
        lowest = cost_of(q, row) if cost_of(q, row) < lowest else lowest
        highest = cost_of(q, row) if cost_of(q, row) > highest else highest
    for row in range(lines.first, lines.last + 1):
        y = cost_of(q, row)
        if q.classifier:
            weight = highest - lowest if y <= lowest else y - lowest
            y = -1 if y <= lowest else 1
        done = ready_line(q, rows, plan, lines, row, row & 1, &line)
        if done == OK and not may_continue(plan, &left, &line.s):
            done = STOPPED
        if done != OK:
            return STOPPED_IN_GROUP if done == STOPPED else done
        status |= update_line(q, &line.s, row, row, y, weight)
        release_long_line(q.lines, line)
        if not q.m.vw_compat and status != OK:
            return status
    return status


cdef inline int compute_shares(Multiline *q, const Lines *lines, const Plan *plan) noexcept nogil:
    """Compute the weights of all pairs (Beygelzimer et al., 2005): the pair of lines a, b has the weight ``share[b] - share[a]``.

    OK, NO_MEMORY, STOPPED.
    """
    cdef size_t count = lines.last + 1 - lines.first, i, j
    cdef uint32_t k
    if count > q.max_lines:
        if not (grow(<void **>&q.share, 8 * count) and grow(<void **>&q.order, 8 * count)):
            return NO_MEMORY
        q.max_lines = 2 * count
    for i in range(count):                 # insertion sort by cost; its steps are no more than the pairs learned afterwards
        if plan.stop[0]:
            return STOPPED
        k, j = <uint32_t>i, i
        while j and cost_of(q, lines.first + q.order[j - 1]) > cost_of(q, lines.first + k):
            q.order[j] = q.order[j - 1]
            j -= 1
        q.order[j] = k
    q.share[q.order[0]] = 0
    for i in range(1, count):
        q.share[q.order[i]] = q.share[q.order[i - 1]] + (
            cost_of(q, lines.first + q.order[i]) - cost_of(q, lines.first + q.order[i - 1])) / <float>i
    return OK


cdef inline int update_pairs(Multiline *q, const Rows *rows, const Plan *plan, const Lines *lines) noexcept nogil:
    """Update on the difference of every two lines in turn: on which of them has the lower cost."""
    cdef size_t a, b
    cdef float weight, y
    cdef size_t left = MAX_TERMS_AFTER_STOP
    cdef int status = OK, done = compute_shares(q, lines, plan)
    cdef Line *line
    cdef Line *other
    if done != OK:
        return STOPPED_IN_GROUP if done == STOPPED else done
    for a in range(lines.first, lines.last):
        if class_of(q, a) == NO_CLASS:
            continue
        done = ready_line(q, rows, plan, lines, a, False, &line)
        if done != OK:
            return STOPPED_IN_GROUP if done == STOPPED else done
        for b in range(a + 1, lines.last + 1):
            weight = fabsf(q.share[b - lines.first] - q.share[a - lines.first])
            if class_of(q, b) == NO_CLASS or <double>weight < 1e-6:
                continue
            y = -1 if cost_of(q, a) < cost_of(q, b) else 1
            done = OK if may_continue(plan, &left, &q.difference) else STOPPED_IN_GROUP
            if done == OK:
                done = ready_line(q, rows, plan, lines, b, True, &other)
            if done != OK:
                return STOPPED_IN_GROUP if done == STOPPED else done
            if subtract_line(line, other, &q.difference) != OK:
                return NO_MEMORY
            release_long_line(q.lines, other)
            status |= update_line(q, &q.difference, a, b, y, weight)
            if not q.m.vw_compat and status != OK:
                return status
        release_long_line(q.lines, line)
    return status


cdef inline size_t make_probabilities(Multiline *q, const Lines *lines, Results *out) noexcept nogil:
    """Replace scores by probabilities, which become the predictions; returns the row of the highest one."""
    cdef size_t row, best = lines.first
    cdef float total = 0
    for row in range(lines.first, lines.last + 1):
        out.prediction[row] = 1 / (1 + expf(out.raw[row]))
        total += out.prediction[row]
    for row in range(lines.first, lines.last + 1):
        out.prediction[row] /= total
        if out.prediction[row] > out.prediction[best]:
            best = row
    return best


cdef inline void add_log_loss(Multiline *q, const Lines *lines, bint labeled, bint held, const Results *out) noexcept nogil:
    """Add the log loss of the line with the lowest cost. As in vw, groups with a shared line use the first line, and groups
    without labels count too.
    """
    cdef size_t row, best = lines.last + 1
    cdef float lowest = INFINITY
    for row in range(lines.first, lines.last + 1):
        if cost_of(q, row) < lowest:
            lowest, best = cost_of(q, row), row
    if q.m.vw_compat and lines.has_shared != NULL:
        best = lines.first
    if best <= lines.last and (labeled or q.m.vw_compat):
        q.log_loss[held] += -logf(out.prediction[best]) if out.prediction[best] > 0 else ZERO_PROBABILITY_LOSS
    q.log_loss[2 + held] += labeled


cdef inline void record_answer(Multiline *q, const Lines *lines, size_t best, bint labeled, size_t count, Results *out) noexcept nogil:
    """Record the predicted class and the loss, which is the chosen line's cost, at row ``count``, the last of the group."""
    cdef size_t row
    cdef float cost
    q.answer[count] = class_of(q, best) if lines.first <= best <= lines.last else 0
    q.found[count] = False
    out.loss[count] = 0
    for row in range(lines.first, lines.last + 1):
        if not q.found[count] and has_class(q, row, q.answer[count]):
            q.found[count] = True
            cost = cost_of(q, row)
            if labeled or q.m.vw_compat:
                out.loss[count] = FLT_MAX if isinf(cost) else cost
        if not q.probabilities:
            out.prediction[row] = q.answer[count] if has_class(q, row, q.answer[count]) else 0


cdef inline int process_group(Multiline *q, const Rows *rows, size_t first, size_t last, const Plan *plan, Results *out,
                              bint learning) noexcept nogil:
    """Predict the group of the rows ``[first, last]`` and, when ``learning``, update on it."""
    cdef bint labeled = not isnan(rows.label[last]), held = out.holdout_mask != NULL and out.holdout_mask[last]
    cdef size_t row, best
    cdef uint32_t features = 0
    cdef Lines lines
    cdef int status, done
    lines.first, lines.last, lines.shared, lines.has_shared = first, last, first, NULL
    for row in range(first, last + 1):
        out.raw[row] = out.prediction[row] = out.loss[row] = 0
        out.features[row] = 0
    if rows.flags[first] & SHARED:
        lines.first, lines.has_shared = first + 1, &lines.shared
    status = score_lines(q, rows, plan, &lines, out, &features, &best)
    if status != OK and status != UNSTABLE:
        return status
    if q.probabilities and lines.first <= last:
        best = make_probabilities(q, &lines, out)
        add_log_loss(q, &lines, labeled, held, out)
        if q.m.vw_compat:
            best -= lines.first - first      # as in vw, which counts lines without the shared one here
    record_answer(q, &lines, best, labeled, last, out)
    out.features[last] = features
    if learning and labeled and not held and lines.first <= last and (q.m.vw_compat or status == OK):
        done = update_pairs(q, rows, plan, &lines) if q.pairs else update_costs(q, rows, plan, &lines)
        status = status | done if done == OK or done == UNSTABLE else done
    return status
