"""Latent feature log-linear models: every label has latent vectors and linear weights of its own, updated along the exact flow."""

from libc.math cimport ceil, fabs, isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.dyadic_components cimport has_unknown_side, turns_for
from learners.dyadic_flow cimport components_at, safe_exp
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.label_rates cimport (
    FIRST, MISMATCHED, TIME, UNBOUNDED, LabelRun, add_gradients, grow, largest_decay, move_at_rates, open_run,
    rate_now, set_rates, shrink_label,
)
from learners.label_flow cimport STATES, LabelFlow, follow, importance_to_overtake, scores_at, softmax, speeds_at
from learners.label_model cimport (
    LabelModel, change_vectors, close_model, count_sides, find_rows, make_flows, make_sides, open_flows, read_sides,
    take_standing_terms,
)
from learners.latent_vectors cimport Side, move_vector
from learners.query_choice cimport asked_weight, record_asked


cdef struct Lfl:
    LabelModel model
    LabelRun run
    LabelFlow flow


cdef inline void move_linear(Lfl *q, const Scratch *s, double shrink) noexcept nogil:
    cdef size_t label, i
    cdef float *row
    cdef const double *u = q.flow.state + q.flow.size - q.model.labels
    for i in range(s.terms):
        row = q.model.w + s.index[i] * q.model.width
        for label in range(q.model.labels):
            if <int>label != q.model.base:
                row[label] = <float>(shrink * row[label] - u[label] * s.value[i])


cdef inline void move_latent(LabelModel *m, const double *state, double fade) noexcept nogil:
    """Move the vectors of the row's sides, whose updates were counted."""
    cdef size_t i, label
    cdef int side
    cdef double decay = safe_exp(-fade)
    cdef Side *one
    for i in range(m.work.components):
        for label in range(m.labels):
            if <int>label != m.base:
                change_vectors(m, <uint32_t>label, i, state[label], fade, m.work.side[2 * i].square, m.work.side[2 * i + 1].square)
        for side in range(2):
            one = &m.work.side[2 * i + side]
            if not one.latent.fixed:
                move_vector(one, one.vector, decay, (decay - 1) * m.offset / one.square)


cdef inline void shrink(LabelModel *m, const Scratch *s, double time) noexcept nogil:
    cdef size_t label
    for label in range(m.labels):
        shrink_label(m, s, label, time)


cdef inline int move(Lfl *q, const Scratch *s, double weight) noexcept nogil:
    """Follow the flow for an importance, and move all parameters to where it ends."""
    cdef double rate = q.model.label[0].rate
    cdef size_t i
    q.run.scalars[UNBOUNDED] += not follow(&q.flow, weight)
    for i in range(q.flow.size):
        if not isfinite(q.flow.state[i]):
            return UNSTABLE
    move_linear(q, s, safe_exp(-rate * q.flow.linear_decay * weight))
    move_latent(&q.model, q.flow.state, rate * q.model.decay * weight)
    return OK


cdef inline int turns(Lfl *q, double weight) noexcept nogil:
    """How often decay and the flow take turns."""
    cdef size_t label, i
    cdef double rate = q.model.label[0].rate, way = 0, slope
    for label in range(q.flow.size):
        q.flow.state[label] = 0
    speeds_at(&q.flow, q.flow.state, 0, q.flow.memory)
    for label in range(q.model.labels):
        components_at(&q.model.label[label], 0, 0, &slope)
        way = max(way, 0.25 * rate * (q.model.label[label].square - slope))
        for i in range(q.model.work.components):
            way = max(way, fabs(q.flow.memory[label]) * q.model.label[label].component[i].omega)
    return turns_for(rate * largest_decay(&q.model) * weight, way * weight)


cdef extern from *:
    """
    #define VWL_MOST_PARTS 256
    """
    const int MOST_PARTS "VWL_MOST_PARTS"  # of a row of great importance


cdef inline int learn_at_rates(Lfl *q, const Scratch *s, double weight, double rate) noexcept nogil:
    """Learn the row's label where parameters have rates of their own. Its updates were counted, and its sides read."""
    cdef LabelModel *m = &q.model
    cdef size_t label
    cdef double *g = q.flow.memory
    for label in range(m.labels):
        q.flow.state[label], m.label[label].rate = 0, 1
    speeds_at(&q.flow, q.flow.state, 0, g)
    add_gradients(m, s, g, weight)
    set_rates(m, s, rate)
    q.run.scalars[UNBOUNDED] += not follow(&q.flow, weight)
    for label in range(m.labels):
        if not isfinite(q.flow.state[label]):
            return UNSTABLE
    move_at_rates(m, s, q.flow.state, rate, weight)
    return OK


cdef inline int learn(Lfl *q, const Scratch *s, double weight) noexcept nogil:
    """Learn the row's label with an importance: along the flow, in turns with decay where that is a step of its own.

    Where rates are adaptive, decay would undo a step of great importance: the row is learned in parts of at most 1.
    """
    cdef double rate = q.model.label[0].rate, part
    cdef int i, count, status = OK
    cdef bint changed
    if q.model.work.repeats:
        q.run.scalars[MISMATCHED] += 1
        return OK
    q.run.scalars[TIME] += weight
    count_sides(&q.model)
    if q.model.adaptive:
        changed = grow(&q.model, s)
        count = <int>min(max(ceil(weight), 1), MOST_PARTS)
        for i in range(count):
            if i or changed:
                read_sides(&q.model)
                make_flows(&q.model, s, 1)
            status |= learn_at_rates(q, s, weight / count, rate)
        return status
    if not q.model.separate:
        return move(q, s, weight)
    count = turns(q, weight)
    part = weight / count
    for i in range(count):
        shrink(&q.model, s, 0.5 * rate * part)
        read_sides(&q.model)
        make_flows(&q.model, s, rate)
        status |= move(q, s, part)
        shrink(&q.model, s, 0.5 * rate * part)
    return status


cdef inline double importance_to_change(Lfl *q, const Scratch *s, const double *z, double rate) noexcept nogil:
    """The importance with which the label of the second best score would overtake the best; 0 where nothing is known of a side."""
    cdef uint32_t label, best = 0, second = 0
    cdef double decay = q.flow.linear_decay, found
    if has_unknown_side(&q.model.work):
        return 0
    for label in range(1, q.model.labels):
        best = label if z[label] > z[best] else best
    second = 1 if best == 0 else 0
    for label in range(q.model.labels):
        second = label if label != best and z[label] > z[second] else second
        q.model.label[label].rate, q.model.label[label].decay = rate, 0
    if q.model.adaptive:
        set_rates(&q.model, s, rate)
    found = importance_to_overtake(&q.flow, best, second)
    q.flow.linear_decay = decay
    return found


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<Lfl *>learner).model, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Lfl *q = <Lfl *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef float *raw = q.run.raw + row * q.run.score_stride
    cdef float *score = q.run.score + row * q.run.score_stride
    cdef uint32_t label, best = 0, first, true, labels = q.model.labels
    cdef bint learns = learning and labeled and not held
    cdef double own, rate = rate_now(&q.run), flip = 0
    cdef double *z = q.flow.memory
    cdef int status = OK, made = make_sides(&q.model, s)
    if made == NO_MEMORY:
        return NO_MEMORY
    if made == -1:                 # sides that cannot be paired by position: nothing is known of the row
        q.run.scalars[MISMATCHED] += 1
        s.terms, learns = 0, False
    if learns and q.run.scalars[FIRST] < 0 and (y == 0 or y == labels):
        q.run.scalars[FIRST] = 0 if y == 0 else 1
    first = 0 if q.run.scalars[FIRST] == 0 else 1
    true = <uint32_t>(y - first) if labeled and y >= first else labels
    take_standing_terms(&q.model, s)
    make_flows(&q.model, s, rate)
    q.flow.initial = rows.initial_prediction[row] - q.model.work.components * q.model.offset_square
    for label in range(<uint32_t>q.flow.size):
        q.flow.state[label] = 0
    scores_at(&q.flow, q.flow.state, 0, z)
    for label in range(labels):
        raw[label] = <float>z[label]
        best = label if z[label] > z[best] else best
        status |= OK if isfinite(z[label]) else UNSTABLE
    if status == OK and (out.flip_importance != NULL or (q.run.asking.counts != NULL and learns and weight > 0)):
        flip = importance_to_change(q, s, z, rate if learning else q.run.flip_rate)
        make_flows(&q.model, s, rate)
        for label in range(<uint32_t>q.flow.size):
            q.flow.state[label] = 0
        scores_at(&q.flow, q.flow.state, 0, z)
        if out.flip_importance != NULL:
            out.flip_importance[row] = <float>flip
        if q.run.asking.counts != NULL and learns and weight > 0:
            weight = asked_weight(&q.run.asking, q.run.scalars[TIME], flip, weight)
            record_asked(&q.run.asking, row, weight, best != true)
    out.prediction[row] = best + first
    out.raw[row] = first
    out.loss[row] = weight if labeled and weight > 0 and best != true and made == OK else 0
    out.features[row] = <uint32_t>s.count
    own = z[true] if true < labels else 0
    own = softmax(z, labels) - own
    for label in range(labels):
        score[label] = <float>z[label]
    if labeled:
        q.run.log_loss[held] += weight * own if true < labels else 0
        q.run.log_loss[2 + held] += weight
    if learns and weight > 0 and true < labels and status == OK:
        q.flow.true = true
        status = learn(q, s, weight)
    return status


cdef void open_tables(Lfl *q, state, config, plan, size_t rows, size_t end) except *:
    cdef const double[::1] values = config.values
    open_run(&q.run, &q.model, state, config, plan, rows, end)
    q.flow.base, q.flow.mean = q.model.base, config.mean
    q.flow.linear_decay = 0 if q.model.separate or q.model.adaptive else config.linear_decay
    q.flow.value = &values[0]
    if values.shape[0] != <Py_ssize_t>q.model.labels:
        raise ValueError("a value for each label")


cdef bint reserve_flow(Lfl *q) noexcept nogil:
    q.flow.labels = q.model.labels
    q.flow.size = (2 if q.flow.linear_decay > 0 else 1) * q.flow.labels
    q.flow.memory = <double *>malloc(STATES * q.flow.size * sizeof(double))
    q.flow.state = q.flow.memory + (STATES - 1) * q.flow.size
    if not open_flows(&q.model):
        return False
    q.flow.label = q.model.label
    return q.flow.memory != NULL


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Lfl q
    cdef int status = NO_MEMORY
    open_tables(&q, state, config, plan, call.rows.size, call.end)
    check_fit(state, &call)
    if reserve_flow(&q):
        with nogil:
            status = process_in_order(&q, prepare, process_example, not q.run.vw_compat, &call)
    close_model(&q.model)
    free(q.flow.memory)
    return status, call.row
