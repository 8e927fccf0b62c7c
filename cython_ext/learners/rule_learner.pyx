"""A learner of one weight per feature with the ``UpdateRule`` of another kernel."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from learners.gd_update cimport Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots, widen_range
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport apply_link
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(<Learner *>learner, s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Learner *m = <Learner *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], p
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held, learn = known and weight > 0
    cdef int status = OK
    out.raw[row] = inner_product(m, s, rows.initial_prediction[row])
    out.prediction[row] = clip(out.raw[row], m)
    if known and not m.frozen:
        widen_range(m, y)
    if learn:
        status = learn_row(m, s, out.prediction[row], y, weight)
        out.raw[row] = m.raw
    p = clip(out.raw[row], m)
    if m.rule != NULL and m.rule.shows_learned:
        out.prediction[row] = p
    status |= OK if isfinite(out.raw[row]) else UNSTABLE
    out.loss[row] = m.loss.value(&m.params, p, y) * weight if labeled and weight > 0 else 0
    out.prediction[row] = apply_link(m.link, out.prediction[row])
    out.features[row] = <uint32_t>s.count
    count_time(m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef Learner m = open_learner(state, config)
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    call.plan.flat = plan.flat
    check_fit(state, &call)
    if (m.rule != NULL) != call.learning or state.mask is not None:
        raise ValueError("the table has other columns")
    with nogil:
        status = process_in_order(&m, prepare, process_example, not m.vw_compat, &call)
    return status, call.row
