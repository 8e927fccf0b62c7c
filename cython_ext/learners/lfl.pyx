"""Latent feature log-linear models: every label has latent vectors and linear weights of its own, updated along the exact flow."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results, open_plan, open_results, open_rows
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from learners.dyadic_flow cimport safe_exp
from learners.dyadic_moves cimport vector_changes
from learners.example_loop cimport check_fit, process_in_order
from learners.label_flow cimport STATES, LabelFlow, follow, scores_at, softmax
from learners.label_model cimport (
    MAX_PAIRS, LabelModel, close_model, find_rows, make_flows, make_sides, open_flows, set_of)
from learners.label_run cimport FIRST, TIME, UNBOUNDED, LabelRun, open_run, rate_now
from learners.latent_vectors cimport Side, count_side, merge_slots, move_vector


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
    cdef size_t label, i, start
    cdef double decay = safe_exp(-fade)
    cdef Side *a
    cdef Side *b
    for i in range(m.work.components):
        a, b = &m.work.side[2 * i], &m.work.side[2 * i + 1]
        for label in range(m.labels):
            if <int>label == m.base:
                continue
            start = set_of(m, label) * m.rank
            vector_changes(&m.component[label * MAX_PAIRS + i], state[label], fade, a.square, b.square, m.rank,
                           a.vector + start, b.vector + start)
        count_side(a)
        count_side(b)
        move_vector(a, a.vector, decay, 0)
        move_vector(b, b.vector, decay, 0)


cdef inline int learn(Lfl *q, const Scratch *s, double weight) noexcept nogil:
    """Follow the flow of the row's label for its importance, and move all parameters to where it ends."""
    cdef double rate = q.model.label[0].rate
    cdef size_t i
    q.run.scalars[UNBOUNDED] += not follow(&q.flow, weight)
    q.run.scalars[TIME] += weight
    for i in range(q.flow.size):
        if not isfinite(q.flow.state[i]):
            return UNSTABLE
    move_linear(q, s, safe_exp(-rate * q.flow.linear_decay * weight))
    move_latent(&q.model, q.flow.state, rate * q.model.decay * weight)
    return OK


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
    cdef double own
    cdef double *z = q.flow.memory
    cdef int status = OK
    if learns and q.run.scalars[FIRST] < 0 and (y == 0 or y == labels):
        q.run.scalars[FIRST] = 0 if y == 0 else 1
    first = 0 if q.run.scalars[FIRST] == 0 else 1
    true = <uint32_t>(y - first) if labeled and y >= first else labels
    if make_sides(&q.model, s) != OK:
        return NO_MEMORY
    s.terms = merge_slots(s.index, s.value, s.terms)
    make_flows(&q.model, s, rate_now(&q.run))
    q.flow.initial = rows.initial_prediction[row]
    for label in range(<uint32_t>q.flow.size):
        q.flow.state[label] = 0
    scores_at(&q.flow, q.flow.state, 0, z)
    for label in range(labels):
        raw[label] = <float>z[label]
        best = label if z[label] > z[best] else best
        status |= OK if isfinite(z[label]) else UNSTABLE
    out.prediction[row] = best + first
    out.raw[row] = first
    out.loss[row] = weight if labeled and weight > 0 and best != true else 0
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


cdef void open_tables(Lfl *q, state, config, plan, size_t rows) except *:
    cdef const double[::1] values = config.values
    open_run(&q.run, &q.model, state, config, plan, rows)
    q.flow.base, q.flow.mean, q.flow.linear_decay = q.model.base, config.mean, config.linear_decay
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
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef Lfl q
    cdef int status = NO_MEMORY
    open_tables(&q, state, config, plan, rows.size)
    check_fit(state, &native_plan, &rows, end, learning)
    if reserve_flow(&q):
        with nogil:
            status = process_in_order(&q, prepare, process_example, not q.run.vw_compat, &rows, &native_plan, &out, &begin, end,
                                      learning)
    close_model(&q.model)
    free(q.flow.memory)
    return status, begin
