"""Label-dependent features: every line of a group is scored by one set of weights, and the answer costs least."""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, expf, fabsf, isfinite, isinf, isnan, logf
from libc.stdint cimport int64_t, uint8_t, uint32_t

from base.byte_scan cimport unlikely
from learners.gd_update cimport Learner, clip, inner_product, learn_row, prefetch_slots, sync_if_due, widen_range
from features.namespace_groups cimport Rows
from features.multiline_expand cimport Line, expand_line, grow, subtract_line
from features.plan cimport Plan
from text.batch_builder cimport SHARED
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, STOPPED, STOPPED_IN_GROUP, UNSTABLE
from features.kernel_views cimport Results


cdef enum:
    NO_CHANCE = 999        # log loss of a line that is given no probability, as in vw
    NO_CLASS = 0xffffffff  # as in vw its lines are in no pair
    PATIENCE = 1 << 25     # terms a group that has begun to be learned may take once a signal asks to stop

# Called when a line has got its score, to be predicted or, before it ``learns``, anew: ``other`` is the line it is
# compared with, or itself.
ctypedef void (*Watch)(void *observer, size_t row, size_t other, bint learns, float score) noexcept nogil


cdef struct Ldf:
    Learner m
    bint classifier          # the best line is taught -1 and the others 1, with the weight of what they cost more
    bint pairs               # differences of lines are taught, not lines
    bint probabilities
    bint ranks               # of equal scores the smallest class is first, and where all are NaN the first line
    # per line the classes its label names and their costs, infinite where unknown
    const int64_t *start     # (rows + 1,)
    const uint32_t *named
    const float *cost
    uint32_t *answer         # (rows,) of a group's last row: number of the class
    uint8_t *found           # (rows,) of a group's last row: whether a line has that class
    double *log_loss         # (2, 2) sums over the groups that were not held out and over those that were; their weights
    Line line, other
    Scratch difference
    float *share             # (max_lines,) scratch
    uint32_t *order          # (max_lines,) scratch
    size_t max_lines
    void *observer           # NULL: nobody watches
    Watch watch


cdef struct Lines:           # a group
    size_t first, last       # rows; the lines without the shared one are [first, last], and none when first > last
    size_t shared            # row of the shared line
    const size_t *has_shared # NULL without one, else the address of ``shared``


cdef inline float price(const Ldf *q, size_t row) noexcept nogil:
    """What the line costs, infinite where that is unknown."""
    return q.cost[q.start[row]] if q.start[row] < q.start[row + 1] else INFINITY


cdef inline uint32_t class_of(const Ldf *q, size_t row) noexcept nogil:
    return q.named[q.start[row]] if q.start[row] < q.start[row + 1] else 0


cdef inline bint has_class(const Ldf *q, size_t row, uint32_t number) noexcept nogil:
    cdef uint32_t i
    for i in range(q.start[row], q.start[row + 1]):
        if q.named[i] == number:
            return True
    return False


cdef inline float score(Ldf *q, const Scratch *s, size_t row, size_t other, bint learns) noexcept nogil:
    cdef float raw
    prefetch_slots(&q.m, s)
    raw = inner_product(&q.m, s, 0)
    if unlikely(q.observer != NULL):
        q.watch(q.observer, row, other, learns, clip(raw, &q.m))
    return raw


cdef inline int score_lines(Ldf *q, const Rows *rows, const Plan *plan, const Lines *lines, Results *out, uint32_t *features,
                            size_t *best) noexcept nogil:
    """Fill ``out.raw`` of the group's lines; ``best`` is the row with the least of them, or one past the last row."""
    cdef size_t row
    cdef int status = OK, done
    cdef float least = FLT_MAX
    features[0] = 0
    best[0] = lines.last + 1
    for row in range(lines.first, lines.last + 1):
        done = STOPPED if plan.stop[0] else expand_line(rows, row, lines.has_shared, plan, &q.line)
        if done != OK:
            return done
        out.raw[row] = score(q, &q.line.s, row, row, False)
        features[0] += <uint32_t>q.line.s.count
        if unlikely(not isfinite(out.raw[row])):
            status = UNSTABLE
        if out.raw[row] < least or (q.ranks and out.raw[row] == least and class_of(q, row) < class_of(q, best[0])):
            least, best[0] = out.raw[row], row
    if q.ranks and best[0] > lines.last:
        best[0] = lines.first
    return status


cdef inline int teach_line(Ldf *q, Scratch *s, size_t row, size_t other, float y, float weight) noexcept nogil:
    """One update, from the score of now: other lines of the group have been learned since it was predicted."""
    cdef float raw
    cdef int status
    if not q.m.frozen:
        widen_range(&q.m, y)
    raw = score(q, s, row, other, True)
    status = OK if isfinite(raw) else UNSTABLE
    if weight > 0 and not (q.m.strict and status != OK):
        status |= learn_row(&q.m, s, clip(raw, &q.m), y, weight)
        sync_if_due(&q.m)
    return status


cdef inline bint has_time(const Plan *plan, size_t *left, const Scratch *s) noexcept nogil:
    """Whether a group goes on being learned: a signal lets it, unless it is a long one."""
    if not plan.stop[0]:
        return True
    left[0] -= min(s.terms + 64, left[0])
    return left[0] > 0


cdef inline int teach_costs(Ldf *q, const Rows *rows, const Plan *plan, const Lines *lines) noexcept nogil:
    """Every line in turn learns its cost or, as a classifier, whether it costs least."""
    cdef size_t row
    cdef float lowest = FLT_MAX, highest = -FLT_MAX, y, weight = 1
    cdef size_t left = PATIENCE
    cdef int status = OK, done
    for row in range(lines.first, lines.last + 1):
        lowest = price(q, row) if price(q, row) < lowest else lowest
        highest = price(q, row) if price(q, row) > highest else highest
    for row in range(lines.first, lines.last + 1):
        y = price(q, row)
        if q.classifier:
            weight = highest - lowest if y <= lowest else y - lowest
            y = -1 if y <= lowest else 1
        done = OK if has_time(plan, &left, &q.line.s) else STOPPED_IN_GROUP
        if done == OK:
            done = expand_line(rows, row, lines.has_shared, plan, &q.line)
        if done != OK:
            return STOPPED_IN_GROUP if done == STOPPED else done
        status |= teach_line(q, &q.line.s, row, row, y, weight)
        if q.m.strict and status != OK:
            return status
    return status


cdef inline int share_out(Ldf *q, const Lines *lines, const Plan *plan) noexcept nogil:
    """Weights of all pairs (Beygelzimer et al., 2005): ``share[b] - share[a]`` is what it matters that line a beats line b.

    OK, NO_MEMORY, STOPPED.
    """
    cdef size_t count = lines.last + 1 - lines.first, i, j
    cdef uint32_t k
    if count > q.max_lines:
        if not (grow(<void **>&q.share, 8 * count) and grow(<void **>&q.order, 8 * count)):
            return NO_MEMORY
        q.max_lines = 2 * count
    for i in range(count):                 # by cost; the pairs that follow are as many as this takes steps
        if plan.stop[0]:
            return STOPPED
        k, j = <uint32_t>i, i
        while j and price(q, lines.first + q.order[j - 1]) > price(q, lines.first + k):
            q.order[j] = q.order[j - 1]
            j -= 1
        q.order[j] = k
    q.share[q.order[0]] = 0
    for i in range(1, count):
        q.share[q.order[i]] = q.share[q.order[i - 1]] + (
            price(q, lines.first + q.order[i]) - price(q, lines.first + q.order[i - 1])) / <float>i
    return OK


cdef inline int teach_pairs(Ldf *q, const Rows *rows, const Plan *plan, const Lines *lines) noexcept nogil:
    """The difference of every two lines in turn learns which of them costs less."""
    cdef size_t a, b
    cdef float weight, y
    cdef size_t left = PATIENCE
    cdef int status = OK, done = share_out(q, lines, plan)
    if done != OK:
        return STOPPED_IN_GROUP if done == STOPPED else done
    for a in range(lines.first, lines.last):
        if class_of(q, a) == NO_CLASS:
            continue
        done = expand_line(rows, a, lines.has_shared, plan, &q.line)
        if done != OK:
            return STOPPED_IN_GROUP if done == STOPPED else done
        for b in range(a + 1, lines.last + 1):
            weight = fabsf(q.share[b - lines.first] - q.share[a - lines.first])
            if class_of(q, b) == NO_CLASS or <double>weight < 1e-6:
                continue
            y = -1 if price(q, a) < price(q, b) else 1
            done = OK if has_time(plan, &left, &q.difference) else STOPPED_IN_GROUP
            if done == OK:
                done = expand_line(rows, b, lines.has_shared, plan, &q.other)
            if done != OK:
                return STOPPED_IN_GROUP if done == STOPPED else done
            if subtract_line(&q.line, &q.other, &q.difference) != OK:
                return NO_MEMORY
            status |= teach_line(q, &q.difference, a, b, y, weight)
            if q.m.strict and status != OK:
                return status
    return status


cdef inline size_t likeliest(Ldf *q, const Lines *lines, Results *out) noexcept nogil:
    """Turn scores into probabilities, which are the predictions; the row of the greatest one."""
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


cdef inline void add_log_loss(Ldf *q, const Lines *lines, bint labeled, bint held, const Results *out) noexcept nogil:
    """Of the line that costs least; vw takes the first one in groups with a shared line, and groups to be tested, too."""
    cdef size_t row, best = lines.last + 1
    cdef float lowest = INFINITY
    for row in range(lines.first, lines.last + 1):
        if price(q, row) < lowest:
            lowest, best = price(q, row), row
    if not q.m.strict and lines.has_shared != NULL:
        best = lines.first
    if best <= lines.last and (labeled or not q.m.strict):
        q.log_loss[held] += -logf(out.prediction[best]) if out.prediction[best] > 0 else NO_CHANCE
    q.log_loss[2 + held] += labeled


cdef inline void answer(Ldf *q, const Lines *lines, size_t best, bint labeled, size_t count, Results *out) noexcept nogil:
    """Note the answer and its loss, which is what the chosen line costs, with the group's ``count`` row."""
    cdef size_t row
    cdef float cost
    q.answer[count] = class_of(q, best) if lines.first <= best <= lines.last else 0
    q.found[count] = False
    out.loss[count] = 0
    for row in range(lines.first, lines.last + 1):
        if not q.found[count] and has_class(q, row, q.answer[count]):
            q.found[count] = True
            cost = price(q, row)
            if labeled or not q.m.strict:
                out.loss[count] = FLT_MAX if isinf(cost) else cost
        if not q.probabilities:
            out.prediction[row] = q.answer[count] if has_class(q, row, q.answer[count]) else 0


cdef inline int visit_group(Ldf *q, const Rows *rows, size_t first, size_t last, const Plan *plan, Results *out,
                            bint learning) noexcept nogil:
    """Predict the rows [first, last] and learn them."""
    cdef bint labeled = not isnan(rows.label[last]), held = out.held != NULL and out.held[last]
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
        best = likeliest(q, &lines, out)
        add_log_loss(q, &lines, labeled, held, out)
        if not q.m.strict:
            best -= lines.first - first      # as vw counts, where there is a shared line
    answer(q, &lines, best, labeled, last, out)
    out.features[last] = features
    if learning and labeled and not held and lines.first <= last and not (q.m.strict and status != OK):
        done = teach_pairs(q, rows, plan, &lines) if q.pairs else teach_costs(q, rows, plan, &lines)
        status = status | done if done == OK or done == UNSTABLE else done
    return status
