"""Multi-output regression, and classes by one loss of all their scores, with weights of low rank; see ``factors.pxd``."""

from libc.math cimport isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.factors cimport Factors, find_rows, move_row, open_factors, output, predict, reserve, update_features
from learners.gd_update cimport RATE_NOW, Learner, clip
from learners.output_rows cimport Outputs, count_times, open_each, open_labels, open_results_of_outputs, read_labels, report
from learners.softmax_rows cimport (
    RATE, Softmax, flow, number_of_first, open_lists, open_softmax, report as report_classes, score_gradient, smooth_target,
    step_taken, true_class,
)
from losses.loss_types cimport needs_update


cdef struct Factored:
    Outputs o              # ``step`` holds slopes of losses, ``sum`` the change of raw predictions per unit of step size
    Factors f


cdef inline float slope(const Outputs *o, uint32_t c, float p) noexcept nogil:
    """The derivative of the loss of output ``c`` at the prediction ``p``; 0 without a label or where no update is needed."""
    cdef const Learner *m = &o.each[c]
    if isnan(o.label[c]) or not needs_update(&m.loss, &m.params, p, o.label[c]):
        return 0
    return m.loss.slope(&m.params, p, o.label[c])


cdef void find_slopes(void *learner, float step) noexcept nogil:
    cdef Factored *q = <Factored *>learner
    cdef uint32_t c
    for c in range(q.o.outputs):
        q.f.slope[c] = slope(&q.o, c, q.o.clipped[c] - step * q.f.change[c])


cdef inline int update_output(Factored *q, uint32_t c, float p, float weight, float max_step, float norm) noexcept nogil:
    """Update the row of B of output ``c``; ``norm`` is the squared norm of the latent vector, ``p`` the prediction."""
    cdef Learner *m = &q.o.each[c]
    cdef float step = 0, rate, step_size = max_step, now = slope(&q.o, c, p)
    if now != 0:
        q.f.squares[c] += weight * now * now * norm
    if q.f.squares[c] == 0:
        return OK
    rate = 1 / sqrtf(q.f.squares[c])
    if now != 0:
        step = m.loss.update(&m.params, p, q.o.label[c], max_step, norm * rate)
        step_size = -step / now
    move_row(&q.f, c, step, rate, step_size)
    return OK if isfinite(step) else UNSTABLE


cdef inline int learn(Factored *q, const Scratch *s, float initial, float weight) noexcept nogil:
    """Update A, then B. Returns UNSTABLE where a result is not finite."""
    cdef float max_step = <float>q.o.each[0].scalars[RATE_NOW] * weight, norm, prediction
    cdef int status = update_features(&q.f, s, weight, max_step, &norm)
    cdef uint32_t c
    if status != OK:
        return status
    for c in range(q.o.outputs):
        prediction = clip(initial + output(&q.f, c), &q.o.each[c])
        status |= update_output(q, c, prediction, weight, max_step, norm)
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Factored *q = <Factored *>learner
    cdef float weight = rows.importance[row], initial = rows.initial_prediction[row]
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint learns = learning and labeled and not held
    cdef int status
    if reserve(&q.f, s.terms) != OK:
        return NO_MEMORY
    read_labels(&q.o, row, labeled)
    predict(&q.f, s, initial, learns and weight > 0, q.o.raw + row * q.o.outputs)
    status = report(&q.o, row, s.count, weight, learns, held, out)
    if learns and weight > 0 and status == OK:
        status = learn(q, s, initial, weight)
    count_times(&q.o, weight, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<Factored *>learner).f, s)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``outputs.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Factored q
    cdef int status
    memset(&q, 0, sizeof(Factored))
    q.o.outputs, q.o.monotone = config.outputs, config.monotone
    q.o.width = state.scratch.shape[1]
    if q.o.width < q.o.outputs or (call.learning and state.rates is None):
        raise ValueError("no room for the outputs")
    q.o.each = <Learner *>calloc(q.o.outputs, sizeof(Learner))
    if q.o.each == NULL:
        raise MemoryError("no memory for the outputs")
    try:
        open_each(&q.o, state, config)
        open_factors(&q.f, state, config, q.o.outputs)
        open_labels(&q.o, batch.lists, call.rows.size)
        open_results_of_outputs(&q.o, state, call.rows.size)
        q.f.learner, q.f.find_slopes, q.f.norms = &q, find_slopes, q.o.each[0].scalars
        q.f.slope, q.f.change = q.o.step, q.o.sum
        call.plan.flat = plan.flat
        check_fit(state, &call)
        with nogil:
            status = process_in_order(&q, prepare, process_example, True, &call)
    finally:
        free(q.o.each)
        free(q.f.scaled)
    return status, call.row


cdef struct FactoredClasses:
    Softmax m              # ``p`` holds slopes, ``step`` the change of scores per unit of step size, ``gradient`` scores after one
    Factors f


cdef void find_class_slopes(void *learner, float step) noexcept nogil:
    cdef FactoredClasses *q = <FactoredClasses *>learner
    cdef uint32_t c
    for c in range(q.m.classes):
        q.m.gradient[c] = q.m.s[c] - step * q.f.change[c]
    score_gradient(&q.m, q.m.gradient, q.m.p)


cdef inline int update_classes(FactoredClasses *q, float weight, float max_step, float norm) noexcept nogil:
    """Update the rows of B, whose scores ``s`` follow the gradient flow of the loss; ``norm`` as in ``update_output``."""
    cdef float step_size
    cdef uint32_t c
    score_gradient(&q.m, q.m.s, q.m.p)
    for c in range(q.m.classes):
        q.m.gradient[c] = weight * q.m.p[c] * q.m.p[c]
        q.f.squares[c] += q.m.gradient[c] * norm
        q.m.reach[c] = norm / sqrtf(q.f.squares[c]) if q.f.squares[c] > 0 else 0
        q.m.step[c] = q.m.s[c]
    flow(&q.m, q.m.s, max_step)
    for c in range(q.m.classes):
        q.m.step[c] = (q.m.s[c] - q.m.step[c]) / q.m.reach[c] if q.m.reach[c] > 0 else 0
        if not isfinite(q.m.step[c]):
            return UNSTABLE
    step_size = step_taken(&q.m, weight) if norm > 0 else -1
    for c in range(q.m.classes):
        if q.f.squares[c] > 0:
            move_row(&q.f, c, q.m.step[c], 1 / sqrtf(q.f.squares[c]), step_size if step_size >= 0 else max_step)
    return OK


cdef inline int learn_classes(FactoredClasses *q, const Scratch *s, float initial, float weight) noexcept nogil:
    """As ``learn``."""
    cdef float max_step = <float>q.m.scalars[RATE] * weight, norm
    cdef int status = update_features(&q.f, s, weight, max_step, &norm)
    cdef uint32_t c
    if status != OK:
        return status
    for c in range(q.m.classes):
        q.m.s[c] = initial + output(&q.f, c)
    return update_classes(q, weight, max_step, norm)


cdef int process_class(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef FactoredClasses *q = <FactoredClasses *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], initial = rows.initial_prediction[row]
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[row], learns = learning and not isnan(y) and not held
    cdef uint32_t first = number_of_first(&q.m, row, y, learns), true = true_class(&q.m, y, first)
    cdef int status
    if reserve(&q.f, s.terms) != OK:
        return NO_MEMORY
    learns = learns and weight > 0 and true < q.m.classes
    predict(&q.f, s, initial, learns, q.m.s)
    status = report_classes(&q.m, rows, row, first, true, held, out)
    if learns and status == OK:
        smooth_target(&q.m.labels, true)
        status = learn_classes(q, s, initial, weight)
    out.features[row] = <uint32_t>s.count
    return status


cdef void prepare_classes(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<FactoredClasses *>learner).f, s)


def run_class_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``softmax.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef FactoredClasses q
    cdef int status
    if call.learning and state.rates is None:
        raise ValueError("these tables cannot learn")
    q.m = open_softmax(state, config, call.rows.size)
    open_factors(&q.f, state, config, q.m.classes)
    q.f.learner, q.f.find_slopes, q.f.norms = &q, find_class_slopes, q.m.scalars
    q.f.slope, q.f.change = q.m.p, q.m.step
    call.plan.flat = plan.flat
    if config.shares and batch.lists is not None:
        open_lists(&q.m.labels, batch.lists, call.rows.size)
    check_fit(state, &call)
    with nogil:
        status = process_in_order(&q, prepare_classes, process_class, not q.m.vw_compat, &call)
    free(q.f.scaled)
    return status, call.row


class OfClasses:
    """What runs rows of classes, as this module does of several outputs."""

    run_rows = staticmethod(run_class_rows)
