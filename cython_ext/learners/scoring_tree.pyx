"""Scoring filter trees: one score f_c for every class, of which the larger wins a contest, learned along the exact flow.

The classes play a tournament on a binary tree. A contest between the classes l and r, with costs c_l and c_r, is learned as an
example of two classes: the margin m = f_l - f_r, the label 1 where l costs less and else -1, the importance |c_l - c_r|. Along the
flow of the margin f_l moves by s and f_r by -s, so m(s) = z_l(s) - z_r(-s), which is a prediction of ``dyadic_flow.pxd``: the
components of r have plus and minus exchanged.
"""

from libc.math cimport fabs, isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.dyadic_components cimport has_unknown_side, turns_for, way_of
from learners.dyadic_flow cimport (
    Flow, Step, flow_step, has_constant_slope, importance_to_flip, is_at_rest, prediction_at, safe_exp)
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.label_rates cimport MISMATCHED, TIME, UNBOUNDED, LabelRun, largest_decay, open_run, rate_now, shrink_label
from learners.label_flow cimport softmax
from learners.label_model cimport (
    LabelModel, change_vectors, close_model, count_sides, find_rows, make_flow, make_flows, make_sides, open_flows, read_set,
    take_standing_terms,
)
from learners.latent_vectors cimport Side, move_part
from learners.query_choice cimport asked_weight, record_asked
from losses.loss_types cimport LossParams, read_params


cdef struct ScoringTree:
    LabelModel model
    LabelRun run
    bint probabilities
    int loss               # code of losses/losses.pxd
    LossParams params
    const float *costs     # (rows from ``begin`` on, classes); not finite: unknown
    const int *first       # (rows from ``begin`` on,) the number of the first class
    size_t begin
    double *z              # (classes,)
    uint32_t *winner       # (2 * classes,) of the nodes; n has the children 2n and 2n + 1, class c is the leaf classes + c


cdef inline Flow contest_flow(ScoringTree *q, uint32_t left, uint32_t right, double label) noexcept nogil:
    cdef Flow *l = &q.model.label[left]
    cdef Flow *r = &q.model.label[right]
    cdef size_t i, n = l.components
    for i in range(n):
        q.model.contest[i] = q.model.contest[n + i] = l.component[i]
        q.model.contest[n + i].plus, q.model.contest[n + i].minus = r.component[i].minus, r.component[i].plus
    return Flow(q.model.contest, 2 * n, l.linear - r.linear, l.square + r.square, label, l.rate, l.decay, q.loss, &q.params)


cdef inline void read_class(LabelModel *m, const Scratch *s, uint32_t number) noexcept nogil:
    """Read what a class has of the row, and its flow, again."""
    cdef size_t i
    for i in range(2 * m.work.components):
        read_set(m, &m.work.side[i], number)
    make_flow(m, s, number)


cdef inline void move_class(LabelModel *m, const Scratch *s, uint32_t number, double way, double fade) noexcept nogil:
    """Move what a class has of the row by ``way`` along its flow, and read its flow again."""
    cdef size_t i, start = number * m.rank
    cdef int side
    cdef float *weight
    cdef double decay = safe_exp(-fade)
    cdef Side *one
    for i in range(s.terms):
        weight = m.w + s.index[i] * m.width + number
        weight[0] = <float>(weight[0] - way * s.value[i])
    for i in range(m.work.components):
        change_vectors(m, number, i, way, fade, m.work.side[2 * i].square, m.work.side[2 * i + 1].square)
        for side in range(2):
            one = &m.work.side[2 * i + side]
            if not one.latent.fixed:
                move_part(one, start, m.rank, one.vector + start, decay, (decay - 1) * m.offset / one.square)
    read_class(m, s, number)


cdef inline Flow shrunk_contest(ScoringTree *q, const Scratch *s, uint32_t left, uint32_t right, double label, double time) noexcept nogil:
    """The flow of the contest once both classes have decayed for this time, which may be negative."""
    shrink_label(&q.model, s, left, time)
    shrink_label(&q.model, s, right, time)
    read_class(&q.model, s, left)
    read_class(&q.model, s, right)
    return contest_flow(q, left, right, label)


cdef inline int learn_in_turns(ScoringTree *q, const Scratch *s, uint32_t left, uint32_t right, double label, double weight,
                               const Flow *first) noexcept nogil:
    """As ``learn_in_turns`` of ``dyadic_components.pxd``."""
    cdef double rate = first.rate, part
    cdef int i, count = turns_for(rate * largest_decay(&q.model) * weight, way_of(first, prediction_at(first, 0, 0)) * weight)
    cdef bint ends = False
    cdef Flow flow
    cdef Step step
    part = weight / count
    for i in range(count):
        flow = shrunk_contest(q, s, left, right, label, 0.5 * rate * part)
        step = flow_step(&flow, prediction_at(&flow, 0, 0), part)
        ends = has_constant_slope(&flow) and step.h < part
        if ends:                  # all decay of the time up to the label comes before the flow, which ends there
            flow = shrunk_contest(q, s, left, right, label, rate * (step.h - 0.5 * part))
            step = flow_step(&flow, prediction_at(&flow, 0, 0), part)
        q.run.scalars[UNBOUNDED] += not step.bounded
        if not isfinite(step.s):
            return UNSTABLE
        move_class(&q.model, s, left, step.s, 0)
        move_class(&q.model, s, right, -step.s, 0)
        if ends:
            break
        shrunk_contest(q, s, left, right, label, 0.5 * rate * part)
    return OK


cdef inline int learn_contest(ScoringTree *q, const Scratch *s, uint32_t left, uint32_t right, double label, double weight,
                              bint *moved) noexcept nogil:
    cdef Flow flow = contest_flow(q, left, right, label)
    cdef Step step
    if flow.components == 0 and flow.square == 0:
        return OK
    if q.model.separate:
        if is_at_rest(&flow, prediction_at(&flow, 0, 0)):
            return OK
        if not moved[0]:
            count_sides(&q.model)
        moved[0] = True
        return learn_in_turns(q, s, left, right, label, weight, &flow)
    step = flow_step(&flow, prediction_at(&flow, 0, 0), weight)
    q.run.scalars[UNBOUNDED] += not step.bounded
    if not isfinite(step.s):
        return UNSTABLE
    if step.s == 0 and (step.h == 0 or flow.decay == 0):
        return OK
    if not moved[0]:
        count_sides(&q.model)
    moved[0] = True
    move_class(&q.model, s, left, step.s, flow.rate * flow.decay * step.h)
    move_class(&q.model, s, right, -step.s, flow.rate * flow.decay * step.h)
    return OK


cdef inline uint32_t winner_of(const LabelModel *m, uint32_t left, uint32_t right) noexcept nogil:
    """The class of the larger score, of equal ones the lower class."""
    cdef double ahead = prediction_at(&m.label[left], 0, 0) - prediction_at(&m.label[right], 0, 0)
    return left if ahead > 0 or (ahead == 0 and left < right) else right


cdef inline int learn(ScoringTree *q, const Scratch *s, const float *costs, double weight) noexcept nogil:
    """Learn the contests one after the other, the lowest first; who wins one that was learned goes on to the next."""
    cdef uint32_t number, left, right, classes = q.model.labels
    cdef bint moved = False
    cdef double apart
    cdef int status = OK
    if q.model.work.repeats:
        q.run.scalars[MISMATCHED] += 1
        return OK
    for number in range(classes):
        q.winner[classes + number] = number
    for number in range(classes - 1, 0, -1):
        left, right = q.winner[2 * number], q.winner[2 * number + 1]
        apart = <double>costs[left] - costs[right]
        if apart != 0 and isfinite(apart):
            status |= learn_contest(q, s, left, right, 1 if apart < 0 else -1, fabs(apart) * weight, &moved)
        q.winner[number] = winner_of(&q.model, left, right)
    q.run.scalars[TIME] += weight
    return status


cdef inline float excess(const float *costs, uint32_t classes, uint32_t answer) noexcept nogil:
    """What the answer costs more than the cheapest class; 0 where its cost is not known."""
    cdef uint32_t number
    cdef float least = costs[0]
    for number in range(1, classes):
        least = costs[number] if costs[number] < least else least
    return costs[answer] - least if isfinite(costs[answer]) else 0


cdef inline void count_log_loss(ScoringTree *q, const float *costs, const float *raw, float *score, bint held,
                                double weight) noexcept nogil:
    """Fill ``score`` with probabilities, and count the log loss of the class that costs nothing: the one of the label."""
    cdef uint32_t number
    cdef double log_sum = softmax(q.z, q.model.labels)
    for number in range(q.model.labels):
        score[number] = <float>q.z[number]
        if costs[number] == 0:
            q.run.log_loss[held] += weight * (log_sum - raw[number])
    q.run.log_loss[2 + held] += weight


cdef inline double importance_to_change(ScoringTree *q, double rate) noexcept nogil:
    """The importance with which the class of the second best score would overtake the best; 0 where nothing is known of a side."""
    cdef uint32_t number, best = 0, second
    cdef Flow flow
    if has_unknown_side(&q.model.work):
        return 0
    for number in range(1, q.model.labels):
        best = number if q.z[number] > q.z[best] else best
    second = 1 if best == 0 else 0
    for number in range(q.model.labels):
        second = number if number != best and q.z[number] > q.z[second] else second
    flow = contest_flow(q, best, second, 0)
    flow.rate, flow.decay = rate, 0
    return importance_to_flip(&flow, q.z[best] - q.z[second])


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<ScoringTree *>learner).model, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef ScoringTree *q = <ScoringTree *>learner
    cdef float weight = rows.importance[row]
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef float *raw = q.run.raw + row * q.run.score_stride
    cdef float *score = q.run.score + row * q.run.score_stride
    cdef const float *costs = q.costs + (row - q.begin) * q.model.labels
    cdef uint32_t number, best = 0
    cdef double rate = rate_now(&q.run), flip, base
    cdef bint learns = learning and labeled and not held and weight > 0
    cdef int status = OK, made = make_sides(&q.model, s)
    if made == NO_MEMORY:
        return NO_MEMORY
    if made == -1:                 # sides that cannot be paired by position: nothing is known of the row
        q.run.scalars[MISMATCHED] += 1
        s.terms, learns = 0, False
    take_standing_terms(&q.model, s)
    make_flows(&q.model, s, rate)
    base = rows.initial_prediction[row] - q.model.work.components * q.model.offset_square
    for number in range(q.model.labels):
        q.z[number] = prediction_at(&q.model.label[number], 0, 0) + base
        raw[number] = score[number] = <float>q.z[number]
        best = number if raw[number] > raw[best] else best
        status |= OK if isfinite(raw[number]) else UNSTABLE
    if status == OK and (out.flip_importance != NULL or (q.run.asking.counts != NULL and learns)):
        flip = importance_to_change(q, rate if learning else q.run.flip_rate)
        if out.flip_importance != NULL:
            out.flip_importance[row] = <float>flip
        if q.run.asking.counts != NULL and learns:
            weight = asked_weight(&q.run.asking, q.run.scalars[TIME], flip, weight)
            record_asked(&q.run.asking, row, weight, excess(costs, q.model.labels, best))
    out.raw[row] = q.first[row - q.begin]
    out.prediction[row] = best + out.raw[row]
    out.loss[row] = weight * excess(costs, q.model.labels, best) if labeled and weight > 0 and made == OK else 0
    out.features[row] = <uint32_t>s.count
    if q.probabilities:
        count_log_loss(q, costs, raw, score, held, weight if labeled else 0)
    if learns and weight > 0 and status == OK:
        status = learn(q, s, costs, weight)
    return status


cdef void open_tree(ScoringTree *q, state, config, plan, size_t rows, size_t begin, size_t end) except *:
    cdef const float[:, ::1] costs = state.costs
    cdef const int[::1] first = state.first
    open_run(&q.run, &q.model, state, config, plan, rows, end)
    q.probabilities, q.loss, q.begin = config.probabilities, config.loss_code, state.begin
    read_params(config.loss_params, &q.params)
    if q.model.base >= 0:
        raise ValueError("every class has a score")
    if not q.begin <= begin <= end <= q.begin + min(costs.shape[0], first.shape[0]) or costs.shape[1] != <Py_ssize_t>q.model.labels:
        raise ValueError("costs of other rows or classes")
    q.costs, q.first = &costs[0, 0], &first[0]


cdef bint reserve_tree(ScoringTree *q) noexcept nogil:
    cdef bint has_flows = open_flows(&q.model)
    q.z = <double *>malloc(q.model.labels * sizeof(double))
    q.winner = <uint32_t *>malloc(2 * q.model.labels * sizeof(uint32_t))
    return has_flows and q.z != NULL and q.winner != NULL


cdef void close_tree(ScoringTree *q) noexcept nogil:
    close_model(&q.model)
    free(q.z)
    free(q.winner)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``.

    ``state.costs`` float32[n, classes] and ``state.first`` int32[n] are of the rows from ``state.begin`` on.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef ScoringTree q
    cdef int status = NO_MEMORY
    if call.row == call.end:
        return OK, call.row
    open_tree(&q, state, config, plan, call.rows.size, call.row, call.end)
    check_fit(state, &call)
    if reserve_tree(&q):
        with nogil:
            status = process_in_order(&q, prepare, process_example, not q.run.vw_compat, &call)
    close_tree(&q)
    return status, call.row
